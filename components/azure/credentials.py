"""Access of users to an AKS cluster: the kubeconfig that `listManagedClusterUserCredentials` hands out, and the command for it."""

from __future__ import annotations

import base64

import pulumi
from pulumi_azure_native import containerservice

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


def format(entra: bool) -> str | None:
    """Return the format of a kubeconfig: `exec` is for kubelogin, which a cluster's Entra logins need."""
    return "exec" if entra else None


def kubeconfig(answer: containerservice.ListManagedClusterUserCredentialsResult) -> str:
    """Return the kubeconfig in the answer. Secret: wrap what is passed on."""
    return base64.b64decode(answer.kubeconfigs[0].value).decode()
