"""A faulty file is checked as far as it can be read: no value is a crash, hides another problem, or shows a secret.

Values that nothing can hold are refused before anything uses them, each once, with its path.
"""

import re
import time
from functools import cache
from typing import Any

import pytest

from config.base.problems import LONGEST, report
from config.clouds import registry
from config.model import bounds
from config.stack_file import loader
from tests.config.stack import azure, good, on_existing, with_pool
from tests.config.stack_files import ERRORS, HAPPY, ErrorRow, edited, replaced, settings
from tests.fuzz import corpus, files
from tests.fuzz.corpus import Place, places


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def groups(*expressions: str) -> dict[str, Any]:
    return good(expander={"otherGroups": [{"priority": 15, "groups": list(expressions)}]})


def login_at(server: str) -> dict[str, Any]:
    login = {"name": "acr-auth", "server": server, "username": "puller", "password": "correct horse"}
    return good(imagePullSecrets=[login])


DEEP = "[0]" * 18

BEYOND = [
    (with_pool(maxNodes=10**310), "pools[1].maxNodes", "is a number beyond"),
    (with_pool(maxNodes=10**4000), "pools[1].maxNodes", "is a number beyond"),
    (with_pool(maxNodes=1e308), "pools[1].maxNodes", "is a number beyond"),
    (with_pool(maxNodes=float("inf")), "pools[1].maxNodes", "is not a finite number"),
    (with_pool(maxNodes="9" * 400), "pools[1].maxNodes", "is '999"),
    (with_pool(spot={"maxPrice": "1e300"}), "pools[1].spot.maxPrice", "is '1e300'"),
    (with_pool(spot={"maxPrice": float("nan")}), "pools[1].spot.maxPrice", "is not a finite number"),
    (with_pool(labels=nested(600)), f"pools[1].labels{DEEP}", "is nested more than 20 deep"),
    (with_pool(labels={"a": "b\ud800"}), "pools[1].labels.a", "U+D800 at place 2"),
    (with_pool(labels={"a\ud800": "b"}), 'pools[1].labels["a\\ud800"]', "as a key has the unprintable character U+D800"),
    (with_pool(name="a\ud800"), "pools[1].name", "U+D800"),
    (with_pool(taints=[{"key": "a", "value": "\x1b[2J"}]), "pools[1].taints[0].value", "U+001B at place 1"),
    (good(**{"\udfff": 1}), "\\udfff", "as a key"),
    (good(**{"": 1}), '""', "as a key is empty"),
    (good(release="\ud800"), "release", "U+D800"),
    (with_pool(name="a" * 2**21), "pools[1].name", "has 2,097,152 characters"),
    (login_at("a" * 1001), "imagePullSecrets[0].server", "is 'aaa"),
    (on_existing(file="a" * 4097), "cloud.kubeconfig.file", "is 'aaa"),
    (with_pool(**{"a" * 600: 1}), f"pools[1].{'a' * 60}", "as a key has 600 characters"),
    (good(growth={"order": ["t4"] * 30_000}), "growth.order", "more than 20,000 values"),
    (groups("a{99999999999}"), "expander.otherGroups[0].groups[0]", "not a regular expression of RE2"),
    (groups("a{2,99999999999}"), "expander.otherGroups[0].groups[0]", "not a regular expression of RE2"),
    (groups("(" * 501 + ")" * 501), "expander.otherGroups[0].groups[0]", "is '((("),
    (azure(autoscaler={"scanInterval": "9" * 4400 + "s"}), "cloud.autoscaler.scanInterval", "is '999"),
    (edited(good(), {"pools[0].upgrade": {"maxSurge": "9" * 4400}}), "pools[0].upgrade.maxSurge", ""),
    (good(pools="[" * 2000 + "]" * 2000), "pools", "is nested more than 20 deep"),
    (edited(good(), {"cluster.kubernetesVersion": "1.３５", "cluster.reason": "our Istio"}), "cluster.kubernetesVersion", ""),  # noqa: RUF001
]  # fmt: skip
"""Settings, the path of their one problem, and a part of it."""


