"""How users reach an AKS cluster: the kubeconfig that `listManagedClusterUserCredentials` hands out, and the command for it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pulumi

from components.target import Outputs


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


def question(group: pulumi.Input[str], name: pulumi.Input[str], entra: bool) -> dict[str, Any]:
    """What USER_CREDENTIALS is asked. The format `exec` is for kubelogin, which a cluster's Entra logins need."""
    return {"resourceGroupName": group, "resourceName": name, **({"format": "exec"} if entra else {})}


def kubeconfig(found: Mapping[str, Any]) -> str:
    """The kubeconfig in the answer. Secret: wrap what is passed on."""
    return base64.b64decode(found["kubeconfigs"][0]["value"]).decode()
