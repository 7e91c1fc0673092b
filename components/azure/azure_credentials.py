"""Access of users to an AKS cluster: the kubeconfig that `listManagedClusterUserCredentials` hands
out, and the command for it.
"""

from __future__ import annotations

import base64

import pulumi
from pulumi_azure_native import containerservice

from components.resources import explain_refusal
from components.target import Outputs


def outputs(name: pulumi.Input[str], group: pulumi.Input[str], entra: bool) -> Outputs:
    """Return the stack's outputs about a cluster in that resource group."""
    command = "az aks get-credentials --resource-group {0} --name {1}"
    if entra:
        command += " && kubelogin convert-kubeconfig -l azurecli"
    return {
        "clusterName": name,
        "resourceGroup": group,
        "kubeconfigCommand": pulumi.Output.format(command, group, name),
    }


def read(group: str, name: str, entra: bool, reading: pulumi.InvokeOptions | None = None) -> str:
    """Return the kubeconfig of a cluster. Secret: wrap what is passed on. Raise `pulumi.RunError`
    when AKS refuses.
    """
    what = f"cloud: the kubeconfig of cluster {name!r} in resource group {group!r}"
    with explain_refusal(
        what, "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"
    ):
        answer = containerservice.list_managed_cluster_user_credentials(
            resource_group_name=group,
            resource_name=name,
            # For kubelogin, which a cluster's Entra logins need.
            format="exec" if entra else None,
            opts=reading,
        )
    return base64.b64decode(answer.kubeconfigs[0].value).decode()
