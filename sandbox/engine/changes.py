"""Changes of resources, property by property, from the engine's events."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pulumi.automation.events import EngineEvent, StepEventMetadata
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field

from sandbox.cloud.provider import UNKNOWN

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


class Part(BaseModel):
    """An object of the report."""

    # Unknown keys are ignored, since each of a million would be an error of its own. `format` says what a reader must know.
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Op(StrEnum):
    """The change of one resource. A replacement is one change, not the engine's three steps."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"


class Property(Part):
    """One property that changes, by the engine's path (`agentPoolProfiles[0].maxCount`); secrets are hidden by the engine."""

    path: Line
    before: Text | None
    """As JSON; None for a missing value, or one that the engine does not give."""
    after: Text | None
    """As JSON; None for a removed value, or one known only after the update."""
    replaces: bool = False
    """Whether this property forces the replacement."""


class Change(Part):
    """The change of one resource with its properties."""

    op: Op
    type: Line
    name: Line
    properties: Many[Property] = ()


class Level(StrEnum):
    """How strict a policy is: `mandatory` ends an `up`."""

    ADVISORY = "advisory"
    MANDATORY = "mandatory"


class Violation(Part):
    """A rule of the policy pack that the stack breaks."""

    policy: Line
    level: Level
    resource: Line
    """The resource's name; empty for a rule about the whole stack."""
    type: Line = ""
    """The resource's type: a group and a cluster may have one name."""
    message: Text


_OPS = {op.value: op for op in Op}
"""Other steps of the engine are no change (`same`, `read`, `refresh`), or parts of a replacement, which has a step of its own."""

_PART = re.compile(r"""\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)""")


def change(event: EngineEvent) -> Change | None:
    """Return the change of an event; None for an event without one."""
    if event.resource_pre_event is None:
        return None
    step = event.resource_pre_event.metadata
    op = _OPS.get(str(getattr(step.op, "value", step.op)))
    state = step.new or step.old
    # A component is no resource of a cloud; its parts have events of their own.
    if op is None or state is None or not state.custom:
        return None
    named = () if op in (Op.CREATE, Op.DELETE) else _properties(step)
    return Change(op=op, type=step.type, name=step.urn.rpartition("::")[2], properties=named)


def _properties(step: StepEventMetadata) -> tuple[Property, ...]:
    diffs = step.detailed_diff or {}
    before, after = (state.inputs or {} if state else {} for state in (step.old, step.new))
    outputs = step.old.outputs or {} if step.old else {}
    changed = []
    for path in sorted(diffs or step.diffs or ()):
        kind = diffs[path].diff_kind.value if path in diffs else ""
        old = at(before, path)
        changed.append(
            Property(
                path=path,
                # A property that the program never set may have changed in the cloud.
                before=old if old is not None else at(outputs, path),
                after=at(after, path),
                replaces="replace" in kind or path.partition(".")[0].partition("[")[0] in (step.keys or ()),
            )
        )
    return tuple(changed)


def at(properties: Mapping[str, Any], path: str) -> str | None:
    """Return the value at an engine's property path as JSON; None for a missing value and one known only after the update."""
    value: Any = properties
    for quoted, index, name in _PART.findall(path):
        try:
            value = value[int(index)] if index else value[json.loads(f'"{quoted}"') if quoted else name]
        except (KeyError, IndexError, TypeError):
            return None
    if value is None or value == UNKNOWN:
        return None
    return json.dumps(value, ensure_ascii=False, sort_keys=True).replace(UNKNOWN, "known after the update")
