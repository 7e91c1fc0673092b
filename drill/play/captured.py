"""The runtime of the cloud that a drill copies."""

from typing import Any

from sandbox.cloud.cluster_runtime import NodesAlone

Object = dict[str, Any]


class Captured(NodesAlone):
    """The runtime of the copied cloud: takes down the nodes that the cluster should have."""

    def __init__(self) -> None:
        self.nodes: dict[str, Object] = {}

    def apply_nodes(self, cluster_id: str, nodes: list[Object]) -> None:
        self.nodes = {node["metadata"]["name"]: node for node in nodes}
