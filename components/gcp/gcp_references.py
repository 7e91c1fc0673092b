"""Settings of GKE that another resource of a program may make (`components.references`).

Left out on purpose: a repository, whose name is part of the names of the resources that let nodes
pull from it.
"""

from __future__ import annotations

from components.references import NAME

_KEY = f"projects/{NAME}/locations/global/keyRings/{NAME}/cryptoKeys/{NAME}"

REFERENCES = {
    "cloud.network.existing.name": NAME,
    "cloud.network.existing.subnet": NAME,
    "cloud.network.existing.podRange": NAME,
    "cloud.network.existing.serviceRange": NAME,
    "cloud.serviceAccount": f"{NAME}@{NAME}.iam.gserviceaccount.com",
    "cloud.encryption.secretsKey": _KEY,
    "cloud.encryption.bootDiskKey": _KEY,
}
