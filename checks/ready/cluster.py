"""Cluster: a snapshot as the checks read it.

A part that was not seen raises `NotSeen`, so no check can take it for empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from checks.check import NotCompared, NotSeen
from checks.ready import autoscaler
from checks.ready.autoscaler import Group
from checks.ready.cloud_facts import CLOUDS, CloudFacts
from checks.ready.intent import Intent
from checks.ready.quantities import number
from checks.ready.snapshot import Object, Snapshot
from config.model.pool import Capacity, Effect, Taint
from config.placement.node_pools import CAPACITY_LABEL, POOL_LABEL

PLATFORM = frozenset(
    {
        *("kubeflow", "kubeflow-system", "istio-system", "knative-serving", "knative-eventing"),
        *("cert-manager", "auth", "oauth2-proxy"),
    }
)
"""Namespaces of Kubeflow 26.03 (kubeflow/manifests, common/ and applications/)."""


class NoContract(NotCompared):
    """The check compares with the contract, and the cluster has none."""


class BrokenContract(NotCompared):
    """The contract's content cannot be read. The text says why."""


@dataclass(frozen=True)
class Pool:
    """A pool as the contract declares it."""

    label: str
    name: str
    spot: bool
    gpus: int
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]


@dataclass(frozen=True)
class Contract:
    """The ConfigMap of a stack in kube-public."""

    instance: str
    """The stack, as the labels of its objects write it."""
    release: str
    pools: tuple[Pool, ...]
    checkpoints: str = ""
    """The address of the storage for checkpoints; empty where the optional key `workloads.json`
    names none."""


@dataclass(frozen=True)
class Node:
    """A node with the requests of its pods, platform pods left out."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    ready: bool
    cordoned: bool
    kubelet: str
    provider_id: str
    allocatable: Mapping[str, float]
    used: Mapping[str, float] = field(default_factory=dict)
    born: str = ""
    """The time at which it joined, as the API server writes it."""

    @property
    def pool(self) -> str:
        """The value of the program's label for pools; empty without it."""
        return self.labels.get(POOL_LABEL, "")

    @property
    def plain(self) -> bool:
        """Whether a pod without tolerations and affinity, such as Kubeflow's own, belongs here."""
        blocking = [taint for taint in self.taints if taint.effect != Effect.PREFER_NO_SCHEDULE]
        return (
            self.ready
            and not self.cordoned
            and not blocking
            and self.labels.get(CAPACITY_LABEL) != "spot"
        )

    def free(self, resource: str) -> float:
        """Return the part of a resource that no pod has requested."""
        return max(0.0, self.allocatable.get(resource, 0.0) - self.used.get(resource, 0.0))


_PASSING = re.compile(
    r"node\.kubernetes\.io/|node\.cloudprovider\.kubernetes\.io/|ToBeDeletedByClusterAutoscaler$"
    r"|DeletionCandidateOfClusterAutoscaler$"
    r"|(startup|status|ignore)-taint\.cluster-autoscaler\.kubernetes\.io/"
    r"|karpenter\.sh/(unregistered|disrupted)$"
    r"|node\.cilium\.io/|cni\.istio\.io/|readiness\.k8s\.io/"
)
"""Taints that Kubernetes, the autoscaler or an agent of the network puts on a node for a while
(kubernetes/autoscaler 1.36.1, utils/taints/taints.go; docs.cilium.io, page installation/taints;
istio.io, page setup/additional-setup/cni; readiness.k8s.io is of
kubernetes-sigs/node-readiness-controller)."""

_YOUNG = 15 * 60
"""Seconds in which a node may still get its driver and its device plugin."""


