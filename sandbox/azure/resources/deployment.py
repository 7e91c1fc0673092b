"""Deployments of templates, as far as they change pools of a cluster.

Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/ (pages syntax, deployment-modes, error-invalid-template,
template-expressions), and the REST specification of Microsoft.Resources/deployments, 2024-03-01. Texts without a source beside
them are UNCONFIRMED.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from sandbox.azure import azure_ids, azure_schema
from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.azure.azure_schema import STORED
from sandbox.azure.resources.azure_requests import POOL
from sandbox.azure.resources.azure_resource_type import AzureType, require_group
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Record, Resources

DEPLOYMENT = "azure-native:resources:Deployment"

_POOL_TYPE = "Microsoft.ContainerService/managedClusters/agentPools"
_TEMPLATE = ("$schema", "contentVersion", "resources")


class Deployment(AzureType):
    """`Microsoft.Resources/deployments`. What is in its template is put by `AzureCloud`; deleting it deletes none of that."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        if wanted.get("location"):
            # A deployment in a resource group is where the group is.
            raise arm(
                "LocationNotRequired", "The location property is not allowed for a deployment to a resource group."
            ).as_read()
        properties: Body = wanted["properties"]
        if properties["mode"] != "Incremental":
            # In mode Complete ARM deletes what is in the group and not in the template (page deployment-modes).
            raise Refused("the sandbox deploys templates in mode Incremental only")
        list(requests(id, wanted))
        before = (current or {}).get("properties", {}).get("correlationId", "")
        template = json.dumps(properties["template"], sort_keys=True)
        result: Body = {
            "properties": {
                "mode": properties["mode"],
                "templateHash": hashlib.sha256(template.encode()).hexdigest()[:20],
                "correlationId": azure_ids.guid("deployment", id + before),
                "provisioningState": "Running",
            }
        }
        return self.completed(id, result)

    def check_delete(self, resources: Resources, id: str) -> None:
        super().check_delete(resources, id)
        record = resources.get(id)
        if record and running(record):
            # REST reference, Deployments - Delete: one that is running cannot be deleted. Code and text are UNCONFIRMED.
            raise active(id)

    def not_found(self, id: str) -> Refused:
        # Page common-deployment-errors, DeploymentNotFound
        return arm("DeploymentNotFound", f"Deployment '{azure_ids.last(id)}' could not be found.", status=404)


def requests(id: str, wanted: Body) -> Iterator[tuple[str, Body]]:
    """Yield the pools that a deployment puts: id and body of each. Raises `AzureRefused` for a template that is none."""
    template = wanted["properties"].get("template") or {}
    for part in _TEMPLATE:
        if part not in template:
            raise _invalid(f"Required property '{part}' not found in JSON.").as_read()
    for resource in template["resources"]:
        type, name = resource.get("type", ""), resource.get("name", "")
        if any(text.startswith("[") and not text.startswith("[[") for text in _texts(resource)):
            raise Refused("the sandbox evaluates no expression in a template")
        if type.lower() != _POOL_TYPE.lower():
            raise Refused(f"the sandbox deploys agent pools only, not {type}")
        if name.count("/") != type.count("/") - 1:
            # Page error-invalid-template
            raise _invalid(f"The template resource '{name}' for type '{type}' has incorrect segment lengths.")
        if resource.get("apiVersion") != STORED.version_of(POOL):
            raise Refused(
                f"the sandbox knows agent pools as of {STORED.version_of(POOL)}, not {resource.get('apiVersion')}"
            )
        cluster, pool = name.split("/")
        properties: Body = resource.get("properties") or {}
        for failure in azure_schema.failures(STORED.inputs_of(POOL), _PARENT | properties):
            raise _invalid(failure.reason).as_read()
        group = id.lower().index("/providers/")
        place = f"{id[:group].replace('/resourceGroups/', '/resourcegroups/')}/providers/Microsoft.ContainerService"
        yield f"{place}/managedClusters/{cluster}/agentPools/{pool}", properties


_PARENT = {"resourceGroupName": "", "resourceName": ""}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _invalid(text: str) -> AzureRefused:
    return arm("InvalidTemplate", f"Deployment template validation failed: '{text}'")


def running(deployment: Record) -> bool:
    """Return whether a deployment still puts resources."""
    return bool(deployment.body["properties"]["provisioningState"] == "Running")


def end(deployment: Record, state: str) -> None:
    deployment.body["properties"]["provisioningState"] = state


def active(id: str) -> AzureRefused:
    """Return the refusal of a deployment while the last one of that name runs, also when its `up` was killed meanwhile."""
    # Page common-deployment-errors, DeploymentActive
    text = f"Unable to edit or replace deployment '{azure_ids.last(id)}': previous deployment is still active."
    return arm("DeploymentActive", text, status=409)


def failed(cause: str) -> str:
    """Return the report of azure-native on a deployment that was accepted and whose resource was refused."""
    # Page common-deployment-errors: the provider's error is in the details of this one.
    text = "At least one resource deployment operation failed. Please list deployment operations for details."
    return f'Code="DeploymentFailed" Message="{text} {cause}"'
