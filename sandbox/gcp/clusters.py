"""The boundary to whatever runs a cluster's control plane and nodes, and what GKE puts into a cluster of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sandbox.base.errors import SandboxError
from sandbox.gcp import admission
from sandbox.gcp.compute_classes import CRD
from sandbox.gcp.device_plugin import DAEMON_SET

_MANAGER = "gke"
_SECONDS = 30


@dataclass(frozen=True)
class Endpoint:
    """Where a cluster's API server listens, as `host:port`, and its authority's certificate as base64 of PEM."""

    address: str
    certificate: str


class ClusterRuntime(Protocol):
    """Runs control planes. `cluster_id` is `projects/P/locations/L/clusters/C`, the same in every call."""

    def start(self, cluster_id: str, name: str, version: str, service_cidr: str) -> None:
        """Bring the API server up at a version such as `1.36.4-gke.1767000` and block until it can be used; idempotent."""

    def stop(self, cluster_id: str) -> None:
        """Stop it and forget its data; a cluster that was never started is no error."""

    def endpoint(self, cluster_id: str) -> Endpoint:
        """Of a cluster that was started; its port may be another after the next start."""
        ...

    def apply_nodes(self, cluster_id: str, nodes: list[dict[str, Any]]) -> None:
        """Make the cluster's Node objects exactly these; others are removed."""


def install(kubeconfig: Path, version: str) -> None:
    """Put GKE's own objects into a cluster, as they are at this version, and wait until ComputeClasses can be made.

    Raises SandboxError.
    """
    # Only here: most commands never ask the API server.
    from sandbox.gcp.storage_classes import CLASSES
    from sandbox.kubernetes import nodes as kubernetes_nodes
    from sandbox.kubernetes import storage_classes

    with kubernetes_nodes.opened(kubeconfig) as client:
        storage_classes.ensure(client, CLASSES)
        for body in (CRD, *admission.objects(version), DAEMON_SET):
            client.apply(body, _MANAGER, force=True)
        deadline = time.monotonic() + _SECONDS
        while not _established(client.get(CRD["apiVersion"], CRD["kind"], CRD["metadata"]["name"]) or {}):
            if time.monotonic() > deadline:
                raise SandboxError(f"{CRD['metadata']['name']} is not served after {_SECONDS} s")
            time.sleep(0.05)


def _established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