class Cluster:
    """The parts of a snapshot, read once each, and what the stack file adds."""

    def __init__(self, snapshot: Snapshot, intent: Intent | None = None) -> None:
        self.snapshot = snapshot
        self.intent = intent or Intent()

    def part(self, name: str) -> Any:
        """Return an object, a list, or None if missing. Raises NotSeen."""
        if name in self.snapshot.unseen:
            raise NotSeen(f"{name}: {self.snapshot.unseen[name]}")
        return self.snapshot.parts.get(name)

    def objects(self, name: str) -> Sequence[Object]:
        """Return the objects of a kind; empty if the server lacks the kind. Raises NotSeen."""
        return self.part(name) or ()

    @cached_property
    def version(self) -> tuple[int, int]:
        """Major and minor version of the API server; 0.0 where it says none.

        An emulated version decides on kinds.
        """
        answer = self.part("version") or {}
        emulated = f"{answer.get('emulationMajor') or ''}.{answer.get('emulationMinor') or ''}"
        return minor(emulated if len(emulated) > 1 else str(answer.get("gitVersion", "")))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, with what the pods on them request. Raises NotSeen."""
        used: dict[str, dict[str, float]] = {}
        for pod in self.objects("pods"):
            name = (pod.get("spec") or {}).get("nodeName")
            if name and pod["metadata"].get("namespace") not in PLATFORM:
                totals = used.setdefault(name, {})
                for resource, amount in requests(pod["spec"]).items():
                    totals[resource] = totals.get(resource, 0.0) + amount
        return tuple(
            _node(item, used.get(item["metadata"]["name"], {})) for item in self.objects("nodes")
        )

    @cached_property
    def cloud(self) -> CloudFacts | None:
        """The cloud that made the nodes, by their provider id, or None. Raises NotSeen."""
        ids = [
            str((item.get("spec") or {}).get("providerID", "")) for item in self.objects("nodes")
        ]
        return next(
            (cloud for cloud in CLOUDS if any(id.startswith(cloud.provider_id) for id in ids)), None
        )

    @cached_property
    def contract(self) -> Contract:
        """Return the contract. Raise NotSeen, NoContract or BrokenContract.

        Where several stacks are in the cluster, it is that of the stack file's pools.
        """
        published = self.objects("contracts")
        if not published:
            raise NoContract("the cluster has no contract that says what is declared")
        if len(published) > 1 and not self.intent.bounds:
            stacks = ", ".join(sorted(item["metadata"]["name"] for item in published))
            raise NotCompared(
                f"several stacks are in the cluster ({stacks}), and no stack file says which is"
                " meant"
            )
        config_map = max(published, key=self._pools_of_file)
        labels = config_map["metadata"].get("labels") or {}
        data = config_map.get("data") or {}
        try:
            pools = tuple(_pool(item) for item in json.loads(data["pools.json"]))
            workloads = json.loads(data.get("workloads.json") or "{}")
            checkpoints = str((workloads.get("checkpoints") or {}).get("url") or "")
        except KeyError as missing:
            raise BrokenContract(f"{missing.args[0]} is missing") from None
        except (TypeError, AttributeError, json.JSONDecodeError) as wrong:
            raise BrokenContract(f"its JSON: {wrong}") from None
        return Contract(
            labels.get("app.kubernetes.io/instance", ""),
            data.get("release", ""),
            pools,
            checkpoints,
        )

    def _pools_of_file(self, config_map: Object) -> int:
        text = str((config_map.get("data") or {}).get("pools.json"))
        return sum(f'"label": {json.dumps(label)}' in text for label in self.intent.bounds)

    @cached_property
    def groups(self) -> tuple[Group, ...] | None:
        """The node groups in the autoscaler's status; None where it writes none here.

        Raises NotSeen, ValueError, Starting.
        """
        config_map = self.part("autoscaler")
        return None if config_map is None else autoscaler.read_config_map(config_map)

    def pool_of(self, group: str) -> str:
        """Return the pool of a node group; empty if its name does not tell. Raises NotSeen."""
        return self.cloud.pool_of(group, self._pool_names) if self.cloud else ""

    @cached_property
    def _pool_names(self) -> frozenset[str]:
        """The clouds' names of pools, of the contract and of nodes that are up."""
        label = self.cloud.pool_label if self.cloud else ""
        names = {node.labels[label] for node in self.nodes if label in node.labels}
        try:
            return frozenset({*names, *(pool.name for pool in self.contract.pools)})
        except NotCompared:
            return frozenset(names)

    def seconds_since(self, time: str) -> float | None:
        """Return the seconds from a time in ISO 8601 to the snapshot; None if either is unknown."""
        if not self.snapshot.taken or not time:
            return None
        return (
            datetime.fromisoformat(self.snapshot.taken) - datetime.fromisoformat(time)
        ).total_seconds()

    def young(self, node: Node) -> bool:
        """Return whether the node joined a moment ago; False if the snapshot's time is unknown."""
        age = self.seconds_since(node.born)
        return age is not None and 0 <= age < _YOUNG

    def reclaimable(self, node: Node) -> bool:
        """Return whether the cloud may reclaim or end the node: then not Ready is no defect."""
        own = node.labels.get(CAPACITY_LABEL) in (Capacity.SPOT, Capacity.FLEX_START)
        clouds = self.cloud.reclaimable_labels.items() if self.cloud else ()
        return own or any(node.labels.get(key) == value for key, value in clouds)

    def lasting_taints(self, node: Node) -> set[Taint]:
        """Return a node's taints without temporary ones."""
        clouds = self.cloud.passing_taints if self.cloud else ""
        passing = [_PASSING, *([re.compile(clouds)] if clouds else [])]
        return {
            taint for taint in node.taints if not any(form.match(taint.key) for form in passing)
        }


