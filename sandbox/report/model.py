"""The report as data: a pull request's job writes it, and a second job, which does not trust it, renders it.

Every text may come from a fork's branch: it is bounded here and made harmless where it is rendered (`sandbox.report.markdown`).
"""

from enum import StrEnum
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field

FORMAT: Literal[1] = 1
"""The format of the file. A reader of another format refuses it instead of guessing."""


MOST = 10_000
"""Items of a list, such as the changes of a stack. A stack of this program has some hundred resources."""


def _cut(longest: int) -> AfterValidator:
    """Cut long texts instead of refusing them: a change with a long value must be in the report."""
    return AfterValidator(lambda value: value if len(value) <= longest else value[: longest - 1] + "…")


Text = Annotated[str, _cut(20_000)]
Line = Annotated[str, _cut(1_000)]

_Item = TypeVar("_Item")
Many = Annotated[tuple[_Item, ...], Field(max_length=MOST), FailFast()]
"""At most MOST items. The first wrong one ends the reading: an error for each of eight million took 7 GB."""


class _Part(BaseModel):
    # Unknown keys are ignored, since each of a million would be an error of its own. `format` says what a reader must know.
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Op(StrEnum):
    """The change of one resource. A replacement is one change, not the engine's three steps."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"


class Property(_Part):
    """One property that changes, by the engine's path (`agentPoolProfiles[0].maxCount`); secrets are hidden by the engine."""

    path: Line
    before: Text | None
    """As JSON; None for a missing value, or one that the engine does not give."""
    after: Text | None
    """As JSON; None for a removed value, or one known only after the update."""
    replaces: bool = False
    """Whether this property forces the replacement."""


class Change(_Part):
    """The change of one resource with its properties."""

    op: Op
    type: Line
    name: Line
    properties: Many[Property] = ()


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
    """A pool that loses all its nodes, and the consequences."""

    pool: Line
    why: Many[Line]
    """The properties that cannot change in place."""
    nodes: Line
    """Its possible number of nodes as text: `0 to 8`."""
    runs: Many[Line]
    """The pods that run on the pool, one sentence or pod each."""
    look: Line
    """The command that lists the pods on its nodes."""


class PoolCost(_Part):
    """A pool's price at its smallest and largest size; before and after the change."""

    pool: Line
    machine: Line
    capacity: Line
    before: tuple[float, float] | None
    """Per hour, at the minimum and the maximum; None where the pool is new or its price unknown."""
    after: tuple[float, float] | None
    unpriced: bool = False


class Cost(_Part):
    """The price of the stack's machines per hour."""

    currency: Line
    pools: Many[PoolCost]
    sources: Many[Line]
    """The sources of the prices, with their day."""


class Status(StrEnum):
    """The status of a stack in the comparison."""

    UNCHANGED = "unchanged"
    """No file that the stack depends on differs: it was not brought up."""
    PREVIEWED = "previewed"
    NEW = "new"
    """The base has no such stack file: everything is created."""
    REMOVED = "removed"
    """The head has no such stack file. Nothing is deleted before `pulumi destroy`."""
    FAILED = "failed"
    """The head cannot be previewed; `errors` say why."""


class StackReport(_Part):
    """The effects of the change on one stack."""

    stack: Line
    status: Status
    release: tuple[Line | None, Line | None] = (None, None)
    """The releases of the base and the head."""
    release_changes: Many[Text] = ()
    """The differences of the releases, one sentence each."""
    changes: Many[Change] = ()
    replaced_pools: Many[ReplacedPool] = ()
    violations: Many[Violation] = ()
    cost: Cost | None = None
    drill: Line = ""
    """The command that shows the change on the same hours of spot; empty where no pool, chain or timer changes."""
    warnings: Many[Text] = ()
    errors: Many[Text] = ()


class Report(_Part):
    """The effects of a change on every stack."""

    format: Literal[1] = FORMAT
    base: Line
    """The revision of the comparison, as the user named it and as a commit."""
    head: Line
    stacks: Many[StackReport]
