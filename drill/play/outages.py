"""Outages: nodes whose kubelets do not answer, and the reaction of Kubernetes' controllers."""

import math
from collections.abc import Callable, Sequence
from functools import partial

from drill.play.clock import Clock
from drill.play.kubelet import Kubelets
from drill.play.machines import Machines
from drill.play.observed import Observed
from drill.world import record
from drill.world.node_groups import node_name
from sandbox.autoscaler.fit import tolerates
from sandbox.kubernetes.client import Client, Object

UNNOTICED = 50.0
"""Seconds until the node controller notices a silent kubelet: the default of its
--node-monitor-grace-period since 1.32."""

READY = {
    "type": "Ready",
    "status": "True",
    "reason": "KubeletReady",
    "message": "kubelet is posting ready status",
}
SILENT = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
_UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
# kubernetes.io, page disruptions, "Pod disruption conditions".
_DELETED = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}


class Outages:
    """The outages of one cluster: `outages.begin(1, nodes)`.

    `patch` changes a node's status, `taint` its taints; `pods` lists the pods of a node.
    """

    def __init__(
        self,
        clock: Clock,
        observed: Observed,
        machines: Machines,
        kubelets: Kubelets,
        patch: Callable[[str, Object, str], None],
        taint: Callable[[str, Object, bool], None],
        pods: Callable[[str], list[Object]],
    ) -> None:
        self._clock, self._observed = clock, observed
        self._machines, self._kubelets = machines, kubelets
        self._patch, self._taint, self._pods = patch, taint, pods
        self._fallen: dict[int, list[record.Node]] = {}

    def begin(self, outage: int, nodes: Sequence[record.Node]) -> None:
        """Silence the kubelets of nodes. `outage` is any number; `end` gets the same."""
        self._fallen[outage] = list(nodes)
        for node in nodes:
            self._kubelets.silent.setdefault(node_name(node), [])
            self._clock.after(UNNOTICED, partial(self._notice, outage, node))

    def end(self, outage: int) -> None:
        """Let kubelets answer again, except those of another outage and of lost machines."""
        fallen = self._fallen.pop(outage, [])
        others = [node for nodes in self._fallen.values() for node in nodes]
        for node in fallen:
            if self._machines.has(node) and node not in others:
                name = node_name(node)
                self._taint(name, _UNREACHABLE, False)
                self._patch(name, {"status": {"conditions": [READY]}}, "status")
                self._kubelets.answer(name)

    def _lasts(self, outage: int, node: record.Node) -> bool:
        return node in self._fallen.get(outage, ()) and self._machines.has(node)

    def _notice(self, outage: int, node: record.Node) -> None:
        """Taint an unreachable node, and delete its pods when they tolerate that no longer."""
        if not self._lasts(outage, node):
            return
        name = node_name(node)
        self._taint(name, _UNREACHABLE, True)
        self._patch(name, {"status": {"conditions": [SILENT]}}, "status")
        for pod in self._pods(name):
            if (seconds := tolerated(pod)) < math.inf:
                uid = pod["metadata"]["uid"]
                self._clock.after(seconds, partial(self._delete, outage, node, uid))

    def _delete(self, outage: int, node: record.Node, uid: str) -> None:
        """Delete a pod. It goes when its kubelet answers, or with its node."""
        life = self._kubelets.alive(uid)
        if life is None or not self._lasts(outage, node):
            return
        metadata = life.pod["metadata"]
        if metadata.get("deletionTimestamp"):
            return
        life.ending = life.ending or "evicted"
        name, namespace = metadata["name"], metadata["namespace"]
        change = {"status": {"conditions": [_DELETED]}}

        def send(client: Client) -> Object | None:
            client.patch("v1", "Pod", name, namespace, change, "status")
            client.delete("v1", "Pod", name, namespace)
            return client.get("v1", "Pod", name, namespace)

        self._observed.request(send, missing=True)


def tolerated(pod: Object) -> float:
    """Return the seconds that a pod stays on an unreachable node (page taint-and-toleration)."""
    taint = {**_UNREACHABLE, "effect": "NoExecute"}
    found = [each for each in pod["spec"].get("tolerations") or [] if tolerates(each, taint)]
    bounds = [each.get("tolerationSeconds") for each in found]
    limited = [float(bound) for bound in bounds if bound is not None]
    return min(limited, default=math.inf if found else 0.0)