@pytest.mark.parametrize(("raw", "path", "what"), BEYOND, ids=map(str, range(len(BEYOND))))
def test_a_value_beyond_a_bound_is_one_problem(raw: dict[str, Any], path: str, what: str) -> None:
    spec, problems = loader.read_stack(files.passed(raw))
    assert spec is None
    # A list or map that loses its only entry is a problem too.
    assert len(problems) == 1 or path.startswith(("pools[1].labels[0]", "growth.order", "expander"))
    (problem,) = (problem for problem in problems if problem.path == path)
    assert what in problem.what
    assert problem.remedy
    # It can be sent to the engine, and fits a terminal.
    assert len(report(problems).encode()) < 5000


def test_the_largest_numbers_end_in_problems_wherever_they_stand() -> None:
    seen = set()
    for stack in corpus.stacks():
        for place, value in corpus.places(stack.settings):
            where = (stack.provider, corpus.general(place))
            if isinstance(value, int | float) and not isinstance(value, bool) and where not in seen:
                seen.add(where)
                for number in (bounds.NUMBER, 2**31, -bounds.NUMBER, str(bounds.NUMBER)):
                    loader.read_stack(replaced(stack.settings, place, number))
    assert len(seen) > 30


def test_text_that_never_closes_a_template_is_read_once() -> None:
    """Reading it again from each brace took eight seconds."""
    begun = time.process_time()
    loader.read_stack(on_existing(stack="example/platform/prod", output="{{" * 20_000))
    assert time.process_time() - begun < 2


def test_a_value_beyond_a_bound_hides_no_other_problem() -> None:
    raw = with_pool(name="t4\ud800", labels={"agentpool": "x", "b": 10**400}, maxNodes=0)
    assert [problem.path for problem in loader.read_stack(raw)[1]] == [
        "pools[1].labels.b",
        'pools[1].labels["agentpool"]',
        "pools[1].maxNodes",
        "pools[1].name",
    ]


def test_a_long_text_is_shortened_in_a_message() -> None:
    (problem,) = loader.read_stack(with_pool(name="x" * 100_000))[1]
    assert "xxx ... xxx" in problem.what
    assert len(problem.what) < LONGEST


def test_a_report_of_hundreds_of_problems_ends() -> None:
    unknown = {f"key{number}": 1 for number in range(300)}
    lines = report(loader.read_stack(good(growth=unknown))[1]).splitlines()
    assert lines[0].startswith("300 problems ")
    assert lines[-1] == "  and 100 more"


def test_what_people_write_is_within_the_bounds() -> None:
    lines = "apiVersion: v1\nkind: Config\r\n\tclusters: # Grüße, 日本語 🙂\n" * 500
    assert loader.read_stack(on_existing(contents=lines))[0]


JUNK: tuple[Any, ...] = (None, 0, 1.5, True, "x", [], [1], {}, {"x": 1}, "\n", -1, "10.0.0.0/8", ["x", {}])


def test_any_value_in_any_place_is_a_problem_and_no_crash() -> None:
    seen: set[Place] = set()
    for path in HAPPY:
        raw = settings(path)
        for place in [place for place, _ in places(raw) if place not in seen]:
            junk = JUNK[len(seen) % len(JUNK)]
            seen.add(place)
            for problem in loader.read_stack(replaced(raw, place, junk))[1]:
                assert problem.path, (place, junk, problem)
                assert problem.remedy, (place, junk, problem)
    assert len(seen) > 200


PASSWORD, NUMBER = "hunter2-not-to-be-seen", 4242424242
LOGIN = {"name": "acr-auth", "server": "a.azurecr.io", "username": "u", "password": "p"}
CONFIG = {"provider": "existing", "name": "there", "kubeconfig": {"contents": "kind: Config"}}


