"""Verdicts about pods that never get a node, get a pod late, wait for full pools, or may use several chains."""

from dataclasses import replace

import pytest

from drill.judge.bounds import bound
from drill.judge.verdicts import failed
from drill.judge.view import View
from drill.world.record import Node, Pod, Pool, Record, Role, Work
from tests.drill import records
from tests.drill.changes import COMPLETE, EARLY, FALLBACK, FULL, PLATFORM, SHARE, WAIT, judged, late_on_demand, red


def on_gke(record: Record) -> Record:
    record.provider, record.settings = "gcp", {}
    return record


@pytest.mark.parametrize("role", ["platform", "predictor", "notebook"])
def test_what_serves_and_never_gets_a_node_is_red_on_gke(role: Role) -> None:
    record = on_gke(records.spot_gone())
    record.pods.append(records.serving("a/web", role, 900.0))
    assert red(record) == {COMPLETE, WAIT}
    assert "a/web-0" in judged(record)[COMPLETE].why
    record.pods[-1].created = record.clock.length - 60
    assert red(record) == set()


def test_a_full_pool_explains_that_what_serves_waits() -> None:
    record = on_gke(records.spot_gone())
    record.pools[0] = replace(record.pools[0], most=1)
    record.pods.append(records.serving("a/web", "platform", 900.0))
    found = judged(record)
    assert red(record) == {WAIT}
    assert "waited for system at its maximum of 1" in found[WAIT].why
    assert "system at 1 node" in found[FULL].measured
    record.accepted_wait = record.clock.length
    assert not failed(judged(record).values())


def test_a_pool_at_its_maximum_is_named_on_gke_as_well() -> None:
    record = on_gke(records.spot_gone())
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 2100.0, 4400.0)
    assert judged(record)[FULL].ok is True, "spot may have come"
    record.pools[1] = replace(record.pools[1], most=0)
    found = judged(record)
    assert (found[FULL].ok, "gpuod at 6 nodes: 1 pod waited" in found[FULL].measured) == (None, True)


def test_a_pod_that_was_admitted_and_can_run_on_spot_alone_is_red_without_spot() -> None:
    record = records.spot_gone()
    greedy = records.serving("a/greedy", "notebook", 5300.0, reach=("gpuspot",))
    record.pods.append(greedy)
    assert red(record) == {PLATFORM}
    assert "a/greedy-0 was admitted" in judged(record)[PLATFORM].why
    greedy.reach = ("gpuspot", "system")
    assert red(record) == set()


def quota(record: Record, at_once: int | None) -> Record:
    """Add a Job of two pieces, the second of which gets its pod when the first has ended."""
    for index, (created, ended) in enumerate(((10.0, 3000.0), (3000.0, None))):
        name = f"q/job-0/{index}"
        record.work.append(Work(name, "training", 10.0, 2900.0, 600.0, ended, at_once=at_once))
        times = (created, created + 5, "system-0", "system", created + 5, ended, "succeeded" if ended else None)
        record.pods.append(Pod(f"q/job-0-{index}", name, "training", "Job", 0, False, *times))  # type: ignore[arg-type]
    return record


@pytest.mark.parametrize(("at_once", "late"), [(1, False), (2, True), (None, True)])
def test_work_waits_from_its_turn_on_although_a_quota_keeps_its_pod_away(at_once: int | None, late: bool) -> None:
    record = quota(records.spot_gone(), at_once)
    assert red(record) == ({WAIT} if late else set())
    if late:
        assert "q/job-0-1. Is there a ResourceQuota?" in judged(record)[WAIT].why


def test_a_pool_at_its_maximum_explains_a_wait_and_excuses_none() -> None:
    record = records.spot_gone()
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 1300.0, 3690.0)
    found = judged(record)
    assert red(record) == {WAIT, FALLBACK}
    assert "39.8 min" in found[WAIT].measured
    assert "1 pod waited for gpuod at its maximum of 6: raise fallback[].onDemand.maxNodes" in found[WAIT].why
    assert found[FULL].ok is None
    assert "gpuod at 6 nodes: 1 pod waited, up to 39.8 min" in found[FULL].measured
    # Where the team accepts it, it holds, and the reason stands beside it.
    record.accepted_wait = 2400.0
    found = judged(record)
    assert (found[WAIT].state, found[FALLBACK].state) == ("explained", "explained")
    assert "at its maximum of 6" in found[WAIT].why
    record.pools[2] = replace(record.pools[2], most=7)
    assert "Nothing explains c/late-0" in judged(record)[WAIT].why


