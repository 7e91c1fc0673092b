"""Settings that another resource of a program may make, so that they are unknown before its first update.

Each has a well-formed text for the checks of the settings; `{0}` is a number that tells one from another. Left out on purpose
are settings from which the program derives what it declares: a key's vault, a DNS zone's region, a repository's name.
"""

from __future__ import annotations

_NAME = "unknown-{0}"


def _arm(type: str) -> str:
    return f"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/{_NAME}/providers/{type}/{_NAME}"


_ANY = {
    "cloud.network.existing.name": _NAME,
    "cloud.network.existing.subnet": _NAME,
    "pools[].subnet": _NAME,
    "systemPool.subnet": _NAME,
}

_AZURE = {
    "cloud.existingResourceGroup": _NAME,
    "cloud.network.existing.resourceGroup": _NAME,
    "cloud.registry.id": _arm("Microsoft.ContainerRegistry/registries"),
    "cloud.encryption.diskEncryptionSet": _arm("Microsoft.Compute/diskEncryptionSets"),
    "cloud.monitoring.logs.workspace": _arm("Microsoft.OperationalInsights/workspaces"),
    "cloud.monitoring.metrics.workspace": _arm("Microsoft.Monitor/accounts"),
}

_KEY = "projects/unknown-{0}/locations/global/keyRings/unknown-{0}/cryptoKeys/unknown-{0}"

_GCP = {
    "cloud.network.existing.podRange": _NAME,
    "cloud.network.existing.serviceRange": _NAME,
    "cloud.serviceAccount": "unknown-{0}@unknown-{0}.iam.gserviceaccount.com",
    "cloud.encryption.secretsKey": _KEY,
    "cloud.encryption.bootDiskKey": _KEY,
}

REFERENCES = {**_ANY, **_AZURE, **_GCP}
"""By property path, with `[]` for any index."""
