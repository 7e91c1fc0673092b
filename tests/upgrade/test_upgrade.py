"""Every case of this folder through the real engine, on one stack of each cloud: what a change does, step by step.

`make test` applies the cases in which steps depend on each other or move nodes. Of the others it asks what their first change
would do, in a preview from the stack that stands, which takes a quarter of the time. `make test-slow` applies every step of all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.stack import Stack
from tests.upgrade.case import PROJECT, Case, Step, cases, told

pytestmark = pytest.mark.engine

APPLIED = {"aks": ("generation", "pool-removed", "release", "taint"), "gke": ("generation", "release", "taint")}
"""What `make test` applies. The rest of GKE's cases says on another cloud what AKS' say, and is not previewed either."""
ALL = [case for cloud in APPLIED for case in cases(cloud)]


def _applied(case: Case) -> bool:
    return case.name.removeprefix(f"{case.cloud}-") in APPLIED[case.cloud]


CASES = [pytest.param(case, id=case.name, marks=[] if _applied(case) else pytest.mark.slow) for case in ALL]
PREVIEWED = [case for case in ALL if case.cloud == "aks" and not _applied(case) and not case.steps[0].new]
CLUSTER = "ml-up"
POOL = ("kubernetes.azure.com/agentpool", "cloud.google.com/gke-nodepool")
GOING = ("delete", "replace")


class Upgraded:
    """The stack of one cloud, which goes from case to case."""

    def __init__(self, folder: Path) -> None:
        self.stack = Stack(folder, folder / ".sandbox", "upgrade")
        self.last: Step | None = None
        (folder / "Pulumi.yaml").write_text((PROJECT / "Pulumi.yaml").read_text())

    def at(self, step: Step) -> None:
        """Bring the stack to where a case begins, unless it is there."""
        there = self.last is not None and self.last.config == step.config and self.last.program == step.program
        if there and not step.new:
            return
        if step.new or self.last is None or self.last.program != step.program:
            self.stack.run("down", "--force")
        self.up(step)

    def up(self, step: Step) -> dict[str, Any]:
        """What the engine did, and its errors."""
        before, self.last = self.last, None
        self._write(step)
        printed: dict[str, Any] = json.loads(self.stack.run("up", "--json", ok=not step.refused).stdout)
        self.last = before if step.refused else step
        return printed

    def preview(self, step: Step) -> dict[str, Any]:
        """What the engine would do, and its errors."""
        self._write(step)
        printed: dict[str, Any] = json.loads(self.stack.run("preview", "--json", ok=not step.refused).stdout)
        return printed

    def would(self, step: Step) -> Counter[str]:
        """How many of each kind of step an `up` would take."""
        return Counter(one["op"] for one in self.preview(step)["steps"])

    def _write(self, step: Step) -> None:
        self.stack.write(step.config)
        (self.stack.project / "__main__.py").write_text(step.program)

    def nodes(self) -> dict[tuple[str, str], str]:
        """The nodes by name and uid, each with its pool: a machine made anew has another uid."""
        found = (node["metadata"] for node in self.stack.get("nodes")["items"])
        return {(m["name"], m["uid"]): next(m["labels"][key] for key in POOL if key in m["labels"]) for m in found}


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Upgraded]]:
    found = {cloud: Upgraded(tmp_path_factory.mktemp(cloud)) for cloud in ("aks", "gke")}
    yield found
    for upgraded in found.values():
        upgraded.stack.run("down", "--force")


@pytest.mark.parametrize("case", PREVIEWED, ids=lambda case: case.name)
def test_the_first_change_would_do_what_it_says_and_no_more(case: Case, stacks: dict[str, Upgraded]) -> None:
    upgraded, step = stacks[case.cloud], case.steps[1]
    upgraded.at(case.steps[0])
    shown = upgraded.preview(step)
    if step.would:
        assert Counter(one["op"] for one in shown["steps"]) == step.would
    elif step.refused:
        assert [said for said in step.refused if said not in "\n".join(shown["errors"])] == []
    else:
        assert told(shown["steps"], step.steps) == sorted(step.steps)


@pytest.mark.parametrize("case", CASES)
def test_each_step_does_what_it_says_and_no_more(case: Case, stacks: dict[str, Upgraded]) -> None:
    """What a step left undone is among the steps of the next one; most cases end where the next begins."""
    upgraded = stacks[case.cloud]
    upgraded.at(case.steps[0])
    nodes = upgraded.nodes()
    for step in case.steps[1:]:
        if step.would:
            assert upgraded.would(step) == step.would
            continue
        done = upgraded.up(step)
        if step.refused:
            assert done["steps"] == []
            assert [said for said in step.refused if said not in "\n".join(done["errors"])] == []
        else:
            assert told(done["steps"], step.steps) == sorted(step.steps)
        begun = [f"{one['type'].rpartition(':')[2]} {one['name']}" for one in done["steps"]]
        assert [one for one in begun if one in step.in_turn] == list(step.in_turn)
        ops = [one["op"] for one in done["steps"]]
        # What takes another's place is there before that goes.
        assert "create" not in ops[ops.index("delete") :] if "delete" in ops else True
        going = {line.split()[2] for line in step.steps if line.startswith(GOING)}
        staying = {node for node, pool in nodes.items() if f"{CLUSTER}-{pool}" not in going}
        nodes = upgraded.nodes()
        assert staying <= nodes.keys()


@pytest.mark.parametrize("cloud", ["aks", "gke"])
def test_after_the_last_step_a_preview_shows_nothing(cloud: str, stacks: dict[str, Upgraded]) -> None:
    upgraded = stacks[cloud]
    if upgraded.last is None:
        upgraded.at(cases(cloud)[0].steps[0])
    assert upgraded.last is not None
    assert upgraded.would(upgraded.last) == Counter()
