"""Scans of one autoscaler at times of a test's choice, of a pool of two machines."""

from __future__ import annotations

from random import Random
from typing import Any

from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.autoscaler.world import World
from sandbox.cloud.node_groups import NodeGroup

from .objects import Cloud, group, node, pod, sized

PLAIN = sized(group("general", 6, gpu="0"), 2)
FIRST, SECOND = PLAIN.nodes
PROFILE = {"scaleDownUnneededTime": "60s", "scaleDownDelayAfterAdd": "60s", "scaleDownDelayAfterDelete": "0s"}
JOB = {"ownerReferences": [{"kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}]}


def running(name: str, on: str, cpu: str = "1", **metadata: Any) -> Any:
    """A running pod of a ReplicaSet."""
    body = pod(name, {"cpu": cpu}, nodeName=on)
    body["metadata"] = {**body["metadata"], **JOB, **metadata}
    body["spec"] |= metadata.pop("spec", {})
    return body


class Steps:
    """Scans of one autoscaler; the cloud's machines are all ready."""

    def __init__(
        self, *groups: NodeGroup, options: Options | None = None, cloud: str = "azure", **profile: str
    ) -> None:
        self.cloud = Cloud(groups)
        self.scaler = Autoscaler(cloud, options or Options(), Random(0))
        self.profile = {**PROFILE, **profile}
        self.nodes: dict[str, Any] = {}
        """Changed node objects by name."""

    def at(self, now: float, *pods: Any, **world: Any) -> list[str]:
        """One scan; the names of the machines that are left."""
        groups = list(self.cloud.groups.values())
        nodes = [self.nodes.get(name, node(each, name)) for each in groups for name in each.nodes]
        self.scaler.scan(
            now, World(groups, nodes, pods, world.pop("since", {}), profile=self.profile, **world), self.cloud
        )
        return [name for each in self.cloud.groups.values() for name in each.nodes]

    def over(self, *pods: Any, **world: Any) -> list[str]:
        """The machines that are left after minutes of the same pods."""
        left: list[str] = []
        for now in range(0, 200, 5):
            left = self.at(now, *pods, **world)
        return left
