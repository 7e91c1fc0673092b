from typing import Any

import pytest

from review import cost
from sandbox.cloud import prices
from sandbox.cloud.prices import Price

AZURE = ("azure", "r")
A, B = Price(on_demand=1.0, spot=0.25, source="list A"), Price(on_demand=4.0, spot=None, source="list B")


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {("azure", "a"): A, ("azure", "b"): B, ("gcp", "n1-standard-8"): A}
    monkeypatch.setattr(prices, "price", lambda provider, region, machine: listed.get((provider, machine)))


def pool(name: str = "p", **parts: Any) -> dict[str, Any]:
    return {"name": name, "machine": "a", "capacity": "on-demand", "minNodes": 1, "maxNodes": 3, "gpus": 0, **parts}


def test_a_pool_costs_its_nodes_from_the_fewest_to_the_most() -> None:
    total = cost.cost(AZURE, AZURE, [pool()], [pool(maxNodes=5, capacity="spot")])
    assert total
    assert [(each.before, each.after, each.unpriced) for each in total.pools] == [((1, 3), (0.25, 1.25), False)]
    assert (total.currency, total.sources, total.pools[0].capacity) == ("USD", ("list A",), "on-demand → spot")


def test_new_and_removed_pools_have_one_side() -> None:
    total = cost.cost(AZURE, AZURE, [pool("old", machine="b")], [pool("new")])
    assert total
    assert [(each.pool, each.before, each.after, each.unpriced) for each in total.pools] == [
        ("new", None, (1, 3), False),
        ("old", (4, 12), None, False),
    ]
    assert total.sources == ("list A", "list B")
    assert cost.monthly(total) == ("2,920 to 8,760", "730 to 2,190")


@pytest.mark.parametrize(
    "parts",
    [
        {"machine": "unknown"},
        {"machine": "b", "capacity": "spot"},
        {"minNodes": None},
        {"maxNodes": "many"},
    ],
)
def test_a_pool_without_a_known_price_is_listed_and_never_guessed(parts: dict[str, Any]) -> None:
    total = cost.cost(AZURE, AZURE, [pool()], [pool(**parts)])
    assert total
    assert [(each.before, each.after, each.unpriced) for each in total.pools] == [((1, 3), None, True)]


def test_n1_machines_with_gpus_have_no_price_because_their_gpus_are_sold_separately() -> None:
    total = cost.cost(
        ("gcp", "r"),
        ("gcp", "r"),
        [],
        [pool("cpu", machine="n1-standard-8"), pool("gpu", machine="n1-standard-8", gpus=1)],
    )
    assert total
    assert [each.unpriced for each in total.pools] == [False, True]


def test_a_moved_pool_has_the_prices_of_both_locations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "price", lambda provider, region, machine: {"here": A, "there": B}[region])
    total = cost.cost(("azure", "there"), ("azure", "here"), [pool()], [pool()])
    assert total
    assert [(each.before, each.after) for each in total.pools] == [((4, 12), (1, 3))]


@pytest.mark.parametrize(("provider", "pools"), [("existing", [pool()]), ("azure", [])])
def test_no_cloud_or_no_pools_cost_nothing(provider: str, pools: list[dict[str, Any]]) -> None:
    assert cost.cost((provider, "r"), (provider, "r"), pools, pools) is None


def test_a_pool_without_facts_is_no_error() -> None:
    total = cost.cost(AZURE, AZURE, [{}], [{}])
    assert total
    assert [each.unpriced for each in total.pools] == [True]
