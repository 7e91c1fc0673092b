"""The system pool: an entry of a new cluster, later changed by a deployment of its own
(docs/adr/0015).

AKS creates a cluster with one pool, and refuses a cluster request that moves the version of some
pools (NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged). azure-native cannot declare a pool
that came with its cluster, because it creates nothing that exists. A template can PUT an existing
pool.
"""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import containerservice, resources

from components.azure.azure_live import LiveCluster
from components.azure.placed import Placed
from components.resources import explain_refusal, wire

_SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
_API = "2025-09-01"
"""The API version of the pinned azure-native's default type; a template must name it."""
_NAME_LENGTH = 64
_SUFFIX = "-system-pool"


def system_pool(
    name: str,
    group: str,
    profile: containerservice.ManagedClusterAgentPoolProfileArgs,
    live: LiveCluster,
    *,
    cluster: containerservice.ManagedCluster,
    placed: Placed,
    parent: pulumi.Resource,
) -> resources.Deployment:
    """Declare the deployment of the system pool `profile` in the resource group `group`."""
    deployment = f"{placed.cluster[: _NAME_LENGTH - len(_SUFFIX)]}{_SUFFIX}"
    entry = wire(profile)
    title, subnet = entry.pop("name"), entry.pop("vnetSubnetID")
    wanted = {"name": title, **entry}
    template: dict[str, Any] = {
        "$schema": _SCHEMA,
        "contentVersion": "1.0.0.0",
        "resources": [
            {
                "type": "Microsoft.ContainerService/managedClusters/agentPools",
                "apiVersion": _API,
                "name": f"{placed.cluster}/{title}",
                "properties": {**entry, "vnetSubnetID": subnet},
            }
        ],
    }
    differs = live.differences(wanted)
    if differs:
        # The engine sends only a changed template, and the same template must restore a pool that
        # was changed by hand.
        template["metadata"] = {"replaces": differs, "after": _last(group, deployment, parent)}
    return resources.Deployment(
        f"{name}{_SUFFIX}",
        deployment_name=deployment,
        resource_group_name=placed.resource_group,
        properties=resources.DeploymentPropertiesArgs(
            mode=resources.DeploymentMode.INCREMENTAL,
            template=template,
        ),
        opts=pulumi.ResourceOptions(
            parent=parent,
            # Deleted explicitly: in a resource group that outlives the stack it would stay and
            # block its name.
            depends_on=[cluster],
            # The template holds a count that belongs to the autoscaler. No tags: a changed tag
            # would send it again.
            ignore_changes=["properties"] if live.is_as(wanted) else [],
        ),
    )


def _last(group: str, deployment: str, parent: pulumi.Resource) -> str:
    """Return the id of the last deployment; "" before the first."""
    what = f"cloud: deployment {deployment!r} in resource group {group!r}"
    with explain_refusal(what, "Microsoft.Resources/deployments/read"):
        try:
            reading = pulumi.InvokeOptions(parent=parent)
            last = resources.get_deployment(
                deployment_name=deployment, resource_group_name=group, opts=reading
            ).properties
        except Exception as failed:
            if "DeploymentNotFound" in str(failed):
                return ""
            raise
    if last.provisioning_state in ("Accepted", "Running"):
        # ARM refuses another deployment of that name meanwhile (DeploymentActive), also after an
        # `up` that was killed.
        raise pulumi.RunError(
            f"the last deployment of the system pool, {deployment}, still runs: wait for it, then "
            "go on"
            f"\n  az deployment group wait --created --resource-group {group} --name {deployment}"
        )
    return last.correlation_id
