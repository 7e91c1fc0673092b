"""What a pod of one profile does to pods of others, on the real scheduler: where both land, and who waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pulumi_kubernetes.core.v1 import ResourceQuotaInitArgs

from components.layer.scheduling import quota
from components.resources import wire
from config.model.scheduling import Profile
from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from tests.admission.bed import Bed
from tests.admission.escapes import (
    CLAIMING,
    EDITOR,
    NAMESPACE,
    claim,
    event,
    named,
    pod,
    posted,
    verdict,
    way,
    with_metadata,
)
from tests.admission.posting import decision

OTHER = "team-b"
"""Another profile."""
FREE = "unmatched"
"""No policy of the program selects this namespace, and no quota limits it."""
SYSTEM = {"nodeSelector": {"kubeflow-spot.dev/pool": "system"}}
CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
TAINT = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}
"""The taint of a system pool with `criticalAddonsOnly` (learn.microsoft.com/azure/aks/use-system-pools)."""

RUN = "harmless: pods of others run beside it"
RANKED = "harmless: it has the rank that the platform gave it"
CORDONED = "let through: it is lost with the node, and nobody else is"
NOBODYS = "harmless: it holds no node and no nomination for one"


def elsewhere(body: Object, namespace: str, name: str) -> Object:
    """Return the pod under another name in another namespace."""
    return with_metadata(body, namespace=namespace, name=name)


def affinity(kind: str, *, selector: Object | None = None, **others: Any) -> Object:
    """Return a required term of `podAffinity` or `podAntiAffinity` over the whole cluster, for the pods that `selector` matches."""
    term = {"topologyKey": "kubernetes.io/os", "labelSelector": selector or {}, **others}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def preferred(kind: str, **others: Any) -> Object:
    """Return a preferred term like that of `affinity`, of the greatest weight."""
    term = {"topologyKey": "kubernetes.io/os", "labelSelector": {}, **others}
    weighted = {"weight": 100, "podAffinityTerm": term}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}}


def decided(bed: Bed, body: Object, user: str | None = None) -> str:
    """Return the node of a new pod; `pending` where the scheduler finds none."""
    created = bed.api.create(body, user=user)
    return str(eventually(lambda: decision(bed.api.get(created)), f"{body['metadata']['name']} is decided"))


def lands(bed: Bed, body: Object, user: str | None = None) -> str:
    """Return the node of a new pod. Raises AssertionError if it finds none; the scheduler may need a second try."""
    created = bed.api.create(body, user=user)
    node = eventually(lambda: bed.api.get(created)["spec"].get("nodeName"), f"{body['metadata']['name']} has a node")
    return str(node)


@contextmanager
def gone_afterwards(bed: Bed, *bodies: Object) -> Iterator[None]:
    """Delete these objects in the end."""
    try:
        yield
    finally:
        for body in bodies:
            bed.api.delete(body)


@contextmanager
def system_pool(bed: Bed, **spec: Any) -> Iterator[set[str]]:
    """Yield the nodes of the system pool, with these fields in their specs, such as taints."""
    nodes = [node for node, pool in bed.pools().items() if pool == "system"]
    bodies = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}} for node in nodes]
    before = [bed.api.get(body)["spec"] for body in bodies]
    try:
        for body in bodies:
            bed.api.patch(body, {"spec": spec})
        eventually(lambda: _probed(bed) == "pending", "the scheduler knows of the closed nodes")
        yield set(nodes)
    finally:
        for body, old in zip(bodies, before, strict=True):
            bed.api.patch(body, {"spec": {key: old.get(key) for key in spec}})
        eventually(lambda: _probed(bed) != "pending", "the scheduler knows of the open nodes")


def _probed(bed: Bed) -> str:
    """Return where a plain pod for the system pool lands now."""
    probe = elsewhere(pod("probe", **SYSTEM), FREE, "probe")
    with gone_afterwards(bed, probe):
        return decided(bed, probe)


@way
def beside(bed: Bed, body: Object) -> str:
    """Try an admitted pod that runs. It is harmless if another team's pod runs as well."""
    other = elsewhere(pod("neighbour"), OTHER, "neighbour")
    with gone_afterwards(bed, body, other):
        lands(bed, body, EDITOR)
        lands(bed, other)
        return RUN


