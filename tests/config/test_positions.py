"""Each problem is named with its line and its pool."""

from pathlib import Path

import pytest
import yaml

from config.base.problems import Problem
from config.stack_file import top_keys
from config.stack_file.positions import Positions
from tests.config.stack_files import CONFIGS, places_of_keys, settings

TEXT = """\
# a comment
config:
  kubeflow-spot:release: r2026-11
  azure-native:subscriptionId: x
  kubeflow-spot:cloud: {provider: azure,
    location: westeurope}
  kubeflow_spot:growth: {order: [t4,
    t4big]}
  "kubeflow-spot:pools":
    - name: general
      machine: Standard_D8ds_v5
    - {name: t4, labels: {example.com/team: a},
       spot: {maxPrice: 1}}
kubeflow-spot:queueing: {enabled: true}
"""


def own_name(key: str) -> str | None:
    return top_keys.own_setting(key, "kubeflow-spot")


POSITIONS = Positions.of_text("Pulumi.dev.yaml", TEXT, own_name)


@pytest.mark.parametrize(
    ("path", "line", "shown"),
    [
        ("release", 3, "release"),
        ("cloud.location", 6, "cloud.location"),
        ("cloud.network.podCidr", 5, "cloud.network.podCidr"),  # of the innermost object that is there
        ("kubeflow_spot:growth.order[1]", 8, "kubeflow_spot:growth.order[1]"),
        ("pools[0]", 10, 'pools[0] "general"'),
        ("pools[0].maxNodes", 10, 'pools[0] "general": maxNodes'),
        ("pools[0].machine", 11, 'pools[0] "general": machine'),
        ("pools[1].spot.maxPrice", 13, 'pools[1] "t4": spot.maxPrice'),
        ('pools[1].labels["example.com/team"]', 12, 'pools[1] "t4": labels["example.com/team"]'),
        ("pools[7].machine", 9, "pools[7].machine"),
        ("systemPool", 2, "systemPool"),
        ("kubeflow-spot:queueing.enabled", 14, "kubeflow-spot:queueing.enabled"),
    ],
)
def test_a_problem_names_its_line_and_its_pool(path: str, line: int, shown: str) -> None:
    assert POSITIONS.located(Problem(path, "is wrong", "mend it")).path == f"Pulumi.dev.yaml:{line}: {shown}"


def test_problems_stand_in_the_order_of_the_file() -> None:
    paths = ["pools[1].machine", "cloud.location", "pools[0].machine", "release"]
    found = POSITIONS.in_order(Problem(path, "is wrong", "mend it") for path in paths)
    assert [problem.path.split(":")[1] for problem in found] == ["3", "6", "11", "12"]


def test_a_comment_that_swallowed_a_key_is_named() -> None:
    text = "config:\n  x:pools:\n    - name: t4 # cheap machine: g2\n      maxNodes: 1\n    - name: b # machine: c\n"
    positions = Positions.of_text("f", text, lambda key: key.partition(":")[2])
    missing = Problem("pools[0].machine", "is missing", "add `machine: n1`, for example")
    said = "write `machine: g2` on a line of its own: line 3 has it in its comment"
    assert positions.located(missing).remedy == said
    assert positions.located(Problem("pools[0].zones", "a", "write `zones: [b]`")).remedy == "write `zones: [b]`"


@pytest.mark.parametrize("text", ["", "[", "config: 1", "1", "config: {a: &b [*b]}", "\x00"])
def test_without_a_stack_file_a_path_stays_as_it_is(text: str) -> None:
    assert Positions.of_text("Pulumi.dev.yaml", text, own_name).located(Problem("a.b", "c", "d")).path == "a.b"


@pytest.mark.parametrize("name", ["x" * 41, ""])
def test_a_name_that_is_no_name_is_not_shown(name: str) -> None:
    text = f"config:\n  kubeflow-spot:pools:\n    - name: {name!r}\n"
    shown = Positions.of_text("f", text, own_name).located(Problem("pools[0].x", "y", "z")).path
    assert name not in shown or not name


@pytest.mark.parametrize("path", [CONFIGS / "families.happy.yaml", CONFIGS.parents[1] / "Pulumi.prod.yaml"])
def test_every_key_of_a_file_has_its_own_line(path: Path) -> None:
    """Each line of the position holds the key."""
    text = path.read_text()
    positions = Positions.of_text("f", text, own_name)
    lines = text.splitlines()
    raw = settings(path)
    places = [place for place in places_of_keys(raw) if not any("/" in str(part) for part in place)]
    assert len(places) > 30
    for place in places:
        written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]
        assert str(place[-1]) in lines[positions.line(written) - 1], written
    assert yaml.safe_load(text)
