"""Observing: what became of the workloads of an installation, from what the API server holds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from overlay.applying import Object, Refusal, name

_POOL, _CAPACITY, _ACCELERATOR = (
    f"kubeflow-spot.dev/{label}" for label in ("pool", "capacity", "accelerator")
)
_ON_DEMAND = "on-demand"
_REPLICATED = ("Deployment", "StatefulSet")
WORKLOADS = (*_REPLICATED, "DaemonSet")
_OF_REPLICA_SET = re.compile(r"-[a-z0-9]+$")
_NOT_CREATED = "FailedCreate"

Key = tuple[str, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True)
class Live:
    """What the API server holds, as lists of objects."""

    nodes: Sequence[Object] = ()
    pods: Sequence[Object] = ()
    claims: Sequence[Object] = ()
    events: Sequence[Object] = ()


@dataclass(frozen=True)
class Claim:
    """A claim of the manifests."""

    what: str
    size: str
    storage_class: str
    bound: bool


@dataclass(frozen=True)
class Pool:
    """Pods of the platform on the nodes of one pool."""

    name: str
    kind: str
    """Such as `on-demand` or `spot, GPU`."""
    nodes: int
    pods: int
    agents: int
    """Pods of DaemonSets, which run on every node."""


@dataclass(frozen=True)
class Observed:
    """What became of the workloads."""

    wanted: int = 0
    """Pods of Deployments and StatefulSets."""
    running: int = 0
    pools: list[Pool] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)
    pending: list[Refusal] = field(default_factory=list)
    """Pods without a node, or that have not started, each with the scheduler's reason."""
    absent: list[Refusal] = field(default_factory=list)
    """Workloads with fewer pods than replicas, each with the reason."""
    claims: list[Claim] = field(default_factory=list)

    @property
    def settled(self) -> bool:
        """Whether every pod runs, none too many, and every claim is bound."""
        running = self.running == self.wanted and not self.pending and not self.absent
        return running and all(claim.bound for claim in self.claims)


def observe(objects: Iterable[Object], live: Live) -> Observed:
    """Return the state of the workloads and claims among the rendered objects.

    A pod is misplaced on a node that is not bought on demand or has GPUs, unless a DaemonSet made
    it. Pods that are being deleted do not count: a change of a workload leaves some for a while
    (kubernetes.io, page concepts/workloads/controllers/deployment).
    """
    objects = list(objects)
    wanted = {_key(body): _replicas(body) for body in objects if body["kind"] in WORKLOADS}
    claims = {_key(body) for body in objects if body["kind"] == "PersistentVolumeClaim"}
    nodes = {node["metadata"]["name"]: node["metadata"].get("labels", {}) for node in live.nodes}
    own: dict[Key, list[Object]] = {key: [] for key in wanted}
    for pod in live.pods:
        if (key := _owner(pod)) in own and not _over(pod):
            own[key].append(pod)
    replicated = [pod for key, pods in own.items() if key[0] in _REPLICATED for pod in pods]
    agents = [pod for key, pods in own.items() if key[0] not in _REPLICATED for pod in pods]
    return Observed(
        sum(count for key, count in wanted.items() if key[0] in _REPLICATED),
        sum(_runs(pod) for pod in replicated),
        _pools(nodes, replicated, agents),
        [
            f"{_pod(pod)} on {_kind(nodes[node])} node {node}"
            for pod in replicated
            if (node := _node(pod)) and not _fit(nodes[node])
        ],
        [Refusal(_pod(pod), _waits(pod)) for pod in (*replicated, *agents) if not _runs(pod)],
        _absent(wanted, own, live.events),
        [
            _claim(claim)
            for claim in live.claims
            if _key({"kind": "PersistentVolumeClaim", **claim}) in claims
        ],
    )


def _replicas(body: Object) -> int:
    """Return the pods that a workload wants; 0 for a DaemonSet, which wants one on each of some
    nodes."""
    if body["kind"] not in _REPLICATED:
        return 0
    replicas = body["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def _key(body: Object) -> Key:
    return body["kind"], body["metadata"].get("namespace", "default"), body["metadata"]["name"]


def _owner(pod: Object) -> Key | None:
    """Return the workload of a pod. A ReplicaSet has its Deployment's name and a hash."""
    metadata = pod["metadata"]
    for owner in metadata.get("ownerReferences", []):
        if owner["kind"] == "ReplicaSet":
            return "Deployment", metadata["namespace"], _OF_REPLICA_SET.sub("", owner["name"])
        return owner["kind"], metadata["namespace"], owner["name"]
    return None


def _node(pod: Object) -> str:
    return str(pod["spec"].get("nodeName") or "")


def _pod(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _runs(pod: Object) -> bool:
    return bool(_node(pod)) and pod.get("status", {}).get("phase") == "Running"


def _over(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"] or pod.get("status", {}).get("phase") in (
        "Succeeded",
        "Failed",
    )


def _waits(pod: Object) -> str:
    """Return why a pod does not run, as its conditions say."""
    conditions = pod.get("status", {}).get("conditions") or []
    said = [
        condition.get("message", "") for condition in conditions if condition["status"] != "True"
    ]
    return next(
        (message for message in said if message),
        "has a node and has not started" if _node(pod) else "no node yet",
    )


def _fit(labels: Mapping[str, str]) -> bool:
    return labels.get(_CAPACITY, _ON_DEMAND) == _ON_DEMAND and _ACCELERATOR not in labels


def _kind(labels: Mapping[str, str]) -> str:
    return labels.get(_CAPACITY, _ON_DEMAND) + (", GPU" if _ACCELERATOR in labels else "")


def _pools(
    nodes: Mapping[str, Mapping[str, str]], replicated: Sequence[Object], agents: Sequence[Object]
) -> list[Pool]:
    members: dict[tuple[str, str], set[str]] = {}
    for node, labels in nodes.items():
        members.setdefault((labels.get(_POOL, "-"), _kind(labels)), set()).add(node)
    return [
        Pool(
            *key,
            len(own),
            sum(_node(pod) in own for pod in replicated),
            sum(_node(pod) in own for pod in agents),
        )
        for key, own in sorted(members.items())
    ]


def _absent(
    wanted: Mapping[Key, int], own: Mapping[Key, list[Object]], events: Sequence[Object]
) -> list[Refusal]:
    """Return the workloads without all their pods, with the API server's reason."""
    refused = {
        (event["metadata"]["namespace"], event["involvedObject"]["name"]): event.get("message", "")
        for event in events
        if event.get("reason") == _NOT_CREATED
    }
    absent = []
    for key, count in wanted.items():
        kind, namespace, workload = key
        said = next(
            (
                message
                for (place, owner), message in refused.items()
                if place == namespace and workload in (owner, _OF_REPLICA_SET.sub("", owner))
            ),
            "",
        )
        short = len(own[key]) < count
        # Nobody says here how many pods a DaemonSet should have; one that gets none is told why.
        if short or (kind not in _REPLICATED and said and not own[key]):
            body = {"kind": kind, "metadata": {"namespace": namespace, "name": workload}}
            absent.append(Refusal(name(body), said or f"{len(own[key])} of {count} pods"))
    return absent


def _claim(claim: Object) -> Claim:
    spec, metadata = claim["spec"], claim["metadata"]
    size = spec["resources"]["requests"]["storage"]
    bound = claim.get("status", {}).get("phase") == "Bound"
    return Claim(
        f"{metadata['namespace']}/{metadata['name']}",
        size,
        spec.get("storageClassName") or "-",
        bound,
    )
