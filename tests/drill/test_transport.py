"""Transport against all ways to send small amounts."""

from __future__ import annotations

from functools import cache
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from drill.judge.transport import Transport

amounts = st.integers(0, 2)


@settings(max_examples=60)
@given(
    st.lists(st.lists(amounts, min_size=2, max_size=2), min_size=1, max_size=3),
    st.lists(amounts, min_size=3, max_size=3),
    st.data(),
)
def test_the_best_pair_first_is_the_best_of_all(
    prices: list[list[int]], supply: list[int], data: st.DataObject
) -> None:
    """Sources with a value each, sinks with a price each, arcs with a bound each: no other flow gains more."""
    arcs = [[data.draw(amounts) for _ in prices] for _ in supply]
    values = [data.draw(st.integers(1, 4)) for _ in supply]
    room, price = [pair[0] for pair in prices], [pair[1] for pair in prices]

    flow = Transport()
    sources, sinks = [flow.node() for _ in supply], [flow.node() for _ in room]
    flow.supply = dict(zip(sources, supply, strict=True))
    flow.room = dict(zip(sinks, room, strict=True))
    carrying = {
        (s, t): flow.arc(sources[s], sinks[t], arcs[s][t]) for s in range(len(supply)) for t in range(len(room))
    }
    pairs = sorted(((values[s] - price[t], s, t) for s, t in carrying), reverse=True)
    for gain, equal in groupby(pairs, key=lambda pair: pair[0]):
        same = list(equal)
        while gain > 0 and sum(flow.send([sources[s]], [sinks[t]]) for _, s, t in same):
            pass
    carried = {pair: flow.carried(arc) for pair, arc in carrying.items()}

    assert all(0 <= amount <= arcs[s][t] for (s, t), amount in carried.items())
    assert all(
        sum(carried[s, t] for t in range(len(room))) == supply[s] - flow.supply[sources[s]] for s in range(len(supply))
    )
    assert all(
        sum(carried[s, t] for s in range(len(supply))) == room[t] - flow.room[sinks[t]] for t in range(len(room))
    )

    order = list(carrying)

    @cache
    def best(place: int, supply: tuple[int, ...], room: tuple[int, ...]) -> int:
        if place == len(order):
            return 0
        s, t = order[place]
        return max(
            amount * (values[s] - price[t]) + best(place + 1, less(supply, s, amount), less(room, t, amount))
            for amount in range(min(arcs[s][t], supply[s], room[t]) + 1)
        )

    assert sum(amount * (values[s] - price[t]) for (s, t), amount in carried.items()) == best(
        0, tuple(supply), tuple(room)
    )


def less(amounts: tuple[int, ...], place: int, amount: int) -> tuple[int, ...]:
    return (*amounts[:place], amounts[place] - amount, *amounts[place + 1 :])


def test_what_is_sent_may_take_another_way() -> None:
    """The first source takes the only room that the second can use, until the second asks for it."""
    flow = Transport()
    one, two, near, far = (flow.node() for _ in range(4))
    flow.supply = {one: 5, two: 5}
    flow.room = {near: 5, far: 5}
    flow.arc(one, near, 5)
    flow.arc(one, far, 5)
    only = flow.arc(two, near, 5)
    assert flow.send([one], [near]) == 5
    assert flow.send([two], [far]) == 5
    assert flow.carried(only) == 5
    assert flow.supply == {one: 0, two: 0}