def minor(version: str) -> tuple[int, int]:
    """Return major and minor version in a text such as v1.36.2-gke.100; 0.0 for another text."""
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def requests(spec: Object) -> dict[str, float]:
    """Return a pod's requests as the scheduler counts them: containers and sidecars, or one init
    container if larger (kubernetes.io/docs/concepts/workloads/pods/init-containers,
    sidecar-containers)."""
    total: dict[str, float] = {}
    for container in spec.get("containers") or ():
        _add(total, container)
    first: dict[str, float] = {}
    sidecars: dict[str, float] = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            _add(sidecars, container)
            _most(first, sidecars)
        else:
            alone = dict(sidecars)
            _add(alone, container)
            _most(first, alone)
    for resource, amount in sidecars.items():
        total[resource] = total.get(resource, 0.0) + amount
    _most(total, first)
    for resource, amount in (spec.get("overhead") or {}).items():
        total[resource] = total.get(resource, 0.0) + number(amount)
    return total


def _add(total: dict[str, float], container: Object) -> None:
    asked = container.get("resources") or {}
    # Without a request the limit is the request.
    for resource, amount in {
        **(asked.get("limits") or {}),
        **(asked.get("requests") or {}),
    }.items():
        total[resource] = total.get(resource, 0.0) + number(amount)


def _most(total: dict[str, float], other: Mapping[str, float]) -> None:
    for resource, amount in other.items():
        total[resource] = max(total.get(resource, 0.0), amount)


def _node(item: Object, used: Mapping[str, float]) -> Node:
    spec, status = item.get("spec") or {}, item.get("status") or {}
    conditions = {entry["type"]: entry["status"] for entry in status.get("conditions") or ()}
    return Node(
        item["metadata"]["name"],
        item["metadata"].get("labels") or {},
        tuple(_taint(taint) for taint in spec.get("taints") or ()),
        conditions.get("Ready") == "True",
        bool(spec.get("unschedulable")),
        str((status.get("nodeInfo") or {}).get("kubeletVersion", "")),
        str(spec.get("providerID", "")),
        {key: number(amount) for key, amount in (status.get("allocatable") or {}).items()},
        used,
        str(item["metadata"].get("creationTimestamp") or ""),
    )


def _taint(taint: Object) -> Taint:
    # Without validation: a node may have a taint that no stack file may declare, such as one
    # without a value.
    return Taint.model_construct(
        key=taint["key"], value=taint.get("value") or "", effect=Effect(taint["effect"])
    )


def _pool(item: Object) -> Pool:
    return Pool(
        item["label"],
        item["name"],
        item["capacity"] == "spot",
        int(item.get("gpus", 0)),
        item.get("labels") or {},
        tuple(_taint(taint) for taint in item.get("taints") or ()),
    )
