"""Access of users to an AKS cluster: the kubeconfig that `listManagedClusterUserCredentials` hands out, and the command for it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pulumi

from components.target import Outputs


def outputs(name: pulumi.Input[str], group: pulumi.Input[str], entra: bool) -> Outputs:
    """The stack's outputs about a cluster in that resource group."""
    command = "az aks get-credentials --resource-group {0} --name {1}"
    if entra:
        command += " && kubelogin convert-kubeconfig -l azurecli"
    return {
        "clusterName": name,
        "resourceGroup": group,
        "kubeconfigCommand": pulumi.Output.format(command, group, name),
    }


def question(group: pulumi.Input[str], name: pulumi.Input[str], entra: bool) -> dict[str, Any]:
    """The arguments of USER_CREDENTIALS. The format `exec` is for kubelogin, which a cluster's Entra logins need."""
    return {"resourceGroupName": group, "resourceName": name, **({"format": "exec"} if entra else {})}


def kubeconfig(answer: Mapping[str, Any]) -> str:
    """The kubeconfig in the answer. Secret: wrap what is passed on."""
    return base64.b64decode(answer["kubeconfigs"][0]["value"]).decode()
