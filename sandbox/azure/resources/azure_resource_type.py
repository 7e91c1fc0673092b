"""Resource types as Azure Resource Manager sees them: ids, names, and the effect of PUT, GET and DELETE.

A further type is an entry in `data/types.toml` and a line in `table`; its rules, where it has any, are functions in a file of
this folder.
"""

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from sandbox.azure import azure_catalogue, azure_errors, azure_ids
from sandbox.cloud.facts import tables
from sandbox.cloud.provider import Failure, Refused
from sandbox.cloud.resource_type import ResourceType, fill
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Record, Resources

TABLE = tables("azure", "types")

_GROUP = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
_UNMERGED = frozenset({"tags", "nodeLabels", "userAssignedIdentities"})

# Parameters that hold a whole id: resources of these types stand below any other resource.
SCOPES = frozenset({"scope", "resourceUri"})


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
_GROUP_NAME = {"resourceGroupName": NameRule(longest=90)}


class AzureType(ResourceType):
    """One type of the table. A PUT is laid over the resource: properties left out keep their value."""

    spelling = re.IGNORECASE

    def __init__(self, token: str) -> None:
        facts = TABLE[token]
        super().__init__(token, {**facts, "path": facts["path"].replace("{group}", _GROUP)})
        self.replaces = frozenset[str](facts.get("replaces", ()))
        self.located: bool = facts.get("located", True)
        self.maintained: list[str] = facts.get("maintained", [])
        self.guid_name: bool = facts.get("guid_name", False)

    @cached_property
    def parameters(self) -> list[str]:
        """The parameters of the type's ids that a program gives, in order."""
        return [name for name in super().parameters if name != "subscriptionId"]

    @cached_property
    def names(self) -> dict[str, NameRule]:
        """The rules for path parameters."""
        group = _GROUP_NAME if "resourceGroupName" in self.parameters else {}
        return group | {name: NameRule(**rule) for name, rule in self.facts.get("names", {}).items()}

    @cached_property
    def arm_type(self) -> str:
        """The type in ARM's words, such as `Microsoft.Network/virtualNetworks/subnets`."""
        return azure_ids.arm_type(self.path)

    def id(self, subscription: str, inputs: Body) -> str:
        values = {"subscriptionId": subscription, **inputs}
        return "/" + fill(self.path, {name: str(value).strip("/") for name, value in values.items()}).lstrip("/")

    def matches(self, id: str) -> dict[str, str] | None:
        """Return the path parameters in an id of this type; None when it is of another type."""
        parameters = super().matches("/" + id.strip("/"))
        if parameters is None:
            return None
        return {k: "/" + v if k in SCOPES else v for k, v in parameters.items() if k != "subscriptionId"}

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        """Return the body after a PUT, as GET would return it; `current` is None on a create. Raises `Refused`."""
        require_group(resources, id)
        place = wanted.get("location")
        if place and (refused := azure_catalogue.region_refusal(place, self.arm_type)):
            raise refused
        return self.completed(id, merged(current or {}, wanted))

    def completed(self, id: str, body: Body) -> Body:
        """Return a body with its name, its type and what the service computes."""
        named = {**body, "name": azure_ids.last(id), "type": self.arm_type}
        result: Body = merged(named, self.added(_words(id, body)))
        return result

    def not_found(self, id: str) -> Refused:
        """Return the refusal of a function that reads a missing resource."""
        return azure_errors.resource_not_found(id)


@cache
def type_named(token: str) -> AzureType:
    """Return the facts of a type, without its rules. Raises KeyError for one that is not in the table."""
    return AzureType(token)


def type_of_id(id: str) -> AzureType | None:
    """Return the type an ARM id is of; None when no emulated type has such ids."""
    return next((type for type in map(type_named, TABLE) if type.matches(id) is not None), None)


