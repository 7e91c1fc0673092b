"""Verdicts of stacks with several chains: spot of another chain is none for a pod that never asks for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drill.judge.bounds import bound
from drill.judge.verdicts import verdicts
from drill.judge.view import View
from drill.world.record import Pool, Record
from tests.drill import records


def two_chains(most: int = 4) -> Record:
    """The drill of one chain, in a stack with another whose spot is there all the time."""
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
    assert [verdict.name for verdict in verdicts(record) if verdict.ok is False] == []


def test_a_node_on_demand_of_the_second_chain_is_early_while_its_own_spot_is_there() -> None:
    record = two_chains()
    for each in (*record.nodes, *record.pods):
        if each.pool == "gpuod":
            each.pool = "bigod"
    names = [verdict.name for verdict in verdicts(record) if verdict.ok is False]
    assert names == ["On spot while there was spot", "None on demand before its turn"]


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
    found = {verdict.name: verdict for verdict in verdicts(record)}["Longest wait for a node"]
    assert found.state == "red"
    assert ("waited for gpuod at its maximum of 6" in found.why) == explained
