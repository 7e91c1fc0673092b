"""Room for Kubeflow: CPU and memory on plain on-demand nodes, and volumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ready.check import Check, Said, note, ok, wrong
from ready.cluster import PLATFORM, Cluster
from ready.quantities import GI, number

BARE = (3.9, 9.2)
"""CPUs and GiB that the pods of Kubeflow 26.03 request (docs/ready.md says how that was counted)."""

MESHED = (7.4, 14.0)
"""The same with Istio's sidecars in them."""

VOLUMES = 65
"""GB of its volumes (kubeflow/manifests 26.03, README, table of components)."""

_DEFAULT = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True)
class _Room:
    cpu: float
    gib: float

    def holds(self, asked: tuple[float, float]) -> bool:
        return self.cpu >= asked[0] and self.gib >= asked[1]

    def __str__(self) -> str:
        return f"{self.cpu:.1f} CPUs and {self.gib:.1f} GiB"


def _now(cluster: Cluster) -> _Room:
    """The free room on plain on-demand nodes."""
    plain = [node for node in cluster.nodes if node.plain]
    cpu, memory = (sum(node.free(resource) for node in plain) for resource in ("cpu", "memory"))
    return _Room(cpu, memory / GI)


def _grown(cluster: Cluster, now: _Room) -> _Room | None:
    """The room with all nodes that the autoscaler may add to pools that have a plain node; None where its status is not here."""
    try:
        groups = cluster.groups
    except ValueError:  # the check of the autoscaler says so
        groups = None
    if groups is None or cluster.cloud is None:
        return None
    cpu, gib = now.cpu, now.gib
    for group in groups:
        for node in cluster.nodes:
            if node.plain and cluster.cloud.group_of(node.name, node.provider_id) == group.name:
                more = max(0, group.most - group.target)
                cpu += more * node.allocatable.get("cpu", 0.0)
                gib += more * node.allocatable.get("memory", 0.0) / GI
                break
    return _Room(cpu, gib)


def _room(cluster: Cluster) -> Iterator[Said]:
    asked = f"Kubeflow's pods request {MESHED[0]} CPUs and {MESHED[1]:.0f} GiB with Istio's sidecars"
    now = _now(cluster)
    if now.holds(MESHED):
        yield ok(f"{now} are free on plain on-demand nodes; {asked}")
        return
    grown = _grown(cluster, now)
    if grown and grown.holds(MESHED):
        yield ok(f"{now} are free on plain on-demand nodes, and {grown} when the autoscaler has grown them; {asked}")
        return
    largest = grown or now
    bare = (
        "it holds Kubeflow without sidecars alone"
        if largest.holds(BARE)
        else f"without sidecars {BARE[0]} and {BARE[1]} GiB"
    )
    may_grow = "" if grown else "; how far its pools may grow is not known here"
    yield wrong(
        f"{largest} are all that plain on-demand nodes have for it; {asked} ({bare}){may_grow}",
        "raise `maxNodes` or `minNodes` of an on-demand pool without taints, or choose a larger machine",
    )


def _volumes(cluster: Cluster) -> Iterator[Said]:
    classes = cluster.objects("storageClasses")
    marked = [item for item in classes if (item["metadata"].get("annotations") or {}).get(_DEFAULT) == "true"]
    hint = f", such as {cluster.cloud.default_class}" if cluster.cloud else ""
    if not marked:
        yield wrong(
            "no StorageClass is the default: the claims of Kubeflow's databases stay Pending",
            f"annotate one{hint}: kubectl annotate storageclass NAME {_DEFAULT}=true",
        )
        return
    default = max(marked, key=lambda item: (item["metadata"].get("creationTimestamp") or "", item["metadata"]["name"]))
    name, provisioner = default["metadata"]["name"], default["provisioner"]
    if len(marked) > 1:
        names = ", ".join(sorted(item["metadata"]["name"] for item in marked))
        yield note(f"several StorageClasses are the default: {names}; the newest, {name}, counts", "leave one")
    small = False
    for quota in cluster.objects("quotas"):
        limit = ((quota.get("spec") or {}).get("hard") or {}).get("requests.storage")
        space = quota["metadata"]["namespace"]
        if limit is not None and space in PLATFORM and number(limit) < VOLUMES * 1e9:
            small = True
            yield wrong(
                f"ResourceQuota {space}/{quota['metadata']['name']} allows {limit} of volumes; Kubeflow asks for {VOLUMES} GB",
                "raise its `requests.storage`",
            )
    if provisioner == "kubernetes.io/no-provisioner":
        yield wrong(
            f"the default StorageClass {name} makes no volumes: its provisioner is {provisioner}",
            f"make another class the default{hint}",
        )
    elif not small:
        yield ok(
            f"default StorageClass {name} ({provisioner}); {VOLUMES} GB are asked of it, and the cloud's quota is not seen here"
        )


CHECKS = (
    Check("volumes", _volumes, "kubernetes.io/docs/concepts/storage/storage-classes; kubeflow/manifests 26.03, README"),
    Check("room", _room, "kubeflow/manifests 26.03, requests of its rendered pods"),
)
