"""The system pool: an entry of a new cluster, and a separate operation from then on.

AKS makes a cluster with a pool, and refuses a request for a cluster that moves the version of some pools
(NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged). azure-native cannot declare a pool that came with its cluster as a
resource: it creates nothing that exists. A template can put an existing pool. Decision: docs/adr/0023.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components.azure.live import LiveCluster
from components.azure.types import AGENT_POOL_API, DEPLOYMENT, GET_DEPLOYMENT
from components.resources import Declared, call

_SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
_NAME_LENGTH = 64


def declare(
    name: str,
    profile: Mapping[str, Any],
    live: LiveCluster,
    *,
    cluster: Declared,
    cluster_name: str,
    group_name: str,
    resource_group: pulumi.Input[str],
    subnet_id: pulumi.Input[str],
    parent: pulumi.Resource,
) -> Declared:
    """The deployment that keeps the cluster's system pool as in `profile`, its entry in the cluster without the subnet."""
    deployment = f"{cluster_name[: _NAME_LENGTH - len(_SUFFIX)]}{_SUFFIX}"
    template: dict[str, Any] = {
        "$schema": _SCHEMA,
        "contentVersion": "1.0.0.0",
        "resources": [
            {
                "type": "Microsoft.ContainerService/managedClusters/agentPools",
                "apiVersion": AGENT_POOL_API,
                "name": f"{cluster_name}/{profile['name']}",
                "properties": {
                    **{key: value for key, value in profile.items() if key != "name" and value is not None},
                    "vnetSubnetID": subnet_id,
                },
            }
        ],
    }
    differs = live.differences(profile)
    if differs:
        # The engine sends a template only when it differs from the last one, and the same template puts back a pool that was
        # changed by hand.
        template["metadata"] = {"replaces": differs, "after": _last(group_name, deployment, parent)}
    return Declared(
        DEPLOYMENT,
        f"{name}{_SUFFIX}",
        {
            "deploymentName": deployment,
            "resourceGroupName": resource_group,
            "properties": {"mode": "Incremental", "template": template},
        },
        pulumi.ResourceOptions(
            parent=parent,
            depends_on=[cluster],
            deleted_with=cluster,
            # The template holds a count that belongs to the autoscaler. Hence no tags either: a changed one would send it again.
            ignore_changes=["properties"] if live.is_as(profile) else [],
        ),
        outputs=(),
    )


_SUFFIX = "-system-pool"


def _last(group: str, deployment: str, parent: pulumi.Resource) -> str:
    """The id of the last deployment; "" before the first."""
    try:
        question = {"resourceGroupName": group, "deploymentName": deployment}
        answer = call(GET_DEPLOYMENT, question, pulumi.InvokeOptions(parent=parent))
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider; ARM's code for a missing deployment.
        if "DeploymentNotFound" in str(failed):
            return ""
        place = f"deployment {deployment!r} in resource group {group!r}"
        raise pulumi.RunError(f"cloud: {place} cannot be read\n  {' '.join(str(failed).split())}") from None
    last = answer["properties"]
    if last.get("provisioningState") in ("Accepted", "Running"):
        # ARM refuses another deployment of that name meanwhile (DeploymentActive), also after an `up` that was killed.
        raise pulumi.RunError(
            f"the last deployment of the system pool, {deployment}, still runs: wait for it, then go on"
            f"\n  az deployment group wait --created --resource-group {group} --name {deployment}"
        )
    return str(last["correlationId"])
