"""Access of users to a GKE cluster: a kubeconfig without secrets, and its command."""

from __future__ import annotations

from typing import Any

import yaml

from components.gcp.gcp_live import LiveCluster, block
from components.target import Outputs
from config.clouds.gcp.gcp_settings import GcpAccess

_PLUGIN = "gke-gcloud-auth-plugin"
_HINT = (
    f"Install {_PLUGIN}:"
    " https://docs.cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl#install_plugin"
)


def reached_by_dns(access: GcpAccess) -> bool:
    """Return whether users need the API server's DNS name: its IP is private or restricted."""
    return access.dns_endpoint and (
        access.ip_endpoint != "public" or bool(access.authorized_ranges)
    )


def kubeconfig(name: str, endpoint: str, authority: str | None) -> str:
    """Return the kubeconfig that `gcloud container clusters get-credentials` writes: Google's
    program adds the login.

    `endpoint`: an address or a DNS name; `authority`: the CA certificate in base64, None for the
    DNS name, whose certificate is publicly trusted.
    """
    cluster: dict[str, Any] = {"server": f"https://{endpoint}"}
    if authority:
        cluster["certificate-authority-data"] = authority
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": _PLUGIN,
        "installHint": _HINT,
        "provideClusterInfo": True,
        "interactiveMode": "IfAvailable",
    }
    return str(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": name, "cluster": cluster}],
                "users": [{"name": name, "user": {"exec": login}}],
                "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
                "current-context": name,
            },
            sort_keys=False,
        )
    )


def kubeconfig_of_live(name: str, cluster: LiveCluster) -> str:
    """Return the kubeconfig of a live cluster."""
    if cluster.dns_name:
        return kubeconfig(name, cluster.dns_name, None)
    authority = block(cluster.answer, "masterAuths").get("clusterCaCertificate")
    return kubeconfig(name, str(cluster.answer.get("endpoint")), authority)


def outputs(project: str, location: str, name: str, dns: bool) -> Outputs:
    """Return the stack's outputs about the cluster."""
    command = (
        f"gcloud container clusters get-credentials {name} --location {location} --project "
        f"{project}"
    )
    return {
        "clusterName": name,
        "project": project,
        "location": location,
        "kubeconfigCommand": command + (" --dns-endpoint" if dns else ""),
    }
