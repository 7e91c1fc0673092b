"""Reports for the tests: one with everything, and hypothesis strategies for any report."""

import json
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
_MAYBE = st.none() | _TEXT
_RANGE = st.none() | st.tuples(st.floats(), st.floats())


def _some(things: st.SearchStrategy[T], most: int = 3) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(things, max_size=most).map(tuple)


_PROPERTY = st.builds(Property, path=_TEXT, before=_MAYBE, after=_MAYBE, replaces=st.booleans())
_CHANGE = st.builds(Change, op=st.sampled_from(Op), type=_TEXT, name=_TEXT, properties=_some(_PROPERTY))
_POOL = st.builds(ReplacedPool, pool=_TEXT, why=_some(_TEXT), nodes=_TEXT, runs=_some(_TEXT), look=_TEXT)
_VIOLATION = st.builds(Violation, policy=_TEXT, level=st.sampled_from(Level), resource=_TEXT, message=_TEXT)
_PRICED = st.builds(
    PoolCost, pool=_TEXT, machine=_TEXT, capacity=_TEXT, before=_RANGE, after=_RANGE, unpriced=st.booleans()
)
_STACK = st.builds(
    StackReport,
    stack=_TEXT,
    status=st.sampled_from(Status),
    release=st.tuples(_MAYBE, _MAYBE),
    release_changes=_some(_TEXT),
    changes=_some(_CHANGE, 5),
    replaced_pools=_some(_POOL),
    own_properties=_some(_PROPERTY),
    violations=_some(_VIOLATION),
    cost=st.none() | st.builds(Cost, currency=_TEXT, pools=_some(_PRICED), sources=_some(_TEXT)),
    drill=_TEXT,
    warnings=_some(_TEXT),
    errors=_some(_TEXT),
)
REPORTS = st.builds(Report, base=_TEXT, head=_TEXT, stacks=_some(_STACK))
"""Any report, with texts of a stranger everywhere."""
