"""Terraform's plan: the state after an update, from the program's inputs and the current state.

A property in the inputs gets its value. A property that the inputs drop keeps its value where the service may choose it
(Optional and Computed), and is removed otherwise; an empty list of blocks counts as dropped (terraform-plugin-sdk: HCL has no
other way to write it). A property that was never in the inputs stays [inferred: everything the emulated services add by
themselves is Computed].
"""

import copy
import re
from collections.abc import Mapping
from typing import Any

from sandbox.cloud.provider import UNKNOWN, Props, differences
from sandbox.cloud.provider import Kind as Change
from sandbox.cloud.schema import Fields, Shape
from sandbox.gcp.resources.gcp_resource_type import GcpType


def zero(value: Any) -> bool:
    """Return whether Terraform treats a value as missing."""
    return value != UNKNOWN and not value


def planned(kind: GcpType, wanted: Props, state: Props, last: Props) -> Props:
    """Return the state after an update from the inputs `last` to the inputs `wanted`."""
    return _object(kind, "", wanted, state, last)


def _object(kind: GcpType, path: str, wanted: Props, state: Props, last: Props) -> Props:
    result = {}
    for name in [*state, *(n for n in wanted if n not in state)]:
        where = f"{path}.{name}" if path else name
        if name in wanted and not (wanted[name] == [] and where in kind.blocks & kind.computed):
            value = _value(kind, where, wanted[name], state.get(name), last.get(name))
            if not (zero(value) and state.get(name) is None):
                result[name] = value
        elif name not in last or where in kind.computed:
            result[name] = state[name]
    return result


def _value(kind: GcpType, path: str, wanted: Any, state: Any, last: Any) -> Any:
    if path in kind.maps:
        return wanted
    if isinstance(wanted, dict) and isinstance(state, dict):
        return _object(kind, path, wanted, state, last if isinstance(last, dict) else {})
    if isinstance(wanted, list) and isinstance(state, list):
        if path in kind.sets and UNKNOWN not in wanted and sorted(map(str, wanted)) == sorted(map(str, state)):
            return state
        before = last if isinstance(last, list) else []
        return [
            _value(kind, f"{path}[]", item, _at(state, index), _at(before, index)) for index, item in enumerate(wanted)
        ]
    if path in kind.links and isinstance(wanted, str) and isinstance(state, str):
        return state if same_resource(wanted, state) else wanted
    return wanted


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else None


def same_resource(first: str, second: str) -> bool:
    """Compare two references: by name where either is a plain name, else by path (CompareSelfLinkOrResourceName)."""
    if "/" not in first or "/" not in second:
        return first.rsplit("/", 1)[-1] == second.rsplit("/", 1)[-1]
    return _path(first) == _path(second)


def _path(reference: str) -> str:
    return re.sub(r"^https://.*?/(?=projects/)", "", reference)


def changes(kind: GcpType, state: Props, after: Props) -> tuple[dict[str, Change], set[str]]:
    """Return the changes of an update by path, and the paths that force a replacement."""
    changed = dict(differences(state, after))
    replaces = set()
    for path, change in changed.items():
        old, new = _at_path(state, path), _at_path(after, path)
        pattern = _pattern(kind, path)
        inside = new if change is Change.ADD else old if change is Change.DELETE else None
        if _forces(kind, pattern, inside) or kind.replaced_by(path, old, new):
            replaces.add(path)
    return changed, replaces


def _pattern(kind: GcpType, path: str) -> str:
    """Return a path in the form of the table of properties: without indexes, and without the keys of users' maps."""
    pattern = re.sub(r"\[\d+\]", "[]", path)
    maps = (map for map in kind.maps if pattern.startswith((f"{map}.", f"{map}[")))
    return next(maps, pattern)


