"""The user's kubeconfig of an AKS cluster, as `listManagedClusterUserCredentials` hands it out."""

from __future__ import annotations

import base64

from pulumi_azure_native import containerservice


def form(entra: bool) -> str | None:
    """What to ask for: `exec` is for kubelogin, which a cluster's Entra logins need."""
    return "exec" if entra else None


def kubeconfig(found: containerservice.ListManagedClusterUserCredentialsResult) -> str:
    """The kubeconfig in the answer. Secret: wrap what is passed on."""
    return base64.b64decode(found.kubeconfigs[0].value).decode()
