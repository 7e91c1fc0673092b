"""A resource as it is declared, in plain values.

A preview does not know every value. pulumi-policy raises where an unknown value is read, which would end the whole rule: here it
is `UNKNOWN`, and breaks no rule. Secrets arrive in clear text and unmarked, so no rule repeats a value in its message.
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

# `azure-native:containerservice/v20250901:AgentPool` is of a version of the API, and so is
# `azure-native_containerservice_v20250901:containerservice:AgentPool` (azure-native, "Accessing any API version").
_VERSIONED = re.compile(r"(azure-native)(?:_\w+)?:(\w+)(?:/\w+)?:(\w+)")


@dataclass(frozen=True)
class Declared:
    """One resource: its inputs by the names of the wire, and its options."""

    type: str
    """Without an API version of Azure."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    protected: bool = False
    urn: str = ""
    needs: frozenset[str] = frozenset()
    """URNs of the resources that it takes values from; only in questions about the stack."""

    @classmethod
    def of(cls, args: ResourceValidationArgs) -> Declared:
        """The resource in a question of the engine."""
        return cls(unversioned(args.resource_type), plain(args.props), args.opts.protect, args.urn)

    @classmethod
    def in_stack(cls, resource: PolicyResource) -> Declared:
        """The resource in a question about the stack. Its values are outputs: those of the provider's schema, no others."""
        needs = frozenset(needed.urn for needed in resource.dependencies)
        return cls(
            unversioned(resource.resource_type),
            plain(resource.props),
            resource.opts.protect,
            resource.urn,
            needs,
        )

    def get(self, path: str) -> Any:
        """The input at a path such as `apiServerAccessProfile.enablePrivateCluster`; see `at`."""
        return at(self.inputs, path)


def unversioned(type: str) -> str:
    """A type's token without the version of Azure's API."""
    match = _VERSIONED.fullmatch(type)
    return ":".join(match.groups()) if match else type


def at(value: Any, path: str) -> Any:
    """The value at a path: None when it is missing, `UNKNOWN` where it, or a value on the way, is unknown."""
    for key in path.split("."):
        if value is UNKNOWN:
            return UNKNOWN
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def plain(value: Any) -> Any:
    """Proxies of pulumi-policy as dictionaries and lists, with `UNKNOWN` for unknown values."""
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
