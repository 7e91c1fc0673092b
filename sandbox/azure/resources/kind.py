"""What one resource type is to Azure Resource Manager: its id, its names, and what PUT, GET and DELETE do.

A further type is a subclass in a file of this folder and a row in `table.KINDS`.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from sandbox.azure import errors, ids
from sandbox.azure.state import Body, Record, Resources
from sandbox.provider import Failure

_PARAMETER = re.compile(r"\{(\w+)\}")
_UNMERGED = frozenset({"tags", "nodeLabels", "userAssignedIdentities"})


@dataclass(frozen=True)
class NameRule:
    """Length and pattern of a path parameter, as the REST specification gives them."""

    longest: int | None = None
    pattern: str | None = None

    def failure(self, parameter: str, value: str) -> Failure | None:
        if self.longest is not None and len(value) > self.longest:
            text = f"'{parameter}' is too long ({len(value)}): at most {self.longest} characters allowed"
            return Failure(parameter, text)
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            return Failure(parameter, f"'{parameter}' does not match expression '{self.pattern}'")
        return None


# azure-rest-api-specs, common-types: ResourceGroupNameParameter.
GROUP_NAME = NameRule(longest=90)


class Kind:
    """One resource type. The class attributes are its entry in the REST specification."""

    token: ClassVar[str]
    path: ClassVar[str]
    """The id, with parameters in braces; the last one is named automatically when absent."""
    names: ClassVar[dict[str, NameRule]] = {"resourceGroupName": GROUP_NAME}
    force_new: ClassVar[frozenset[str]] = frozenset()
    """Property paths that force a replacement: `a`, `a.b` or `a[].b` (pulumi-azure-native replacement.go)."""
    located: ClassVar[bool] = True
    maintained: ClassVar[tuple[str, ...]] = ()
    """Sub-resource lists the provider leaves alone when a program does not set them (its CONTRIBUTING.md)."""
    guid_name: ClassVar[bool] = False

    @property
    def parameters(self) -> list[str]:
        return [p for p in _PARAMETER.findall(self.path) if p != "subscriptionId"]

    def id(self, subscription: str, inputs: Body) -> str:
        values = {"subscriptionId": subscription, **inputs}
        filled = _PARAMETER.sub(lambda match: str(values[match[1]]).strip("/"), self.path)
        return "/" + filled.lstrip("/")

    def matches(self, id: str) -> dict[str, str] | None:
        """The path parameters in an id of this type; None when it is of another type."""
        pattern = re.escape(self.path)
        for name in _PARAMETER.findall(self.path):
            one = "[^/]+" if name != "scope" else ".+"
            pattern = pattern.replace(re.escape("{" + name + "}"), f"(?P<{name}>{one})")
        found = re.fullmatch(pattern.removeprefix("/"), id.strip("/"), re.IGNORECASE)
        return {k: v for k, v in found.groupdict().items() if k != "subscriptionId"} if found else None

    @property
    def arm_type(self) -> str:
        return ids.arm_type(self.path)

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        """The body after a PUT, as GET would return it; `current` is None on a create. Raises `Refused`."""
        raise NotImplementedError

    def check_delete(self, resources: Resources, id: str) -> None:
        """Raise `Refused` when this must not go."""

    def view(self, resources: Resources, record: Record) -> Body:
        """What GET returns for a stored record."""
        return copy.deepcopy(record.body)


def require_group(resources: Resources, id: str) -> None:
    """Raise ARM's 404 unless the resource group in an id exists."""
    group = ids.group_name(id)
    if group and resources.get(id[: id.lower().index("/providers/")]) is None:
        raise errors.group_not_found(group)


def require_parent(resources: Resources, id: str, child_type: str) -> Record:
    found = resources.get(ids.parent(id))
    if found is None:
        raise errors.parent_not_found(child_type, ids.parent(id))
    return found


def merged(current: Any, wanted: Any) -> Any:
    """A PUT laid over what is there: properties left out keep their value, at any depth.

    Lists and free-form maps are replaced whole. That AKS keeps omitted properties is known for inline pools
    (azure-native #1686, #2719); for the rest it is UNCONFIRMED, and the reading under which a removal in the program
    does not quietly take effect is the stricter one.
    """
    if not isinstance(current, dict) or not isinstance(wanted, dict):
        return copy.deepcopy(wanted)
    result = copy.deepcopy(current)
    for name, value in wanted.items():
        keep = name in current and name not in _UNMERGED
        result[name] = merged(current[name], value) if keep else copy.deepcopy(value)
    return result
