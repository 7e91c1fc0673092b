"""The report as data: a pull request's job writes it, and a second job, which does not trust it,
renders it.

Every text may come from a fork's branch: it is bounded here and made harmless where it is rendered
(`review.markdown`).
"""

from enum import StrEnum
from typing import Literal

from sandbox.engine.changes import Change, Line, Many, Part, Property, Text, Violation

FORMAT: Literal[1] = 1
"""The format of the file. A reader of another format refuses it instead of guessing."""


class ReplacedPool(Part):
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


class PoolCost(Part):
    """A pool's price at its smallest and largest size; before and after the change."""

    pool: Line
    machine: Line
    capacity: Line
    before: tuple[float, float] | None
    """Per hour, at the minimum and the maximum; None where the pool is new or its price unknown."""
    after: tuple[float, float] | None
    unpriced: bool = False


class Cost(Part):
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


class StackReport(Part):
    """The effects of the change on one stack."""

    stack: Line
    status: Status
    release: tuple[Line | None, Line | None] = (None, None)
    """The releases of the base and the head."""
    release_changes: Many[Text] = ()
    """The differences of the releases, one sentence each."""
    changes: Many[Change] = ()
    replaced_pools: Many[ReplacedPool] = ()
    own_properties: Many[Property] = ()
    """All properties that the stack file names in its cloud's own words, changed or not."""
    violations: Many[Violation] = ()
    cost: Cost | None = None
    switches: bool = False
    """Whether Karpenter takes the pools of a live cluster over from the autoscaler."""
    drill: Line = ""
    """The command that shows the change on the same hours of spot; empty where no pool, chain or
    timer changes."""
    warnings: Many[Text] = ()
    errors: Many[Text] = ()


class Report(Part):
    """The effects of a change on every stack."""

    format: Literal[1] = FORMAT
    base: Line
    """The revision of the comparison, as the user named it and as a commit."""
    head: Line
    stacks: Many[StackReport]