def _words(id: str, body: Body) -> Mapping[str, Any]:
    name, sku = azure_ids.last(id), body.get("sku")
    return {
        "name": name,
        "lower": name.lower(),
        "location": body.get("location"),
        "group": azure_ids.group_name(id),
        "subscription": id.split("/")[2],
        "tenant": azure_ids.TENANT,
        "sku": sku.get("name") if isinstance(sku, dict) else None,
        "guid": _Guids(id),
        "hex": _Guids(id, hyphens=False),
    }


@dataclass(frozen=True)
class _Guids:
    """Stable GUIDs of a resource, by what they number."""

    id: str
    hyphens: bool = True

    def __getitem__(self, seed: str) -> str:
        guid = azure_ids.guid(seed, azure_ids.key(self.id))
        return guid if self.hyphens else guid.replace("-", "")


class Tracked(AzureType):
    """A type whose resources are in a group and a region, which is what ARM itself checks.

    A PUT replaces the resource: a property that a request leaves out goes back to its default. `rule` may refuse a request and
    complete its body, `held` refuses to delete a resource in use unless its users are below `going`, and `shown` adds to GET.
    """

    def __init__(
        self,
        token: str,
        rule: Callable[[ResourceRequest], None] = lambda request: None,
        held: Callable[[Resources, str, str], None] = lambda resources, id, going: None,
        shown: Callable[[Resources, str], Body] = lambda resources, id: {},
    ) -> None:
        super().__init__(token)
        self._rule, self.held, self._shown = rule, held, shown

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        require_place(id, wanted, current)
        request = ResourceRequest(id, wanted, merged(self.service, wanted), current, resources)
        self._rule(request)
        body = self.completed(id, request.body)
        if "identity" in wanted:
            body["identity"] = _identity(resources, id, wanted["identity"])
        return {**body, "provisioningState": "Succeeded"}

    def check_delete(self, resources: Resources, id: str) -> None:
        self.held(resources, id, "")

    def view(self, resources: Resources, record: Record) -> Body:
        return super().view(resources, record) | self._shown(resources, record.id)


def _identity(resources: Resources, id: str, identity: Body) -> Body:
    """Return a resource's managed identity as the service returns it: user-assigned ones are a map of what they are called."""
    body: Body = {"type": identity["type"]}
    if "SystemAssigned" in identity["type"]:
        body |= {"principalId": azure_ids.guid("principal", azure_ids.key(id)), "tenantId": azure_ids.TENANT}
    if "UserAssigned" in identity["type"]:
        body["userAssignedIdentities"] = {}
        for identity_id in identity.get("userAssignedIdentities", []):
            record = resources.get(identity_id)
            if record is None or "principalId" not in record.body:
                raise azure_errors.resource_not_found(identity_id)
            body["userAssignedIdentities"][record.id] = {n: record.body[n] for n in ("clientId", "principalId")}
    return body


def require_place(id: str, wanted: Body, current: Body | None) -> None:
    """Refuse a resource without a region, and one that is to move to another."""
    # ARM's documented codes, https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
    place = wanted.get("location")
    if not place:
        raise azure_errors.location_required()
    if current is not None and place != current["location"]:
        raise azure_errors.location_taken(id, current["location"], place)


def require_group(resources: Resources, id: str) -> None:
    """Raise ARM's 404 unless the resource group in an id exists."""
    group = azure_ids.group_name(id)
    if group and "/providers/" in id.lower() and resources.get(id[: id.lower().index("/providers/")]) is None:
        # ARM's documented text, https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-not-found
        text = f"Resource group '{group}' could not be found."
        raise azure_errors.arm("ResourceGroupNotFound", text, status=404)


def require_parent(resources: Resources, id: str, child_type: str) -> Record:
    parent = resources.get(azure_ids.parent(id))
    if parent is None:
        raise azure_errors.parent_not_found(child_type, azure_ids.parent(id))
    return parent


def merged(current: Any, wanted: Any) -> Any:
    """Return a PUT laid over the resource: properties left out keep their value, at any depth.

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
