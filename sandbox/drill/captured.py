"""The runtime of the cloud that a drill copies."""

from typing import Any

from sandbox.cloud.clusters import Endpoint

Object = dict[str, Any]


class Captured:
    """The runtime of the copied cloud: takes down the nodes that the cluster should have."""

    def __init__(self) -> None:
        self.nodes: dict[str, Object] = {}

    def apply_nodes(self, cluster_id: str, nodes: list[Object]) -> None:
        self.nodes = {node["metadata"]["name"]: node for node in nodes}

    def start(self, cluster_id: str, name: str, version: str, service_cidr: str) -> None:
        raise NotImplementedError

    def stop(self, cluster_id: str) -> None:
        raise NotImplementedError

    def user_kubeconfig(self, cluster_id: str) -> str:
        raise NotImplementedError

    def endpoint(self, cluster_id: str) -> Endpoint:
        raise NotImplementedError