def _forces(kind: GcpType, pattern: str, value: Any) -> bool:
    """Return whether a property forces a replacement; for an added or removed object, whether anything in it does."""
    if pattern in kind.replaces or pattern.removesuffix("[]") in kind.replaces:
        return True
    if isinstance(value, dict):
        return any(_forces(kind, f"{pattern}.{name}", inner) for name, inner in value.items() if not zero(inner))
    if isinstance(value, list):
        return any(_forces(kind, f"{pattern}[]", inner) for inner in value)
    return False


def _at_path(value: Any, path: str) -> Any:
    for key, quoted, index in re.findall(r'([A-Za-z_$][\w$]*)|\["([^"]*)"\]|\[(\d+)\]', path):
        if isinstance(value, list):
            value = _at(value, int(index)) if index else None
        elif isinstance(value, dict):
            value = value.get(key or quoted)
    return value


def applied(before: Props, after: Props, current: Props) -> Props:
    """Return the current body with the changes of an update: only changes are sent, and other changes since then stay."""
    result = dict(current)
    for name in before.keys() | after.keys():
        if before.get(name) == after.get(name):
            continue
        old, new, now = before.get(name), after.get(name), current.get(name)
        if isinstance(old, dict) and isinstance(new, dict) and isinstance(now, dict):
            result[name] = applied(old, new, now)
        elif name in after:
            result[name] = after[name]
        else:
            result.pop(name, None)
    return result


# Defaults that the bridge adds to inputs in its Check, and the list `__defaults` of their names.
#
# Every object has such a list, even an empty object. Defaults that are false, zero or empty are not added
# (pulumi-terraform-bridge #2618). A refresh removes the lists again.
#
# Source: applyDefaults in pulumi-terraform-bridge pkg/tfbridge/schema.go.

DEFAULTS = "__defaults"


def without_marks(value: Any) -> Any:
    """Return inputs without the bridge's lists."""
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != DEFAULTS}
    if isinstance(value, list):
        return [without_marks(v) for v in value]
    return value


def marked(fields: Fields, inputs: Props, defaults: Mapping[str, Any], given: frozenset[str] = frozenset()) -> Props:
    """Return inputs with defaults and lists; `given` are the names of top-level properties that are already added."""
    added = {n: copy.deepcopy(v) for n, v in defaults.items() if "." not in n and n not in inputs}
    below: dict[str, dict[str, Any]] = {}
    for path, value in defaults.items():
        name, _, rest = path.partition(".")
        if rest:
            below.setdefault(name, {})[rest] = value
    known = {n: _marked(fields.shapes.get(n), v, below.get(n, {})) for n, v in inputs.items()}
    return known | added | {DEFAULTS: sorted({*added, *given})}


def _marked(shape: Shape | None, value: Any, defaults: Mapping[str, Any]) -> Any:
    if shape and shape.inside and isinstance(value, dict):
        return marked(shape.inside(), value, defaults)
    if shape and shape.item and isinstance(value, list):
        return [_marked(shape.item, item, defaults) for item in value]
    return value


def refreshed(inputs: Any, state: Any) -> Any:
    """Return inputs after a refresh: the properties of the program, with their current values (extractInputs)."""
    if isinstance(inputs, dict) and isinstance(state, dict):
        return {k: refreshed(v, state[k]) for k, v in inputs.items() if state.get(k) is not None}
    if isinstance(inputs, list) and isinstance(state, list):
        return [refreshed(old, new) for old, new in zip(inputs, state, strict=False)]
    return state


def imported(fields: Fields, state: Props) -> Props:
    """Return inputs of a resource that was only read (extractSchemaInputs).

    They are the settable properties that are neither empty nor a default.
    """
    inputs: Props = {}
    for name, value in state.items():
        shape = fields.shapes.get(name)
        if shape is None or (zero(value) and name not in fields.required):
            continue
        inputs[name] = _imported(shape, value)
    return inputs


def _imported(shape: Shape, value: Any) -> Any:
    if shape.inside and isinstance(value, dict):
        return imported(shape.inside(), value)
    if shape.item and isinstance(value, list):
        return [_imported(shape.item, item) for item in value]
    return value
