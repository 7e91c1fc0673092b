"""Decisions recorded of cluster-autoscaler 1.36.1, replayed: each row is a scenario of those recordings by its name."""

from __future__ import annotations

from typing import Any

import pytest

from .objects import (
    GPU,
    GPU_TAINT,
    ONE_GPU,
    SPOT,
    SPOT_TAINT,
    decisions,
    first,
    group,
    on_demand,
    pod,
    training,
)
from .objects import spot as spot_group

USUAL = '50: ["^aks-gpuspot-[0-9]+-vmss$"]\n10: ["^aks-gpuod-[0-9]+-vmss$"]\n1: [".*"]\n'
SPOT_POOL, OD_POOL = "gpuspot", "gpuod"


def preferring(operator: str) -> Any:
    """Affinity for or against spot that only steers the scheduler."""
    term = {"matchExpressions": [{"key": SPOT["key"], "operator": operator, "values": ["spot"]}]}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": term}]}}


@pytest.mark.parametrize(
    ("scenario", "most", "pods", "priorities", "expected"),
    [
        (
            "configmap-inverted-numbers", (2, 2), training(4),
            '10: ["^aks-gpuspot-[0-9]+-vmss$"]\n50: ["^aks-gpuod-[0-9]+-vmss$"]\n',
            [(OD_POOL, 0, 2), (SPOT_POOL, 0, 2)],
        ),
        (
            "configmap-matches-only-spot", (2, 2), training(4), '50: ["^aks-gpuspot-[0-9]+-vmss$"]\n',
            [(SPOT_POOL, 0, 2), (OD_POOL, 0, 2)],
        ),
        (
            "configmap-same-number-twice", (4, 4), training(3),
            '50: ["^aks-gpuspot-[0-9]+-vmss$"]\n10: ["^aks-gpuod-[0-9]+-vmss$"]\n50: ["^aks-gpuother-[0-9]+-vmss$"]\n',
            [(OD_POOL, 0, 3)],
        ),
        ("pod-without-spot-toleration", (4, 4), training(3, [GPU]), USUAL, [(OD_POOL, 0, 3)]),
        (
            "preferred-affinity-ondemand-priority-spot", (4, 4), training(3, affinity=preferring("NotIn")), USUAL,
            [(SPOT_POOL, 0, 3)],
        ),
        ("burst-60-pods-two-groups-of-20", (20, 20), training(60), USUAL, [(SPOT_POOL, 0, 20), (OD_POOL, 0, 20)]),
        (
            "priority-class-below-cutoff", (4, 4), [*training(2, priority=-11), pod("late", ONE_GPU, [SPOT, GPU], priority=-10)],
            USUAL, [(SPOT_POOL, 0, 1)],
        ),
    ],
)  # fmt: skip
def test_the_order_of_pools(
    scenario: str, most: tuple[int, int], pods: list[Any], priorities: str, expected: list[Any]
) -> None:
    assert decisions([spot_group(most[0]), on_demand(most[1])], pods, priorities) == expected


@pytest.mark.parametrize(
    ("scenario", "pods", "priorities", "by"),
    [
        (
            "configmap-catch-all-higher-number", training(3),
            '100: [".*"]\n50: ["^aks-gpuspot-[0-9]+-vmss$"]\n10: ["^aks-gpuod-[0-9]+-vmss$"]\n', "priority",
        ),
        ("no-priority-configmap", training(3), None, "priority"),
        ("preferred-affinity-spot-expander-least-waste", training(3, affinity=preferring("In")), None, "least-waste"),
        ("preferred-affinity-spot-expander-most-pods", training(3, affinity=preferring("In")), None, "most-pods"),
    ],
)  # fmt: skip
def test_what_is_drawn(scenario: str, pods: list[Any], priorities: str | None, by: str) -> None:
    drawn = first([spot_group(4), on_demand(4)], pods, priorities, by=by)
    assert drawn == {(SPOT_POOL, 0, 3), (OD_POOL, 0, 3)}


def test_two_spot_groups_same_tier_different_size() -> None:
    big = group("gpuspotb", 4, [SPOT_TAINT, GPU_TAINT], cpu="16", memory="64Gi", gpu="4")
    drawn = first(
        [spot_group(4), big, on_demand(4)],
        training(4),
        '50: ["^aks-gpuspotb?-[0-9]+-vmss$"]\n10: ["^aks-gpuod-[0-9]+-vmss$"]\n',
    )
    assert drawn == {(SPOT_POOL, 0, 4), ("gpuspotb", 0, 1)}


def test_daemonset_overhead_hides_spot_group() -> None:
    def daemon_set(cpu: str, **where: Any) -> Any:
        spec = {"containers": [{"resources": {"requests": {"cpu": cpu}}}], "tolerations": [{"operator": "Exists"}]}
        return {"spec": {"template": {"spec": spec | where}}}

    groups = [spot_group(4), on_demand(4)]
    pods = [pod(f"large-{n}", {**ONE_GPU, "cpu": "3"}, [SPOT, GPU]) for n in range(2)]
    # Part of every template.
    proxy = daemon_set("100m")
    agent = daemon_set("1", nodeSelector={SPOT["key"]: "spot"})
    assert decisions(groups, pods, USUAL, daemon_sets=[proxy]) == [(SPOT_POOL, 0, 2)]
    assert decisions(groups, pods, USUAL, daemon_sets=[proxy, agent]) == [(OD_POOL, 0, 2)]


@pytest.mark.parametrize(
    ("scenario", "balanced", "expected"),
    [
        ("balance-similar-zones-on-different-tiers", True, {"gpuspotz1": 3, "gpuspotz2": 3}),
        ("two-zones-without-balancing", False, {"gpuspotz1": 5, "gpuspotz2": 1}),
    ],
)
def test_nodes_are_shared_among_zones(scenario: str, balanced: bool, expected: dict[str, int]) -> None:
    zones = [zonal(number) for number in (1, 2)]
    tiers = '50: ["^aks-gpuspotz1-"]\n40: ["^aks-gpuspotz2-"]\n10: ["^aks-gpuod-"]\n'
    profile = {"balanceSimilarNodeGroups": str(balanced).lower()}
    grown = decisions([*zones, on_demand(5)], training(6), tiers, profile=profile)
    assert {pool: now for pool, _, now in grown} == expected
    assert all(before == 0 for _, before, _ in grown)


def zonal(number: int, **labels: str) -> Any:
    """The spot group of a zone."""
    zone_group = group(f"gpuspotz{number}", 5, [SPOT_TAINT, GPU_TAINT])
    zone_group.template["metadata"]["labels"] |= {"topology.kubernetes.io/zone": f"westeurope-{number}", **labels}
    return zone_group
