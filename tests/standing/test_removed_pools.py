"""Pools that an edit removes while pods run there, through the real engine: refused, drained, or gone by the user's word."""

import json
import re
import shlex
from typing import Any

import pytest

from sandbox.tests.pods import notebook
from sandbox.tests.stack import Stack
from sandbox.tests.subjects import DEV, Subject

pytestmark = [
    pytest.mark.engine,
    # On both clouds: tests/stacks/test_removals.py, by previews.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]


def up(stack: Stack, *, ok: bool) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(stack.run("up", "--json", ok=ok).stdout)
    return shown


def test_what_runs_on_removed_pools_is_named_until_it_is_drained_or_given_up(stack: Stack, subject: Subject) -> None:
    settings = stack.config
    for pool in (subject.spot, subject.twin):
        stack.run("scale", pool, "1")
    nodes = {pool: notebook(stack, pool) for pool in ("general", subject.spot, subject.twin)}
    general, spot, *others = settings["pools"]
    settings["pools"] = [{**general, "name": "cpu"}, {**spot, "name": "other"}, *others]
    stack.write(settings)
    before = {node["metadata"]["uid"] for node in stack.get("nodes")["items"]}

    # All that would go is named at once, and nothing is done.
    refused = up(stack, ok=False)
    assert refused["steps"] == []
    assert {node["metadata"]["uid"] for node in stack.get("nodes")["items"]} == before
    errors, warnings = "\n".join(refused["errors"]), "\n".join(refused["warnings"])
    assert errors.startswith("2 changes refused")
    for pool, shown in (("general", errors), (subject.twin, errors), (subject.spot, warnings)):
        assert re.search(
            rf"the \S+ pool {pool} would go .* default/nb-{pool}-0.* on nodes .*{nodes[pool]}",
            shown,
        )

    # The twin is drained as the message says, spot machines may go, and the word is for the general pool.
    for pool in (subject.spot, subject.twin):
        stack.kubectl("scale", "statefulset", f"nb-{pool}", "--replicas=0")
    (drain,) = re.findall(rf"`kubectl (drain -l \S+={subject.twin} [^`]+)`", errors)
    stack.kubectl(*shlex.split(drain))
    settings["cluster"]["removedPools"] = ["general"]
    stack.write(settings)
    done = up(stack, ok=True)
    gone = {step["name"] for step in done["steps"] if step["op"] == "delete"}
    assert {f"{subject.cluster}-{pool}" for pool in nodes} <= gone
    (given_up,) = [warning for warning in done["warnings"] if "would go" in warning]
    assert "default/nb-general-0" in given_up
    for pool in nodes:
        stack.kubectl("delete", "statefulset", f"nb-{pool}")
