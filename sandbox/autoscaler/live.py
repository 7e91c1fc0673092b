"""The hands of the autoscaler in a live sandbox: the emulated cloud, the API server and the log."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from sandbox.autoscaler import status_map
from sandbox.autoscaler.api import ApiServer, Unanswered
from sandbox.autoscaler.journal import Journal
from sandbox.autoscaler.shapes import Object, of_node
from sandbox.autoscaler.snapshot import TO_BE_DELETED
from sandbox.autoscaler.world import Decision
from sandbox.cloud.node_groups import NodeGroup, ScalableCloud, ScaleRefused

# The autoscaler's own taint: no pod comes to a node between the decision and the removal.
_GOING = {"key": TO_BE_DELETED, "effect": "NoSchedule"}


class LiveHands:
    """The requests to the cloud and the API server of one cluster. Every method may raise `api.Unanswered`."""

    def __init__(self, api: ApiServer, cluster: str, log: Journal) -> None:
        self._api, self._cluster, self._journal = api, cluster, log
        self._cloud: ScalableCloud | None = None
        self._plan = Decision(0, "note", "")
        """The last plan of a scale-up, which the cloud grants or refuses."""
        self._unsettled = False
        """Whether a change of the cloud may have left the cluster's nodes behind."""

    def settle(self, cloud: ScalableCloud) -> None:
        """Begin a scan with the cloud as it is now; nodes that could not follow the last change do so first."""
        self._cloud = cloud
        if self._unsettled:
            cloud.apply_nodes(self._cluster)
            self._unsettled = False

    def grow(self, group: NodeGroup, by: int) -> None:
        size = f"{self._plan.before} -> {self._plan.after} nodes"
        try:
            self._change(lambda cloud: cloud.grow(group.pool_id, by))
        except ScaleRefused as refused:
            who = self._plan.reason.partition(": ")[0]
            self._journal.write(f"pool {group.pool}: {size} refused {who}, left alone for a while: {refused}")
            self._tell(f"Scale-up failed for group {group.name}: {refused}")
            raise
        self._journal.write(f"pool {group.pool}: {size} {self._plan.reason}")

    def _tell(self, message: str) -> None:
        """Create the event of a refused scale-up, as kubernetes/autoscaler 1.36.1 does for its status' ConfigMap.

        The recordings (spot-node-evicted-and-spot-capacity-gone.json) have reason, object and beginning. The real text has the
        SDK's frame around the cloud's (`azure_answer`), which is left out.
        """
        status = {"kind": "ConfigMap", "namespace": "kube-system", "name": status_map.NAME}
        # The real one's recorder drops events that nobody takes (client-go, tools/record/event.go); the log has the refusal.
        with suppress(Unanswered):
            self._api.warn(status, "FailedToScaleUpGroup", message, "cluster-autoscaler")

    def remove(self, group: NodeGroup, nodes: Collection[str]) -> None:
        size = f"{len(group.nodes)} -> {len(group.nodes) - len(nodes)} nodes"
        try:
            self._change(lambda cloud: cloud.remove(group.pool_id, nodes))
        except ScaleRefused as refused:
            self._journal.write(f"pool {group.pool}: {size} refused: {refused}")
            raise
        self._journal.write(f"pool {group.pool}: {size}: {', '.join(sorted(nodes))} not needed any more")

    def taint(self, nodes: Collection[str]) -> None:
        for name in nodes:
            self._api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [_GOING]}}, "strategic-merge")

    def untaint(self, nodes: Collection[str]) -> None:
        taint: dict[str, Any] = {"$patch": "delete", "key": _GOING["key"]}
        for name in nodes:
            self._api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [taint]}}, "strategic-merge")

    def busy(self, node: str) -> bool:
        """Return whether a pod that is not the node's own still runs there; the server itself is asked."""
        listed = self._api.get(f"/api/v1/pods?fieldSelector=spec.nodeName={node}") or {"items": []}
        return any(not of_node(pod) and not _ended(pod) for pod in listed["items"])

    def evict(self, pod: Object, grace: float) -> bool:
        """Evict nothing: a live sandbox leaves pods alone (`Options.live`)."""
        return False

    def tolerate(self, pod: Object, tolerations: Sequence[Object]) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        self._api.patch(path, {"spec": {"tolerations": tolerations}})

    def decided(self, decision: Decision) -> None:
        """Write what the cloud's answer does not tell already."""
        if decision.action == "scale-up":
            self._plan = decision
        elif decision.action == "failed" and decision.pool:
            self._journal.write(f"pool {decision.pool}: {decision.reason}")
        elif decision.action == "backoff" and decision.reason.endswith("timeout"):
            self._journal.write(f"pool {decision.pool}: left alone for {(decision.until or 0) - decision.at:.0f} s")

    def _change(self, change: Callable[[ScalableCloud], None]) -> None:
        """Change the cloud; where the cluster's nodes could not follow, the next scan applies them."""
        assert self._cloud is not None, "no scan has begun"
        self._unsettled = True
        try:
            change(self._cloud)
        except ScaleRefused:
            self._unsettled = False
            raise
        self._unsettled = False


def _ended(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