@way
def waits(bed: Bed, body: Object, why: str, **pools: int) -> str:
    """Try an admitted pod that finds no node, with the system pool tainted and these pools up."""
    with bed.scaled(**pools), system_pool(bed, taints=[TAINT]), gone_afterwards(bed, body):
        return why if decided(bed, body, EDITOR) == "pending" else "nobody"


@way
def on_a_cordoned_node(bed: Bed, body: Object) -> str:
    """Try an admitted pod that lands on a node which is about to be emptied."""
    with system_pool(bed, unschedulable=True) as nodes, gone_afterwards(bed, body):
        return CORDONED if lands(bed, body, EDITOR) in nodes else "nobody"


@way
def unplaced(bed: Bed, body: Object) -> str:
    """Try an admitted pod that nobody schedules, while another team's pod runs; its nomination for a node is not kept."""
    nominated = {**body, "status": {"nominatedNodeName": min(bed.pools())}}
    other = elsewhere(pod("neighbour"), OTHER, "neighbour")
    with gone_afterwards(bed, body, other):
        bed.api.create(nominated, user=EDITOR)
        lands(bed, other)
        after = bed.api.get(body)
        return "nobody" if "nodeName" in after["spec"] or "nominatedNodeName" in after["status"] else NOBODYS


@contextmanager
def limited(bed: Bed, *quotas: Object) -> Iterator[None]:
    """Put these quotas in force, and return when the API server has forgotten them.

    Its admission may remember a list of quotas for 30 s in a namespace that has none (apiserver, `liveTTL` of the plugin
    resourcequota). A quota of ConfigMaps, which is deleted last, shows when all are forgotten.
    """
    namespace = quotas[0]["metadata"]["namespace"]
    last = {**elsewhere(quotas[0], namespace, "last"), "spec": {"hard": {"count/configmaps": "0"}}}
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": namespace}}
    try:
        with bed.api.created(last, *quotas):
            for body in (*quotas, last):
                eventually(lambda body=body: "hard" in bed.api.get(body).get("status", {}), "the quota is counted")
            yield
    finally:
        eventually(lambda: not verdict(bed, probe), "the quotas are forgotten")


def gpus(most: int) -> list[Object]:
    """Return the program's quota of GPUs for the profile."""
    return [quota_body(body) for _, body in quota.quotas((Profile(namespace=NAMESPACE, gpus=most),), "escape")]


def quota_body(quota: ResourceQuotaInitArgs) -> Object:
    """Return a quota of the program as the API server takes it."""
    return {"apiVersion": "v1", "kind": "ResourceQuota", **wire(quota)}


@way
def past_the_quota(bed: Bed, body: Object) -> str:
    """Try a claim in a profile that may have three GPUs."""
    with limited(bed, *gpus(3)):
        return posted(body)(bed)


def past_the_quota_by_a_template(bed: Bed) -> str:
    """Try a template, of which a controller makes the claim: the quota refuses it, and the pod waits."""
    template = claim("gpu.nvidia.com", template=True)
    body = pod("claimant", restart="Never", **CLAIMING)
    with limited(bed, *gpus(0)), gone_afterwards(bed, body, template):
        bed.api.create(template, user=EDITOR)
        bed.api.create(body, user=EDITOR)
        refused = eventually(lambda: event(bed, "claimant", "FailedResourceClaimCreation"), "the claim is refused")
        assert not bed.api.list("resource.k8s.io/v1", "ResourceClaim", NAMESPACE)
        assert "nodeName" not in bed.api.get(body)["spec"]
        return named(Refused(403, refused["message"]))


@way
def with_class(bed: Bed, body: Object, value: int) -> str:
    """Try the pod while the platform has a PriorityClass of that name with this value."""
    name = {"name": body["spec"]["priorityClassName"]}
    ranked = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": name, "value": value}
    with bed.api.created(ranked), gone_afterwards(bed, body):
        try:
            eventually(lambda: _created(bed, body), "the class is known")
        except Refused as refused:
            return named(refused)
        return RANKED


def _created(bed: Bed, body: Object) -> bool:
    """Return whether the pod is made; the plugin Priority learns of a new class a moment later."""
    try:
        bed.api.create(body, user=EDITOR)
    except Refused as refused:
        if "no PriorityClass with name" in refused.message:
            return False
        raise
    return True
