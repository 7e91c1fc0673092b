"""Outages: nodes whose kubelets do not answer, and what Kubernetes' controllers make of that by the drill's clock."""

import math
from collections.abc import Callable, Sequence

from drill.play.clock import Clock
from drill.play.kubelet import Kubelets
from drill.play.machines import Machines
from drill.play.observed import Observed
from drill.world import record
from drill.world.kinds import name_of
from sandbox.autoscaler.fit import tolerates
from sandbox.kubernetes.client import Client, Object

UNNOTICED = 50.0
"""Seconds until the node controller sees that a kubelet is silent: its --node-monitor-grace-period by default, since 1.32."""

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
    """The outages of one cluster. `patch` changes a node's status, `taint` its taints; `pods` gives those of a node."""

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
        self._clock, self._observed, self._machines, self._kubelets = (
            clock,
            observed,
            machines,
            kubelets,
        )
        self._patch, self._taint, self._pods = patch, taint, pods
        self._fallen: dict[int, list[record.Node]] = {}

    def begin(self, outage: int, nodes: Sequence[record.Node]) -> None:
        """The kubelets of nodes fall silent. `outage` is any number that `end` gets too."""
        self._fallen[outage] = list(nodes)
        for node in nodes:
            self._kubelets.silent.setdefault(name_of(node), [])
            self._clock.after(UNNOTICED, lambda node=node: self._notice(outage, node))  # type: ignore[misc]

    def end(self, outage: int) -> None:
        """The kubelets that fell silent answer again, but for those that another outage holds, and machines that are gone."""
        for node in self._fallen.pop(outage, []):
            if self._machines.has(node) and not any(
                node in nodes for nodes in self._fallen.values()
            ):
                name = name_of(node)
                self._taint(name, _UNREACHABLE, False)
                self._patch(name, {"status": {"conditions": [READY]}}, "status")
                self._kubelets.answer(name)

    def _lasts(self, outage: int, node: record.Node) -> bool:
        return node in self._fallen.get(outage, ()) and self._machines.has(node)

    def _notice(self, outage: int, node: record.Node) -> None:
        """The node controller sees it: no pod comes any more, and those that run are deleted when they tolerate it no longer."""
        if not self._lasts(outage, node):
            return
        name = name_of(node)
        self._taint(name, _UNREACHABLE, True)
        self._patch(name, {"status": {"conditions": [SILENT]}}, "status")
        for pod in self._pods(name):
            if (seconds := tolerated(pod)) < math.inf:
                uid = pod["metadata"]["uid"]
                self._clock.after(seconds, lambda uid=uid: self._delete(outage, node, uid))  # type: ignore[misc]

    def _delete(self, outage: int, node: record.Node, uid: str) -> None:
        """Delete a pod. It goes when its kubelet answers, or with its node."""
        life = self._kubelets.alive(uid)
        if (
            life is None
            or not self._lasts(outage, node)
            or life.pod["metadata"].get("deletionTimestamp")
        ):
            return
        life.ending = life.ending or "evicted"
        name, namespace = life.pod["metadata"]["name"], life.pod["metadata"]["namespace"]

        def send(client: Client) -> Object | None:
            client.patch(
                "v1", "Pod", name, namespace, {"status": {"conditions": [_DELETED]}}, "status"
            )
            client.delete("v1", "Pod", name, namespace)
            return client.get("v1", "Pod", name, namespace)

        self._observed.request(send, missing=True)


def tolerated(pod: Object) -> float:
    """Seconds that a pod stays on a node that is unreachable: 300 unless it says otherwise (page taint-and-toleration)."""
    taint = {**_UNREACHABLE, "effect": "NoExecute"}
    found = [each for each in pod["spec"].get("tolerations") or [] if tolerates(each, taint)]
    bounds = [
        float(each["tolerationSeconds"])
        for each in found
        if each.get("tolerationSeconds") is not None
    ]
    return min(bounds, default=math.inf if found else 0.0)
