"""The boundary between an emulated cloud and what runs its clusters.

Deliberately says nothing of how: an implementation may be an API server with simulated nodes, or a recording fake.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Endpoint:
    """The address of a cluster's API server, as `host:port`, and its authority's certificate as base64 of PEM."""

    address: str
    certificate: str


@dataclass(frozen=True)
class Provisioner:
    """The program that a cloud runs beside a cluster to make nodes for it: its name (`toolchain.modules`), arguments, environment.

    It prints the definitions of its resources when it is called with `crds`, and works when it is called with `run`.
    """

    program: str
    arguments: Sequence[str]
    environment: Mapping[str, str]


class ClusterRuntime(Protocol):
    """Runs control planes. `cluster_id` is the lower-cased id of the cloud, the same in every call."""

    def start(
        self, cluster_id: str, name: str, version: str, service_cidr: str, provisioner: Provisioner | None = None
    ) -> None:
        """Bring the API server up at a version such as `1.35.5` or `1.36.4-gke.1767000` and block until it is ready; idempotent."""

    def stop(self, cluster_id: str) -> None:
        """Stop it and forget its data; a cluster that was never started is no error."""

    def user_kubeconfig(self, cluster_id: str) -> str:
        """Return a kubeconfig, as YAML text, for a started cluster."""
        ...

    def endpoint(self, cluster_id: str) -> Endpoint:
        """Return the endpoint of a started cluster; its port may be another after the next start."""
        ...

    def apply_nodes(self, cluster_id: str, nodes: list[dict[str, Any]]) -> None:
        """Make the cluster's Node objects exactly these; others are removed."""


class NodesAlone:
    """The part of a runtime that changes no cluster, for those who only apply nodes."""

    def start(
        self, cluster_id: str, name: str, version: str, service_cidr: str, provisioner: Provisioner | None = None
    ) -> None:
        raise NotImplementedError

    def stop(self, cluster_id: str) -> None:
        raise NotImplementedError

    def user_kubeconfig(self, cluster_id: str) -> str:
        raise NotImplementedError

    def endpoint(self, cluster_id: str) -> Endpoint:
        raise NotImplementedError
