"""Asks Azure by its own clients. Every request reads; `checkNameAvailability` and the score of spot are POSTs that change nothing.

What it says stays in the words of its REST documentation.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from typing import Any

from checks.findings import Unasked, line
from checks.preflight.answers import Answers
from checks.preflight.azure import azure_identity, azure_names, azure_rights, placement_scores
from checks.preflight.azure.azure_identity import MANAGEMENT
from checks.preflight.demand import Demand
from checks.preflight.settings import Settings
from config.clouds.azure.azure_settings import Azure, kept_group

_SECONDS = 15
"""For a connection; an answer may take twice as long."""

_SIZES_SECONDS = 120
"""The list of sizes takes 20 to 30 seconds, and more at times (Azure/azure-sdk-for-python 36269, openshift/installer 8046)."""

_OF_OTHERS = ("container", "accountPermissions", "accountGroupPermissions")
"""Parts that may be in another subscription, whose refusals say nothing of this one."""

_MAY_BE_NONE = ("resourceGroup", "cluster", "feature", "storageGroup")
"""Parts of which 404 means that there is none. Every subscription has the others."""

_NO_SUBSCRIPTION = ("SubscriptionNotFound", "InvalidSubscriptionId")
"""Codes of a subscription that is mistyped or not for these credentials (Azure/azure-cli 33657, Azure/apiops 460)."""


def read(demand: Demand, account: str | None, credential: Any = None, **options: Any) -> Answers:
    """The answers for a stack. `account`: the subscription's id; None for that of the stack file, which Pulumi's
    provider takes first, else the environment's (`ARM_SUBSCRIPTION_ID`, `AZURE_SUBSCRIPTION_ID`), else the only one that the
    credentials see. `options` go to every client, such as a `transport`.

    Raises `Unasked`.
    """
    # Together two seconds, which only this command spends.
    from azure.core.exceptions import (
        AzureError,
        ClientAuthenticationError,
        DecodeError,
        HttpResponseError,
        ResourceNotFoundError,
    )
    from azure.mgmt.compute import ComputeManagementClient
    from azure.mgmt.containerservice import ContainerServiceClient
    from azure.mgmt.resource.resources import ResourceManagementClient

    cloud = demand.spec.cloud
    assert isinstance(cloud, Azure)
    settings = Settings("azure-native", demand.settings, os.environ)
    azure_identity.refuse_other_clouds(settings, cloud.location or "")
    chosen = account or settings.get(
        "subscriptionId", "ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"
    )
    options = {
        "retry_total": 2,
        "connection_timeout": _SECONDS,
        "read_timeout": 2 * _SECONDS,
        **options,
    }
    # Its warnings repeat in many lines what one sentence says here.
    logging.getLogger("azure").setLevel(logging.CRITICAL)
    words = ""
    if credential is None:
        credential, words = azure_identity.login(settings, chosen)
    words = azure_identity.checked(credential, words)
    parts: dict[str, Any] = {}
    unseen: dict[str, str] = {}

    def ask(name: str, call: Callable[[], Any], into: dict[str, Any] = parts) -> Any:
        """One answer; a refusal is kept by the name of what was asked. What goes `into` another place may be another's."""
        others = name in _OF_OTHERS or into is not parts
        try:
            into[name] = call()
        except ClientAuthenticationError as refused:
            raise Unasked(_not_accepted(refused)) from None
        except DecodeError as strange:
            raise Unasked(f"{name}: {MANAGEMENT} answers with no JSON: {line(strange)}") from None
        except HttpResponseError as refused:
            if refused.status_code is None:  # an answer that was cut short
                raise Unasked(f"{name}: {MANAGEMENT} does not answer: {line(refused)}") from None
            missing = isinstance(refused, ResourceNotFoundError)
            if _code(refused) in _NO_SUBSCRIPTION and not others:
                raise Unasked(
                    f"there is no subscription {chosen}, or these credentials do not see it ({_refusal(refused)}):"
                    " correct it, or log in to its tenant"
                ) from None
            if (
                missing
                and name not in _MAY_BE_NONE
                and not others
                and not name.startswith(azure_rights.ELSEWHERE)
            ):
                raise Unasked(
                    f"{name}: {MANAGEMENT} has none for subscription {chosen} ({_refusal(refused)}), and every subscription"
                    " has some: correct the subscription or the region"
                ) from None
            if missing:
                into[name] = None
            else:
                unseen[name] = _refusal(refused)
        except (AzureError, ValueError) as silent:
            raise Unasked(f"{name}: {MANAGEMENT} does not answer: {line(silent)}") from None
        return into.get(name)

    resources = ResourceManagementClient(credential, chosen or "none", **options)

    def get(path: str, version: str, method: str = "GET", body: Any = None) -> Any:
        """A path that the clients in use have no method for. Raises what their methods raise."""
        from azure.core.rest import HttpRequest

        answer = resources.send_request(
            HttpRequest(method, f"{MANAGEMENT}{path}?api-version={version}", json=body)
        )
        if answer.status_code in (401, 404):
            raise (
                ClientAuthenticationError if answer.status_code == 401 else ResourceNotFoundError
            )(response=answer)
        if answer.status_code >= 400:
            raise HttpResponseError(response=answer)
        return answer.json()

    chosen = chosen or _only(
        ask("subscriptions", lambda: get("/subscriptions", "2022-12-01")["value"])
    )
    resources = ResourceManagementClient(credential, chosen, **options)
    compute = ComputeManagementClient(credential, chosen, **options)
    containers = ContainerServiceClient(credential, chosen, **options)
    scope = f"/subscriptions/{chosen}"
    parts["subscription"] = chosen
    group = azure_names.group(demand)
    location = cloud.location
    found = ask("resourceGroup", lambda: _plain(resources.resource_groups.get(group)))
    ask("cluster", lambda: _plain(containers.managed_clusters.get(group, demand.spec.name)))
    location = location or (parts.get("cluster") or {}).get("location") or ""
    ask("providers", lambda: [_plain(item) for item in resources.providers.list()])
    if location:
        sizes = {
            "filter": f"location eq '{location}'",
            "read_timeout": max(_SIZES_SECONDS, options["read_timeout"]),
        }
        ask("skus", lambda: [_plain(item) for item in compute.resource_skus.list(**sizes)])
        ask("usages", lambda: [_plain(item) for item in compute.usage.list(location)])
        ask(
            "versions",
            lambda: _plain(containers.managed_clusters.list_kubernetes_versions(location)),
        )
        scores = f"{scope}/providers/Microsoft.Compute/locations/{location}/placementScores/spot/generate"
        for name, body in placement_scores.questions(demand, location):
            # Advice: whatever goes wrong is a note of its check.
            try:
                ask(name, lambda body=body: get(scores, placement_scores.VERSION, "POST", body))  # type: ignore[misc]
            except Unasked as silent:
                unseen[name] = str(silent)
    parts["reservations"] = {}
    for reservation in {need.reservation for need in demand.needs if need.reserved}:
        ask(
            reservation,
            lambda path=reservation: get(f"{path}/capacityReservations", "2024-07-01")["value"],  # type: ignore[misc]
            parts["reservations"],
        )
    if cloud.encryption.at_host:
        path = f"{scope}/providers/Microsoft.Features/providers/Microsoft.Compute/features/EncryptionAtHost"
        ask("feature", lambda: get(path, "2021-07-01"))

    def ask_rights(name: str, where: str) -> None:
        path = f"{where}/providers/Microsoft.Authorization/permissions"
        ask(name, lambda: get(path, "2022-04-01")["value"])

    # For a group that is to be made, the rights on the subscription count.
    ask_rights("permissions", f"{scope}/resourcegroups/{group}" if found else scope)
    for place in azure_rights.places(demand):
        # An id of another owner's; one without a subscription is in the stack's.
        if place.part.startswith(azure_rights.ELSEWHERE):
            at = place.part.removeprefix(azure_rights.ELSEWHERE)
            ask_rights(place.part, at if at.startswith("/subscriptions/") else f"{scope}{at}")
    storage = "2023-05-01"
    if name := demand.bucket:
        path = f"{scope}/providers/Microsoft.Storage"
        asked = {"name": name, "type": "Microsoft.Storage/storageAccounts"}
        ask("accountName", lambda: get(f"{path}/checkNameAvailability", storage, "POST", asked))
        ask("accounts", lambda: get(f"{path}/storageAccounts", storage)["value"])
        if not cloud.existing_resource_group:
            kept = kept_group(group, name)
            there = ask("storageGroup", lambda: _plain(resources.resource_groups.get(kept)))
            ask_rights("storagePermissions", f"{scope}/resourcegroups/{kept}" if there else scope)
    if account := demand.existing_bucket:
        ask(
            "container",
            lambda: get(f"{account}/blobServices/default/containers/checkpoints", storage),
        )
        ask_rights("accountGroupPermissions", "/".join(account.split("/")[:5]))
        ask_rights("accountPermissions", account)
    return Answers(
        demand, parts, unseen, f"subscription {chosen}" + (f" as {words}" if words else "")
    )


