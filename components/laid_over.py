"""Properties that a stack file names in a provider's words, laid over an SDK's arguments.

They are there before a pool is compared with the live one, so an immutable property is treated as a
key of the stack file that is immutable.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, TypeVar

import pulumi
from pulumi import _types

from components.resources import wire

T = TypeVar("T")


def laid_over(args: T, given: Mapping[str, Any]) -> T:
    """Return an SDK's arguments with these properties, which the provider's names key, laid over.

    Objects are merged, every other value replaces. A changed object is plain data: the SDK takes it
    with the provider's names as they are, and adds no default of its classes to it
    (pulumi/runtime/rpc.py, `serialize_property`).
    """
    if not given:
        return args
    result = copy(args)
    for own, name in _types.input_type_py_to_pulumi_names(type(args)).items():
        if name in given:
            pulumi.set(result, own, _merged(wire(pulumi.get(args, own)), given[name]))
    return result


def _merged(current: Any, given: Any) -> Any:
    if not isinstance(current, dict) or not isinstance(given, Mapping):
        return given
    return current | {name: _merged(current.get(name), value) for name, value in given.items()}
