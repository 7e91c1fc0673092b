"""A report as data: what a pull request's job writes and a second job, which trusts nothing in it, reads and draws.

Every text may come from a stranger's branch: it is bounded here and made harmless where it is drawn (`sandbox.report.markdown`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

FORMAT: Literal[1] = 1
"""Of the file. A reader that knows another one says so instead of guessing."""


def _cut(longest: int) -> AfterValidator:
    """Cut and not refused: a change whose value is long would else not be in the report at all."""
    return AfterValidator(lambda value: value if len(value) <= longest else value[: longest - 1] + "…")


Text = Annotated[str, _cut(20_000)]
Line = Annotated[str, _cut(1_000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Op(StrEnum):
    """What happens to one resource. A replacement is one change, not the engine's three steps."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"


class Property(_Part):
    """One property that changes, by the engine's path (`agentPoolProfiles[0].maxCount`); secrets are hidden by the engine."""

    path: Line
    before: Text | None
    """As JSON; None where there was none, or where the engine does not tell."""
    after: Text | None
    """As JSON; None where it goes, or is known only after the update."""
    replaces: bool = False
    """Whether this property is why the resource is replaced."""


class Change(_Part):
    """What happens to one resource."""

    op: Op
    type: Line
    name: Line
    properties: tuple[Property, ...] = ()


class Level(StrEnum):
    """How strict a policy is: `mandatory` ends an `up`."""

    ADVISORY = "advisory"
    MANDATORY = "mandatory"


class Violation(_Part):
    """A rule of the policy pack that the stack breaks."""

    policy: Line
    level: Level
    resource: Line
    """The resource's name; empty for a rule about the whole stack."""
    type: Line = ""
    """The resource's type: a group and a cluster may have one name."""
    message: Text


class ReplacedPool(_Part):
    """A pool whose nodes all go, and what that means."""

    pool: Line
    why: tuple[Line, ...]
    """The properties that cannot change in place."""
    nodes: Line
    """How many nodes it may have, in words: `0 to 8`."""
    runs: tuple[Line, ...]
    """What runs there, one sentence or pod each."""
    look: Line
    """The command that lists what really runs there."""


class PoolCost(_Part):
    """A pool's price at its smallest and largest size; before and after the change."""

    pool: Line
    machine: Line
    capacity: Line
    before: tuple[float, float] | None
    """Per hour, at the minimum and the maximum; None where the pool is new or has no known price."""
    after: tuple[float, float] | None
    unpriced: bool = False


class Cost(_Part):
    """What the stack's machines cost in an hour."""

    currency: Line
    pools: tuple[PoolCost, ...]
    sources: tuple[Line, ...]
    """Where the prices are from, and of which day."""


class Status(StrEnum):
    """What could be said of a stack."""

    UNCHANGED = "unchanged"
    """No file that the stack is made from differs: it was not brought up."""
    PREVIEWED = "previewed"
    NEW = "new"
    """The base has no such stack file: everything is created."""
    REMOVED = "removed"
    """The head has no such stack file. Nothing is deleted until somebody destroys the stack."""
    FAILED = "failed"
    """The head cannot be previewed; `errors` say why."""


class StackReport(_Part):
    """What the change does to one stack."""

    stack: Line
    status: Status
    release: tuple[Line | None, Line | None] = (None, None)
    """Of the base and the head."""
    release_changes: tuple[Text, ...] = ()
    """In words, what another release brings."""
    changes: tuple[Change, ...] = ()
    replaced_pools: tuple[ReplacedPool, ...] = ()
    violations: tuple[Violation, ...] = ()
    cost: Cost | None = None
    warnings: tuple[Text, ...] = ()
    errors: tuple[Text, ...] = ()


class Report(_Part):
    """What a change does to every stack."""

    format: Literal[1] = FORMAT
    base: Line
    """The revision it was compared with, as the user named it and as a commit."""
    head: Line
    stacks: tuple[StackReport, ...]