def _only(subscriptions: Any) -> str:
    ids = [str(item["subscriptionId"]) for item in subscriptions or ()]
    if len(ids) != 1:
        raise Unasked(
            f"the credentials see {len(ids)} subscriptions: name one with --account or ARM_SUBSCRIPTION_ID"
        )
    return ids[0]


def _plain(model: Any) -> Any:
    """A client's object in the words of the REST documentation."""
    return model.as_dict()


def _code(refused: Any) -> str:
    return str(getattr(getattr(refused, "error", None), "code", None) or "")


def _refusal(refused: Any) -> str:
    return " ".join(
        str(part) for part in (refused.status_code, _code(refused) or refused.reason) if part
    )


def _not_accepted(refused: Any) -> str:
    """A sentence about credentials that Azure refuses. No right mends that, so it is not `not seen`."""
    # The message of InvalidAuthenticationTokenTenant names the token's tenant and then the subscription's
    # (Azure/BatchExplorer 2052).
    tenants = re.findall(r"sts\.windows\.net/([0-9a-f-]+)", str(refused.message))
    log_in = f"az login --tenant {tenants[1]}" if len(tenants) > 1 else "az login --tenant TENANT"
    why = _refusal(refused) or line(refused.message)
    return f"Azure does not accept the credentials ({why}): log in again, `{log_in}`"
