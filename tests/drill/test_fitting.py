"""Scenarios that do not fit a stack."""

from __future__ import annotations

from typing import Any

import pytest

from drill.world.fitting import require_fit
from drill.world.record import Pool
from drill.world.scenario import Scenario
from sandbox.base.errors import SandboxError

SPOT = Pool("t4", "NC4", "spot", 1, 0, 8, ("eu-1", "eu-2"))
TWIN = Pool("t4od", "NC4", "on-demand", 1, 0, 2)


def scenario(*faults: dict[str, Any]) -> Scenario:
    work = [{"name": "w", "role": "trial", "runFor": "10m"}]
    return Scenario.model_validate({"description": "A.", "length": "1h", "work": work, "faults": list(faults)})


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"capacity": {"machine": "A100"}}, "faults[0].capacity.machine: the stack has no 'A100'; it has NC4"),
        ({"capacity": {"zone": "eu-3"}}, "faults[0].capacity.zone: the stack has no 'eu-3'; it has eu-1, eu-2"),
        ({"evict": {"pool": "t4od"}}, "faults[0].evict.pool: the stack has no 't4od'; it has t4"),
        ({"evict": {"zone": "x"}}, "faults[0].evict.zone: the stack has no 'x'; it has eu-1, eu-2"),
        ({"silent": {"pool": "gone"}}, "faults[0].silent.pool: the stack has no 'gone'; it has t4, t4od"),
        (
            {"latePlugin": {"pool": "gone", "seconds": "1m"}},
            "faults[0].latePlugin.pool: the stack has no 'gone'; it has t4, t4od",
        ),
        ({"capacity": {"machine": "first"}}, "faults[0].capacity.machine: the stack has no 'first'; it has NC4"),
        ({"evict": {"pool": "first"}}, "faults[0].evict.pool: the stack has no 'first'; it has t4"),
        ({"evict": {"zone": "first"}}, "faults[0].evict.zone: the stack has no 'first'; it has eu-1, eu-2; '*' is all"),
        ({"refuse": {"pool": "first"}}, "faults[0].refuse.pool: the stack has no 'first'; it has t4, t4od"),
        (
            {"refuse": {"pool": "t4od", "capacity": "spot"}},
            "faults[0].refuse.capacity: pool 't4od' has nothing spot: leave `capacity` out, or write '*'",
        ),
    ],
)
def test_names_that_the_stack_does_not_have_are_refused(fault: dict[str, Any], problem: str) -> None:
    with pytest.raises(SandboxError) as refused:
        require_fit(scenario({"at": "1m", **fault}), [SPOT, TWIN])
    assert problem in str(refused.value)


def test_names_that_it_has_and_words_for_all_of_them_are_taken() -> None:
    faults: tuple[dict[str, Any], ...] = (
        {"capacity": {"machine": "NC4", "zone": "first"}},
        {"evict": {"pool": "t4", "zone": "eu-1"}},
        {"silent": {}},
    )
    require_fit(scenario(*({"at": "1m", **fault} for fault in faults)), [SPOT, TWIN])


def test_a_stack_without_spot_has_nothing_to_take_away() -> None:
    with pytest.raises(SandboxError, match="the stack has no spot pool"):
        require_fit(scenario(), [TWIN])


def test_a_zone_of_another_pool_is_not_this_pools() -> None:
    other = Pool("l4", "G2", "spot", 1, 0, 8, ("eu-3",))
    faults: tuple[dict[str, Any], ...] = (
        {"capacity": {"machine": "G2", "zone": "eu-1"}},
        {"evict": {"pool": "l4", "zone": "eu-1"}},
    )
    with pytest.raises(SandboxError) as refused:
        require_fit(scenario(*({"at": "1m", **fault} for fault in faults)), [SPOT, TWIN, other])
    assert str(refused.value).count("the stack has no 'eu-1'; it has eu-3") == 2
