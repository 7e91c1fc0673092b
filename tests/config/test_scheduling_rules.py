"""How many GPUs a profile may ask for before one alone could hold every machine that spot falls back to."""

from __future__ import annotations

from typing import Any

import pytest

from config import stackfile
from tests.config.stack import good

T4, A100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4"
SPOT = {"name": "t4", "machine": T4, "capacity": "spot", "maxNodes": 8}
OWN = {"name": "own", "machine": T4, "maxNodes": 3}


def warned(gpus: int, *pools: dict[str, Any]) -> bool:
    raw = good(pools=[*pools], scheduling={"profiles": [{"namespace": "team-a", "gpus": gpus}]})
    found, problems = stackfile.read(raw)
    assert found, problems
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
def test_as_many_as_the_on_demand_pools_have_is_too_many(pools: list[dict[str, Any]], most: int) -> None:
    assert [warned(gpus, *pools) for gpus in (0, most - 1, most, most + 1)] == [False, False, True, True]


@pytest.mark.parametrize("pools", [[SPOT], [OWN, {"name": "cut", "machine": A100, "maxNodes": 1, "mig": "1g"}]])
def test_where_nothing_is_to_be_held_or_the_number_is_not_known_nothing_is_said(pools: list[dict[str, Any]]) -> None:
    assert not warned(50, *pools)
