"""Settings of AKS that another resource of a program may make (`components.references`).

Left out on purpose: a key's vault and a private DNS zone, whose names the checks compare with other
settings.
"""

from __future__ import annotations

from components.references import NAME


def _id(type: str) -> str:
    return f"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/{NAME}/providers/{type}/{NAME}"


REFERENCES = {
    "cloud.existingResourceGroup": NAME,
    "cloud.network.existing.resourceGroup": NAME,
    "cloud.network.existing.name": NAME,
    "cloud.network.existing.subnet": NAME,
    "cloud.registry.id": _id("Microsoft.ContainerRegistry/registries"),
    "cloud.encryption.diskEncryptionSet": _id("Microsoft.Compute/diskEncryptionSets"),
    "cloud.monitoring.logs.workspace": _id("Microsoft.OperationalInsights/workspaces"),
    "cloud.monitoring.metrics.workspace": _id("Microsoft.Monitor/accounts"),
    "pools[].subnet": NAME,
    "systemPool.subnet": NAME,
}
