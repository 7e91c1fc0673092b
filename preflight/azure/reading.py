"""Asks Azure by its own clients. Every request reads; `checkNameAvailability` is a POST that changes nothing.

What it says stays in the words of its REST documentation.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

from config.clouds.azure.settings import Azure
from preflight.answers import Answers
from preflight.demand import Demand
from ready.findings import Unasked

NO_CREDENTIALS = (
    "no credentials for Azure, so nothing was asked: run `az login`, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and"
    " AZURE_CLIENT_SECRET"
)

_SECONDS = 15
"""For a connection; an answer may take twice as long, because the list of sizes is long."""

_SUBSCRIPTION = "azure-native:subscriptionId"
"""The provider's setting in a stack file (pulumi.com/registry/packages/azure-native/installation-configuration)."""

_MANAGEMENT = "https://management.azure.com"


def read(demand: Demand, account: str | None, credential: Any = None, **options: Any) -> Answers:
    """The answers for a stack. `account`: the subscription's id; None for that of the stack file, which Pulumi's
    provider takes first, else the environment's (`ARM_SUBSCRIPTION_ID`, `AZURE_SUBSCRIPTION_ID`), else the only one that the
    credentials see. `options` go to every client, such as a `transport`.

    Raises `Unasked`.
    """
    # Together two seconds, which only this command spends.
    from azure.core.exceptions import (
        ClientAuthenticationError,
        HttpResponseError,
        ResourceNotFoundError,
        ServiceRequestError,
    )
    from azure.identity import DefaultAzureCredential
    from azure.mgmt.compute import ComputeManagementClient
    from azure.mgmt.containerservice import ContainerServiceClient
    from azure.mgmt.resource.resources import ResourceManagementClient

    cloud = demand.spec.cloud
    assert isinstance(cloud, Azure)
    options = {"retry_total": 2, "connection_timeout": _SECONDS, "read_timeout": 2 * _SECONDS, **options}
    credential = credential or DefaultAzureCredential()
    # Its warnings repeat in many lines what one sentence says here.
    logging.getLogger("azure").setLevel(logging.CRITICAL)
    try:
        credential.get_token(f"{_MANAGEMENT}/.default")
    except ClientAuthenticationError:
        raise Unasked(NO_CREDENTIALS) from None
    parts: dict[str, Any] = {}
    unseen: dict[str, str] = {}

    def ask(name: str, call: Callable[[], Any]) -> Any:
        """One answer; a refusal is kept by the name of what was asked."""
        try:
            parts[name] = call()
        except ResourceNotFoundError:
            parts[name] = None
        except ServiceRequestError as silent:
            raise Unasked(f"{_MANAGEMENT} does not answer: {_line(silent)}") from None
        except HttpResponseError as refused:
            unseen[name] = _refusal(refused)
        return parts.get(name)

    chosen = (
        account
        or demand.settings.get(_SUBSCRIPTION)
        or os.environ.get("ARM_SUBSCRIPTION_ID")
        or os.environ.get("AZURE_SUBSCRIPTION_ID")
    )
    resources = ResourceManagementClient(credential, chosen or "none", **options)

    def get(path: str, version: str, method: str = "GET", body: Any = None) -> Any:
        """A path that the clients in use have no method for. Raises what their methods raise."""
        from azure.core.rest import HttpRequest

        answer = resources.send_request(HttpRequest(method, f"{_MANAGEMENT}{path}?api-version={version}", json=body))
        if answer.status_code == 404:
            raise ResourceNotFoundError(response=answer)
        if answer.status_code >= 400:
            raise HttpResponseError(response=answer)
        return answer.json()

    chosen = chosen or _only(ask("subscriptions", lambda: get("/subscriptions", "2022-12-01")["value"]))
    resources = ResourceManagementClient(credential, chosen, **options)
    compute = ComputeManagementClient(credential, chosen, **options)
    containers = ContainerServiceClient(credential, chosen, **options)
    scope = f"/subscriptions/{chosen}"
    parts["subscription"] = chosen
    group = cloud.existing_resource_group or cloud.resource_group or demand.spec.name
    if cloud.existing_cluster:
        group = cloud.existing_cluster.resource_group
    location = cloud.location
    found = ask("resourceGroup", lambda: _plain(resources.resource_groups.get(group)))
    ask("cluster", lambda: _plain(containers.managed_clusters.get(group, demand.spec.name)))
    location = location or (parts.get("cluster") or {}).get("location") or ""
    ask("providers", lambda: [_plain(item) for item in resources.providers.list()])
    if location:
        ask("skus", lambda: [_plain(item) for item in compute.resource_skus.list(filter=f"location eq '{location}'")])
        ask("usages", lambda: [_plain(item) for item in compute.usage.list(location)])
        ask("versions", lambda: _plain(containers.managed_clusters.list_kubernetes_versions(location)))
    if cloud.encryption.at_host:
        path = f"{scope}/providers/Microsoft.Features/providers/Microsoft.Compute/features/EncryptionAtHost"
        ask("feature", lambda: get(path, "2021-07-01"))
    # For a group that is to be made, the rights on the subscription count.
    where = f"{scope}/resourcegroups/{group}" if found else scope
    ask("permissions", lambda: get(f"{where}/providers/Microsoft.Authorization/permissions", "2022-04-01")["value"])
    if name := demand.bucket:
        storage, version = f"{scope}/providers/Microsoft.Storage", "2023-05-01"
        asked = {"name": name, "type": "Microsoft.Storage/storageAccounts"}
        ask("accountName", lambda: get(f"{storage}/checkNameAvailability", version, "POST", asked))
        ask("accounts", lambda: get(f"{storage}/storageAccounts", version)["value"])
    return Answers(demand, parts, unseen, f"subscription {chosen}")


def _only(subscriptions: Any) -> str:
    ids = [str(item["subscriptionId"]) for item in subscriptions or ()]
    if len(ids) != 1:
        raise Unasked(f"the credentials see {len(ids)} subscriptions: name one with --account or ARM_SUBSCRIPTION_ID")
    return ids[0]


def _plain(model: Any) -> Any:
    """A client's object in the words of the REST documentation."""
    return model.as_dict()


def _refusal(refused: Any) -> str:
    code = getattr(getattr(refused, "error", None), "code", None)
    return " ".join(str(part) for part in (refused.status_code, code or refused.reason) if part)


def _line(error: object) -> str:
    return " ".join(str(error).split())
