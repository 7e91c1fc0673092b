"""azure-native as the Pulumi engine sees it: check, diff, and the calls to the emulated cloud.

Behaviour is that of pulumi-azure-native v3 (provider.go, diff.go, convert.go); rules of the cloud itself are in `resources`.
Deliberately has no retries and no partial state: the emulated cloud answers at once. azure-native has none for what
`propagation` refuses either.
"""

import base64
import re
import secrets
import uuid
from typing import Any

from sandbox.azure import azure_errors, azure_ids, azure_schema
from sandbox.azure.azure_catalogue import plain_region
from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_operations import Propagation
from sandbox.azure.azure_schema import STORED
from sandbox.azure.resources.azure_requests import CLUSTER
from sandbox.azure.resources.azure_resource_type import SCOPES, AzureType
from sandbox.azure.resources.azure_table import TYPES
from sandbox.cloud.provider import (
    UNKNOWN,
    CloudProvider,
    Diff,
    Failure,
    InitFailed,
    Props,
    Refused,
    Resource,
    differences,
)
from sandbox.cloud.provider import Kind as Change
from sandbox.cloud.schema import as_inputs, preview, without_empty, without_nulls

_API_VERSION = "azureApiVersion"
_AUTO_NAMED = "__createBeforeDelete"

_USER_CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"
_ADMIN_CREDENTIALS = "azure-native:containerservice:listManagedClusterAdminCredentials"
_CLIENT_CONFIG = "azure-native:authorization:getClientConfig"
_ARGUMENTS = {
    _USER_CREDENTIALS: {"resourceGroupName", "resourceName", "format", "serverFqdn"},
    _ADMIN_CREDENTIALS: {"resourceGroupName", "resourceName", "serverFqdn"},
    _CLIENT_CONFIG: set[str](),
}

_READ = re.compile(r"(azure-native:\w+:)get([A-Z]\w+)")

_OLD_SKUS = {"Basic": "Base", "Paid": "Standard"}


