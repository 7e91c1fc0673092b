"""How users reach an AKS cluster: the kubeconfig that `listManagedClusterUserCredentials` hands out, and the command for it."""

from __future__ import annotations

import base64

import pulumi
from pulumi_azure_native import containerservice

from components.site import Outputs


def outputs(name: pulumi.Input[str], group: pulumi.Input[str], entra: bool) -> Outputs:
    """What the stack's outputs say of a cluster in that resource group."""
    command = "az aks get-credentials --resource-group {0} --name {1}"
    if entra:
        command += " && kubelogin convert-kubeconfig -l azurecli"
    return {
        "clusterName": name,
        "resourceGroup": group,
        "kubeconfigCommand": pulumi.Output.format(command, group, name),
    }


def form(entra: bool) -> str | None:
    """What to ask for: `exec` is for kubelogin, which a cluster's Entra logins need."""
    return "exec" if entra else None


def kubeconfig(found: containerservice.ListManagedClusterUserCredentialsResult) -> str:
    """The kubeconfig in the answer. Secret: wrap what is passed on."""
    return base64.b64decode(found.kubeconfigs[0].value).decode()
