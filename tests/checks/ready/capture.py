"""`python -m tests.checks.ready.capture`: record what `ready` reads of the checked-in stacks in a sandbox, with GPU nodes up."""

from __future__ import annotations

import copy
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from checks.ready import reader
from checks.ready.snapshot import Snapshot
from sandbox.tests.stack import Standing, until
from sandbox.tests.subjects import SUBJECTS, Subject

FOLDER = Path(__file__).parent / "recorded"


def load(name: str) -> Snapshot:
    """A copy of the recorded cluster of a stack, to be broken by a test."""
    return copy.deepcopy(Snapshot.of_json(json.loads((FOLDER / f"{name}.json").read_text())))


def snapshot(stack: Standing) -> Snapshot:
    """What `ready` reads of a stack that is up."""
    return reader.open_snapshot(str(stack._plane().admin_kubeconfig))


def with_gpus(stack: Standing, subject: Subject) -> bool:
    """Return whether the spot pool and its twin have a node each, with its GPU, and every node is ready."""
    every = stack.get("nodes")["items"]
    conditions = [c for node in every for c in node["status"].get("conditions", ()) if c["type"] == "Ready"]
    if [c["status"] for c in conditions] != ["True"] * len(every):
        return False
    nodes = [node for node in every if subject.accelerator in str(node["metadata"]["labels"])]
    return [node["status"]["allocatable"].get("nvidia.com/gpu") for node in nodes] == ["1", "1"]


def main(names: list[str]) -> None:
    """Record these stacks."""
    for name in names or list(SUBJECTS):
        subject = SUBJECTS[name]
        with tempfile.TemporaryDirectory() as folder:
            stack = Standing.copy(Path(folder), name)
            try:
                stack.run("up")
                with stack.scaled(subject.spot, 1), stack.scaled(subject.twin, 1):
                    assert until(lambda stack=stack, subject=subject: with_gpus(stack, subject), 60)
                    taken = snapshot(stack)
            finally:
                stack.run("down", "--force")
        assert not taken.unseen
        (FOLDER / f"{name}.json").write_text(json.dumps(_plain(taken.as_json()), indent=1) + "\n")


def _plain(recorded: dict[str, Any]) -> dict[str, Any]:
    """The record without what differs from run to run and no check reads."""
    recorded["server"] = "https://127.0.0.1:6443"
    # A test says when (`tests.checks.ready.clusters.TAKEN`): a few minutes later, when no node has just joined.
    del recorded["taken"]
    for part in recorded["parts"].values():
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, dict) and "metadata" in item:
                for key in ("uid", "resourceVersion", "managedFields", "selfLink"):
                    item["metadata"].pop(key, None)
                if "images" in (item.get("status") or {}):
                    del item["status"]["images"]
    return recorded


if __name__ == "__main__":
    main(sys.argv[1:])
