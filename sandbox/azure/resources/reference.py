"""References from one resource to another, and the refusals of a missing one."""

import re
from typing import Any

from sandbox.azure import azure_errors, azure_ids
from sandbox.azure.azure_errors import arm
from sandbox.azure.resources.azure_resource_type import require_group, type_of_id
from sandbox.cloud.state import Body, Record, Resources


def referenced(resources: Resources, reference: Body, token: str, by: str, region: str) -> Record:
    """Return the resource behind `{id}`, as the network provider looks for it: in the region of the referring resource alone."""
    record = resources.get(reference.get("id", ""))
    if record is None or record.token != token or record.body["location"] != region:
        raise arm(
            "InvalidResourceReference",
            f"Resource {reference.get('id', '')} referenced by resource {by} was not found. Please make sure that the "
            "referenced resource exists, and that both resources are in the same region.",
        )
    return record


def existing(resources: Resources, id: str, token: str) -> Record:
    """Return the resource of a type that another one names. Raises ARM's 404; other services' words for it are UNCONFIRMED."""
    record = resources.get(id)
    if record is None or record.token != token:
        raise azure_errors.resource_not_found(id).as_read()
    return record


def users(resources: Resources, id: str, going: str = "") -> list[str]:
    """Return the resources that refer to one, without those below it or below `going`, which would go with it."""
    target, gone = azure_ids.key(id), tuple(azure_ids.key(root) + "/" for root in (id, going) if root)
    others = ((k, r) for k, r in resources.records.items() if not (k + "/").startswith(gone))
    return [record.id for _, record in others if _mentions(record.body, target)]


def _mentions(value: Any, target: str) -> bool:
    if isinstance(value, dict):
        return any(_mentions(item, target) for item in value.values())
    if isinstance(value, list):
        return any(_mentions(item, target) for item in value)
    return isinstance(value, str) and azure_ids.key(value) == target


def scope(id: str) -> str:
    """Return the resource, or group, at which one with this id is: all before its own provider."""
    return id[: id.lower().rindex("/providers/")]


def require_scope(resources: Resources, scope: str) -> None:
    """Refuse a scope that is no id, or is the id of a missing resource of an emulated type.

    A scope of another type is taken as existing: nothing can make such a resource here, and a role at one (a storage
    account, a DNS zone) is no reason to keep a program from running at all.
    """
    if not scope.lower().startswith(("/subscriptions/", "/providers/")):
        # ARM's answer to a path outside any subscription.
        text = "The request did not have a subscription or a valid tenant level resource provider."
        raise arm("MissingSubscription", text, status=404)
    subscription = re.match(r"/subscriptions/([^/]+)", scope, re.IGNORECASE)
    if subscription and not azure_ids.GUID.fullmatch(subscription[1]):
        # MicrosoftDocs/azure-docs #77959
        text = f"The provided subscription identifier '{subscription[1]}' is malformed or invalid."
        raise arm("InvalidSubscriptionId", text)
    if type_of_id(scope) is not None and resources.get(scope) is None:
        require_group(resources, scope + "/providers/")
        raise azure_errors.resource_not_found(scope)
