"""The GPU quota with which one profile alone could hold all on-demand machines."""

from __future__ import annotations

from typing import Any

import pytest

from config.stack_file import loader
from tests.config.stack import good

T4, A100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4"
SPOT = {"name": "t4", "machine": T4, "capacity": "spot", "maxNodes": 8}
OWN = {"name": "own", "machine": T4, "maxNodes": 3}


def warned(gpus: int, *pools: dict[str, Any]) -> bool:
    raw = good(pools=[*pools], scheduling={"profiles": [{"namespace": "team-a", "gpus": gpus}]})
    stack, problems = loader.read_stack(raw)
    assert stack, problems
    return "scheduling.profiles[0].gpus" in [problem.path for problem in problems]


@pytest.mark.parametrize(
    ("pools", "most"),
    [
        ([OWN], 3),
        ([SPOT, OWN], 3),
        ([{**SPOT, "fallback": [{"onDemand": {"maxNodes": 2}}]}, OWN], 5),
        ([{**OWN, "machine": "Standard_NC64as_T4_v3"}], 12),
        # A quota counts shares, as pods ask for them.
        ([{**OWN, "gpuSharing": {"strategy": "time-slicing", "replicas": 4}}], 12),
    ],
)
def test_a_quota_as_large_as_all_on_demand_pools_is_a_warning(pools: list[dict[str, Any]], most: int) -> None:
    assert [warned(gpus, *pools) for gpus in (0, most - 1, most, most + 1)] == [False, False, True, True]


@pytest.mark.parametrize("pools", [[SPOT], [OWN, {"name": "cut", "machine": A100, "maxNodes": 1, "mig": "1g"}]])
def test_no_warning_without_on_demand_gpus_or_with_an_unknown_number(pools: list[dict[str, Any]]) -> None:
    assert not warned(50, *pools)
