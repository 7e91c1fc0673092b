"""Ways of a profile's editor to take the places of pods in other namespaces, and what stops each of them."""

from __future__ import annotations

from typing import Any

from sandbox.tests.api import Object

from tests.admission.escapes import (
    GPU,
    NAMESPACE,
    PLUGIN,
    POD_SECURITY,
    QUOTA,
    RBAC,
    TOLERANT,
    VALIDATION,
    Escape,
    added,
    again_after,
    claim,
    patched,
    pod,
    posted,
    requested,
    restarting,
    rule,
    through_a_controller,
    workload,
)
from tests.admission.neighbours import (
    CRITICAL,
    OTHER,
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

_RANKED = {"priorityClassName": "system-cluster-critical"}
_GATED = {"schedulingGates": [{"name": "example.com/wait"}]}
_ALL = {"namespaceSelector": {}}
_RUN = "harmless: pods of others run beside it"
_TAINTED = "harmless: it waits, where `systemPool.criticalAddonsOnly` taints that pool"
_NOBODYS = "harmless: it holds no node and no nomination for one"


def job(name: str, **spec: Any) -> Object:
    """Return a Job with such a pod."""
    template = {"spec": pod(name, restart="Never", **spec)["spec"]}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def _with(body: Object, **container: Any) -> Object:
    """Return the pod with more in its container."""
    body["spec"]["containers"][0] |= container
    return body


def _in_an_init_container(body: Object, **container: Any) -> Object:
    first = {"name": "first", "image": "example.com/first:1", **container}
    return {**body, "spec": {**body["spec"], "initContainers": [first]}}


def _device(**more: Any) -> Object:
    """Return a claim of GPUs."""
    body = claim("gpu.nvidia.com")
    body["spec"]["devices"]["requests"][0]["exactly"] |= more
    return body


_GPUS = {"limits": {"nvidia.com/gpu": "1"}}

INTRUSIONS = (
    Escape(
        "`system-cluster-critical` on a pod that ends", rule("priority"), posted(pod("p", restart="Never", **_RANKED))
    ),
    Escape("the system's priority by its number", PLUGIN, posted(pod("p", priority=2_000_000_000))),
    Escape(
        "`system-cluster-critical` with `preemptionPolicy: Never`",
        PLUGIN,
        posted(pod("p", preemptionPolicy="Never", **_RANKED)),
    ),
    *(
        Escape(
            f"that class in a {kind}",
            rule("priority"),
            through_a_controller(workload(kind, f"ranked-{kind.lower()}", **_RANKED)),
        )
        for kind in ("Deployment", "StatefulSet", "DaemonSet")
    ),
    Escape("that class in a Job", rule("priority"), through_a_controller(job("ranked-job", **_RANKED))),
    Escape(
        "a class of the highest value below the system's, such as GKE's `gmp-critical`",
        rule("priority"),
        with_class(pod("p", priorityClassName="highest"), 1_000_000_000),
    ),
    Escape(
        "a lesser class of the platform's",
        "harmless: it has the rank that the platform gave it",
        with_class(pod("p", priorityClassName="lesser"), 999_999_999),
    ),
    Escape(
        "a PriorityClass of one's own",
        RBAC,
        requested(
            "POST",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "mine"}, "value": 1},
        ),
    ),
    Escape("the system pool's toleration", rule("system-pool"), posted(pod("p", tolerations=[CRITICAL]))),
    Escape(
        "the system pool's toleration on a pod that ends",
        rule("system-pool"),
        posted(pod("p", restart="Never", tolerations=[CRITICAL])),
    ),
    Escape(
        "that toleration with another value and effect",
        rule("system-pool"),
        posted(pod("p", tolerations=[{"key": CRITICAL["key"], "value": "false", "effect": "NoExecute"}])),
    ),
    Escape(
        "a toleration of everything on a pod that ends and asks for a GPU",
        rule("system-pool"),
        posted(_with(pod("p", restart="Never", tolerations=[{"operator": "Exists"}]), resources=_GPUS)),
    ),
    Escape(
        "a toleration of every `NoSchedule` on such a pod",
        rule("system-pool"),
        posted(
            _with(
                pod("p", restart="Never", tolerations=[{"operator": "Exists", "effect": "NoSchedule"}]), resources=_GPUS
            )
        ),
    ),
    Escape("the system pool's toleration patched onto a running pod", rule("system-pool"), added(pod("p"), CRITICAL)),
    Escape(
        "the system pool's toleration in a DaemonSet",
        rule("system-pool"),
        through_a_controller(workload("DaemonSet", "everywhere", tolerations=[CRITICAL])),
    ),
    Escape("a node selector for the system pool", _TAINTED, waits(pod("p", **SYSTEM), _TAINTED)),
    Escape(
        "an anti-affinity to the pods of all namespaces",
        rule("other-namespaces"),
        posted(pod("p", restart="Never", **affinity("podAntiAffinity", **_ALL))),
    ),
    Escape(
        "an anti-affinity to the pods of another profile by its name",
        rule("other-namespaces"),
        posted(pod("p", **affinity("podAntiAffinity", namespaces=[NAMESPACE, OTHER]))),
    ),
    Escape(
        "an anti-affinity patched onto a gated pod",
        VALIDATION,
        patched(pod("p", **_GATED), {"spec": affinity("podAntiAffinity", **_ALL)}),
    ),
    Escape(
        "an anti-affinity to all pods of one's own namespace, over the whole cluster",
        _RUN,
        beside(pod("p", **affinity("podAntiAffinity", namespaces=[NAMESPACE])), _RUN),
    ),
    Escape(
        "an anti-affinity to all namespaces that is only preferred",
        _RUN,
        beside(pod("p", **preferred("podAntiAffinity", **_ALL)), _RUN),
    ),
    Escape(
        "a required affinity to the pods of all namespaces",
        _RUN,
        beside(pod("p", **affinity("podAffinity", **_ALL)), _RUN),
    ),
    Escape(
        "`RestartAllContainers` after a failure",
        rule("tolerates-spot"),
        posted(
            restarting(restartPolicy="Never", restartPolicyRules=again_after("In", 1, action="RestartAllContainers"))
        ),
    ),
    Escape(
        "`RestartAllContainers` in an init container",
        rule("tolerates-spot"),
        posted(
            _in_an_init_container(
                pod("again", restart="Never", **TOLERANT),
                restartPolicy="Never",
                restartPolicyRules=again_after("In", 1, action="RestartAllContainers"),
            )
        ),
    ),
    Escape("a GPU in `spec.resources`", VALIDATION, posted(pod("p", restart="Never", resources=_GPUS))),
    Escape("a claim for more GPUs than the quota has", QUOTA, past_the_quota(_device(count=4))),
    Escape("a claim for all GPUs of a node", QUOTA, past_the_quota(_device(allocationMode="All"))),
    Escape("a template of a claim past the quota", QUOTA, past_the_quota_by_a_template),
    Escape(
        "a part of a GPU by a name that no quota counts",
        (_WAITS := "harmless: it waits, as no node of the program has that name"),
        waits(
            _with(pod("p", restart="Never", tolerations=[GPU]), resources={"limits": {"nvidia.com/mig-1g.5gb": "1"}}),
            _WAITS,
            t4od=1,
        ),
    ),
    Escape(
        "taking away one's own quota",
        RBAC,
        requested("DELETE", f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/kubeflow-spot-test-gpus"),
    ),
    Escape(
        "a Pod Security label of one's own on the namespace",
        RBAC,
        requested(
            "PATCH",
            f"/api/v1/namespaces/{NAMESPACE}",
            {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}},
        ),
    ),
    Escape(
        "a namespace of one's own",
        RBAC,
        requested(
            "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}
        ),
    ),
    Escape("the node's network", POD_SECURITY, posted(pod("p", hostNetwork=True))),
    Escape("the node's files", POD_SECURITY, posted(pod("p", volumes=[{"name": "node", "hostPath": {"path": "/"}}]))),
    Escape("a privileged container", POD_SECURITY, posted(_with(pod("p"), securityContext={"privileged": True}))),
    Escape(
        "a toleration of cordoned nodes",
        (_CORDONED := "let through: it is lost with the node, and nobody else is"),
        on_a_cordoned_node(
            pod("p", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}], **SYSTEM),
            _CORDONED,
        ),
    ),
    Escape("a scheduler that does not exist", _NOBODYS, unplaced(pod("unscheduled", schedulerName="nobody"), _NOBODYS)),
    Escape("a pod that is gated for ever", _NOBODYS, unplaced(pod("gated", **_GATED), _NOBODYS)),
)
"""Ways around the rules for pods of others, and ways that look like one."""
