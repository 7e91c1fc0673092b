"""gcp as the Pulumi engine sees it: check, diff, and the calls to the emulated cloud.

Behaviour is that of pulumi-gcp 10, a Terraform provider behind pulumi-terraform-bridge (pkg/tfbridge/provider.go @59de6c661);
rules of the services themselves are in `resources`. Deliberately has no retries and no partial state: the emulated cloud
answers at once.
"""

import re
import secrets
from collections.abc import Iterator
from typing import Any

from sandbox.cloud.provider import UNKNOWN, CloudProvider, Diff, Failure, InitFailed, Props, Refused, Resource
from sandbox.cloud.resource_type import fill
from sandbox.cloud.schema import preview, without_nulls
from sandbox.gcp import bridge, functions, gcp_ids, gcp_schema
from sandbox.gcp.bridge import DEFAULTS
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_errors import wrapped
from sandbox.gcp.gcp_schema import STORED
from sandbox.gcp.resources.gcp_requests import CLUSTER, POOL
from sandbox.gcp.resources.gcp_resource_type import GcpType, Settings
from sandbox.gcp.resources.gcp_table import TYPES

_RANDOM = 7
"""Hexadecimal digits of a name that the bridge makes (SetAutonaming in pulumi-gcp provider/resources.go)."""

_SINGULAR = {"taints": "taint", "guestAccelerators": "guest_accelerator", "secondaryIpRanges": "secondary_ip_range"}


class GcpProvider(CloudProvider):
    """One configured gcp provider over an emulated cloud that several instances may share."""

    sdk = "pulumi-gcp"

    def __init__(self, cloud: GcpCloud) -> None:
        self._cloud = cloud
        self._settings = Settings()

    def configure(self, inputs: Props) -> None:
        self._settings = Settings(*(inputs.get(name) or "" for name in ("project", "region", "zone")))

    def id_of(self, type: str, inputs: Props) -> str:
        """Return the id of what a create with these inputs makes. Raises `Refused`."""
        return TYPES[type].id(bridge.without_marks(inputs), self._settings)

    def check(self, resource: Resource) -> tuple[Props, list[Failure]]:
        kind, fields = TYPES[resource.type], STORED.inputs_of(resource.type)
        inputs: Props = bridge.without_marks(without_nulls(resource.inputs))
        failures = []
        named, failure = _name(kind, resource, inputs)
        if failure:
            failures.append(failure)
        failures += gcp_schema.failures(fields, inputs, resource.name)
        if not failures:
            failures += _invalid(kind, inputs, resource.name)
        return bridge.marked(fields, inputs, kind.defaults, named), failures

    def diff(self, resource: Resource) -> Diff:
        """Compare Terraform's plan with the state."""
        kind = TYPES[resource.type]
        after = self._planned(resource)
        changes, replaces = bridge.changes(kind, resource.old_outputs, after)
        marks = resource.inputs.get(DEFAULTS) or []
        own_name = bool(kind.auto_name) and kind.auto_name in resource.inputs and kind.auto_name not in marks
        return Diff(changes, replaces, bool(replaces) and (kind.delete_first or own_name))

    def _planned(self, resource: Resource) -> Props:
        new, old = (bridge.without_marks(inputs) for inputs in (resource.inputs, resource.old_inputs))
        return bridge.planned(TYPES[resource.type], new, resource.old_outputs, old)

    def create(self, resource: Resource) -> tuple[str, Props]:
        kind, inputs = TYPES[resource.type], bridge.without_marks(resource.inputs)
        if resource.preview:
            return "", preview(STORED.outputs_of(kind.token), inputs)
        id = ""
        try:
            if wrong := kind.fault_of_inputs(inputs):
                raise Refused(wrong)
            id = kind.id(inputs, self._settings)
            keep = not inputs.get("removeDefaultNodePool")
            body = self._cloud.create(kind.token, id, inputs, keep_default_pool=keep)
        except Refused as refused:
            raise Refused(wrapped(f"{kind.prefix('create', id) if id else ''}{refused}")) from refused
        except InitFailed as failed:
            outputs = _outputs(kind, inputs, failed.outputs)
            reasons = [f"creating {resource.urn}: {wrapped(reason)}" for reason in failed.reasons]
            raise InitFailed(failed.id, outputs, reasons) from failed
        return id, _outputs(kind, inputs, body)

    def update(self, resource: Resource) -> Props:
        kind, inputs = TYPES[resource.type], bridge.without_marks(resource.inputs)
        after = self._planned(resource)
        if resource.preview:
            return after
        try:
            body = self._cloud.update(kind.token, resource.id, resource.old_outputs, after)
        except Refused as refused:
            # The bridge keeps the resource with what is planned, and the engine asks for an update the next time. The
            # sandbox keeps the old outputs.
            reason = f"updating {resource.urn}: {wrapped(kind.prefix('update', resource.id) + str(refused))}"
            raise InitFailed(resource.id, resource.old_outputs, [reason]) from refused
        except InitFailed as failed:
            reasons = [f"updating {resource.urn}: {wrapped(reason)}" for reason in failed.reasons]
            raise InitFailed(failed.id, _outputs(kind, inputs, failed.outputs), reasons) from failed
        return _outputs(kind, inputs, body)

    def read(self, resource: Resource) -> tuple[Props, Props] | None:
        kind = TYPES[resource.type]
        parameters = kind.import_parameters(resource.id) if not resource.old_inputs else kind.matches(resource.id)
        if parameters is None:
            raise Refused(f"{resource.id} is not the id of a {resource.type}: {kind.path}")
        body = self._cloud.get(self.id_read(resource))
        if body is None:
            return None
        if not resource.old_inputs:
            if kind.shared and (body.get("condition") or {}).get("title", "") != " ".join(resource.id.split()[3:]):
                # A binding of the same role and member without the condition is another one (iamMemberImport).
                return None
            outputs = _outputs(kind, _imported_virtuals(kind, parameters), body)
            return bridge.imported(STORED.inputs_of(kind.token), outputs), outputs
        inputs = bridge.without_marks(resource.old_inputs)
        # State without outputs is from a create that was killed: only its inputs are known.
        outputs = _outputs(kind, resource.old_outputs or inputs, body)
        return bridge.refreshed(inputs, outputs), outputs

    def id_read(self, resource: Resource) -> str:
        """Return the provider's own form of an id: each importer sets it (`d.SetId`)."""
        kind = TYPES[resource.type]
        parameters = None if resource.old_inputs else kind.import_parameters(resource.id)
        return fill(kind.path, parameters) if parameters else resource.id

    def delete(self, resource: Resource) -> None:
        kind = TYPES[resource.type]
        try:
            if kind.token == CLUSTER and resource.old_outputs.get("deletionProtection"):
                # resource_container_cluster.go
                raise Refused(
                    "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                    "cluster deletion."
                )
            prefix = kind.prefix("delete", resource.id)
            self._cloud.delete(resource.id)
        except Refused as refused:
            own = kind.token == CLUSTER and "deletion_protection" in str(refused)
            text = str(refused) if own else f"{prefix}{refused}"
            raise Refused(f"deleting {resource.urn}: {wrapped(text)}") from refused

    def invoke(self, token: str, args: Props) -> Props:
        answer = functions.FUNCTIONS.get(token)
        if answer is None:
            return super().invoke(token, args)
        try:
            return answer(self._cloud, self._settings, without_nulls(args))
        except Refused as refused:
            raise Refused(f"invoking {token}: {wrapped(str(refused))}") from refused


