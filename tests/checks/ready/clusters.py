"""The recorded clusters with one change each: defects, and what looks like one.

Rows of `clusters.yaml`: NAME: [CHECK, SAYS, STEPS, STACK], for both stacks without STACK. Steps are merge patches, or names
of some; `spot` is the node of the spot pool, `plain` are the nodes without GPUs, `last` is the last of these, 404 is nothing.
A broken cluster has one defect, which CHECK names with words that match SAYS. A healthy one looks broken: CHECK has a
note that matches SAYS, or nothing to say where SAYS is empty.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from checks.ready.snapshot import Snapshot
from tests.checks.ready.capture import load
from tests.merge_patch import patched

_TABLE = yaml.safe_load(Path(__file__).with_name("clusters.yaml").read_text())
BOTH = ("dev", "staging")
TAKEN = "2026-11-26T01:56:00+00:00"
"""Some minutes after the recorded nodes joined."""

Row = tuple[str, str, str, str, list[Any]]


def rows(kind: str) -> list[Row]:
    """Stack, name, check, words and steps of each row, `broken` or `healthy`."""
    table = _TABLE[kind].items()
    return [
        (stack, name, check, says, steps)
        for name, (check, says, steps, *of) in table
        for stack in BOTH
        if stack in (of or BOTH)
    ]


def cluster(stack: str, *steps: str | dict[str, Any]) -> Snapshot:
    """The recorded cluster of a stack after these steps."""
    snapshot = load(stack)
    for step in steps:
        patch = dict(_TABLE["steps"][step] if isinstance(step, str) else step)
        if isinstance(patch.get("nodes"), dict):
            patch["nodes"] = _nodes(snapshot, patch["nodes"])
        parts = patched(snapshot.parts, patch)
        snapshot = replace(snapshot, parts={name: None if part == 404 else part for name, part in parts.items()})
    return snapshot


def plain_nodes(snapshot: Snapshot) -> list[int]:
    """The nodes without GPUs, by index."""
    nodes = enumerate(snapshot.parts["nodes"])
    return [index for index, node in nodes if "kubeflow-spot.dev/accelerator" not in node["metadata"]["labels"]]


def _nodes(snapshot: Snapshot, patch: dict[Any, Any]) -> dict[Any, Any]:
    nodes, plain = snapshot.parts["nodes"], plain_nodes(snapshot)
    chosen = {"plain": plain, "last": plain[-1:]}
    chosen["spot"] = [
        i for i, node in enumerate(nodes) if '"spot"' in str(node["metadata"]["labels"]).replace("'", '"')
    ]
    return {index: value for key, value in patch.items() for index in chosen.get(key, [key])}
