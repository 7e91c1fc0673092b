"""The engine's events -> what happens to each resource, property by property."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pulumi.automation.events import EngineEvent, StepEventMetadata

from sandbox.cloud.provider import UNKNOWN
from sandbox.report.model import Change, Op, Property

_OPS = {op.value: op for op in Op}
"""The engine's other steps are no change (`same`, `read`, `refresh`), or parts of a replacement, which has a step of its own."""

_PART = re.compile(r"""\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)""")


def change(event: EngineEvent) -> Change | None:
    """The change that an event tells of; None where it tells of none."""
    if event.resource_pre_event is None:
        return None
    step = event.resource_pre_event.metadata
    op = _OPS.get(str(getattr(step.op, "value", step.op)))
    state = step.new or step.old
    # A component is no thing of a cloud's: what it consists of is told by itself.
    if op is None or state is None or not state.custom:
        return None
    named = () if op in (Op.CREATE, Op.DELETE) else _properties(step)
    return Change(op=op, type=step.type, name=step.urn.rpartition("::")[2], properties=named)


def _properties(step: StepEventMetadata) -> tuple[Property, ...]:
    kinds = step.detailed_diff or {}
    before, after = (state.inputs or {} if state else {} for state in (step.old, step.new))
    outputs = step.old.outputs or {} if step.old else {}
    found = []
    for path in sorted(kinds or step.diffs or ()):
        kind = kinds[path].diff_kind.value if path in kinds else ""
        was = at(before, path)
        found.append(
            Property(
                path=path,
                # What the cloud has and the program never said differs from the cloud's side.
                before=was if was is not None else at(outputs, path),
                after=at(after, path),
                replaces="replace" in kind or path.partition(".")[0].partition("[")[0] in (step.keys or ()),
            )
        )
    return tuple(found)


def at(properties: Mapping[str, Any], path: str) -> str | None:
    """The value at an engine's property path as JSON; None where there is none, or it is known only after the update."""
    value: Any = properties
    for quoted, index, name in _PART.findall(path):
        try:
            value = value[int(index)] if index else value[json.loads(f'"{quoted}"') if quoted else name]
        except (KeyError, IndexError, TypeError):
            return None
    if value is None or value == UNKNOWN:
        return None
    return json.dumps(value, ensure_ascii=False, sort_keys=True).replace(UNKNOWN, "known after the update")
