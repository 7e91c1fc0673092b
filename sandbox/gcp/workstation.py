"""Client set-up for GKE: the auth plugin and the CA bundle.

The certificate of a real cluster's DNS name is one that every system trusts, so a kubeconfig with that name holds no authority.
Each emulated cluster has an authority of its own; the CA bundle holds them all.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

from sandbox.base.files import write_private
from sandbox.gcp import auth_plugin

_AUTHORITIES = "authorities.pem"


def furnish(folder: Path, clusters: Path, environment: MutableMapping[str, str]) -> None:
    """Put the auth plugin into a folder, and that folder and the CA bundle into an environment.

    `clusters` holds the control planes. TLS clients of that environment then trust the bundle in place of the system's
    authorities, so everything from the network must be fetched before.
    """
    auth_plugin.install(folder, clusters)
    paths = [path for path in environment.get("PATH", os.defpath).split(os.pathsep) if path != str(folder)]
    environment["PATH"] = os.pathsep.join([str(folder), *paths])
    environment["SSL_CERT_FILE"] = str(clusters / _AUTHORITIES)


def trust(clusters: Path) -> None:
    """Write the CA bundle: the authorities of all control planes."""
    authorities = [path.read_bytes() for path in sorted(clusters.glob("*/certificates/ca.crt"))]
    write_private(clusters / _AUTHORITIES, b"".join(authorities))
