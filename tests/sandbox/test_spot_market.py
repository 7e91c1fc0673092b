"""Spot machines that the emulated clouds refuse, take back, or never bring, on each of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.cloud import EmulatedCloud
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.nodes import is_silent
from sandbox.cloud.provider import InitFailed, Resource
from sandbox.cloud.spot_state import Bound
from tests.sandbox.azure import conftest as azure
from tests.sandbox.engine_side import RecordingRuntime
from tests.sandbox.gcp import conftest as gcp


@dataclass
class Bed:
    """A cluster with a spot pool `spot` and an on-demand pool `twin` of the same machine, both from zero on."""

    cloud: EmulatedCloud
    runtime: RecordingRuntime
    cluster: str
    machine: str
    zones: list[str]

    def id(self, pool: str = "spot") -> str:
        return f"{self.cluster}/{self.cloud.folder}/{pool}"

    def nodes(self, pool: str = "spot") -> dict[str, dict[str, Any]]:
        """The Node objects of a pool, by name."""
        group = next(group for group in self.cloud.node_groups(self.cluster).groups if group.pool == pool)
        applied = next(iter(self.runtime.nodes.values()))
        return {node["metadata"]["name"]: node for node in applied if node["metadata"]["name"] in group.nodes}

    def size(self, pool: str = "spot") -> int:
        return next(status.count for status in self.cloud.pools() if status.pool == pool)

    def refused(self, by: int, pool: str = "spot") -> str:
        with pytest.raises(ScaleRefused) as refused:
            self.cloud.grow(self.id(pool), by)
        return str(refused.value)


def on_azure(folder: Path, **changes: Any) -> Bed:
    account = azure.Account(folder / "azure.json")
    account.group()
    account.cluster()
    zones = ["1", "2", "3"]
    account.create(azure.POOL, {**azure.SPOT, "agentPoolName": "spot", "availabilityZones": zones, **changes})
    regular = {key: value for key, value in azure.SPOT.items() if key != "scaleSetPriority"}
    account.create(azure.POOL, {**regular, "agentPoolName": "twin"})
    return Bed(account.cloud, account.runtime, azure.CLUSTER_ID, azure.SPOT["vmSize"], zones)


def on_gcp(folder: Path, **config: Any) -> Bed:
    project = gcp.Project(folder / "gcp.json")
    project.network()
    project.subnetwork()
    project.cluster()
    project.create(gcp.POOL, {**gcp.with_config(gcp.SPOT, **config), "name": "spot", "nodeLocations": gcp.ZONES})
    project.create(gcp.POOL, {**gcp.with_config(gcp.SPOT, spot=None), "name": "twin"})
    return Bed(project.cloud, project.runtime, gcp.CLUSTER_ID, gcp.SPOT["nodeConfig"]["machineType"], gcp.ZONES)


@pytest.fixture(autouse=True)
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(params=[on_azure, on_gcp], ids=["azure", "gcp"])
def bed(request: pytest.FixtureRequest, tmp_path: Path) -> Bed:
    make: Callable[[Path], Bed] = request.param
    return make(tmp_path)


def test_without_capacity_spot_is_refused_in_the_clouds_words_and_on_demand_grows(bed: Bed) -> None:
    assert bed.cloud.set_capacity(Bound(bed.machine, 0)) == {}
    text = bed.refused(1)
    assert bed.cloud.spot.refused.code in text
    assert text.startswith("pool spot stays at 0 nodes: ")
    assert (bed.machine in text) == (bed.cloud.folder == "agentPools")
    assert bed.size() == 0
    bed.cloud.grow(bed.id("twin"), 2)
    assert len(bed.nodes("twin")) == 2


def test_a_bound_that_is_lifted_lets_the_pool_grow(bed: Bed) -> None:
    bed.cloud.set_capacity(Bound(bed.machine, 0))
    bed.refused(1)
    bed.cloud.lift_capacity(bed.machine)
    assert bed.cloud.capacities() == []
    bed.cloud.grow(bed.id(), 1)
    assert len(bed.nodes()) == 1


def test_another_machines_bound_does_not_count(bed: Bed) -> None:
    bed.cloud.set_capacity(Bound("another", 0))
    bed.cloud.grow(bed.id(), 1)


def test_a_later_bound_takes_the_place_of_an_earlier_one(bed: Bed) -> None:
    bed.cloud.set_capacity(Bound(bed.machine, 0))
    bed.cloud.set_capacity(Bound(bed.machine, 2))
    assert bed.cloud.capacities() == [Bound(bed.machine, 2)]
    bed.cloud.grow(bed.id(), 2)


def test_a_request_beyond_the_bound_is_refused_whole_on_azure_and_in_part_on_google(bed: Bed) -> None:
    bed.cloud.set_capacity(Bound(bed.machine, 2))
    text = bed.refused(3)
    given = 2 if bed.cloud.spot.partial else 0
    assert (bed.size(), len(bed.nodes())) == (given, given)
    assert ("gets 2 of 3 nodes" in text) == bed.cloud.spot.partial


def test_the_bound_of_a_zone_leaves_the_other_zones(bed: Bed) -> None:
    first, *others = bed.zones
    bed.cloud.set_capacity(Bound(bed.machine, 0, first))
    if bed.cloud.spot.partial:
        bed.cloud.grow(bed.id(), 4)
        zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in bed.nodes().values()}
        assert zones <= set(others)
    else:
        # The scale set goes round its zones, and takes no other for one that is full.
        bed.refused(1)


def test_a_bound_below_what_runs_names_the_newest_machines(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 3)
    first, *newer = bed.cloud.running(bed.id())
    assert bed.cloud.set_capacity(Bound(bed.machine, 1)) == {bed.id(): newer}
    assert first in bed.nodes()
    assert bed.cloud.set_capacity(Bound(bed.machine, 3)) == {}


def test_a_silent_cloud_accepts_and_the_machine_never_joins_until_there_is_one(bed: Bed) -> None:
    bed.cloud.set_capacity(Bound(bed.machine, 1, silent=True))
    bed.cloud.grow(bed.id(), 3)
    assert (bed.size(), len(bed.nodes())) == (3, 1)
    group = next(group for group in bed.cloud.node_groups(bed.cluster).groups if group.pool == "spot")
    assert len(group.nodes) == 3
    bed.cloud.set_capacity(Bound(bed.machine, 2))
    bed.cloud.apply_nodes(bed.cluster)
    assert len(bed.nodes()) == 2
    bed.cloud.lift_capacity(bed.machine)
    bed.cloud.apply_nodes(bed.cluster)
    assert len(bed.nodes()) == 3


def test_the_autoscaler_may_remove_a_machine_that_never_joined(bed: Bed) -> None:
    bed.cloud.set_capacity(Bound(bed.machine, 1, silent=True))
    bed.cloud.grow(bed.id(), 2)
    group = next(group for group in bed.cloud.node_groups(bed.cluster).groups if group.pool == "spot")
    (missing,) = set(group.nodes) - bed.nodes().keys()
    bed.cloud.remove(bed.id(), [missing])
    assert (bed.size(), len(bed.nodes())) == (1, 1)
    assert "machineStates" not in "".join(record for record in bed.cloud._read().records)


def test_a_node_under_notice_takes_no_new_pod_and_shows_the_clouds_condition(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 2)
    before = bed.nodes()
    name, other = bed.cloud.running(bed.id())
    bed.cloud.mark(bed.id(), [name], "noticed", "Sun, 22 Nov 2026 21:00:30 GMT")
    facts, node = bed.cloud.spot, bed.nodes()[name]
    assert node["spec"]["taints"] == [*before[name]["spec"]["taints"], facts.taint.as_object()]
    (condition,) = [c for c in node["status"]["conditions"] if c["type"] == facts.condition.type]
    assert condition == facts.condition.as_object("Sun, 22 Nov 2026 21:00:30 GMT")
    assert node["spec"].get("unschedulable", False) == (facts.pods == "deleted")
    assert is_silent(node) == (facts.pods == "failed")
    assert bed.nodes()[other] == before[other]
    bed.cloud.mark(bed.id(), [name], None)
    assert bed.nodes() == before


def test_an_evicted_machine_is_gone_and_google_makes_another_where_it_has_one(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 3)
    taken, *others = bed.cloud.running(bed.id())
    bed.cloud.mark(bed.id(), [taken], "noticed")
    seen: list[set[str]] = []
    bed.runtime.before = lambda call: seen.append(set(bed.runtime.names()))
    replaced = bed.cloud.take(bed.id(), [taken])
    assert replaced == bed.cloud.spot.replaced
    assert set(bed.nodes()) == ({taken, *others} if replaced else set(others))
    # Its node was gone meanwhile: the new machine is another.
    assert taken not in seen[-1] or not replaced
    assert bed.size() == (3 if replaced else 2)


def test_an_evicted_machine_is_not_made_anew_beyond_a_bound(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 2)
    bed.cloud.set_capacity(Bound(bed.machine, 1))
    assert not bed.cloud.take(bed.id(), bed.cloud.running(bed.id())[:1])
    assert (bed.size(), len(bed.nodes())) == (1, 1)


def test_an_eviction_that_was_killed_is_finished_by_the_next_command(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 2)
    noticed, other = bed.cloud.running(bed.id())
    bed.cloud.mark(bed.id(), [other], "noticed")
    # Another `evict` begins with it.
    assert bed.cloud.running(bed.id()) == [other, noticed]
    bed.cloud.reconcile()
    assert not any(node["spec"].get("unschedulable") or is_silent(node) for node in bed.nodes().values())
    assert bed.size() == len(bed.nodes()) == (2 if bed.cloud.spot.replaced else 1)


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
        (pool,) = (record for record in bed.cloud._read().of(bed.cloud.pool) if record.id == bed.id())
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
    account.group()
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


def test_the_machines_of_spot_pools_and_their_zones_are_known(bed: Bed) -> None:
    assert bed.cloud.spot_machines() == {bed.machine}
    assert bed.cloud.zones_of(bed.machine) == set(bed.zones)
    assert bed.cloud.zones_of("another") is None
