"""The cluster autoscaler's reading of the ConfigMap, over drawn stacks: an independent reader, with RE2 itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import re2
import yaml
from hypothesis import HealthCheck, given, settings

from components.layer.autoscaler import expander, priorities
from components.layer.autoscaler.priorities import Wanted
from config.clouds.azure.azure_traits import Aks
from config.model.cluster import ExpanderOptions
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement import node_pools, object_names
from config.placement.growth_order import growth_order
from config.placement.node_pools import NodePool
from config.stack_file import loader
from sandbox.autoscaler.fit import misfit
from tests.admission.corpus import corpus
from tests.parity.drawn import Settings, neutral, on_aks

drawn = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CPU_PODS = [
    golden.spec
    for golden in corpus().values()
    if not golden.gpu and not golden.expect.refused and golden.object["kind"] != "DaemonSet"
]


class Autoscaler:
    """The ConfigMap of a stack, as its reader sees it."""

    def __init__(self, stack: ClusterSpec, pools: Sequence[NodePool]) -> None:
        spot = {pool.name for pool in pools if pool.capacity == Capacity.SPOT}
        wanted = Wanted(growth_order(stack, pools, Aks()), spot)
        declared = expander.plan(wanted, ExpanderOptions(), "dev", None, stack.name).declared
        assert declared
        self.tiers = yaml.safe_load(priorities.written(declared))

    def tries(self, open_to: Iterable[str]) -> list[str]:
        """Pools in the order in which they grow for a pod that fits them: the highest number with a match wins."""
        numbers = {pool: self.number(f"aks-{pool}-31415926-vmss") for pool in open_to}
        assert len(set(numbers.values())) == len(numbers), "between equals the autoscaler chooses at random"
        return sorted(numbers, key=lambda pool: -numbers[pool])

    def number(self, group: str) -> int:
        return max(
            number for number, lines in self.tiers.items() if any(re2.search(line, group) is not None for line in lines)
        )


def vcpus(pool: NodePool) -> int:
    machine = Aks().machine(pool.machine)
    assert machine
    return machine.vcpus


def chained_pools(stack: ClusterSpec, size: dict[str, int], most: int) -> set[str]:
    """Pools of the chains that begin with a machine of at most `most` vCPUs, and the pools before them."""
    known: set[str] = set()
    waiting = [chain for pool in stack.pools if size[pool.name] <= most for chain in [object_names.chain(pool)]]
    while waiting:
        steps = {*waiting.pop()} - known
        known |= steps
        waiting += [
            whole[: whole.index(step)]
            for pool in stack.pools
            for whole in [object_names.chain(pool)]
            for step in steps
            if step in whole
        ]
    return known


@given(neutral())
@drawn
def test_a_pods_own_chain_is_tried_before_any_dearer_machine_that_it_does_not_need(wanted: Settings) -> None:
    stack, _ = loader.read_stack(on_aks(wanted))
    assert stack
    pools = node_pools.node_pools(stack, Aks())
    size = {pool.name: vcpus(pool) for pool in pools}
    autoscaler = Autoscaler(stack, pools)
    for gpus in (0, 1, 2, 4):
        fitting = {pool.name for pool in pools if pool.gpus >= gpus and bool(pool.gpus) == bool(gpus)}
        order = autoscaler.tries(fitting)
        heads = [pool for pool in stack.pools if pool.reclaimable and pool.name in fitting]
        if heads:
            # A pod that tolerates everything: its chain is the one that begins with the smallest machine.
            head = min(heads, key=lambda pool: (size[pool.name], order.index(pool.name)))
            twin = object_names.twin_name(head, Aks())
            chain = [name for name in (*object_names.chain(head), *([twin] if twin else [])) if name in fitting]
            assert [name for name in order if name in chain] == chain
            own = chained_pools(stack, size, size[head.name])
            before = order[: order.index(chain[-1])]
            assert [name for name in before if name not in own and size[name] > size[head.name]] == []
        # A pod that tolerates no spot, such as a notebook, gets the smallest machine first.
        on_demand = [size[pool] for pool in order if any(p.name == pool and not p.spot for p in pools)]
        assert on_demand == sorted(on_demand)


@given(neutral())
@drawn
def test_a_pod_without_a_gpu_makes_no_gpu_pool_grow(wanted: Settings) -> None:
    stack, _ = loader.read_stack(on_aks(wanted))
    assert stack
    pools = node_pools.node_pools(stack, Aks())
    with_gpus = {pool.name for pool in pools if pool.gpus}
    # A pod that tolerates everything (the guard refuses it in profiles) grows GPU pools last.
    order = Autoscaler(stack, pools).tries({"system", *(pool.name for pool in pools)})
    assert [name in with_gpus for name in order] == sorted(name in with_gpus for name in order)
    assert order.index("system") == len(order) - len(with_gpus) - 1
    # All others, for ever
    for pod in CPU_PODS:
        for pool in pools:
            taints = [taint.model_dump(mode="json") for taint in pool.taints]
            assert not pool.gpus or misfit(pod, "node", pool.labels, taints)
