"""Defaults that the bridge adds to inputs in its Check, and the list `__defaults` of their names.

Every object has such a list, even an empty object. Defaults that are false, zero or empty are not added
(pulumi-terraform-bridge #2618). A refresh removes the lists again.

Source: applyDefaults in pulumi-terraform-bridge pkg/tfbridge/schema.go.
"""

import copy
from collections.abc import Mapping
from typing import Any

from sandbox.cloud.provider import Props
from sandbox.cloud.schema import Fields, Shape
from sandbox.gcp.plan import zero

DEFAULTS = "__defaults"


def without_marks(value: Any) -> Any:
    """Inputs without the bridge's lists."""
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != DEFAULTS}
    if isinstance(value, list):
        return [without_marks(v) for v in value]
    return value


def marked(fields: Fields, inputs: Props, defaults: Mapping[str, Any], given: frozenset[str] = frozenset()) -> Props:
    """Inputs with defaults and lists; `given` are the names of top-level properties that are already added."""
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
    """Inputs after a refresh: the properties of the program, with their current values (extractInputs)."""
    if isinstance(inputs, dict) and isinstance(state, dict):
        return {k: refreshed(v, state[k]) for k, v in inputs.items() if state.get(k) is not None}
    if isinstance(inputs, list) and isinstance(state, list):
        return [refreshed(old, new) for old, new in zip(inputs, state, strict=False)]
    return state


def imported(fields: Fields, state: Props) -> Props:
    """Inputs of a resource that was only read (extractSchemaInputs): settable properties that are neither empty nor a default."""
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
