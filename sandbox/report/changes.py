"""Changes of resources, property by property, from the engine's events."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pulumi.automation.events import EngineEvent, StepEventMetadata

from sandbox.cloud.provider import UNKNOWN
from sandbox.report.model import Change, Op, Property

_OPS = {op.value: op for op in Op}
"""Other steps of the engine are no change (`same`, `read`, `refresh`), or parts of a replacement, which has a step of its own."""

_PART = re.compile(r"""\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)""")


def change(event: EngineEvent) -> Change | None:
    """The change of an event; None for an event without one."""
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
    """The value at an engine's property path as JSON; None for a missing value and one known only after the update."""
    value: Any = properties
    for quoted, index, name in _PART.findall(path):
        try:
            value = value[int(index)] if index else value[json.loads(f'"{quoted}"') if quoted else name]
        except (KeyError, IndexError, TypeError):
            return None
    if value is None or value == UNKNOWN:
        return None
    return json.dumps(value, ensure_ascii=False, sort_keys=True).replace(UNKNOWN, "known after the update")
