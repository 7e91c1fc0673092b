"""What Terraform plans: the state after an update, from what a program says and what there is.

A property that is said gets its value. One that is not said any more keeps its value where the service may choose it
(Optional and Computed), and goes otherwise; a list of blocks without any is one that is not said (terraform-plugin-sdk:
in HCL there is no other way to write it). What a program never said is left alone [inferred: everything the emulated services
add by themselves is Computed].
"""

from __future__ import annotations

import re
from typing import Any

from sandbox.cloud.differences import Kind as Change
from sandbox.cloud.differences import differences
from sandbox.cloud.provider import UNKNOWN, Props
from sandbox.gcp.resources.resource_type import GcpType


def zero(value: Any) -> bool:
    """Whether Terraform takes a value for one that was not given."""
    return value != UNKNOWN and not value


def planned(kind: GcpType, wanted: Props, state: Props, said: Props) -> Props:
    """The state after an update to the inputs `wanted`, where before it were `said`."""
    return _object(kind, "", wanted, state, said)


def _object(kind: GcpType, path: str, wanted: Props, state: Props, said: Props) -> Props:
    result = {}
    for name in [*state, *(n for n in wanted if n not in state)]:
        where = f"{path}.{name}" if path else name
        if name in wanted and not (wanted[name] == [] and where in kind.blocks & kind.computed):
            value = _value(kind, where, wanted[name], state.get(name), said.get(name))
            if not (zero(value) and state.get(name) is None):
                result[name] = value
        elif name not in said or where in kind.computed:
            result[name] = state[name]
    return result


def _value(kind: GcpType, path: str, wanted: Any, state: Any, said: Any) -> Any:
    if path in kind.maps:
        return wanted
    if isinstance(wanted, dict) and isinstance(state, dict):
        return _object(kind, path, wanted, state, said if isinstance(said, dict) else {})
    if isinstance(wanted, list) and isinstance(state, list):
        if path in kind.sets and UNKNOWN not in wanted and sorted(map(str, wanted)) == sorted(map(str, state)):
            return state
        before = said if isinstance(said, list) else []
        return [
            _value(kind, f"{path}[]", item, _at(state, index), _at(before, index)) for index, item in enumerate(wanted)
        ]
    if path in kind.links and isinstance(wanted, str) and isinstance(state, str):
        return state if same_resource(wanted, state) else wanted
    return wanted


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else None


def same_resource(one: str, other: str) -> bool:
    """CompareSelfLinkOrResourceName: by name where either is a plain name, else by path."""
    if "/" not in one or "/" not in other:
        return one.rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]
    return _path(one) == _path(other)


def _path(reference: str) -> str:
    return re.sub(r"^https://.*?/(?=projects/)", "", reference)


def changes(kind: GcpType, state: Props, after: Props) -> tuple[dict[str, Change], set[str]]:
    """What an update changes, and which of that replaces."""
    found = dict(differences(state, after))
    replaces = set()
    for path, change in found.items():
        old, new = _at_path(state, path), _at_path(after, path)
        pattern = _pattern(kind, path)
        inside = new if change is Change.ADD else old if change is Change.DELETE else None
        if _forces(kind, pattern, inside) or kind.replaced_by(path, old, new):
            replaces.add(path)
    return found, replaces


def _pattern(kind: GcpType, path: str) -> str:
    """A path as the table of properties has it: without indexes, and without the keys of users' maps."""
    pattern = re.sub(r"\[\d+\]", "[]", path)
    inside = (one for one in kind.maps if pattern.startswith((f"{one}.", f"{one}[")))
    return next(inside, pattern)


def _forces(kind: GcpType, pattern: str, value: Any) -> bool:
    """Whether a property, or for a whole object that comes or goes anything in it, forces a replacement."""
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
    """What there is, with what an update changes: only that is sent, and what changed meanwhile stays."""
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
