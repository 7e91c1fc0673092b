"""`ready` on recorded clusters: a good one is ready, and each broken one is named by its defect alone."""

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
from checks.ready.checks.declared import PARTS
from checks.ready.snapshot import PATHS, Snapshot
from config.clouds import registry
from config.clouds.azure.azure_node_provisioning import AzureNodeProvisioning
from config.model.spec import ClusterSpec
from config.placement.node_pools import node_pools
from config.stack_file import loader
from sandbox.tests.stack import PROJECT
from tests.checks.ready.clusters import BOTH, KARPENTER, TAKEN, cluster, load, rows
from tests.components.program import Declared, declare, stack_config


def bad(found: list[Finding]) -> list[Finding]:
    """Return defects, and what was not seen."""
    return [finding for finding in found if finding.state in (State.WRONG, State.UNSEEN)]


@pytest.mark.parametrize("stack", [*BOTH, KARPENTER])
def test_a_good_cluster_is_ready_and_every_check_says_something(stack: str) -> None:
    found = judge.findings(load(stack))
    assert bad(found) == []
    assert exit_status(found) == Exit.READY
    assert [finding.check for finding in found] == [check.name for check in judge.CHECKS]
    ok = {finding.check for finding in found if finding.state == State.OK}
    assert ok >= {"version", "policies-served", "nodes", "volumes", "room", "contract", "policies", "pools"}
    assert ok >= {"device-plugin", "gpus", "order", "cilium"}
    assert "names no storage" in {finding.check: finding.says for finding in found}["checkpoints"]


@pytest.mark.parametrize(("stack", "name", "check", "says", "steps"), rows("broken"))
def test_each_broken_cluster_is_named_by_its_defect_and_nothing_else(
    stack: str, name: str, check: str, says: str, steps: list[Any]
) -> None:
    found = bad(judge.findings(cluster(stack, *steps)))
    assert {(finding.check, finding.state) for finding in found} == {(check, State.WRONG)}, found
    assert any(re.search(says, finding.says) for finding in found), found
    assert all(finding.remedy and finding.source for finding in found)


@pytest.mark.parametrize(("stack", "name", "check", "says", "steps"), rows("healthy"))
def test_a_healthy_cluster_that_looks_broken_has_notes_alone(
    stack: str, name: str, check: str, says: str, steps: list[Any]
) -> None:
    before = {finding.says for finding in judge.findings(replace(load(stack), taken=TAKEN))}
    found = judge.findings(replace(cluster(stack, *steps), taken=TAKEN))
    assert bad(found) == []
    noted = [f for f in found if f.check == check and f.state == State.NOTE and f.says not in before]
    assert bool(noted) == bool(says), found
    assert any(re.search(says, finding.says) for finding in noted) or not says, noted


@pytest.mark.parametrize(
    ("stack", "expander", "step", "check", "state", "says"),
    [
        ("staging", "", "small", "room", State.OK, "when the autoscaler has grown them"),
        (
            *("staging", "", {"nodes": {"each": {"status": {"allocatable": {"cpu": "500m"}}}}}),
            *("room", State.WRONG, "are all that plain on-demand nodes have"),
        ),
        ("dev", "", {"expander": 404}, "order", State.WRONG, "chooses at random"),
        *(
            ("dev", name, {"expander": 404}, "order", State.NOTE, f"expander is {name}")
            for name in ("least-waste", "random", "most-pods")
        ),
    ],
)
def test_a_stack_file_says_what_the_cluster_does_not_show(
    stack: str, expander: str, step: Any, check: str, state: State, says: str
) -> None:
    spec = stacks.read_spec(PROJECT, stack)
    if expander:
        cloud: Any = spec.cloud
        profile = cloud.autoscaler.model_copy(update={"expander": expander})
        spec = spec.model_copy(update={"cloud": cloud.model_copy(update={"autoscaler": profile})})
    found = judge.findings(cluster(stack, step), intent=intent.intent_of(spec))
    assert [(f.check, f.state) for f in found if f.check == check or f in bad(found)] == [(check, state)]
    assert any(says in finding.says for finding in found), found


@pytest.mark.parametrize("part", PATHS)
def test_a_part_that_may_not_be_read_is_not_seen_and_never_guessed(part: str) -> None:
    recorded = load("dev")
    parts = {name: value for name, value in recorded.parts.items() if name != part}
    found = judge.findings(replace(recorded, parts=parts, unseen={part: "403 Forbidden"}))
    assert [finding for finding in found if finding.state == State.WRONG] == []
    unread = [finding for finding in found if finding.state == State.UNSEEN]
    assert all(finding.says == f"{part}: 403 Forbidden" and finding.remedy for finding in unread)
    # Two are read only where the cloud or the network asks for them.
    assert bool(unread) == (part not in ("cilium", "computeClasses"))
    assert exit_status(found) == (Exit.UNSEEN if unread else Exit.READY)


