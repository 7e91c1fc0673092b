"""Every case through the real engine, on one stack of each cloud, step by step.

`make test` applies the cases in which steps depend on each other or move nodes. For the others it previews the first change on
the running stack, which takes a quarter of the time. `make test-slow` applies every step of every case.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.tests.stack import Stack
from tests.upgrade.case import PROGRAM, PROJECT, Case, Step, cases, lines

pytestmark = pytest.mark.engine

APPLIED = {
    "aks": ("generation", "pool-added-and-removed", "release", "taint"),
    "gke": ("generation", "release", "taint"),
}
"""Cases that `make test` applies. The other cases on GKE repeat those on AKS, and are not previewed either."""
ALL = [case for cloud in APPLIED for case in cases(cloud)]


def _applied(case: Case) -> bool:
    return case.name.removeprefix(f"{case.cloud}-") in APPLIED[case.cloud]


CASES = [pytest.param(case, id=case.name, marks=[] if _applied(case) else pytest.mark.slow) for case in ALL]
PREVIEWED = [case for case in ALL if case.cloud == "aks" and not _applied(case) and not case.steps[0].new]
CLUSTER = "ml-up"
POOL = ("kubernetes.azure.com/agentpool", "cloud.google.com/gke-nodepool")
REMOVED = ("delete", "replace")


class Upgraded:
    """The stack of one cloud, which goes from case to case."""

    def __init__(self, folder: Path) -> None:
        self.stack = Stack(folder, folder / ".sandbox", "upgrade")
        self.last: Step | None = None
        (folder / "Pulumi.yaml").write_text((PROJECT / "Pulumi.yaml").read_text())

    def at(self, step: Step) -> None:
        """Bring the stack to the first step of a case, unless it is in that state."""
        unchanged = self.last is not None and self.last.config == step.config and self.last.program == step.program
        if unchanged and not step.new:
            return
        if step.new or self.last is None or self.last.program != step.program:
            self.stack.run("down", "--force")
        self.up(step)

    def up(self, step: Step) -> dict[str, Any]:
        """Apply a step; return the engine's steps and errors."""
        before, self.last = self.last, None
        self._write(step)
        printed: dict[str, Any] = json.loads(self.stack.run("up", "--json", ok=not step.refused).stdout)
        self.last = before if step.refused else step
        return printed

    def preview(self, step: Step) -> dict[str, Any]:
        """Preview a step; return the engine's steps and errors."""
        self._write(step)
        printed: dict[str, Any] = json.loads(self.stack.run("preview", "--json", ok=not step.refused).stdout)
        return printed

    def would(self, step: Step) -> Counter[str]:
        """Return the number of steps of an `up` by operation."""
        return Counter(shown["op"] for shown in self.preview(step)["steps"])

    def _write(self, step: Step) -> None:
        self.stack.write(step.config)
        (self.stack.project / "__main__.py").write_text(step.program)

    def nodes(self) -> dict[tuple[str, str], str]:
        """Return the pool of each node, by the node's name and uid: a new machine has another uid."""
        nodes = (node["metadata"] for node in self.stack.get("nodes")["items"])
        return {(m["name"], m["uid"]): next(m["labels"][key] for key in POOL if key in m["labels"]) for m in nodes}


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Upgraded]]:
    stacks = {cloud: Upgraded(tmp_path_factory.mktemp(cloud)) for cloud in ("aks", "gke")}
    yield stacks
    for upgraded in stacks.values():
        upgraded.stack.run("down", "--force")


@pytest.mark.parametrize("case", PREVIEWED, ids=lambda case: case.name)
def test_a_preview_of_the_first_change_shows_exactly_the_steps_of_the_case(
    case: Case, stacks: dict[str, Upgraded]
) -> None:
    upgraded, step = stacks[case.cloud], case.steps[1]
    upgraded.at(case.steps[0])
    # Only the first case begins with an earlier program: its stack is updated, for the cases after it.
    shown = upgraded.up(step) if case.steps[0].program != PROGRAM else upgraded.preview(step)
    if step.would:
        assert Counter(each["op"] for each in shown["steps"]) == step.would
    elif step.refused:
        assert [part for part in step.refused if part not in "\n".join(shown["errors"])] == []
    else:
        assert lines(shown["steps"], step.steps) == sorted(step.steps)


@pytest.mark.parametrize("case", CASES)
def test_each_change_takes_exactly_the_steps_of_the_case(case: Case, stacks: dict[str, Upgraded]) -> None:
    """A step that leaves something undone adds it to the next step; most cases end where the next one begins."""
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
            assert [part for part in step.refused if part not in "\n".join(done["errors"])] == []
        else:
            assert lines(done["steps"], step.steps) == sorted(step.steps)
        begun = [f"{each['type'].rpartition(':')[2]} {each['name']}" for each in done["steps"]]
        assert [title for title in begun if title in step.in_turn] == list(step.in_turn)
        ops = [each["op"] for each in done["steps"]]
        # A replacement exists before the old resource is deleted.
        assert "create" not in ops[ops.index("delete") :] if "delete" in ops else True
        removed = {line.split()[2] for line in step.steps if line.startswith(REMOVED)}
        kept = {node for node, pool in nodes.items() if f"{CLUSTER}-{pool}" not in removed}
        nodes = upgraded.nodes()
        assert kept <= nodes.keys()


@pytest.mark.parametrize("cloud", ["aks", "gke"])
def test_after_the_last_step_a_preview_shows_nothing(cloud: str, stacks: dict[str, Upgraded]) -> None:
    upgraded = stacks[cloud]
    if upgraded.last is None:
        upgraded.at(cases(cloud)[0].steps[0])
    assert upgraded.last is not None
    assert upgraded.would(upgraded.last) == Counter()
