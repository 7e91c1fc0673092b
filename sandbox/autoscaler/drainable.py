"""Pods that keep their node, and the PodDisruptionBudgets that are left in a scan.

Rules of cluster-autoscaler 1.36.1, simulator/drainability/rules, in their order; utils/drain/drain.go; core/scaledown/pdb.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sandbox.autoscaler import fit
from sandbox.autoscaler.autoscaler_options import Options, Profile
from sandbox.autoscaler.shapes import Object, PodInfo
from sandbox.autoscaler.snapshot import Node, Snapshot

_SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
_CONTROLLERS = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
_LONG_TERMINATING = 30.0
"""Seconds beyond a pod's grace period (utils/drain/drain.go)."""
_DEFAULT_GRACE = 30.0


class Budgets:
    """The PodDisruptionBudgets of a scan; what a simulated removal takes is gone for the next."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._budgets = [
            (budget, [int((budget.get("status") or {}).get("disruptionsAllowed") or 0)]) for budget in objects
        ]

    def __bool__(self) -> bool:
        return bool(self._budgets)

    def of(self, pod: PodInfo) -> list[list[int]]:
        """Return the disruptions that each budget of a pod allows."""
        if not self._budgets:
            return []
        namespace, labels = pod.metadata["namespace"], pod.metadata.get("labels") or {}
        return [
            allowed
            for budget, allowed in self._budgets
            if budget["metadata"]["namespace"] == namespace and fit.selects(budget["spec"].get("selector"), labels)
        ]

    def take(self, pods: Iterable[PodInfo]) -> None:
        """Count pods as evicted."""
        for pod in pods:
            for allowed in self.of(pod):
                allowed[0] -= 1


@dataclass(frozen=True)
class Leaving:
    """The pods that keep a node from going at once, and why it cannot go at all; `reason` is empty when it can."""

    moving: Sequence[PodInfo] = ()
    """Pods that must go elsewhere."""
    ending: Sequence[PodInfo] = ()
    """Pods that are left to end by themselves: the node is a candidate all the time, and goes in the first scan after their end."""
    reason: str = ""


class Drain:
    """The rules of one scan."""

    def __init__(self, snapshot: Snapshot, profile: Profile, options: Options) -> None:
        self._snapshot, self._profile, self._options = snapshot, profile, options
        self.budgets = Budgets(snapshot.world.budgets)

    def pods(self, node: Node) -> Leaving:
        """Return the pods that count when a node is removed."""
        moving, ending = [], []
        for pod in node.pods:
            if pod.of_node or self.long_terminating(pod):
                continue
            if _ends(pod):
                ending.append(pod)
            elif reason := self._keeps(pod):
                return Leaving(reason=f"{pod.name} {reason}")
            else:
                moving.append(pod)
        return Leaving(moving, ending)

    def order(self, node: Node) -> tuple[bool, bool]:
        """Return a key that sorts nodes: empty ones first, and of these the ones that wait for no pod's end.

        processors/scaledowncandidates/emptycandidates/empty_candidates_sorting.go.
        """
        ending = False
        for pod in node.pods:
            if not (pod.of_node or self.long_terminating(pod)):
                if not _ends(pod):
                    return True, False
                ending = True
        return False, ending

    def long_terminating(self, pod: PodInfo) -> bool:
        """Return whether a pod should be gone by now. Its deletion timestamp is the end of the grace period that its
        deletion gave it.
        """
        if pod.terminating is None:
            return False
        grace = pod.spec.get("terminationGracePeriodSeconds")
        given = float(pod.metadata.get("deletionGracePeriodSeconds") or 0)
        bound = pod.terminating + given + (_DEFAULT_GRACE if grace is None else float(grace)) + _LONG_TERMINATING
        return self._snapshot.now > bound

    def risky(self, moving: Sequence[PodInfo]) -> bool:
        """Return whether the budgets do not allow all these evictions at the same time."""
        counts: dict[int, int] = {}
        for pod in moving if self.budgets else ():
            for allowed in self.budgets.of(pod):
                counts[id(allowed)] = counts.get(id(allowed), 0) + 1
                if counts[id(allowed)] > allowed[0]:
                    return True
        return False

    def _keeps(self, pod: PodInfo) -> str:
        """Return the reason why a pod keeps its node; empty when it does not."""
        annotations = pod.metadata.get("annotations") or {}
        wish = annotations.get(_SAFE_TO_EVICT)
        if wish == "true":
            return ""
        if not _replicated(
            pod.metadata.get("ownerReferences") or (), any_controller=not self._options.custom_controllers_keep
        ):
            return "has no controller that replaces it"
        budgets = self.budgets.of(pod)
        if self._profile.system_pods_keep and pod.metadata["namespace"] == "kube-system" and not budgets:
            # An older one may go, whatever the rules after this one say.
            young = self._snapshot.now - self._snapshot.since(pod) <= self._options.system_pod_age
            return "is a system pod without PodDisruptionBudget" if young else ""
        if wish == "false":
            return "is not safe to evict"
        if self._profile.local_storage_keeps and _local_storage(pod, annotations):
            return "has local storage"
        if any(allowed[0] < 1 for allowed in budgets):
            return "has a PodDisruptionBudget that allows no eviction"
        return ""


def _ends(pod: PodInfo) -> bool:
    """Return whether a pod is left to end by itself (rules/oncompletion)."""
    return (pod.metadata.get("annotations") or {}).get(_SAFE_TO_EVICT) == "on-completion"


def _replicated(owners: Sequence[Object], *, any_controller: bool) -> bool:
    controllers = [owner for owner in owners if owner.get("controller")]
    return any(any_controller or owner["kind"] in _CONTROLLERS for owner in controllers)


def _local_storage(pod: PodInfo, annotations: Mapping[str, str]) -> bool:
    spared = annotations.get(_SAFE_VOLUMES, "").split(",")
    return any(
        "hostPath" in volume or ("emptyDir" in volume and (volume["emptyDir"] or {}).get("medium") != "Memory")
        for volume in pod.spec.get("volumes") or ()
        if volume.get("name") not in spared
    )
