"""`ready` on recorded clusters: a good one is ready, and each broken one is named by its defect alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from checks import stack as stacks
from checks.findings import Exit, Finding, State, exit_status
from checks.ready import intent, judge
from checks.ready.checks import declared
from checks.ready.snapshot import PATHS, Snapshot
from config.clouds import registry
from config.model.spec import ClusterSpec
from config.placement.node_pools import node_pools
from sandbox.tests.stack import PROJECT
from tests.checks.ready.broken import BOTH, BROKEN, ROWS, Row, small
from tests.checks.ready.capture import load
from tests.checks.ready.healthy import ROWS as HEALTHY
from tests.checks.ready.healthy import TAKEN


def bad(found: list[Finding]) -> list[Finding]:
    """Defects, and what was not seen."""
    return [finding for finding in found if finding.state in (State.WRONG, State.UNSEEN)]


@pytest.mark.parametrize("stack", BOTH)
def test_a_good_cluster_is_ready_and_every_check_says_something(stack: str) -> None:
    found = judge.findings(load(stack))
    assert bad(found) == []
    assert exit_status(found) == Exit.READY
    assert [finding.check for finding in found] == [check.name for check in judge.CHECKS]
    ok = {finding.check for finding in found if finding.state == State.OK}
    assert ok >= {"version", "policies-served", "nodes", "volumes", "room", "contract", "policies", "pools"}
    assert ok >= {"device-plugin", "gpus", "order", "cilium"}


@pytest.mark.parametrize(("stack", "row"), BROKEN, ids=[f"{row.name}-{stack}" for stack, row in BROKEN])
def test_each_broken_cluster_is_named_by_its_defect_and_nothing_else(stack: str, row: Row) -> None:
    cluster = load(stack)
    row.spoil(cluster.parts)  # type: ignore[arg-type]
    found = bad(judge.findings(cluster))
    assert {(finding.check, finding.state) for finding in found} == {(row.check, State.WRONG)}, found
    assert any(re.search(row.says, finding.says) for finding in found), found
    assert all(finding.remedy and finding.source for finding in found)


@pytest.mark.parametrize(("stack", "row"), HEALTHY, ids=[f"{row.name}-{stack}" for stack, row in HEALTHY])
def test_a_healthy_cluster_that_looks_broken_has_notes_alone(stack: str, row: Row) -> None:
    cluster = replace(load(stack), taken=TAKEN)
    before = {finding.says for finding in judge.findings(cluster)}
    row.spoil(cluster.parts)  # type: ignore[arg-type]
    found = judge.findings(cluster)
    assert bad(found) == []
    noted = [f for f in found if f.check == row.check and f.state == State.NOTE and f.says not in before]
    assert bool(noted) == bool(row.says), found
    assert any(re.search(row.says, finding.says) for finding in noted) or not row.says, noted


_WITH_A_STACK: list[tuple[str, dict[str, Any], Callable[[Any], Any], str, State, str]] = [
    ("staging", {}, small, "room", State.OK, "when the autoscaler has grown them"),
    (
        "staging",
        {},
        lambda p: [node["status"]["allocatable"].update(cpu="500m") for node in p["nodes"]],
        "room",
        State.WRONG,
        "are all that plain on-demand nodes have",
    ),
    ("dev", {}, lambda p: p.update(expander=None), "order", State.WRONG, "chooses at random"),
    *(
        ("dev", {"expander": name}, lambda p: p.update(expander=None), "order", State.NOTE, f"expander is {name}")
        for name in ("least-waste", "random", "most-pods")
    ),
]


@pytest.mark.parametrize(("stack", "autoscaler", "spoil", "check", "state", "says"), _WITH_A_STACK)
def test_a_stack_file_says_what_the_cluster_does_not_show(
    stack: str, autoscaler: dict[str, Any], spoil: Callable[[Any], Any], check: str, state: State, says: str
) -> None:
    spec = stacks.read(PROJECT, stack)
    if autoscaler:
        cloud: Any = spec.cloud
        profile = cloud.autoscaler.model_copy(update=autoscaler)
        spec = spec.model_copy(update={"cloud": cloud.model_copy(update={"autoscaler": profile})})
    cluster = load(stack)
    spoil(cluster.parts)
    found = judge.findings(cluster, intent=intent.of(spec))
    assert [(f.check, f.state) for f in found if f.check == check or f in bad(found)] == [(check, state)]
    assert any(says in finding.says for finding in found), found


def test_there_are_fifteen_defects_on_each_cloud() -> None:
    for stack in BOTH:
        assert len({row.name for row in ROWS if stack in row.stacks}) >= 15


@pytest.mark.parametrize("part", PATHS)
def test_a_part_that_may_not_be_read_is_not_seen_and_never_guessed(part: str) -> None:
    cluster = load("dev")
    parts = {name: value for name, value in cluster.parts.items() if name != part}
    found = judge.findings(replace(cluster, parts=parts, unseen={part: "403 Forbidden"}))
    assert [finding for finding in found if finding.state == State.WRONG] == []
    unread = [finding for finding in found if finding.state == State.UNSEEN]
    assert all(finding.says == f"{part}: 403 Forbidden" and finding.remedy for finding in unread)
    # Two are read only where the cloud or the network asks for them.
    assert bool(unread) == (part not in ("cilium", "computeClasses"))
    assert exit_status(found) == (Exit.UNSEEN if unread else Exit.READY)


def as_declared_now(stack: str, spec: ClusterSpec) -> Snapshot:
    """The recorded cluster with the policies that the program declares today: their text changes more often than a record."""
    cluster, instance = load(stack), stack
    version = cluster.parts["version"]["gitVersion"]
    pools = node_pools(spec, registry.cloud_of(spec.cloud))
    for kind, body in declared.objects(spec, pools, instance, version):
        part = cluster.parts[declared.PARTS[kind]]
        next(item for item in part if item["metadata"]["name"] == body["metadata"]["name"])["spec"].update(body["spec"])
    cluster.parts["contracts"][0]["data"]["release"] = spec.release.name
    return cluster


@pytest.mark.parametrize("stack", BOTH)
def test_a_stack_file_that_says_something_else_is_named(stack: str) -> None:
    spec = stacks.read(PROJECT, stack)
    cluster = as_declared_now(stack, spec)
    assert bad(judge.findings(cluster, [declared.check(spec, stack)])) == []
    other = spec.model_copy(update={"pools": spec.pools[:-1] if stack == "staging" else spec.pools[:1]})
    said = [finding.says for finding in bad(judge.findings(cluster, [declared.check(other, stack)]))]
    assert any("the stack file has none" in text for text in said)
    assert any("guard-profiles is not as the stack file declares it: spec." in text for text in said)


def _swapped(parts: dict[str, Any]) -> None:
    """The twin before its spot pool."""
    if parts["computeClasses"]:
        parts["computeClasses"][0]["spec"]["priorities"].reverse()
    else:
        data = parts["expander"]["data"]
        data["priorities"] = (
            data["priorities"].replace("-t4-", "-x-").replace("-t4od-", "-t4-").replace("-x-", "-t4od-")
        )


def _fewer(parts: dict[str, Any]) -> None:
    data = parts["contracts"][0]["data"]
    data["pools.json"] = json.dumps([pool for pool in json.loads(data["pools.json"]) if pool["label"] != "general"])


@pytest.mark.parametrize("stack", BOTH)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda parts: parts["contracts"][0]["data"].update(release="r2020-01"),
            "the contract is of release r2020-01, the stack file",
        ),
        (_fewer, "the stack file has a pool general, and the contract has none"),
        (
            _swapped,
            "pools do not grow as the stack file says: t4 |ComputeClass kubeflow-spot orders l4od, .*; the stack file l4,",
        ),
    ],
)
def test_each_difference_to_the_stack_file_is_named(stack: str, change: Callable[[Any], Any], says: str) -> None:
    spec = stacks.read(PROJECT, stack)
    cluster = as_declared_now(stack, spec)
    change(cluster.parts)
    found = bad(judge.findings(cluster, [declared.check(spec, stack)]))
    assert {finding.check for finding in found} == {"declared"}
    assert any(re.search(says, finding.says) for finding in found), found