@pytest.mark.parametrize(
    "shape", [PASSWORD, NUMBER, [PASSWORD], {"a": PASSWORD}, {PASSWORD: 1}, [{"password": PASSWORD}]]
)
@pytest.mark.parametrize(
    "place",
    [
        *("imagePullSecrets", "imagePullSecrets[0]", "imagePullSecrets[0].password"),
        *("cloud", "cloud.kubeconfig", "cloud.kubeconfig.contents"),
    ],
)
def test_no_secret_is_shown_wherever_and_however_it_is_written(place: str, shape: Any) -> None:
    raw = {"release": "r2026-11", "cloud": CONFIG, "imagePullSecrets": [LOGIN]}
    spec, problems = loader.read_stack(edited(raw, {place: shape}))
    assert spec or problems
    # A key is not a value: a password written as a key is shown.
    shown = repr(spec) + "".join(str(problem) for problem in problems if "is not a key" not in problem.what)
    assert PASSWORD not in shown
    assert str(NUMBER) not in shown


NOTHING: Any = [[]]
"""A value that no field of a pool takes, not even in part."""

FIELDS = [str(field.alias) for field in registry.pool_model().model_fields.values()]


FROM_ABSENCE = re.compile(
    r"pools|cloud\.fallback\.mode|growth\.order.*|queueing\.enabled|pools.*\.fallback.*\.pool|scheduling\.defaults.*|systemPool\.criticalAddonsOnly"
)
"""Paths of problems that say no pool of the file is so: the unreadable pool may be the one."""


@cache
def reported(row: ErrorRow) -> set[str]:
    return {problem.path for problem in loader.read_stack(row.settings())[1]}


def hidden(row: ErrorRow, pool: dict[str, Any]) -> list[str]:
    """Return the paths of a row's problems that are not reported when its file has this pool as well."""
    more = row.settings()
    more.setdefault("pools", []).append(pool)
    after = {problem.path for problem in loader.read_stack(more)[1]}
    return sorted(path for path in reported(row) - after if not FROM_ABSENCE.fullmatch(path))


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_a_pool_without_a_readable_field_hides_no_problem_of_the_file(row: ErrorRow) -> None:
    assert hidden(row, dict.fromkeys(FIELDS, NOTHING)) == []


@pytest.mark.parametrize("field", FIELDS)
def test_a_pool_without_one_of_its_fields_hides_no_problem(field: str) -> None:
    # A third of the rows each, in turn: all of them with each field take half a minute.
    for row in ERRORS[FIELDS.index(field) % 3 :: 3]:
        pools = row.settings().get("pools")
        like = pools[0] if isinstance(pools, list) and pools else {"machine": "m", "maxNodes": 1}
        assert hidden(row, {**like, "name": "another", field: NOTHING}) == [], row


ITEMS_FROM_ABSENCE = re.compile(
    FROM_ABSENCE.pattern
    + r"|pools.*\.gcp\.computeClass|scheduling\.guard\.(platformNamespaces|exceptions.*\.rules)|cloud\.maintenance\..*"
)
"""Also: an unreadable step of a chain may be the pool in which the chain leaves the class, an unreadable namespace one of the
default's, an unreadable rule the only one of an exception, and an unreadable exclusion leaves
the whole of the maintenance unknown."""


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_an_unreadable_item_hides_no_problem_of_its_list(row: ErrorRow) -> None:
    # Rows of one happy file share most of their lists: half of them each, in turn.
    lists = [place for place, value in places(row.settings()) if isinstance(value, list)]
    for number, place in enumerate(lists[ERRORS.index(row) % 2 :: 2]):
        more = row.settings()
        inner: Any = more
        for key in place:
            inner = inner[key]
        inner.insert(0, (7, None, {"zz": 1})[number % 3])
        name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]
        # The others stand one further back.
        after = {
            re.sub(rf"^({re.escape(name)})\[(\d+)\]", lambda m: f"{m[1]}[{int(m[2]) - 1}]", problem.path)
            for problem in loader.read_stack(more)[1]
        }
        assert [p for p in reported(row) - after if not ITEMS_FROM_ABSENCE.fullmatch(p)] == [], name
