"""The questions to Azure, by its own clients, answered in the words of its REST documentation.

Every request reads; `checkNameAvailability` and the spot placement score are POSTs that change
nothing.
"""

from __future__ import annotations

import logging
import os
import re
from functools import partial
from typing import Any

from checks.findings import Unasked, line
from checks.preflight.answers import Answers, Reading
from checks.preflight.azure import azure_identity, azure_names, azure_rights, placement_scores
from checks.preflight.azure.azure_declared import group_of
from checks.preflight.azure.azure_identity import MANAGEMENT
from checks.preflight.demand import Demand
from checks.preflight.settings import Settings
from config.clouds.azure.azure_settings import Azure, kept_group

_SECONDS = 15
"""Seconds for a connection; an answer may take twice as long."""

_SIZES_SECONDS = 120
"""Seconds for the list of sizes, which takes 20 to 30 and sometimes more
(Azure/azure-sdk-for-python 36269, openshift/installer 8046)."""

_ELSEWHERE = ("container", "accountPermissions", "accountGroupPermissions")
"""Parts that may be in another subscription."""

_MAY_BE_MISSING = ("resourceGroup", "cluster", "feature", "storageGroup")
"""Parts that a subscription may lack. Every subscription has the others."""

_NO_SUBSCRIPTION = ("SubscriptionNotFound", "InvalidSubscriptionId")
"""Codes for a mistyped subscription, or one that the credentials do not see
(Azure/azure-cli 33657, Azure/apiops 460)."""


def read_account(
    demand: Demand, account: str | None, credential: Any = None, **options: Any
) -> Answers:
    """Ask Azure for a stack.

    `account`: the subscription's id; None for that of the stack file, as Pulumi's provider takes
    it, else the environment's (`ARM_SUBSCRIPTION_ID`, `AZURE_SUBSCRIPTION_ID`), else the only one
    that the credentials see. `options` go to every client, such as a `transport`. Raises `Unasked`.
    """
    cloud = demand.spec.cloud
    assert isinstance(cloud, Azure)
    settings = Settings("azure-native", demand.settings, os.environ)
    azure_identity.refuse_other_clouds(settings, cloud.location or "")
    chosen = account or settings.get(
        "subscriptionId", "ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"
    )
    # Azure's warnings repeat in many lines what one sentence says here.
    logging.getLogger("azure").setLevel(logging.CRITICAL)
    login = ""
    if credential is None:
        credential, login = azure_identity.login(settings, chosen)
    login = azure_identity.signed_in(credential, login)
    reading = _AzureReading(demand, cloud, credential, options)
    reading.open_clients(chosen)
    reading.read_cluster()
    reading.read_region()
    reading.read_spot_scores()
    reading.read_reservations()
    reading.read_rights()
    reading.read_own_checkpoints()
    reading.read_existing_checkpoints()
    return reading.answers(f"subscription {reading.subscription}", login)


