"""Forms of a golden pod for its creation, and facts read from a created pod: pure functions."""

import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandbox.tests.api import Object
from tests.admission.bed import KATIB, NAMESPACES
from tests.admission.corpus import Golden

SETTLED = "unmatched"
"""The namespace for scheduling admitted pods: no policy of the program changes them there."""
JUDGED = "team-prefer-spot"
"""The profile whose label asks for spot."""
_CONTROLLERS = {"Job": "job", "ReplicaSet": "replicaset", "StatefulSet": "statefulset", "DaemonSet": "daemon-set"}
_ON_CPU = {"system", "general"}


def places(golden: Golden) -> set[str]:
    """Return every namespace in which the pod is created."""
    return {golden.namespace, unmatched(golden), SETTLED} | ({JUDGED} if golden.in_profile else set())


def furniture(golden: Golden, namespace: str) -> Iterator[Object]:
    """Yield the service account and the volumes that a pod names."""
    if account := golden.spec.get("serviceAccountName"):
        yield named("v1", "ServiceAccount", account, namespace)
    for volume in golden.spec.get("volumes", ()):
        if claim := volume.get("persistentVolumeClaim", {}).get("claimName"):
            yield from bound(claim, namespace)


def unmatched(golden: Golden) -> str:
    """Return the namespace where no policy of the program selects the pod, but Katib's webhook does as in its own."""
    return "unmatched-katib" if KATIB.items() <= NAMESPACES.get(golden.namespace, {}).items() else "unmatched"


def pod_owner(wanted: Object) -> Any:
    """Return the reference to the owning pod, so that its uid can be filled in."""
    return next((o for o in wanted["metadata"].get("ownerReferences", ()) if o["kind"] == "Pod"), None)


def by_maker(pods: Iterable[Object], sets: Iterable[Object]) -> dict[str, list[Object]]:
    """Return pods by their own uid, and by that of what made them: the Deployment of one of these ReplicaSets, say."""
    above = {each["metadata"]["uid"]: owners(each) for each in sets}
    found: dict[str, list[Object]] = defaultdict(list)
    for pod in pods:
        # An executor of Spark does not count as its driver.
        made = [o["uid"] for o in pod["metadata"].get("ownerReferences", ()) if o["kind"] != "Pod"]
        for uid in (pod["metadata"]["uid"], *made):
            for maker in above.get(uid) or [uid]:
                found[maker].append(pod)
    return found


def owners(body: Object) -> list[str]:
    """Return the uids of an object's owners."""
    return [str(owner["uid"]) for owner in body["metadata"].get("ownerReferences", ())]


def controller_user(pod: Object) -> str:
    """Return the user that created a controller's pod; here each controller has a service account of its own."""
    kind = next(o["kind"] for o in pod["metadata"]["ownerReferences"] if o.get("controller"))
    return f"system:serviceaccount:kube-system:{_CONTROLLERS[kind]}-controller"


def decision(pod: Object) -> str:
    """Return the pod's node; `pending` without a suitable node, empty before the scheduler has tried."""
    if node := pod["spec"].get("nodeName"):
        return str(node)
    conditions = pod.get("status", {}).get("conditions", ())
    return "pending" if any(c["type"] == "PodScheduled" and c["status"] == "False" for c in conditions) else ""


def landing(decided: str, pools: Mapping[str, str]) -> str:
    """Return a decision in the words of the table; `pools` are the pools of all nodes."""
    return decided if decided == "pending" else pool_names([decided], pools)


def pool_names(nodes: Iterable[str], pools: Mapping[str, str]) -> str:
    """Return the pools of these nodes; the system pool and `general` count as one."""
    names = {"CPU node" if pools[node] in _ON_CPU else pools[node] for node in nodes}
    return ", ".join(sorted(names)) or "no node"


def anew(pod: Object, namespace: str) -> Object:
    """Return the pod as its creator would send it, including everything that the server filled in."""
    old = copy.deepcopy(pod["metadata"])
    metadata = {key: old[key] for key in ("labels", "annotations", "ownerReferences") if key in old}
    name = {"generateName": old["generateName"]} if "generateName" in old else {"name": f"again-{old['name']}"}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, **name, "namespace": namespace}, "spec": spec}


def bare(name: str, pod: Object) -> Object:
    """Return the pod for the scheduler: only its spec, so that no controller or policy selects it."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**named("v1", "Pod", name, SETTLED), "spec": spec}


def named(api_version: str, kind: str, name: str, namespace: str) -> Object:
    """Return an object with only a name."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}


def bound(claim: str, namespace: str) -> list[Object]:
    """Return a volume and the claim bound to it."""
    size = {"storage": "1Gi"}
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    reference = {"claimRef": {"namespace": namespace, "name": claim}, "hostPath": {"path": "/data"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"{namespace}-{claim}"}}
    claimed = {**modes, "resources": {"requests": size}, "volumeName": f"{namespace}-{claim}"}
    return [
        {**volume, "spec": {**modes, "capacity": size, **reference}},
        {**named("v1", "PersistentVolumeClaim", claim, namespace), "spec": claimed},
    ]
