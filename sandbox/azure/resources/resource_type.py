"""What one resource type is to Azure Resource Manager: its id, its names, and what PUT, GET and DELETE do.

A further type is a subclass in a file of this folder and a row in `table.KINDS`.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from sandbox.azure import errors, ids
from sandbox.cloud.provider import Failure, Refused
from sandbox.cloud.state import Body, Record, Resources

_PARAMETER = re.compile(r"\{(\w+)\}")
_UNMERGED = frozenset({"tags", "nodeLabels", "userAssignedIdentities"})

# Parameters that hold a whole id: resources of these types stand below any other resource.
_SCOPES = frozenset({"scope", "resourceUri"})


@dataclass(frozen=True)
class NameRule:
    """Length and pattern of a path parameter, as the REST specification gives them."""

    longest: int | None = None
    pattern: str | None = None
    shortest: int = 0

    def failure(self, parameter: str, value: str) -> Failure | None:
        if len(value) < self.shortest:
            text = f"'{parameter}' is too short ({len(value)}): at least {self.shortest} characters required"
            return Failure(parameter, text)
        if self.longest is not None and len(value) > self.longest:
            text = f"'{parameter}' is too long ({len(value)}): at most {self.longest} characters allowed"
            return Failure(parameter, text)
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            return Failure(parameter, f"'{parameter}' does not match expression '{self.pattern}'")
        return None


# azure-rest-api-specs, common-types: ResourceGroupNameParameter.
GROUP_NAME = NameRule(longest=90)

# https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules, Microsoft.Network. The
# specification has no pattern: it is the service that refuses such a name.
NETWORK_NAME = NameRule(longest=80, pattern=r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")


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
            one = "[^/]+" if name not in _SCOPES else ".+"
            pattern = pattern.replace(re.escape("{" + name + "}"), f"(?P<{name}>{one})")
        found = re.fullmatch(pattern.removeprefix("/"), id.strip("/"), re.IGNORECASE)
        if found is None:
            return None
        values = {k: v for k, v in found.groupdict().items() if k != "subscriptionId"}
        return {k: "/" + v if k in _SCOPES else v for k, v in values.items()}

    @property
    def arm_type(self) -> str:
        return ids.arm_type(self.path)

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        """The body after a PUT, as GET would return it; `current` is None on a create. Raises `Refused`."""
        raise NotImplementedError

    def check_delete(self, resources: Resources, id: str) -> None:
        """Raise `Refused` when this must not go."""

    def not_found(self, id: str) -> Refused:
        """What a function that reads one says where it is not."""
        return errors.resource_not_found(id)

    def view(self, resources: Resources, record: Record) -> Body:
        """What GET returns for a stored record."""
        return copy.deepcopy(record.body)


class Tracked(Kind):
    """A type whose resources are in a group and a region, which is what ARM itself checks.

    A PUT replaces what was there: what a request leaves out goes back to its default.
    """

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        require_place(id, wanted, current)
        body = self.made(resources, id, copy.deepcopy(wanted), current)
        if "identity" in wanted:
            body["identity"] = _identity(resources, id, wanted["identity"])
        return {**body, "name": ids.last(id), "type": self.arm_type, "provisioningState": "Succeeded"}

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        """The properties that result from those `wanted`, with what the service adds. Raises `Refused`."""
        raise NotImplementedError


def _identity(resources: Resources, id: str, wanted: Body) -> Body:
    """A resource's managed identity as the service returns it: user-assigned ones are a map of what they are called."""
    body: Body = {"type": wanted["type"]}
    if "SystemAssigned" in wanted["type"]:
        body |= {"principalId": ids.guid("principal", ids.key(id)), "tenantId": ids.TENANT}
    if "UserAssigned" in wanted["type"]:
        body["userAssignedIdentities"] = {}
        for one in wanted.get("userAssignedIdentities", []):
            found = resources.get(one)
            if found is None or "principalId" not in found.body:
                raise errors.resource_not_found(one)
            body["userAssignedIdentities"][found.id] = {n: found.body[n] for n in ("clientId", "principalId")}
    return body


def require_place(id: str, wanted: Body, current: Body | None) -> None:
    """Refuse a resource without a region, and one that is to move to another."""
    # ARM's documented codes, https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
    place = wanted.get("location")
    if not place:
        raise errors.arm("LocationRequired", "The location property is required for this definition.")
    if current is not None and place != current["location"]:
        raise errors.arm(
            "InvalidResourceLocation",
            f"The resource '{ids.last(id)}' already exists in location '{current['location']}' in resource group "
            f"'{ids.group_name(id)}'. A resource with the same name cannot be created in location '{place}'. "
            "Please select a new resource name.",
            status=409,
        )


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