def test_a_pool_at_its_maximum_explains_no_wait_while_spot_could_grow() -> None:
    record = records.spot_gone()
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 1300.0, 4400.0)
    assert "Nothing explains c/late-0" in judged(record)[WAIT].why
    record.pools[1] = replace(record.pools[1], most=4)
    assert "at its maximum of 6" in judged(record)[WAIT].why
    # Nor where the autoscaler does not ask for it, because of nodes that are dead: the limits of unready nodes are settings.
    record.pools[1] = replace(record.pools[1], most=20)
    record.nodes += [Node(f"dead-{each}", "gpuspot", "1", 3000.0, 3060.0) for each in range(4)]
    assert "Nothing explains c/late-0" in judged(record)[WAIT].why


def test_a_wait_on_gke_is_judged_by_what_is_accepted_as_well() -> None:
    record = records.spot_gone()
    late_on_demand(record)
    record.provider, record.settings = "gcp", {}
    assert (judged(record)[WAIT].ok, judged(record)[FALLBACK].ok) == (False, False)
    record.accepted_wait = 7200.0
    assert (judged(record)[WAIT].ok, judged(record)[FALLBACK].ok) == (True, True)


def two_chains(most: int = 4) -> Record:
    """Return the drill of one chain, in a stack with another whose spot is there all the time."""
    record = records.spot_gone()
    record.pools[2] = replace(record.pools[2], most=most)
    price = {"on_demand_price": 30.0}
    record.pools.append(Pool("big", "Standard_ND96", "spot", 8, 0, 4, fallback=("bigod",), price=9.0, **price))
    record.pools.append(Pool("bigod", "Standard_ND96", "on-demand", 8, 0, 4, price=30.0, **price))
    return record


@pytest.mark.parametrize("reach", [(), ("gpuspot", "gpuod"), ("gpuspot", "gpuod", "big", "bigod")])
def test_the_order_goes_through_a_chain_before_the_next(reach: tuple[str, ...]) -> None:
    record = two_chains(most=20)
    for pod in record.pods:
        pod.reach = reach if pod.gpus else ()
    assert red(record) == set()


def test_a_node_on_demand_of_the_second_chain_is_early_while_its_own_spot_is_there() -> None:
    record = two_chains()
    for each in (*record.nodes, *record.pods):
        if each.pool == "gpuod":
            each.pool = "bigod"
    assert red(record) == {SHARE, EARLY}


def test_a_pod_that_passes_a_full_chain_may_wait_for_both() -> None:
    record = two_chains(most=0)
    pod = records.training("c/big", 2000.0, 2100.0, "x", "bigod")
    one = bound(View(record), pod)
    pod.reach = ("gpuspot", "gpuod", "big", "bigod")
    both = bound(View(record), pod)
    assert one is not None
    assert both is not None
    assert both.length == one.length + records.PROVISION + 10


@pytest.mark.parametrize(
    ("reach", "explained"), [(("gpuspot", "gpuod"), True), (("gpuspot", "gpuod", "big", "bigod"), False)]
)
def test_full_pools_explain_a_wait_only_if_all_that_a_pod_may_use_are_full(
    reach: tuple[str, ...], explained: bool
) -> None:
    record = two_chains(most=6)
    record.capacity = [step for step in record.capacity if step.at < records.BACK]
    for node in record.nodes:
        node.gone = None if node.pool == "gpuod" else node.gone
    record.pods.append(records.training("c/late", 1900.0, reach=reach))
    found = judged(record)[WAIT]
    assert found.state == "red"
    assert ("waited for gpuod at its maximum of 6" in found.why) == explained