def _name(kind: GcpType, resource: Resource, inputs: Props) -> tuple[frozenset[str], Failure | None]:
    """Name what has no name, unless it had one before; which property was filled, and what is wrong with that."""
    name = kind.auto_name
    if not name or name in inputs or "namePrefix" in inputs:
        return frozenset(), None
    old = resource.old_inputs.get(name)
    if old and name in resource.old_inputs.get(DEFAULTS, [name]):
        inputs[name] = old
        return frozenset({name}), None
    title = resource.name.lower() if kind.lower_name else resource.name
    if len(title) + 1 + _RANDOM > kind.longest_name:
        # sdk/go/common/resource NewUniqueHex
        text = f"name '{title}-' plus {_RANDOM} random chars is longer than maximum length {kind.longest_name}"
        return frozenset(), Failure("", text)
    inputs[name] = f"{title}-{secrets.token_hex(4)[:_RANDOM]}"
    return frozenset({name}), None


def _invalid(kind: GcpType, inputs: Props, name: str) -> Iterator[Failure]:
    for pattern, check in kind.checks.items():
        for path, terraform, value in _at(inputs, pattern.split(".")):
            if value == UNKNOWN or value is None:
                continue
            if reason := check(terraform, value):
                yield Failure("", f"{reason}. Examine values at '{name}.{path}'.")


def _at(value: Any, steps: list[str], path: str = "", terraform: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield every value at a pattern such as `nodeConfig.taints[].effect`, with its path here and in Terraform."""
    if not steps:
        yield path, terraform, value
        return
    name, rest = steps[0].removesuffix("[]"), steps[1:]
    if not isinstance(value, dict) or name not in value:
        return
    inner, where = value[name], f"{path}.{name}" if path else name
    snake = _SINGULAR.get(name) or re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", name)
    in_terraform = f"{terraform}.{snake}" if terraform else snake
    if steps[0].endswith("[]"):
        for index, item in enumerate(inner if isinstance(inner, list) else []):
            yield from _at(item, rest, f"{where}[{index}]", f"{in_terraform}.{index}")
    else:
        # A single block is a list of one in Terraform.
        yield from _at(inner, rest, where, f"{in_terraform}.0" if isinstance(inner, dict) else in_terraform)


def _outputs(kind: GcpType, properties: Props, body: Props) -> Props:
    """Return the part of a body that the provider keeps, with the program's own properties that the service never sees."""
    shown = STORED.outputs_of(kind.token).shapes
    own = {name: properties[name] for name in kind.virtual if name in properties}
    return {name: value for name, value in (body | own).items() if name in shown and value is not None}


def _imported_virtuals(kind: GcpType, parameters: dict[str, str]) -> Props:
    if kind.token == CLUSTER:
        # resource_container_cluster.go, its importer
        return {"deletionProtection": True}
    return {"cluster": gcp_ids.last(parameters["cluster"])} if kind.token == POOL else {}