class AzureProvider(CloudProvider):
    """One configured azure-native provider over an emulated cloud that several instances may share."""

    sdk = "pulumi-azure-native"

    def __init__(self, cloud: AzureCloud, propagation: Propagation | None = None) -> None:
        """`propagation`: what is not known everywhere yet. Without, all is known at once."""
        self._cloud, self._propagation = cloud, propagation
        self._location = ""
        self._subscription = azure_ids.SUBSCRIPTION

    def configure(self, inputs: Props) -> None:
        self._location = inputs.get("location") or ""
        self._subscription = inputs.get("subscriptionId") or azure_ids.SUBSCRIPTION

    def id_of(self, type: str, inputs: Props) -> str:
        return TYPES[type].id(self._subscription, inputs)

    def check(self, resource: Resource) -> tuple[Props, list[Failure]]:
        kind = TYPES[resource.type]
        given = without_nulls(resource.inputs)
        # These two are the provider's own additions to inputs.
        inputs: Props = {k: v for k, v in given.items() if k not in (_API_VERSION, _AUTO_NAMED)}
        marks = self._name(kind, resource, inputs)
        if kind.located and "location" not in inputs:
            default = self._default_location(kind, resource, inputs)
            if default:
                inputs["location"] = default
        failures = list(azure_schema.failures(STORED.inputs_of(kind.token), inputs))
        for parameter, rule in kind.names.items():
            value = inputs.get(parameter)
            failure = rule.failure(parameter, value) if isinstance(value, str) and value != UNKNOWN else None
            if failure is not None:
                failures.append(failure)
        return inputs | marks | {_API_VERSION: STORED.version_of(kind.token)}, failures

    @staticmethod
    def _name(kind: AzureType, resource: Resource, inputs: Props) -> Props:
        """Name what has no name, unless it had one before; returns the mark azure-native puts on its own names."""
        parameter = kind.parameters[-1]
        if parameter in inputs:
            return {}
        if parameter in resource.old_inputs:
            inputs[parameter] = resource.old_inputs[parameter]
            return {_AUTO_NAMED: True} if _AUTO_NAMED in resource.old_inputs else {}
        inputs[parameter] = str(uuid.uuid4()) if kind.guid_name else resource.name + secrets.token_hex(4)
        return {_AUTO_NAMED: True}

    def _default_location(self, kind: AzureType, resource: Resource, inputs: Props) -> str:
        old = resource.old_inputs.get("location") or self._location
        group = inputs.get("resourceGroupName")
        if (
            old
            or not isinstance(group, str)
            or group == UNKNOWN
            or "location" not in STORED.inputs_of(kind.token).shapes
        ):
            return old
        return str((self._cloud.get(azure_ids.group_id(self._subscription, group)) or {}).get("location", ""))

    def diff(self, resource: Resource) -> Diff:
        """Compare inputs with old inputs. Outputs only forgive an addition of what the service already has."""
        kind = TYPES[resource.type]
        old, new = (_comparable(inputs) for inputs in (resource.old_inputs, resource.inputs))
        result = Diff(dict(differences(old, new)))
        keys = kind.replaces | set(kind.parameters)
        for path, change in result.changes.items():
            if not _replaces(path, change, keys):
                continue
            added_as_is = change is Change.ADD and path in new and resource.old_outputs.get(path) == new[path]
            if not added_as_is:
                result.replaces.add(path)
        result.delete_before_replace = bool(result.replaces) and not resource.old_inputs.get(_AUTO_NAMED)
        return result

    def create(self, resource: Resource) -> tuple[str, Props]:
        kind = TYPES[resource.type]
        if resource.preview:
            return "", preview(STORED.outputs_of(kind.token), resource.inputs)
        id = kind.id(self._subscription, resource.inputs)
        return self._put(kind, id, resource, create=True)

    def update(self, resource: Resource) -> Props:
        kind = TYPES[resource.type]
        if resource.preview:
            shown = preview(STORED.outputs_of(kind.token), resource.inputs)
            # The two outputs azure-native knows never to change in an update.
            return shown | {n: resource.old_outputs[n] for n in ("name", "location") if n in resource.old_outputs}
        return self._put(kind, resource.id, resource, create=False)[1]

    def _put(self, kind: AzureType, id: str, resource: Resource, *, create: bool) -> tuple[str, Props]:
        skipped = {*kind.parameters, _API_VERSION, _AUTO_NAMED}
        body = {k: v for k, v in resource.inputs.items() if k not in skipped}
        if isinstance(body.get("location"), str):
            body["location"] = plain_region(body["location"])
        if self._propagation:
            self._propagation.admit(kind.token, id, body)
        try:
            id, properties = self._cloud.put(kind.token, id, body, create=create)
            if self._propagation and create:
                self._propagation.note_created(kind.token, id)
        except InitFailed as failed:
            raise InitFailed(failed.id, _outputs(kind, resource.inputs, failed.outputs), failed.reasons) from failed
        return id, _outputs(kind, resource.inputs, properties)

    def read(self, resource: Resource) -> tuple[Props, Props] | None:
        kind = TYPES[resource.type]
        body = self._cloud.get(resource.id)
        if body is None:
            return None
        fields = STORED.inputs_of(kind.token)
        if not resource.old_inputs:
            named = kind.matches(resource.id)
            if named is None:
                raise Refused(f"{resource.id} is not the id of a {kind.arm_type or 'resource group'}")
            # convert/responseToSdkInputs.go: no empty lists and objects. resources/ids.go, ParseResourceID: an id in a path is
            # without its first slash (azure-native issue 4683; mended by pull request 4818 of August 2026, whose release is
            # UNCONFIRMED).
            bare = {name: value.removeprefix("/") if name in SCOPES else value for name, value in named.items()}
            return without_empty(as_inputs(fields, body) | bare), _outputs(kind, body, body)
        outputs = _outputs(kind, resource.old_inputs, body)
        old, new = (as_inputs(fields, outs) for outs in (resource.old_outputs, outputs))
        return apply_difference(resource.old_inputs, old, new), outputs

    def delete(self, resource: Resource) -> None:
        TYPES[resource.type]
        self._cloud.delete(resource.id)

    def invoke(self, token: str, args: Props) -> Props:
        # Every emulated type has a function that reads one resource, `getManagedCluster` for example.
        read = _READ.fullmatch(token)
        kind = TYPES.get(read[1] + read[2]) if read else None
        if kind is None and token not in _ARGUMENTS:
            return super().invoke(token, args)
        given, known = without_nulls(args), set(kind.parameters) if kind else _ARGUMENTS[token]
        for name in given.keys() - known:
            raise Refused(f"{token}: unknown argument '{name}'")
        if token == _CLIENT_CONFIG:
            return {
                "clientId": azure_ids.CLIENT,
                "objectId": azure_ids.USER_OBJECT,
                "subscriptionId": self._subscription,
                "tenantId": azure_ids.TENANT,
            }
        for name in kind.parameters if kind else ("resourceGroupName", "resourceName"):
            if name not in given:
                raise Refused(f"{token}: missing required argument '{name}'")
        if kind is None:
            return self._credentials(token, TYPES[CLUSTER].id(self._subscription, given))
        id = kind.id(self._subscription, given)
        body = self._cloud.get(id)
        if body is None:
            raise kind.not_found(id)
        return _outputs(kind, body, body) | {"id": id}

    def _credentials(self, token: str, id: str) -> Props:
        if token == _ADMIN_CREDENTIALS and (self._cloud.get(id) or {}).get("disableLocalAccounts"):
            # azurerm PR 15489
            raise azure_errors.aks(
                "BadRequest",
                "Getting static credential is not allowed because this cluster is set to disable local accounts.",
            )
        text = self._cloud.user_kubeconfig(id)
        # The names of the entries are UNCONFIRMED.
        name = "clusterAdmin" if token == _ADMIN_CREDENTIALS else "clusterUser"
        return {"kubeconfigs": [{"name": name, "value": base64.b64encode(text.encode()).decode()}]}


