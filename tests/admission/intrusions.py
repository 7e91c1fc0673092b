"""Ways of a profile's editor to take the places of pods in other namespaces, and what stops each of them."""

from typing import Any

from sandbox.tests.api import Object
from tests.admission.escapes import (
    ANYTHING,
    GATED,
    GPU,
    NAMESPACE,
    PLUGIN,
    POD_SECURITY,
    QUOTA,
    RBAC,
    TOLERANT,
    VALIDATION,
    added,
    again_after,
    claim,
    cluster_wide,
    escapes,
    patched,
    pod,
    relabelled,
    requested,
    restarting,
    rule,
    through_a_controller,
    with_container,
    workload,
)
from tests.admission.neighbours import (
    CORDONED,
    CRITICAL,
    NOBODYS,
    OTHER,
    RANKED,
    RUN,
    SYSTEM,
    affinity,
    beside,
    on_a_cordoned_node,
    past_the_quota,
    past_the_quota_by_a_template,
    preferred,
    unplaced,
    waits,
    with_class,
)

_SYSTEM_CLASS = {"priorityClassName": "system-cluster-critical"}
_ALL = {"namespaceSelector": {}}
_TAINTED = "harmless: it waits, where `systemPool.criticalAddonsOnly` taints that pool"
_WAITS = "harmless: it waits, as no node of the program has that name"
_GPUS = {"limits": {"nvidia.com/gpu": "1"}}
_PART = {"limits": {"nvidia.com/mig-1g.5gb": "1"}}
_RESTART_ALL = again_after("In", 1, action="RestartAllContainers")
_OTHER_VALUE = {"key": CRITICAL["key"], "value": "false", "effect": "NoExecute"}
_UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}


def _ending(**spec: Any) -> Object:
    return pod("p", restart="Never", **spec)


def _with_gpu(toleration: Object) -> Object:
    return with_container(_ending(tolerations=[toleration]), resources=_GPUS)


def _job(name: str, **spec: Any) -> Object:
    template = {"spec": pod(name, restart="Never", **spec)["spec"]}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


INTRUSIONS = escapes(
    {
        rule("priority"): {
            "`system-cluster-critical` on a pod that ends": _ending(**_SYSTEM_CLASS),
            **{
                f"that class in a {kind}": through_a_controller(
                    workload(kind, f"ranked-{kind.lower()}", **_SYSTEM_CLASS)
                )
                for kind in ("Deployment", "StatefulSet", "DaemonSet")
            },
            "that class in a Job": through_a_controller(_job("ranked-job", **_SYSTEM_CLASS)),
            "a class of the highest value below the system's, such as GKE's `gmp-critical`": with_class(
                pod("p", priorityClassName="highest"), 1_000_000_000
            ),
        },
        PLUGIN: {
            "the system's priority by its number": pod("p", priority=2_000_000_000),
            "`system-cluster-critical` with `preemptionPolicy: Never`": pod(
                "p", preemptionPolicy="Never", **_SYSTEM_CLASS
            ),
        },
        RANKED: {"a lesser class of the platform's": with_class(pod("p", priorityClassName="lesser"), 999_999_999)},
        RBAC: {
            "a PriorityClass of one's own": cluster_wide("scheduling.k8s.io/v1", "PriorityClass", value=1),
            "taking away one's own quota": requested(
                "DELETE", f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/kubeflow-spot-test-gpus"
            ),
            "a Pod Security label of one's own on the namespace": relabelled(
                "pod-security.kubernetes.io/enforce", "privileged"
            ),
            "a namespace of one's own": cluster_wide("v1", "Namespace"),
        },
        rule("system-pool"): {
            "the system pool's toleration": pod("p", tolerations=[CRITICAL]),
            "the system pool's toleration on a pod that ends": _ending(tolerations=[CRITICAL]),
            "that toleration with another value and effect": pod("p", tolerations=[_OTHER_VALUE]),
            "a toleration of everything on a pod that ends and asks for a GPU": _with_gpu(ANYTHING),
            "a toleration of every `NoSchedule` on such a pod": _with_gpu({**ANYTHING, "effect": "NoSchedule"}),
            "the system pool's toleration patched onto a running pod": added(pod("p"), CRITICAL),
            "the system pool's toleration in a DaemonSet": through_a_controller(
                workload("DaemonSet", "everywhere", tolerations=[CRITICAL])
            ),
        },
        _TAINTED: {"a node selector for the system pool": waits(pod("p", **SYSTEM), _TAINTED)},
        rule("other-namespaces"): {
            "an anti-affinity to the pods of all namespaces": _ending(**affinity("podAntiAffinity", **_ALL)),
            "an anti-affinity to the pods of another profile by its name": pod(
                "p", **affinity("podAntiAffinity", namespaces=[NAMESPACE, OTHER])
            ),
        },
        VALIDATION: {
            "an anti-affinity patched onto a gated pod": patched(
                pod("p", **GATED), {"spec": affinity("podAntiAffinity", **_ALL)}
            ),
            "a GPU in `spec.resources`": _ending(resources=_GPUS),
        },
        RUN: {
            "an anti-affinity to all pods of one's own namespace, over the whole cluster": beside(
                pod("p", **affinity("podAntiAffinity", namespaces=[NAMESPACE]))
            ),
            "an anti-affinity to all namespaces that is only preferred": beside(
                pod("p", **preferred("podAntiAffinity", **_ALL))
            ),
            "a required affinity to the pods of all namespaces": beside(pod("p", **affinity("podAffinity", **_ALL))),
        },
        rule("tolerates-spot"): {
            "`RestartAllContainers` after a failure": restarting(**_RESTART_ALL),
            "`RestartAllContainers` in an init container": pod(
                "again",
                restart="Never",
                initContainers=[{"name": "first", "image": "example.com/first:1", **_RESTART_ALL}],
                **TOLERANT,
            ),
        },
        QUOTA: {
            "a claim for more GPUs than the quota has": past_the_quota(claim("gpu.nvidia.com", count=4)),
            "a claim for all GPUs of a node": past_the_quota(claim("gpu.nvidia.com", allocationMode="All")),
            "a template of a claim past the quota": past_the_quota_by_a_template,
        },
        _WAITS: {
            "a part of a GPU by a name that no quota counts": waits(
                with_container(_ending(tolerations=[GPU]), resources=_PART), _WAITS, t4od=1
            )
        },
        POD_SECURITY: {
            "the node's network": pod("p", hostNetwork=True),
            "the node's files": pod("p", volumes=[{"name": "node", "hostPath": {"path": "/"}}]),
            "a privileged container": with_container(pod("p"), securityContext={"privileged": True}),
        },
        CORDONED: {
            "a toleration of cordoned nodes": on_a_cordoned_node(pod("p", tolerations=[_UNSCHEDULABLE], **SYSTEM))
        },
        NOBODYS: {
            "a scheduler that does not exist": unplaced(pod("unscheduled", schedulerName="nobody")),
            "a pod that is gated for ever": unplaced(pod("gated", **GATED)),
        },
    }
)
"""Ways around the rules for pods of others, and ways that look like one."""
