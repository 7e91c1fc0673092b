"""What a machine has on which people use a GKE cluster: Google's login program, and authorities that everybody trusts.

A cluster's DNS name has a certificate that everybody trusts, so a kubeconfig with that name holds no authority. The emulated
clusters have one authority each; here these are the ones that everybody trusts.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

from sandbox.base.files import write_private
from sandbox.gcp import auth_plugin

_AUTHORITIES = "authorities.pem"


def furnish(folder: Path, clusters: Path, environment: MutableMapping[str, str]) -> None:
    """Put the login program into a folder, and that folder and the authorities into an environment.

    `clusters` holds the control planes. TLS clients of that environment then trust them in place of the machine's own file of
    authorities, so what is to be fetched from the network is fetched before.
    """
    auth_plugin.install(folder, clusters)
    paths = [path for path in environment.get("PATH", os.defpath).split(os.pathsep) if path != str(folder)]
    environment["PATH"] = os.pathsep.join([str(folder), *paths])
    environment["SSL_CERT_FILE"] = str(clusters / _AUTHORITIES)


def trust(clusters: Path) -> None:
    """Make the authorities of all control planes those that everybody trusts."""
    found = [path.read_bytes() for path in sorted(clusters.glob("*/certificates/ca.crt"))]
    write_private(clusters / _AUTHORITIES, b"".join(found))
