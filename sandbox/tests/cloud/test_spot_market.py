"""Spot machines that the emulated clouds refuse, take back, or never bring, on each of them."""

from sandbox.cloud.node_groups import is_silent
from sandbox.cloud.spot_nodes import Bound
from sandbox.tests.spot_bed import Bed


def test_without_capacity_spot_is_refused_in_the_clouds_words_and_on_demand_grows(bed: Bed) -> None:
    assert bed.cloud.set_capacity(Bound(bed.machine, 0)) == {}
    text = bed.refused(1)
    assert bed.cloud.spot.refused.code in text
    assert text.startswith("pool spot stays at 0 nodes: ")
    assert (bed.machine in text) == (bed.cloud.folder == "agentPools")
    assert bed.size() == 0
    bed.cloud.grow(bed.id("twin"), 2)
    assert len(bed.nodes("twin")) == 2


def test_a_restored_cloud_has_all_machines_and_all_of_them_run(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 2)
    first, second = bed.nodes()
    bed.cloud.set_capacity(Bound(bed.machine, 2, silent=True))
    bed.cloud.set_capacity(Bound("another", 0))
    bed.cloud.grow(bed.id(), 1)
    bed.cloud.mark(bed.id(), [first], "noticed")
    bed.cloud.mark(bed.id(), [second], "unready")
    assert len(bed.nodes()) == 2
    bed.cloud.restore()
    bed.cloud.apply_nodes(bed.cluster)
    assert bed.cloud.capacities() == []
    nodes = bed.nodes().values()
    assert len(nodes) == 3
    assert not any(is_silent(node) or node["spec"].get("unschedulable") for node in nodes)
    bed.cloud.grow(bed.id(), 1)


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
    bed.cloud.mark(bed.id(), [first], "noticed")
    assert bed.cloud.set_capacity(Bound(bed.machine, 2)) == {bed.id(): [first]}


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
    assert replaced == ([taken] if bed.cloud.spot.replaced else [])
    assert set(bed.nodes()) == ({taken, *others} if replaced else set(others))
    # Its node was gone meanwhile: the new machine is another.
    assert taken not in seen[-1] or not replaced
    assert bed.size() == (3 if replaced else 2)


def test_an_evicted_machine_is_not_made_anew_beyond_a_bound(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 2)
    bed.cloud.set_capacity(Bound(bed.machine, 1))
    assert not bed.cloud.take(bed.id(), bed.cloud.running(bed.id())[:1])
    assert (bed.size(), len(bed.nodes())) == (1, 1)
    # A bound with room is none for it.
    bed.cloud.set_capacity(Bound(bed.machine, 2))
    again = bed.cloud.take(bed.id(), bed.cloud.running(bed.id()))
    assert len(again) == bed.size() == (1 if bed.cloud.spot.replaced else 0)


def test_a_pool_that_is_deleted_during_the_notice_is_gone_with_its_machines(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 1)
    names = bed.cloud.running(bed.id())
    bed.cloud.mark(bed.id(), names, "noticed")
    bed.cloud.delete(bed.id())
    assert not bed.cloud.take(bed.id(), names)
    assert bed.cloud.stopped(bed.id()) == []
    assert not set(names) & set(bed.runtime.names())


def test_a_node_whose_kubelet_is_silent_is_not_ready(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 1)
    (name,) = bed.cloud.running(bed.id())
    bed.cloud.mark(bed.id(), [name], "unready")
    node = bed.nodes()[name]
    assert is_silent(node)
    assert {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}.items() <= node["status"][
        "conditions"
    ][-1].items()


def test_an_eviction_that_was_killed_is_finished_by_the_next_command(bed: Bed) -> None:
    bed.cloud.grow(bed.id(), 2)
    noticed, other = bed.cloud.running(bed.id())
    bed.cloud.mark(bed.id(), [other], "noticed")
    # Another `evict` begins with it.
    assert bed.cloud.running(bed.id()) == [other, noticed]
    bed.cloud.reconcile()
    assert not any(node["spec"].get("unschedulable") or is_silent(node) for node in bed.nodes().values())
    assert bed.size() == len(bed.nodes()) == (2 if bed.cloud.spot.replaced else 1)


def test_the_machines_of_spot_pools_and_their_zones_are_known(bed: Bed) -> None:
    assert bed.cloud.spot_machines() == {bed.machine}
    assert bed.cloud.zones_of(bed.machine) == set(bed.zones)
    assert bed.cloud.zones_of("another") is None


def test_the_clouds_give_thirty_seconds_of_notice_and_gke_half_of_it_to_pods(bed: Bed) -> None:
    """Azure: learn.microsoft.com, page scheduled-events, Preempt. Google: page spot-vms of GKE, graceful node termination."""
    spot = bed.cloud.spot
    assert spot.notice == 30
    # What is left of Azure's notice after it is noticed; critical pods of GKE come last.
    assert (spot.grace, spot.critical_grace) == ((24, 24) if bed.cloud.folder == "agentPools" else (15, 15))