def _outputs(kind: AzureType, inputs: Props, body: Props) -> Props:
    """Return the part of a body that the provider keeps: sub-resource lists that the program does not set are empty."""
    shown = STORED.outputs_of(kind.token).shapes
    outputs = {name: value for name, value in body.items() if name in shown and value is not None}
    outputs |= {name: [] for name in kind.maintained if name not in inputs}
    return outputs | {_API_VERSION: STORED.version_of(kind.token)}


def _comparable(inputs: Props) -> Props:
    """Return inputs without the differences that azure-native's diff ignores."""
    shown = {k: v for k, v in inputs.items() if not k.startswith("__") and k != _API_VERSION}
    for name, normal in (("location", plain_region), ("resourceGroupName", str.lower)):
        if isinstance(shown.get(name), str) and shown[name] != UNKNOWN:
            shown[name] = normal(shown[name])
    sku = shown.get("sku")
    if isinstance(sku, dict) and sku.keys() == {"name", "tier"}:
        shown["sku"] = {k: _OLD_SKUS.get(v, v) for k, v in sku.items()}
    return shown


def _replaces(path: str, change: Change, keys: set[str] | frozenset[str]) -> bool:
    """Return whether a change at a path forces a replacement: at a marked property, or for an update anywhere below one."""
    pattern = re.sub(r"\[\d+\]", "[]", path)
    if pattern in keys:
        return True
    above = (pattern[: match.start()] for match in re.finditer(r"[.\[]", pattern))
    return change is Change.UPDATE and any(parent in keys for parent in above)


# Refresh: new inputs from a fresh GET, as azure-native makes them.
#
# Old and new outputs are reduced to what inputs could hold; only where these two differ, the old inputs change. Defaults the
# service added at creation are in both and cause no drift; an autoscaled count is in one and does.
#
# Source: `Read` and `applyDiff` in pulumi-azure-native provider/pkg/provider (provider.go, diff.go).


def apply_difference(inputs: Props, old: Props, new: Props) -> Props:
    """Return `inputs` with what changed from `old` to `new`."""
    result = {name: value for name, value in inputs.items() if name not in old or new.get(name) is not None}
    for name, value in new.items():
        if old.get(name) is None:
            result[name] = value
        elif value != old[name]:
            result[name] = _changed(inputs[name], old[name], value) if name in inputs else value
    return result


def _changed(base: Any, old: Any, new: Any) -> Any:
    if isinstance(base, dict) and isinstance(old, dict) and isinstance(new, dict):
        return apply_difference(base, old, new)
    if isinstance(base, list) and isinstance(old, list) and isinstance(new, list):
        known = min(len(base), len(old))
        return [_changed(base[i], old[i], item) if i < known else item for i, item in enumerate(new)]
    return new
