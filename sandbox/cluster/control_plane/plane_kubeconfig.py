"""Kubeconfigs: of the control plane's own clients, and of the user as a cloud would issue it."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path


def kubeconfig(cluster: str, server: str, certificates: Path, user: str, credentials: Mapping[str, str]) -> str:
    """One cluster, one user, and a context named after the cluster (https://kubernetes.io/docs/reference/config-api)."""
    access = {"server": server, "certificate-authority-data": encoded(certificates / "ca.crt")}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": access}],
        "users": [{"name": user, "user": dict(credentials)}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
        "current-context": cluster,
        "preferences": {},
    }
    # Only here: most commands only look for the processes of a control plane.
    import yaml

    return str(yaml.safe_dump(document, sort_keys=False))


def client_credentials(certificates: Path, client: str) -> dict[str, str]:
    """The credentials of a client with a certificate."""
    return {
        "client-certificate-data": encoded(certificates / f"{client}.crt"),
        "client-key-data": encoded(certificates / f"{client}.key"),
    }


def encoded(path: Path) -> str:
    """A file's content as base64."""
    return b64encode(path.read_bytes()).decode()