def as_declared_now(stack: str, spec: ClusterSpec) -> Snapshot:
    """Return the recorded cluster with the policies of today's program: their text changes more often than a record."""
    snapshot = load(stack)
    for kind, body in declared.objects(
        spec, node_pools(spec, registry.cloud_of(spec.cloud)), name_of(stack), snapshot.parts["version"]["gitVersion"]
    ):
        part = snapshot.parts[PARTS[kind]]
        found = [item for item in part if item["metadata"]["name"] == body["metadata"]["name"]]
        # The record has no policy of Karpenter's.
        assert found or stack == KARPENTER
        if found:
            found[0]["spec"].update(body["spec"])
        else:
            part.append(body)
    snapshot.parts["contracts"][0]["data"]["release"] = spec.release.name
    return snapshot


@pytest.mark.parametrize("stack", [*BOTH, KARPENTER])
def test_a_stack_file_that_says_something_else_is_named(stack: str) -> None:
    spec = spec_of(stack)
    snapshot = as_declared_now(stack, spec)
    assert bad(judge.findings(snapshot, [declared.declared_check(spec, name_of(stack))])) == []
    other = spec.model_copy(update={"pools": spec.pools[:-1] if stack == "staging" else spec.pools[:1]})
    said = [finding.says for finding in bad(judge.findings(snapshot, [declared.declared_check(other, name_of(stack))]))]
    assert any("the stack file has none" in text for text in said)
    assert any("guard-profiles is not as the stack file declares it: spec." in text for text in said)


def name_of(stack: str) -> str:
    """Return the name of the stack that a recorded cluster is of."""
    return "dev" if stack == KARPENTER else stack


def spec_of(stack: str) -> ClusterSpec:
    """Return the stack file of a recorded cluster."""
    spec = stacks.read_spec(PROJECT, name_of(stack))
    if stack != KARPENTER:
        return spec
    cloud: Any = spec.cloud
    return spec.model_copy(update={"cloud": cloud.model_copy(update={"node_provisioning": AzureNodeProvisioning()})})


def put(parts: dict[str, Any], declared: Declared) -> None:
    """Put the policies that a program declares in place of the recorded ones."""
    for kind, part in PARTS.items():
        found = [each.inputs for each in declared.resources if each.type.endswith(f":{kind}")]
        names = {each["metadata"]["name"] for each in found}
        parts[part] = [*found, *(item for item in parts[part] if item["metadata"]["name"] not in names)]


@pytest.mark.program
def test_what_the_program_declares_with_karpenter_is_as_its_stack_file_says() -> None:
    settings = stack_config(PROJECT / "tests" / "configs" / "node-provisioning.happy.yaml")
    own = {key.removeprefix("kubeflow-spot:"): value for key, value in settings.items()}
    spec, _ = loader.read_stack(own)
    assert spec
    snapshot = load(KARPENTER)
    program = declare(settings, stack="dev")
    put(snapshot.parts, program)
    data = next(each.inputs["data"] for each in program.resources if each.type.endswith(":ConfigMap"))
    snapshot.parts["contracts"][0]["data"] = data
    check = declared.declared_check(spec, "dev")
    assert bad(judge.findings(snapshot, [check])) == []
    (kept,) = (each for each in snapshot.parts["mutatingPolicies"] if each["metadata"]["name"].endswith("kept-pods"))
    kept["spec"]["mutations"] = []
    (finding,) = bad(judge.findings(snapshot, [check]))
    assert "kept-pods is not as the stack file declares it: spec.mutations" in finding.says


def _swapped(parts: dict[str, Any]) -> None:
    """Put the twin before its spot pool."""
    if parts["nodePools"]:
        parts["nodePools"][1]["spec"]["weight"] = 96
    elif parts["computeClasses"]:
        parts["computeClasses"][0]["spec"]["priorities"].reverse()
    else:
        text = parts["expander"]["data"]["priorities"].replace("-t4-", "-x-").replace("-t4od-", "-t4-")
        parts["expander"]["data"]["priorities"] = text.replace("-x-", "-t4od-")


def _fewer(parts: dict[str, Any]) -> None:
    data = parts["contracts"][0]["data"]
    data["pools.json"] = json.dumps([pool for pool in json.loads(data["pools.json"]) if pool["label"] != "general"])


def _older(parts: dict[str, Any]) -> None:
    parts["contracts"][0]["data"].update(release="r2020-01")


@pytest.mark.parametrize("stack", [*BOTH, KARPENTER])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_older, "the contract is of release r2020-01, the stack file"),
        (_fewer, "the stack file has a pool general, and the contract has none"),
        (
            _swapped,
            "not grow as the stack file says: t4 |ComputeClass kubeflow-spot orders l4od, .*; the stack file l4,"
            "|weights of Karpenter's NodePools order general, t4od, t4; the stack file general, t4, t4od",
        ),
    ],
)
def test_each_difference_to_the_stack_file_is_named(stack: str, change: Callable[[Any], Any], says: str) -> None:
    spec = spec_of(stack)
    snapshot = as_declared_now(stack, spec)
    change(snapshot.parts)
    found = bad(judge.findings(snapshot, [declared.declared_check(spec, name_of(stack))]))
    assert {finding.check for finding in found} == {"declared"}
    assert any(re.search(says, finding.says) for finding in found), found
