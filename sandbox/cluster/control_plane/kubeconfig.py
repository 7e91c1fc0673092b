"""Kubeconfig texts: for the control plane's own clients, and for the user as a cloud would hand it out."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path


def client_kubeconfig(cluster: str, server: str, certificates: Path, client: str) -> str:
    """With a client certificate."""
    credentials = {
        "client-certificate-data": encoded(certificates / f"{client}.crt"),
        "client-key-data": encoded(certificates / f"{client}.key"),
    }
    return kubeconfig(cluster, server, certificates, client, credentials)


def token_kubeconfig(cluster: str, server: str, certificates: Path, user: str, token: str) -> str:
    """With a bearer token."""
    return kubeconfig(cluster, server, certificates, user, {"token": token})


def kubeconfig(cluster: str, server: str, certificates: Path, user: str, credentials: Mapping[str, str]) -> str:
    """One cluster, one user, and a context named after the cluster (https://kubernetes.io/docs/reference/config-api)."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": cluster,
                "cluster": {"server": server, "certificate-authority-data": encoded(certificates / "ca.crt")},
            }
        ],
        "users": [{"name": user, "user": dict(credentials)}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
        "current-context": cluster,
        "preferences": {},
    }
    # Here: most commands only look for the processes of a control plane, and write no kubeconfig.
    import yaml

    return str(yaml.safe_dump(document, sort_keys=False))


def encoded(path: Path) -> str:
    """A file's content as base64."""
    return b64encode(path.read_bytes()).decode()
