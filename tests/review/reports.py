"""Reports for the tests: one with everything, and hypothesis strategies for any report."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from hypothesis import strategies as st

from review.model import Cost, PoolCost, ReplacedPool, Report, StackReport, Status
from sandbox.engine.changes import Change, Level, Op, Property, Violation
from tests.review.test_harmless import NASTY_TEXT

T = TypeVar("T")

AGENT_POOL = "azure-native:containerservice:AgentPool"


def changed(path: str, before: object, after: object, *, replaces: bool = False) -> Property:
    return Property(path=path, before=json.dumps(before), after=json.dumps(after), replaces=replaces)


def report(*stacks: StackReport) -> Report:
    return Report(base="main (abb8b3112345)", head="0123456789ab", stacks=stacks)


def large(changes: int, properties: int, value: int = 200) -> Report:
    """Return a report of one stack with a replaced and a deleted resource after many others."""
    many = tuple(
        Change(
            op=Op.UPDATE,
            type=AGENT_POOL,
            name=f"ml-dev-pool{number}",
            properties=tuple(
                changed(f"some.property[{i}].of.it", "a|b@c" * (value // 5), "s" * value) for i in range(properties)
            ),
        )
        for number in range(changes)
    )
    last = (
        Change(op=Op.DELETE, type=AGENT_POOL, name="ml-dev-gone"),
        Change(
            op=Op.REPLACE, type=AGENT_POOL, name="ml-dev-new", properties=(changed("vmSize", "a", "b", replaces=True),)
        ),
    )
    return report(StackReport(stack="dev", status=Status.PREVIEWED, changes=many + last))


# Characters of a JSON file, which has no lone surrogates.
_TEXT = NASTY_TEXT.filter(
    lambda value: value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Draw any report, with texts of a stranger everywhere."""

    def text() -> str:
        return draw(_TEXT)

    def some(make: Callable[[], T], most: int = 3) -> tuple[T, ...]:
        return tuple(make() for _ in range(draw(st.integers(0, most))))

    def numbers() -> tuple[float, float] | None:
        return draw(st.none() | st.tuples(st.floats(), st.floats()))

    def property_() -> Property:
        value = st.none() | _TEXT
        return Property(path=text(), before=draw(value), after=draw(value), replaces=draw(st.booleans()))

    def change() -> Change:
        return Change(op=draw(st.sampled_from(Op)), type=text(), name=text(), properties=some(property_))

    def pool() -> ReplacedPool:
        return ReplacedPool(pool=text(), why=some(text), nodes=text(), runs=some(text), look=text())

    def violation() -> Violation:
        return Violation(policy=text(), level=draw(st.sampled_from(Level)), resource=text(), message=text())

    def priced() -> PoolCost:
        return PoolCost(
            pool=text(),
            machine=text(),
            capacity=text(),
            before=numbers(),
            after=numbers(),
            unpriced=draw(st.booleans()),
        )

    def cost() -> Cost:
        return Cost(currency=text(), pools=some(priced), sources=some(text))

    def stack() -> StackReport:
        return StackReport(
            stack=text(),
            status=draw(st.sampled_from(Status)),
            release=(draw(st.none() | _TEXT), draw(st.none() | _TEXT)),
            release_changes=some(text),
            changes=some(change, 5),
            replaced_pools=some(pool),
            violations=some(violation),
            cost=cost() if draw(st.booleans()) else None,
            drill=text(),
            warnings=some(text),
            errors=some(text),
        )

    return Report(base=text(), head=text(), stacks=some(stack))
