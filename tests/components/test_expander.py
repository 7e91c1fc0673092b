"""The priority expander's ConfigMap: its plan with any owner of the existing one, and the cluster autoscaler's reading of it.

The reader is an independent one, with RE2 itself, over drawn stacks.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pulumi
import pytest
import re2
import yaml
from hypothesis import HealthCheck, given, settings

from components.layer import names
from components.layer.autoscaler import expander, priorities
from components.layer.autoscaler.expander import ExpanderPlan
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
from tests.config.stack import good, grown, spec
from tests.parity.drawn import Settings, neutral, on_aks

WANTED = Wanted(("t4", "t4od"), spot={"t4"}, others=("agentpool",))
OWN = {20: ["^aks-t4-[0-9]+-vmss$"], 10: ["^aks-t4od-[0-9]+-vmss$"], 1: [".*"]}


def config_map(text: str | None, labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "data": {"priorities": text} if text is not None else None}


def decide(existing: dict[str, Any] | None, **options: Any) -> ExpanderPlan:
    return expander.plan(WANTED, ExpanderOptions.model_validate(options), "dev", existing, "ml")


def refusal(existing: dict[str, Any] | None, **options: Any) -> str:
    with pytest.raises(pulumi.RunError) as refused:
        decide(existing, **options)
    return str(refused.value)


@pytest.mark.parametrize("existing", [None, config_map("1: ['.*']", {**names.labels("dev"), "team": "ml"})])
def test_a_missing_or_own_map_is_declared(existing: dict[str, Any] | None) -> None:
    decision = decide(existing)
    assert decision.declared == OWN
    assert decision.fallback_order.startswith(
        "guaranteed by the ConfigMap kube-system/cluster-autoscaler-priority-expander"
    )
    assert [(tier["priority"], tier["pools"]) for tier in decision.shown] == [(20, ["t4"]), (10, ["t4od"]), (1, [])]


def test_another_owners_map_with_the_wanted_order_is_left_alone() -> None:
    decision = decide(config_map("90: [aks-t4-]\n50: [t4od]\n5: ['.*']"))
    assert decision.declared is None
    assert decision.fallback_order.startswith("guaranteed")
    assert decision.shown == [
        {"priority": 90, "pools": ["t4"], "groups": ["aks-t4-"]},
        {"priority": 50, "pools": ["t4od"], "groups": ["t4od"]},
        {"priority": 5, "pools": [], "groups": [".*"]},
    ]


def test_another_owners_map_with_another_order_is_refused_with_lines_that_mend_it() -> None:
    text = "50: [.*spot.*]\n10: ['.*']"
    message = refusal(config_map(text))
    assert "of cluster ml belongs to another owner" in message
    assert "t4 (10) does not stand above t4od (10)" in message
    assert "expander.takeOwnership: true" in message
    pasted = yaml.safe_load(message.partition("add these lines to its `priorities`:\n")[2].partition("  or set")[0])
    assert decide(config_map(yaml.safe_dump({**yaml.safe_load(text), **pasted}))).declared is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "it is not an object"),
        ("", "it is not an object"),
        ("t4: first", "'t4' is no number"),
        # In an order that would do, were it not for one expression.
        ("90: [aks-t4-]\n50: [t4od]\n5: ['^aks-(?!t4)']", "'^aks-(?!t4)' is no regular expression of RE2"),
    ],
)
def test_a_map_that_cannot_be_read_is_refused_with_its_whole_content(text: str | None, why: str) -> None:
    message = refusal(config_map(text))
    assert f"the autoscaler refuses it and chooses at random, as {why}" in message
    whole = message.partition("make this its `priorities`:\n")[2].partition("  or set")[0]
    assert yaml.safe_load(whole) == OWN


def test_another_stacks_map_is_mended_in_its_stack_file() -> None:
    tiers = priorities.tiers(Wanted(("a100", "general"), {"a100"}), {})
    message = refusal(config_map(priorities.written(tiers), names.labels("blue")))
    assert "belongs to stack 'blue' of this program" in message
    config = yaml.safe_load(message.partition("add this to the stack file of blue:\n")[2].partition("  or set")[0])
    options = ExpanderOptions.model_validate(config["kubeflow-spot:expander"])
    # The map that stack blue then declares fits both stacks, also after blue adds pools.
    for pools in (("a100",), ("a100", "h100", "h200")):
        blue = expander.plan(Wanted((*pools, "general"), set(pools)), options, "blue", None, "ml")
        assert blue.declared is not None
        assert decide(config_map(priorities.written(blue.declared), names.labels("blue"))).declared is None


def test_ownership_is_taken_on_request_and_the_lost_lines_are_reported() -> None:
    existing = config_map("50: [.*spot.*, a100]\n1: ['.*']")
    decision = decide(existing, takeOwnership=True)
    assert decision.declared == OWN
    (warning,) = decision.warnings
    assert yaml.safe_load(warning.partition("dropped:\n")[2].partition("\n  `expander")[0]) == {
        50: [".*spot.*", "a100"]
    }
    kept = decide(existing, takeOwnership=True, otherGroups=[{"priority": 15, "groups": [".*spot.*", "a100"]}])
    assert kept.declared == {**OWN, 15: [".*spot.*", "a100"]}
    assert kept.warnings == ()


def test_other_groups_may_stand_anywhere_but_in_the_pools_own_order() -> None:
    above = decide(None, otherGroups=[{"priority": 95, "groups": ["^aks-agentpool-"]}])
    assert above.declared is not None
    assert next(iter(above.declared)) == 95
    message = refusal(None, otherGroups=[{"priority": 95, "groups": ["t4od"]}])
    assert message.startswith("expander.otherGroups")
    assert "t4 (20) does not stand above t4od (95)" in message


def test_where_the_map_is_not_read_none_is_declared_and_the_outputs_say_so() -> None:
    for decision in (expander.not_kept("the cluster's expander is random"), expander.kept_by("something else")):
        assert (decision.declared, decision.shown) == (None, [])
    assert expander.not_kept("so").fallback_order == "not guaranteed: so"
    assert expander.kept_by("so").fallback_order == "guaranteed by so"


@pytest.mark.parametrize("priority", [2, 15, 35, 55, 995])
@pytest.mark.parametrize(
    "group", [".*", "", "^aks-t4", "t4big", "general", "system", "byhand", "^aks-(t4|t4od)-", "[0-9]"]
)
def test_the_loader_refuses_the_lines_that_would_be_refused_here(priority: int, group: str) -> None:
    wanted = Wanted(grown(spec(good())))
    lines = {priority: [group], 1005: ["byhand"]}
    faults = list(priorities.faults(priorities.tiers(wanted, lines), wanted))
    tiers = [{"priority": number, "groups": groups} for number, groups in lines.items()]
    problems = loader.read_stack(good(expander={"otherGroups": tiers}))[1]
    assert [problem.path for problem in problems] == (["expander.otherGroups[0].groups[0]"] if faults else [])
    assert all("a priority below" in problem.remedy for problem in problems)


def test_every_line_that_turns_the_order_round_is_named() -> None:
    tiers = [{"priority": 995, "groups": ["general", "byhand", "t4big"]}, {"priority": 996, "groups": ["system"]}]
    problems = loader.read_stack(good(expander={"otherGroups": tiers}))[1]
    assert [problem.path for problem in problems] == [
        "expander.otherGroups[0].groups[2]",
        "expander.otherGroups[1].groups[0]",
    ]


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
        """Return pools in the order in which they grow for a pod that fits them: the highest number with a match wins."""
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
    """Return pools of the chains that begin with a machine of at most `most` vCPUs, and the pools before them."""
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
    stack = spec(on_aks(wanted))
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
    stack = spec(on_aks(wanted))
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
