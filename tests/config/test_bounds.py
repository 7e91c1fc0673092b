"""Values that nothing can hold are refused before anything uses them, each once, with its path."""

from __future__ import annotations

import time
from typing import Any

import pytest

from config.base.problems import LONGEST, report
from config.model import bounds
from config.stack_file import loader
from tests.config.stack import azure, good, on_existing, with_pool
from tests.config.stack_files import edited, replaced
from tests.fuzz import corpus, files


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def groups(*expressions: str) -> dict[str, Any]:
    return good(expander={"otherGroups": [{"priority": 15, "groups": list(expressions)}]})


def registry(server: str) -> dict[str, Any]:
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
    (registry("a" * 1001), "imagePullSecrets[0].server", "is 'aaa"),
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
    lines = report(loader.read_stack(good(growth={"order": [7] * 300}))[1]).splitlines()
    assert lines[0].startswith("300 problems ")
    assert lines[-1] == "  and 100 more"


def test_what_people_write_is_within_the_bounds() -> None:
    lines = "apiVersion: v1\nkind: Config\r\n\tclusters: # Grüße, 日本語 🙂\n" * 500
    assert loader.read_stack(on_existing(contents=lines))[0]
