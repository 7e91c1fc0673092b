"""The order in which pools grow: what a useful GPU hour costs, chains, and what an order by hand changes and costs."""

import re
from typing import Any

import pytest

from config.model.pool import Capacity
from config.placement import growth_order
from config.stack_file import loader
from tests.config.stack import GROUP, aks, azure, good, grown, spec, spot

D8, T4, T4_2, T4_4, A100 = (
    f"Standard_{size}" for size in ("D8ds_v5", "NC4as_T4_v3", "NC8as_T4_v3", "NC64as_T4_v3", "NC24ads_A100_v4")
)


SPOT_T4, SPOT_T4_BIG, SPOT_A100 = spot("t4", T4, 4, "2"), spot("t4big", T4_2, 4, "2"), spot("a100", A100, 4, "2")
NOTEBOOKS = {"name": "nb", "machine": T4, "maxNodes": 4}
KEPT = {"name": "kept", "machine": T4, "maxNodes": 1, "reservation": GROUP}
ALL = (SPOT_A100, SPOT_T4, SPOT_T4_BIG, NOTEBOOKS)
TO_BIG, BIG, LARGE = (
    spot("t4", T4, 4, "t4big 2"),
    spot("t4big", "Standard_NC16as_T4_v3", 4),
    spot("t4big", T4_4, 4),
)

ORDERS: list[tuple[tuple[dict[str, Any], ...], str, str]] = [
    ((SPOT_A100, SPOT_T4), "", "t4 t4od a100 a100od"),
    # An A100 on spot costs more than a T4 on demand.
    ((SPOT_A100, spot("t4", T4, 4, "a100 2")), "", "t4 t4od a100 a100od"),
    # A pool in two chains comes after the pools that both have before it.
    ((SPOT_A100, spot("t4", T4, 4, "a100 2"), spot("t4big", T4_2, 4, "a100 2")), "", "t4 t4od t4big t4bigod a100 a100od"),
    # Pods that tolerate no spot get the smaller machine, and those that do get every spot pool that is no dearer first.
    ((SPOT_A100, SPOT_T4, NOTEBOOKS), "", "t4 t4od a100 nb a100od"),
    ((SPOT_T4_BIG, NOTEBOOKS), "", "t4big nb t4bigod"),
    ((NOTEBOOKS, spot("a100", A100, 4)), "", "a100 nb"),
    # A reserved pool stands where its chain says: its machine may be smaller than that of the chain.
    ((KEPT, spot("t4", T4, 4, "kept 2")), "", "t4 kept t4od"),
    ((KEPT, spot("t4big", T4_2, 4, "kept 2")), "", "t4big kept t4bigod"),
    # Outside of a chain it is an on-demand pool: paid for in any case, and used first where the stack file says so.
    ((KEPT, SPOT_A100), "", "a100 kept a100od"),
    ((KEPT, SPOT_A100), "kept a100", "kept a100 a100od"),
    # The stack file decides the order of chains and single pools.
    (ALL, "", "t4 t4od t4big nb t4bigod a100 a100od"),
    (ALL, "a100", "a100 nb a100od t4 t4od t4big t4bigod"),
    (ALL, "t4 nb a100", "t4 t4od nb a100 a100od t4big t4bigod"),
    ((TO_BIG, BIG), "t4 t4big t4od", "t4 t4big t4od"),
    # What it does not name comes after it.
    ((TO_BIG, BIG), "t4od", "t4od t4 t4big"),
]  # fmt: skip
"""Pools with GPUs, the order by hand, and the order."""


@pytest.mark.parametrize(("pools", "by_hand", "expected"), ORDERS, ids=range(len(ORDERS)))
def test_chains_stay_whole_before_larger_machines_and_the_stack_file_decides(
    pools: tuple[dict[str, Any], ...], by_hand: str, expected: str
) -> None:
    # The system pool stands before all with GPUs.
    assert grown(spec({**aks(*pools), "growth": {"order": by_hand.split()}})) == ("system", *expected.split())


def test_pools_without_gpus_grow_first_spot_before_others_and_the_system_pool_last() -> None:
    assert grown(spec(good())) == ("general", "system", "t4", "t4od", "t4big")
    batch = {"name": "batch", "machine": D8, "capacity": "spot", "maxNodes": 4}
    general = {"name": "general", "machine": D8, "maxNodes": 4}
    assert grown(spec(aks(SPOT_T4, general, batch))) == ("batch", "general", "system", "t4", "t4od")


@pytest.mark.parametrize(
    ("location", "pools", "expected"),
    [
        # 1.0455 USD of spot after 0.658 on demand, 0.4362 before it, and no price is known.
        ("westeurope", (BIG, TO_BIG), "t4 t4od t4big"),
        ("germanywestcentral", (BIG, TO_BIG), "t4 t4big t4od"),
        ("norwayeast", (BIG, TO_BIG), "t4 t4big t4od"),
        # Four T4s at 1.57 USD are cheaper a GPU than one on demand at 0.658; a pod that needs one pays for four.
        ("germanywestcentral", (TO_BIG, LARGE), "t4 t4od t4big"),
        # Work that needs four is on spot first.
        ("germanywestcentral", (spot("t4", T4_4, 4, "t4big 2"), LARGE), "t4 t4big t4od"),
    ],
)
def test_spot_that_is_dearer_than_the_twin_stands_behind_it(
    location: str, pools: tuple[dict[str, Any], ...], expected: str
) -> None:
    assert grown(spec({**azure(location=location), "pools": [*pools]})) == ("system", *expected.split())


def test_an_order_by_hand_says_what_it_costs() -> None:
    problems = loader.read_stack(
        aks(TO_BIG, BIG) | {"growth": {"order": ["t4", "t4big", "t4od"], "acceptedWait": "24h"}}
    )[1]
    (said,) = [problem for problem in problems if problem.path == "growth.order"]
    assert said.warning
    assert re.search("t4big, 1.40 USD.* t4od, 0.72 USD.* 0.68 USD more", str(said))


@pytest.mark.parametrize(("price", "pays"), [(0.8, True), (0.84, False)])
def test_spot_that_never_pays_stands_behind_its_twin_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, price: float, pays: bool
) -> None:
    def priced(provider: str, location: str, machine: str, capacity: Capacity) -> float:
        return price if capacity == Capacity.SPOT else 1.0

    monkeypatch.setattr(growth_order, "price", priced)
    parsed, problems = loader.read_stack(aks(spot("t4", T4, 4, "2")))
    assert parsed
    assert grown(parsed)[1:] == (("t4", "t4od") if pays else ("t4od", "t4"))
    assert [each.path for each in problems if "does not pay" in str(each)] == ([] if pays else ["pools[0].capacity"])
