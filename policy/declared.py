"""A declared resource in plain values.

A preview does not know every value. pulumi-policy raises when an unknown value is read, which
would end the whole rule: here it is `UNKNOWN`, and breaks no rule. Secrets arrive in clear text
and unmarked, so no rule repeats a value in its message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from pulumi_policy import PolicyResource, ResourceValidationArgs
from pulumi_policy.proxy import UnknownValueError


class Unknown(Enum):
    """The type of `UNKNOWN`."""

    VALUE = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("the truth of an unknown value is unknown")


UNKNOWN: Final = Unknown.VALUE

# Tokens with an API version: `azure-native:containerservice/v20250901:AgentPool` and
# `azure-native_containerservice_v20250901:containerservice:AgentPool` (azure-native, "Accessing any
# API version").
_VERSIONED = re.compile(r"(azure-native)(?:_\w+)?:(\w+)(?:/\w+)?:(\w+)")


@dataclass(frozen=True)
class Declared:
    """One resource: its inputs by property name, and its options."""

    type: str
    """The type's token without Azure's API version."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    protected: bool = False
    urn: str = ""
    needs: frozenset[str] = frozenset()
    """URNs of the resources that it takes values from; known only to a check of the stack."""

    @classmethod
    def from_resource(cls, args: ResourceValidationArgs) -> Declared:
        """Return the resource of one validation request."""
        return cls(unversioned(args.resource_type), plain(args.props), args.opts.protect, args.urn)

    @classmethod
    def from_stack(cls, resource: PolicyResource) -> Declared:
        """Return a resource of a stack validation. Its values are the provider's outputs."""
        needs = frozenset(needed.urn for needed in resource.dependencies)
        type, protected = unversioned(resource.resource_type), resource.opts.protect
        return cls(type, plain(resource.props), protected, resource.urn, needs)

    def get(self, path: str) -> Any:
        """Return the input at a path such as `networkProfile.networkPolicy`; see `at`."""
        return at(self.inputs, path)


def unversioned(type: str) -> str:
    """Return a type's token without Azure's API version."""
    match = _VERSIONED.fullmatch(type)
    return ":".join(match.groups()) if match else type


def at(value: Any, path: str) -> Any:
    """Return the value at a path: None if missing, `UNKNOWN` if it or a parent is unknown."""
    for key in path.split("."):
        if value is UNKNOWN:
            return UNKNOWN
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def plain(value: Any) -> Any:
    """Return pulumi-policy's proxies as dictionaries and lists, with `UNKNOWN` values."""
    if isinstance(value, Mapping):
        return {key: _known(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_known(value, index) for index in range(len(value))]
    return value


def _known(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError:
        return UNKNOWN
