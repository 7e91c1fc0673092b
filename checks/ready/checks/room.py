"""Room for Kubeflow: CPU and memory on plain on-demand nodes, and volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checks.check import Check, NotCompared, Remark, note, ok, wrong
from checks.ready.cluster import PLATFORM, Cluster
from checks.ready.quantities import GI, number

BARE = (3.9, 9.2)
"""CPUs and GiB that the pods of Kubeflow 26.03 request (docs/operate.md says how that was
counted)."""

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
    """Return the free room on plain on-demand nodes."""
    plain = [node for node in cluster.nodes if node.plain]
    cpu, memory = (sum(node.free(resource) for node in plain) for resource in ("cpu", "memory"))
    return _Room(cpu, memory / GI)


def _grown(cluster: Cluster, now: _Room) -> _Room | None:
    """Return the room once pools for plain pods have grown; None if their maximum is unknown."""
    return _by_stack(cluster, now) if cluster.intent.bounds else _by_status(cluster, now)


def _by_stack(cluster: Cluster, now: _Room) -> _Room | None:
    """Return the room by the stack file's `maxNodes`."""
    grown: _Room | None = now
    for label, bound in cluster.intent.bounds.items():
        if bound.plain and grown:
            nodes = [node for node in cluster.nodes if node.pool == label]
            each = nodes[0].allocatable if nodes else bound.each
            grown = _more(grown, bound.most - len(nodes), each)
    return grown


def _by_status(cluster: Cluster, now: _Room) -> _Room | None:
    """Return the room by the autoscaler's status."""
    try:
        groups = cluster.groups
    except ValueError:  # the check of the autoscaler says so
        groups = None
    cloud = cluster.cloud
    if groups is None or cloud is None:
        return None
    grown: _Room | None = now
    for group in groups:
        nodes = [
            node
            for node in cluster.nodes
            if cloud.group_of(node.name, node.provider_id) == group.name
        ]
        plain = [node for node in nodes if node.plain]
        if grown and plain:
            grown = _more(grown, group.most - group.target, plain[0].allocatable)
        elif grown and not nodes and not _for_others(cluster, cluster.pool_of(group.name)):
            grown = _more(grown, group.most - group.target, {})
    return grown


def _more(room: _Room, count: int, each: Mapping[str, float]) -> _Room | None:
    """Return the room with further nodes; None if their size is unknown."""
    if count <= 0:
        return room
    if not each:
        return None
    return _Room(
        room.cpu + count * each.get("cpu", 0.0), room.gib + count * each.get("memory", 0.0) / GI
    )


def _for_others(cluster: Cluster, pool: str) -> bool:
    """Return whether the contract declares the pool for other pods than plain ones."""
    try:
        declared = cluster.contract.pools
    except NotCompared:
        return False
    return any(item.name == pool and (item.spot or item.taints) for item in declared)


def _room(cluster: Cluster) -> Iterator[Remark]:
    asked = (
        f"Kubeflow's pods request {MESHED[0]} CPUs and {MESHED[1]:.0f} GiB with Istio's sidecars"
    )
    now = _now(cluster)
    if now.holds(MESHED):
        yield ok(f"{now} are free on plain on-demand nodes; {asked}")
        return
    grown = _grown(cluster, now)
    if grown and grown.holds(MESHED):
        yield ok(
            f"{now} are free on plain on-demand nodes, and {grown} when the autoscaler has grown"
            f" them; {asked}"
        )
        return
    remedy = (
        "raise `maxNodes` or `minNodes` of an on-demand pool without taints, or choose a larger"
        " machine"
    )
    if grown is None:
        yield note(
            f"{now} are free on plain on-demand nodes; {asked}. How far their pools may grow, the"
            " cluster does not show",
            "name the stack (`ready --stack STACK`), whose `maxNodes` say it; where that is not"
            f" enough, {remedy}",
        )
        return
    bare = (
        "it holds Kubeflow without sidecars alone"
        if grown.holds(BARE)
        else f"without sidecars {BARE[0]} and {BARE[1]} GiB"
    )
    yield wrong(f"{grown} are all that plain on-demand nodes have for it; {asked} ({bare})", remedy)


def _volumes(cluster: Cluster) -> Iterator[Remark]:
    classes = cluster.objects("storageClasses")
    marked = [
        item
        for item in classes
        if (item["metadata"].get("annotations") or {}).get(_DEFAULT) == "true"
    ]
    hint = f", such as {cluster.cloud.default_class}" if cluster.cloud else ""
    if not marked:
        yield wrong(
            "no StorageClass is the default: the claims of Kubeflow's databases stay Pending",
            f"annotate one{hint}: kubectl annotate storageclass NAME {_DEFAULT}=true",
        )
        return
    default = max(
        marked,
        key=lambda item: (
            item["metadata"].get("creationTimestamp") or "",
            item["metadata"]["name"],
        ),
    )
    name, provisioner = default["metadata"]["name"], default["provisioner"]
    if len(marked) > 1:
        names = ", ".join(sorted(item["metadata"]["name"] for item in marked))
        yield note(
            f"several StorageClasses are the default: {names}; the newest, {name}, counts",
            "leave one",
        )
    small = False
    for quota in cluster.objects("quotas"):
        limit = ((quota.get("spec") or {}).get("hard") or {}).get("requests.storage")
        space = quota["metadata"]["namespace"]
        if limit is not None and space in PLATFORM and number(limit) < VOLUMES * 1e9:
            small = True
            yield wrong(
                f"ResourceQuota {space}/{quota['metadata']['name']} allows {limit} of volumes;"
                f" Kubeflow asks for {VOLUMES} GB",
                "raise its `requests.storage`",
            )
    if provisioner == "kubernetes.io/no-provisioner":
        yield wrong(
            f"the default StorageClass {name} makes no volumes: its provisioner is {provisioner}",
            f"make another class the default{hint}",
        )
    elif not small:
        yield ok(
            f"default StorageClass {name} ({provisioner}); {VOLUMES} GB are asked of it, and the"
            " cloud's quota is not seen here"
        )


CHECKS = (
    Check(
        "volumes",
        _volumes,
        "kubernetes.io/docs/concepts/storage/storage-classes; kubeflow/manifests 26.03, README",
    ),
    Check("room", _room, "kubeflow/manifests 26.03, requests of its rendered pods"),
)