class _AzureReading(Reading):
    def __init__(
        self, demand: Demand, cloud: Azure, credential: Any, options: dict[str, Any]
    ) -> None:
        super().__init__(demand)
        self.cloud, self.credential = cloud, credential
        limits = {"connection_timeout": _SECONDS, "read_timeout": 2 * _SECONDS}
        self.options: dict[str, Any] = {"retry_total": 2, **limits, **options}
        self.subscription = ""
        self.group = azure_names.group(demand)
        self.location = cloud.location or ""

    @property
    def scope(self) -> str:
        return f"/subscriptions/{self.subscription}"

    def open_clients(self, subscription: str) -> None:
        # The imports take two seconds, which only this command spends.
        from azure.mgmt.compute import ComputeManagementClient
        from azure.mgmt.containerservice import ContainerServiceClient
        from azure.mgmt.resource.resources import ResourceManagementClient

        def opened(client: Any) -> Any:
            return client(self.credential, self.subscription or "none", **self.options)

        self.subscription = subscription
        self.resources = opened(ResourceManagementClient)
        if not subscription:
            self.subscription = _only(
                self.ask("subscriptions", lambda: self._list("/subscriptions", "2022-12-01"))
            )
            self.resources = opened(ResourceManagementClient)
        self.compute = opened(ComputeManagementClient)
        self.clusters = opened(ContainerServiceClient).managed_clusters
        self.parts["subscription"] = self.subscription

    def read_cluster(self) -> None:
        name = self.demand.spec.name
        self._ask_group("resourceGroup", self.group)
        cluster = self.ask("cluster", lambda: self.clusters.get(self.group, name).as_dict())
        self.location = self.location or (cluster or {}).get("location") or ""
        providers = self.resources.providers
        self.ask("providers", lambda: [item.as_dict() for item in providers.list()])
        if self.cloud.encryption.at_host:
            path = "providers/Microsoft.Features/providers/Microsoft.Compute/features"
            path = f"{self.scope}/{path}/EncryptionAtHost"
            self.ask("feature", lambda: self._get(path, "2021-07-01"))

    def read_region(self) -> None:
        location = self.location
        if not location:
            return
        sizes = {
            "filter": f"location eq '{location}'",
            "read_timeout": max(_SIZES_SECONDS, self.options["read_timeout"]),
        }
        skus, usage = self.compute.resource_skus, self.compute.usage
        self.ask("skus", lambda: [item.as_dict() for item in skus.list(**sizes)])
        self.ask("usages", lambda: [item.as_dict() for item in usage.list(location)])
        versions = self.clusters.list_kubernetes_versions
        self.ask("versions", lambda: versions(location).as_dict())

    def read_spot_scores(self) -> None:
        place = f"{self.scope}/providers/Microsoft.Compute/locations/{self.location}"
        path, version = f"{place}/placementScores/spot/generate", placement_scores.VERSION
        questions = placement_scores.questions(self.demand, self.location) if self.location else ()
        for name, body in questions:
            self.ask_advice(name, partial(self._get, path, version, "POST", body))

    def read_reservations(self) -> None:
        held = self.parts["reservations"] = {}
        for group in {need.reservation for need in self.demand.needs if need.reserved}:
            call = partial(self._list, f"{group}/capacityReservations", "2024-07-01")
            self.ask(group, call, held, elsewhere=True)

    def read_rights(self) -> None:
        # For a group that is to be made, the rights on the subscription count.
        made = self.parts.get("resourceGroup")
        self._ask_rights("permissions", self._group(self.group) if made else self.scope)
        for place in azure_rights.places(self.demand):
            if place.part.startswith(azure_rights.ELSEWHERE):
                id = place.part.removeprefix(azure_rights.ELSEWHERE)
                # An id without a subscription is in the stack's.
                whole = id if id.startswith("/subscriptions/") else f"{self.scope}{id}"
                self._ask_rights(place.part, whole)

    def read_own_checkpoints(self) -> None:
        name, version = self.demand.bucket, "2023-05-01"
        if not name:
            return
        path = f"{self.scope}/providers/Microsoft.Storage"
        body = {"name": name, "type": "Microsoft.Storage/storageAccounts"}
        self.ask(
            "accountName", lambda: self._get(f"{path}/checkNameAvailability", version, "POST", body)
        )
        self.ask("accounts", lambda: self._list(f"{path}/storageAccounts", version))
        if not self.cloud.existing_resource_group:
            kept = kept_group(self.group, name)
            made = self._ask_group("storageGroup", kept)
            self._ask_rights("storagePermissions", self._group(kept) if made else self.scope)

    def read_existing_checkpoints(self) -> None:
        if account := self.demand.existing_bucket:
            path = f"{account}/blobServices/default/containers/checkpoints"
            self.ask("container", lambda: self._get(path, "2023-05-01"))
            self._ask_rights("accountGroupPermissions", group_of(account))
            self._ask_rights("accountPermissions", account)

    def refusal(self, error: Exception, name: str, elsewhere: bool) -> str | None:
        from azure.core import exceptions as azure

        elsewhere = elsewhere or name in _ELSEWHERE
        if isinstance(error, azure.ClientAuthenticationError):
            raise Unasked(_not_accepted(error)) from None
        if isinstance(error, azure.DecodeError):
            raise Unasked(f"{name}: {MANAGEMENT} answers with no JSON: {line(error)}") from None
        # Without a status the answer was cut short.
        if isinstance(error, azure.HttpResponseError) and error.status_code is not None:
            return self._http_refusal(error, name, elsewhere)
        if isinstance(error, azure.AzureError | ValueError):
            raise Unasked(f"{name}: {MANAGEMENT} does not answer: {line(error)}") from None
        raise error

    def _http_refusal(self, error: Any, name: str, elsewhere: bool) -> str | None:
        from azure.core.exceptions import ResourceNotFoundError

        why = _refusal(error)
        if _code(error) in _NO_SUBSCRIPTION and not elsewhere:
            raise Unasked(
                f"there is no subscription {self.subscription}, or these credentials do not see it"
                f" ({why}): correct it, or log in to its tenant"
            ) from None
        if not isinstance(error, ResourceNotFoundError):
            return why
        elsewhere = elsewhere or name.startswith(azure_rights.ELSEWHERE)
        if name not in _MAY_BE_MISSING and not elsewhere:
            raise Unasked(
                f"{name}: {MANAGEMENT} has none for subscription {self.subscription} ({why}), and"
                " every subscription has some: correct the subscription or the region"
            ) from None
        return None

    def _ask_group(self, part: str, name: str) -> Any:
        groups = self.resources.resource_groups
        return self.ask(part, lambda: groups.get(name).as_dict())

    def _ask_rights(self, part: str, where: str) -> None:
        path = f"{where}/providers/Microsoft.Authorization/permissions"
        self.ask(part, lambda: self._list(path, "2022-04-01"))

    def _group(self, name: str) -> str:
        return f"{self.scope}/resourcegroups/{name}"

    def _list(self, path: str, version: str) -> Any:
        return self._get(path, version)["value"]

    def _get(self, path: str, version: str, method: str = "GET", body: Any = None) -> Any:
        """Request a path for which the clients have no method. Raises what their methods raise."""
        from azure.core import exceptions as azure
        from azure.core.rest import HttpRequest

        url = f"{MANAGEMENT}{path}?api-version={version}"
        answer = self.resources.send_request(HttpRequest(method, url, json=body))
        if answer.status_code >= 400:
            kinds: dict[int, Any] = {
                401: azure.ClientAuthenticationError,
                404: azure.ResourceNotFoundError,
            }
            raise kinds.get(answer.status_code, azure.HttpResponseError)(response=answer)
        return answer.json()


def _only(subscriptions: Any) -> str:
    ids = [str(item["subscriptionId"]) for item in subscriptions or ()]
    if len(ids) != 1:
        raise Unasked(
            f"the credentials see {len(ids)} subscriptions: name one with --account or"
            " ARM_SUBSCRIPTION_ID"
        )
    return ids[0]


def _code(refused: Any) -> str:
    return str(getattr(getattr(refused, "error", None), "code", None) or "")


def _refusal(refused: Any) -> str:
    parts = (refused.status_code, _code(refused) or refused.reason)
    return " ".join(str(part) for part in parts if part)


def _not_accepted(refused: Any) -> str:
    """Return the sentence for credentials that Azure refuses. No right helps: not `not seen`."""
    # The message of InvalidAuthenticationTokenTenant names the token's tenant, then the
    # subscription's (Azure/BatchExplorer 2052).
    tenants = re.findall(r"sts\.windows\.net/([0-9a-f-]+)", str(refused.message))
    log_in = f"az login --tenant {tenants[1] if len(tenants) > 1 else 'TENANT'}"
    why = _refusal(refused) or line(refused.message)
    return f"Azure does not accept the credentials ({why}): log in again, `{log_in}`"
