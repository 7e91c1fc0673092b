"""The recorded clusters with one change each: defects, and what looks like one.

`python -m tests.checks.ready.clusters` records what `ready` reads of the checked-in stacks in a sandbox, with GPU nodes up.

Rows of `clusters.yaml`: NAME: [CHECK, SAYS, STEPS, STACK], for both stacks and both engines without STACK. Steps are merge
patches, or names of some; `spot` is the node of the spot pool, `plain` are the nodes without GPUs, `last` is the last of these,
404 is nothing. A broken cluster has one defect, which CHECK names with words that match SAYS. A healthy one looks broken: CHECK
has a note that matches SAYS, or nothing to say where SAYS is empty.
"""

import copy
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from checks.ready import reader
from checks.ready.snapshot import Snapshot
from sandbox.tests.stack import Standing, until
from sandbox.tests.subjects import SUBJECTS, Subject
from tests.merge_patch import patched

FOLDER = Path(__file__).parent / "recorded"


def load(name: str) -> Snapshot:
    """Return a copy of the recorded cluster of a stack, to be broken by a test."""
    if name == KARPENTER:
        return cluster("dev", "karpenter")
    return copy.deepcopy(Snapshot.of_json(json.loads((FOLDER / f"{name}.json").read_text())))


def snapshot(stack: Standing) -> Snapshot:
    """Return what `ready` reads of a stack that is up."""
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
    """Return the record without what differs from run to run and no check reads."""
    recorded["server"] = "https://127.0.0.1:6443"
    # A test says when (TAKEN): a few minutes later, when no node has just joined.
    del recorded["taken"]
    for part in recorded["parts"].values():
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, dict) and "metadata" in item:
                for key in ("uid", "resourceVersion", "managedFields", "selfLink"):
                    item["metadata"].pop(key, None)
                if "images" in (item.get("status") or {}):
                    del item["status"]["images"]
    return recorded


_TABLE = yaml.safe_load(Path(__file__).with_name("clusters.yaml").read_text())
KARPENTER = "karpenter"
"""The recorded cluster of `dev` with Karpenter's pools in place of what the autoscaler has and says."""
BOTH = ("dev", "staging")
TAKEN = "2026-11-26T01:56:00+00:00"
"""Some minutes after the recorded nodes joined."""

Row = tuple[str, str, str, str, list[Any]]


def rows(kind: str) -> list[Row]:
    """Return stack, name, check, words and steps of each row, `broken` or `healthy`."""
    table = _TABLE[kind].items()
    return [
        (stack, name, check, says, steps)
        for name, (check, says, steps, *of) in table
        for stack in (*BOTH, KARPENTER)
        if stack in (of or (*BOTH, KARPENTER))
    ]


def cluster(stack: str, *steps: str | dict[str, Any]) -> Snapshot:
    """Return the recorded cluster of a stack after these steps."""
    snapshot = load(stack)
    for step in steps:
        patch = dict(_TABLE["steps"][step] if isinstance(step, str) else step)
        if isinstance(patch.get("nodes"), dict):
            patch["nodes"] = _nodes(snapshot, patch["nodes"])
        parts = patched(snapshot.parts, patch)
        snapshot = replace(snapshot, parts={name: None if part == 404 else part for name, part in parts.items()})
    return snapshot


def plain_nodes(snapshot: Snapshot) -> list[int]:
    """Return the nodes without GPUs, by index."""
    nodes = enumerate(snapshot.parts["nodes"])
    return [index for index, node in nodes if "kubeflow-spot.dev/accelerator" not in node["metadata"]["labels"]]


def _nodes(snapshot: Snapshot, patch: dict[Any, Any]) -> dict[Any, Any]:
    nodes, plain = snapshot.parts["nodes"], plain_nodes(snapshot)
    chosen = {"plain": plain, "last": plain[-1:]}
    chosen["spot"] = [
        i for i, node in enumerate(nodes) if '"spot"' in str(node["metadata"]["labels"]).replace("'", '"')
    ]
    return {index: value for key, value in patch.items() for index in chosen.get(key, [key])}


if __name__ == "__main__":
    main(sys.argv[1:])
