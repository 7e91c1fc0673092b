"""Pools whose spot machines are stopped, or not given to a new pool; what each cloud says and does then."""

from pathlib import Path

import pytest

from sandbox.cloud.provider import InitFailed, Resource
from sandbox.cloud.spot_nodes import Bound, SpotFacts
from sandbox.cluster import plugins
from sandbox.tests.azure import conftest as azure
from sandbox.tests.gcp import conftest as gcp
from sandbox.tests.spot_bed import on_azure, on_gcp


def test_a_deallocated_machine_stays_stopped_and_counts(tmp_path: Path) -> None:
    bed = on_azure(tmp_path, scaleSetEvictionPolicy="Deallocate")
    bed.cloud.grow(bed.id(), 2)
    stopped, other = bed.cloud.running(bed.id())
    bed.cloud.take(bed.id(), [stopped])
    assert bed.size() == 2
    assert bed.cloud.running(bed.id()) == [other]
    node = bed.nodes()[stopped]
    assert {"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"} in node["spec"]["taints"]
    assert [c["status"] for c in node["status"]["conditions"] if c["type"] == "Ready"] == ["Unknown"]
    # The machine is the cloud's again.
    assert bed.cloud.set_capacity(Bound(bed.machine, 1)) == {}


def test_a_pool_on_gke_without_its_machines_is_in_error_until_they_come(tmp_path: Path) -> None:
    bed = on_gcp(tmp_path)

    def status() -> str:
        (pool,) = (record for record in bed.cloud._read().of_type(bed.cloud.pool) if record.id == bed.id())
        return str(pool.body["status"])

    before = bed.cloud.get(bed.id()) or {}
    bed.cloud.set_capacity(Bound(bed.machine, 0, silent=True))
    bed.cloud.grow(bed.id(), 1)
    assert status() == "RUNNING_WITH_ERROR"
    # Nothing of it is a property that a refresh would show: the next `up` changes nothing.
    assert bed.cloud.get(bed.id()) == {**before, "status": "RUNNING_WITH_ERROR"}
    bed.cloud.lift_capacity(bed.machine)
    assert status() == "RUNNING"


def test_a_lower_bound_above_the_capacity_is_asked_for_and_does_not_come(tmp_path: Path) -> None:
    bed = on_gcp(tmp_path)
    bed.cloud.edit(bed.id(), {}, {"autoscaling": {"totalMinNodeCount": 2, "totalMaxNodeCount": 4}})
    assert len(bed.nodes()) == 2
    bed.cloud.set_capacity(Bound(bed.machine, 1))
    bed.cloud.take(bed.id(), bed.cloud.running(bed.id())[1:])
    # Google's autoscaler holds the minimum; the machine waits for capacity.
    assert (bed.size(), len(bed.nodes())) == (2, 1)
    bed.cloud.lift_capacity(bed.machine)
    bed.cloud.apply_nodes(bed.cluster)
    assert len(bed.nodes()) == 2


def test_a_new_spot_pool_without_capacity_fails_on_azure_and_keeps_no_node(tmp_path: Path) -> None:
    account = azure.Account(tmp_path / "azure.json")
    account.cluster()
    account.cloud.set_capacity(Bound(azure.SPOT["vmSize"], 0))
    with pytest.raises(InitFailed) as failed:
        account.create(azure.POOL, {**azure.SPOT, "count": 1, "minCount": 1})
    assert "OverconstrainedAllocationRequest" in failed.value.reasons[0]
    assert failed.value.outputs["count"] == 0
    assert failed.value.outputs["provisioningState"] == "Failed"
    account.cloud.lift_capacity(azure.SPOT["vmSize"])
    account.create(azure.POOL, {**azure.SPOT, "agentPoolName": "other", "count": 1, "minCount": 1})


def test_a_new_spot_pool_without_capacity_is_left_in_error_on_gke_and_gets_its_node_later(tmp_path: Path) -> None:
    project = gcp.Project(tmp_path / "gcp.json")
    project.network()
    project.subnetwork()
    project.cluster()
    machine = gcp.SPOT["nodeConfig"]["machineType"]
    project.cloud.set_capacity(Bound(machine, 0))
    inputs = {**gcp.SPOT, "autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 4}}
    with pytest.raises(InitFailed) as failed:
        project.create(gcp.POOL, inputs)
    assert "Expected 1, running 0, transitioning 1. Current errors: [GCE_STOCKOUT]: Instance" in failed.value.reasons[0]
    pool = Resource(gcp.POOL, "it", "urn:it", failed.value.id, old_inputs=inputs, old_outputs=failed.value.outputs)
    # The next `up` reads and updates it: neither fails, and the pool still waits.
    pool = project.update(project.refresh(pool), inputs)
    assert not any("-l4-" in name for name in project.runtime.names())
    project.cloud.lift_capacity(machine)
    project.cloud.apply_nodes(gcp.CLUSTER_ID)
    assert any("-l4-" in name for name in project.runtime.names())


def test_a_pool_that_extends_the_shutdown_is_noticed_for_longer(tmp_path: Path) -> None:
    longer = on_gcp(tmp_path, kubeletConfig={"shutdownGracePeriodSeconds": 120})
    assert longer.cloud.spot_of(longer.id()).notice == 120
    assert longer.cloud.spot_of(longer.id("twin")).notice in (30, 120)


CLOUDS = pytest.mark.parametrize("cloud", plugins.NAMES)


def facts(cloud: str) -> SpotFacts:
    return plugins.plugin(cloud).spot


@CLOUDS
def test_pods_are_gone_before_the_machine_is(cloud: str) -> None:
    spot = facts(cloud)
    graces = spot.grace + (spot.critical_grace if spot.pods == "failed" else 0)
    assert 0 < spot.reaction + graces <= spot.notice


@CLOUDS
def test_a_refusal_has_the_code_the_machine_and_no_word_that_is_not_filled_in(cloud: str) -> None:
    spot = facts(cloud)
    for refusal in (spot.refused, spot.quota, spot.later):
        text = refusal.text("some-machine", "some-region", "some-zone")
        assert text.startswith(f"{refusal.code}: ")
        assert "{" not in text


@pytest.mark.parametrize(
    ("cloud", "word"), [("azure", "'westeurope'"), ("azure", "Standard_NC4as_T4_v3"), ("gcp", "westeurope-b")]
)
def test_a_refusal_says_what_is_short_and_where(cloud: str, word: str) -> None:
    assert word in facts(cloud).refused.text("Standard_NC4as_T4_v3", "westeurope", "westeurope-b")


def test_a_pool_that_extends_the_shutdown_gives_its_pods_longer() -> None:
    longer = facts("gcp").extended(120, None)
    assert (longer.notice, longer.grace, longer.critical_grace) == (120, 105, 15)
    longer = facts("gcp").extended(120, 40)
    assert (longer.grace, longer.critical_grace) == (80, 40)
    assert facts("gcp").extended(None, None) == facts("gcp")
