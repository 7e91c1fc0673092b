"""The boundary to whatever runs a cluster's control plane and nodes, and what AKS puts into a cluster of its own.

Deliberately says nothing of how: an implementation may be an API server with simulated nodes, or a recording fake.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class ClusterRuntime(Protocol):
    """Runs control planes. `cluster_id` is the lower-cased ARM id, the same in every call."""

    def start(self, cluster_id: str, name: str, version: str, service_cidr: str) -> None:
        """Bring the API server up at a Kubernetes patch version and block until it is ready; idempotent."""

    def stop(self, cluster_id: str) -> None:
        """Stop it and forget its data; a cluster that was never started is no error."""

    def user_kubeconfig(self, cluster_id: str) -> str:
        """A kubeconfig, as YAML text, for a cluster that was started."""
        ...

    def apply_nodes(self, cluster_id: str, nodes: list[dict[str, Any]]) -> None:
        """Make the cluster's Node objects exactly these; others are removed."""


def install(kubeconfig: Path) -> None:
    """Put AKS' own objects into a cluster."""
    # Only here: most commands never ask the API server.
    from sandbox.azure.storage_classes import CLASSES
    from sandbox.kubernetes import nodes as kubernetes_nodes
    from sandbox.kubernetes import storage_classes

    with kubernetes_nodes.opened(kubeconfig) as client:
        storage_classes.ensure(client, CLASSES)
