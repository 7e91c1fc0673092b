"""Ways around the guard, tried as the editor of a profile, and the rule that stops each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.tests.api import Api, Object, Refused, collection

from tests.admission.bed import Bed, eventually

NAMESPACE = "team-a"
EDITOR = "alice@example.com"
ADMINISTRATOR = "root@example.com"
"""May create pods, and update nodes."""
DEPLOYER = "system:serviceaccount:gitops:deployer"
"""May do everything."""
SPOT = {
    "key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule",
}  # fmt: skip
GPU = {"key": "nvidia.com/gpu", "operator": "Exists"}
TOLERANT = {"tolerations": [SPOT]}


_RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""kubernetes.io/docs/concepts/security/pod-security-standards, as the platform's namespaces require."""


@dataclass(frozen=True)
class Escape:
    """One way: `tries` returns what refused it, in the words of `by`, or why it is harmless."""

    name: str
    by: str
    tries: Callable[[Bed], str]


def rule(name: str) -> str:
    """The name of a rule of the guard in a table."""
    return f"guard, rule `{name}`"


RBAC = "Kubernetes' RBAC"
PLUGIN = "Kubernetes' plugin Priority"
VALIDATION = "Kubernetes' validation"
POD_SECURITY = "Pod Security, by Kubeflow's label `baseline` on the namespace"
QUOTA = "the profile's quota"
_REFUSALS = {
    "must not be provided in pod spec": PLUGIN,
    "violates PodSecurity": POD_SECURITY,
    "exceeded quota": QUOTA,
    " is invalid: ": VALIDATION,
}
"""Words of refusals that are not the guard's, and who says them."""


def owned(body: Object, api_version: str, kind: str) -> Object:
    """The object with an owner, which exists or not."""
    owner = {"apiVersion": api_version, "kind": kind, "name": "tune", "uid": "7c1e6f0a-9d0b-4c53-a1f6-3f0f27c1d5aa"}
    return {**body, "metadata": {**body["metadata"], "ownerReferences": [owner]}}


def pod(name: str, *, restart: str = "Always", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """A pod of the profile."""
    container = {"name": "main", "image": "example.com/notebook:1", "securityContext": _RESTRICTED}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}},
        "spec": {"restartPolicy": restart, "containers": [container], **spec},
    }


def workload(kind: str, name: str, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """A Deployment, StatefulSet or DaemonSet with such a pod."""
    template = pod(name, labels={"app": name, **(labels or {})}, **spec)
    body: Object = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]},
        },
    }
    if kind == "StatefulSet":
        body["spec"]["serviceName"] = name
    return body


def named(refused: Refused) -> str:
    """The source of a refusal, by its words."""
    if "kubeflow-spot guard, rule " in refused.message:
        return rule(refused.message.partition("kubeflow-spot guard, rule ")[2].partition(":")[0])
    if f'User "{EDITOR}" cannot ' in refused.message:
        return RBAC
    return next((by for words, by in _REFUSALS.items() if words in refused.message), refused.message)


def posted(body: Object, user: str = EDITOR) -> Callable[[Bed], str]:
    def tries(bed: Bed) -> str:
        try:
            bed.api.create(body, user=user)
        except Refused as refused:
            return named(refused)
        bed.api.delete(body)
        return "nobody"

    return tries


def through_a_controller(body: Object) -> Callable[[Bed], str]:
    """The object is created; its controller creates the pods, and an event says why they are refused."""

    def tries(bed: Bed) -> str:
        bed.api.create(body, user=EDITOR)
        try:
            event = eventually(
                lambda: _failed_create(bed.api, body["metadata"]["name"]), f"{body['kind']} cannot make pods"
            )
            assert not [
                created
                for created in bed.api.list("v1", "Pod", NAMESPACE)
                if created["metadata"]["name"].startswith(body["metadata"]["name"])
            ]
            return named(Refused(403, event["message"]))
        finally:
            bed.api.delete(body)

    return tries


def _failed_create(api: Api, name: str) -> Object | None:
    events = api.list("v1", "Event", NAMESPACE)
    return next(
        (e for e in events if e["reason"] == "FailedCreate" and e["involvedObject"]["name"].startswith(name)), None
    )


def patched(body: Object, change: Object, subresource: str = "") -> Callable[[Bed], str]:
    """An admitted pod that is changed afterwards."""

    def tries(bed: Bed) -> str:
        created = bed.api.create(body, user=EDITOR)
        try:
            before = created["spec"].get("tolerations")
            after = bed.api.patch(created, change, subresource, user=EDITOR)
        except Refused as refused:
            return named(refused)
        else:
            return (
                "harmless: only ephemeral containers change" if after["spec"].get("tolerations") == before else "nobody"
            )
        finally:
            bed.api.delete(body)

    return tries


def requested(method: str, path: str, body: Object | None = None) -> Callable[[Bed], str]:
    def tries(bed: Bed) -> str:
        try:
            bed.api.request(method, path, body, user=EDITOR, content="application/merge-patch+json")
        except Refused as refused:
            return named(refused)
        return "nobody"

    return tries


def added(body: Object, toleration: Object = SPOT) -> Callable[[Bed], str]:
    """The toleration is appended to the pod's own, which the API allows for every pod."""

    def tries(bed: Bed) -> str:
        created = bed.api.create(body, user=EDITOR)
        path = f"{collection(created)}/{created['metadata']['name']}"
        try:
            added: Any = [{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]
            bed.api.request("PATCH", path, added, user=EDITOR, content="application/json-patch+json")
        except Refused as refused:
            return named(refused)
        finally:
            bed.api.delete(body)
        return "nobody"

    return tries


def _binds(bed: Bed) -> str:
    body = pod("bound", schedulerName="nobody")
    created = bed.api.create(body, user=EDITOR)
    target = {"apiVersion": "v1", "kind": "Node", "name": "aks-t4"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "bound"}, "target": target}
    try:
        bed.api.request("POST", f"{collection(created)}/bound/binding", binding, user=EDITOR)
    except Refused as refused:
        return named(refused)
    finally:
        bed.api.delete(body)
    return "nobody"


def _impersonates(bed: Bed) -> str:
    """Impersonation cannot be nested, so the right to it is asked for."""
    attributes = {
        "verb": "impersonate", "resource": "serviceaccounts", "namespace": "kube-system", "name": "daemon-set-controller",
    }  # fmt: skip
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    allowed = bed.api.request("POST", path, review, user=EDITOR)["status"]["allowed"]
    return "nobody" if allowed else RBAC


def _on_a_node(make: Callable[[str], Object], try_it: Callable[[Object], Callable[[Bed], str]]) -> Callable[[Bed], str]:
    """An object that names a node of the cluster."""
    return lambda bed: try_it(make(min(bed.pools())))(bed)


def _on_spot(body: Object) -> Callable[[Bed], str]:
    """A DaemonSet while there is a spot node."""

    def tries(bed: Bed) -> str:
        bed.scale(t4=1)
        try:
            return through_a_controller(body)(bed)
        finally:
            bed.scale(t4=0)

    return tries


def _by(user: str, body: Object, why: str) -> Callable[[Bed], str]:
    """A pod that this user may create."""

    def tries(bed: Bed) -> str:
        bed.api.create(body, user=user, dry_run=True)
        return why

    return tries


def restarting(**container: Any) -> Object:
    """A pod that says Never, with the toleration, and with more in its container."""
    body = pod("again", restart="Never", **TOLERANT)
    body["spec"]["containers"][0] |= container
    return body


def debugger(node: str, name: str = "node-debugger") -> Object:
    """The pod of `kubectl debug node/...` (kubernetes/kubectl, pkg/cmd/debug/debug.go, profile `restricted`)."""
    return pod(name, restart="Never", nodeName=node, tolerations=[{"operator": "Exists"}])


def again_after(operator: str, *codes: int, action: str = "Restart") -> list[Object]:
    """Return a rule of a container that restarts it, or all containers, after these exit codes."""
    return [{"action": action, "exitCodes": {"operator": operator, "values": list(codes)}}]


def with_sidecar(body: Object) -> Object:
    """The pod with an init container that runs beside its containers, as Istio's proxy does."""
    sidecar = {**body["spec"]["containers"][0], "name": "sidecar", "restartPolicy": "Always"}
    return {**body, "spec": {**body["spec"], "initContainers": [sidecar]}}


def required(*expressions: Object) -> Object:
    """A required node affinity with a term for each expression."""
    terms = [{"matchExpressions": [expression]} for expression in expressions]
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }


_MAY_UPDATE_NODES = "let through: this user may take the taints away as well"
_OWN_LOSS = "let through: nothing shows it, and an eviction costs this pod alone"


def _labelled(restart: str, **container: Any) -> Callable[[Bed], str]:
    """A pod with the labels of a training worker gets what it gets without them."""

    def tries(bed: Bed) -> str:
        labels: Sequence[dict[str, str]] = ({"training.kubeflow.org/replica-type": "worker"}, {})
        specs = []
        for each in labels:
            body = pod("worker", restart=restart, labels=each)
            resources = {"limits": {"nvidia.com/gpu": "1"}}
            body["spec"]["containers"][0] |= {"resources": resources, **container}
            specs.append(bed.api.create(body, user=EDITOR, dry_run=True)["spec"])
        same = specs[0]["tolerations"] == specs[1]["tolerations"]
        return "harmless: no default is for pods that never end" if same else "nobody"

    return tries


_WORKER = {"training.kubeflow.org/replica-type": "worker", "jobset.sigs.k8s.io/replicatedjob-name": "node"}
_POLICIES = "/apis/admissionregistration.k8s.io/v1"
_DAEMON_SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
_RAY_WORKER = {"ray.io/node-type": "worker", "ray.io/cluster": "tune"}
_ADMISSION = "kubeflow-spot-test-"

ESCAPES = (
    Escape(
        "spot toleration on a notebook's StatefulSet",
        rule("tolerates-spot"),
        through_a_controller(workload("StatefulSet", "notebook", {"notebook-name": "nb"}, **TOLERANT)),
    ),
    Escape(
        "a Deployment named and labelled like a Job",
        rule("tolerates-spot"),
        through_a_controller(
            workload(
                "Deployment",
                "train-job-x7k2p",
                {"job-name": "train", "batch.kubernetes.io/job-name": "train"},
                **TOLERANT,
            )
        ),
    ),
    Escape(
        "a toleration of everything",
        rule("tolerates-spot"),
        posted(pod("blanket", tolerations=[{"operator": "Exists"}])),
    ),
    Escape(
        "a toleration of the key alone",
        rule("tolerates-spot"),
        posted(pod("key", tolerations=[{"key": SPOT["key"], "operator": "Exists"}])),
    ),
    Escape(
        "labels of a training worker on a service with the toleration",
        rule("tolerates-spot"),
        posted(pod("spoofed", labels=_WORKER, **TOLERANT)),
    ),
    Escape(
        "labels of a training worker on a service without it",
        "harmless: no default is for pods that never end",
        _labelled("Always"),
    ),
    Escape(
        "labels of a training worker on a pod that says Never with a container that says Always",
        "harmless: no default is for pods that never end",
        _labelled("Never", restartPolicy="Always"),
    ),
    Escape(
        "an owner reference to a DaemonSet",
        rule("tolerates-spot"),
        posted({**(p := pod("owned", **TOLERANT)), "metadata": {**p["metadata"], "ownerReferences": [_DAEMON_SET]}}),
    ),
    Escape(
        "the toleration patched onto a gated pod",
        rule("tolerates-spot"),
        added(pod("gated", schedulingGates=[{"name": "example.com/wait"}])),
    ),
    Escape("the toleration patched onto a running pod", rule("tolerates-spot"), added(pod("running"))),
    Escape("the GPU toleration patched onto a pod without a GPU", rule("tolerates-gpu"), added(pod("parked"), GPU)),
    Escape(
        "a claim of dynamic resource allocation beside the GPU toleration",
        rule("tolerates-gpu"),
        posted(pod("claims", tolerations=[GPU], resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])),
    ),
    Escape(
        "a node selector put on a gated pod",
        rule("requires-spot"),
        patched(
            pod("pinned", schedulingGates=[{"name": "example.com/wait"}]),
            {"spec": {"nodeSelector": {"kubeflow-spot.dev/capacity": "spot"}}},
        ),
    ),
    Escape(
        "`kubeflow-spot.dev/placement: require-spot` on a service",
        rule("requires-spot"),
        posted(pod("label", labels={"kubeflow-spot.dev/placement": "require-spot"})),
    ),
    Escape(
        "an unknown value of `kubeflow-spot.dev/placement`",
        rule("placement"),
        posted(pod("typo", restart="Never", labels={"kubeflow-spot.dev/placement": "spot"})),
    ),
    Escape("`spec.nodeName`", rule("node-name"), posted(pod("placed", nodeName="aks-t4"))),
    Escape(
        "`spec.nodeName` of a pod that looks like a kubelet's own",
        rule("node-name"),
        posted(
            {
                **(p := pod("mirror", nodeName="aks-t4")),
                "metadata": {**p["metadata"], "annotations": {"kubernetes.io/config.mirror": "x"}},
            }
        ),
    ),
    Escape(
        "`spec.nodeName` of a pod that ends",
        rule("node-name"),
        posted(pod("batch", restart="Never", nodeName="aks-t4")),
    ),
    Escape("pods/binding", RBAC, _binds),
    Escape(
        "`system-node-critical` with the toleration",
        rule("tolerates-spot"),
        posted(pod("critical", priorityClassName="system-node-critical", **TOLERANT)),
    ),
    Escape(
        "a DaemonSet with the toleration",
        rule("tolerates-spot"),
        through_a_controller(workload("DaemonSet", "agent", **TOLERANT)),
    ),
    Escape(
        "a DaemonSet with the toleration and a selector for spot",
        rule("tolerates-spot"),
        _on_spot(
            workload(
                "DaemonSet",
                "chosen",
                nodeSelector={"kubeflow-spot.dev/capacity": "spot"},
                tolerations=[{"operator": "Exists"}],
            )
        ),
    ),
    Escape(
        "a DaemonSet with `spec.nodeName`",
        rule("node-name"),
        _on_a_node(lambda node: workload("DaemonSet", "named", nodeName=node), through_a_controller),
    ),
    Escape(
        "a DaemonSet with the GPU toleration and no GPU",
        rule("tolerates-gpu"),
        through_a_controller(workload("DaemonSet", "parked", tolerations=[GPU])),
    ),
    Escape(
        "a pod that says Never with a container that says Always",
        rule("tolerates-spot"),
        posted(restarting(restartPolicy="Always")),
    ),
    Escape(
        "a container's rule that restarts it after success",
        rule("tolerates-spot"),
        posted(restarting(restartPolicy="Never", restartPolicyRules=again_after("In", 0, 1))),
    ),
    Escape(
        "a container's rule that restarts it after all codes but one",
        rule("tolerates-spot"),
        posted(restarting(restartPolicy="Never", restartPolicyRules=again_after("NotIn", 137))),
    ),
    Escape(
        "a server in a pod that says OnFailure",
        _OWN_LOSS,
        _by(EDITOR, pod("server", restart="OnFailure", **TOLERANT), _OWN_LOSS),
    ),
    Escape(
        "a server as a sidecar of a pod that says Never",
        _OWN_LOSS,
        _by(EDITOR, with_sidecar(pod("sidecar", restart="Never", **TOLERANT)), _OWN_LOSS),
    ),
    Escape(
        "labels and owner of a Ray worker on a service with the toleration",
        rule("tolerates-spot"),
        posted(owned(pod("ray", labels=_RAY_WORKER, **TOLERANT), "ray.io/v1", "RayCluster")),
    ),
    Escape(
        "a service account called like the Training Operator's",
        rule("tolerates-spot"),
        posted(
            owned(
                pod("operated", labels={"training.kubeflow.org/job-name": "train"}, **TOLERANT),
                "kubeflow.org/v1",
                "TFJob",
            ),
            user=f"system:serviceaccount:{NAMESPACE}:training-operator",
        ),
    ),
    Escape(
        "a RuntimeClass that adds the toleration",
        RBAC,
        requested(
            "POST",
            "/apis/node.k8s.io/v1/runtimeclasses",
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "mine"},
                "handler": "runc",
                "scheduling": TOLERANT,
            },
        ),
    ),
    Escape(
        "a second term of the affinity that no node fulfils",
        rule("requires-spot"),
        posted(
            pod(
                "either",
                **required(
                    {"key": "kubeflow-spot.dev/capacity", "operator": "In", "values": ["spot"]},
                    {"key": "none", "operator": "Exists"},
                ),
            )
        ),
    ),
    Escape(
        "an affinity to all that is not on-demand",
        rule("requires-spot"),
        posted(
            pod("not", **required({"key": "kubeflow-spot.dev/capacity", "operator": "NotIn", "values": ["on-demand"]}))
        ),
    ),
    Escape(
        "the toleration through pods/status",
        RBAC,
        patched(pod("status"), {"spec": TOLERANT}, "/status"),
    ),
    Escape(
        "debugging a node without the right to nodes",
        rule("node-name"),
        _on_a_node(debugger, posted),
    ),
    Escape(
        "debugging a node through a deployer of users' files with all rights",
        rule("node-name"),
        _on_a_node(debugger, lambda body: posted(body, user=DEPLOYER)),
    ),
    Escape(
        "labels and owner of a Ray worker through a deployer of users' files with all rights",
        rule("tolerates-spot"),
        posted(owned(pod("deployed", labels=_RAY_WORKER, **TOLERANT), "ray.io/v1", "RayCluster"), user=DEPLOYER),
    ),
    Escape(
        "debugging a node with the right to update nodes",
        _MAY_UPDATE_NODES,
        lambda bed: _by(ADMINISTRATOR, debugger(min(bed.pools())), _MAY_UPDATE_NODES)(bed),
    ),
    Escape(
        "`system-node-critical` alone",
        rule("priority"),
        posted(pod("critical", priorityClassName="system-node-critical")),
    ),
    Escape(
        "an ephemeral container with the toleration beside it",
        "harmless: only ephemeral containers change",
        patched(
            pod("debugged"),
            {"spec": {**TOLERANT, "ephemeralContainers": [{"name": "d", "image": "example.com/d:1"}]}},
            "/ephemeralcontainers",
        ),
    ),
    Escape(
        "the namespace's placement label",
        RBAC,
        requested(
            "PATCH",
            f"/api/v1/namespaces/{NAMESPACE}",
            {"metadata": {"labels": {"kubeflow-spot.dev/placement": "require-spot"}}},
        ),
    ),
    Escape(
        "taking the profile's label off the namespace",
        RBAC,
        requested(
            "PATCH", f"/api/v1/namespaces/{NAMESPACE}", {"metadata": {"labels": {"app.kubernetes.io/part-of": None}}}
        ),
    ),
    Escape(
        "editing the contract",
        RBAC,
        requested("PATCH", "/api/v1/namespaces/kube-public/configmaps/kubeflow-spot", {"data": {"release": "mine"}}),
    ),
    Escape(
        "deleting the guard",
        RBAC,
        requested("DELETE", f"{_POLICIES}/validatingadmissionpolicies/{_ADMISSION}guard-profiles"),
    ),
    Escape(
        "deleting the guard's binding",
        RBAC,
        requested("DELETE", f"{_POLICIES}/validatingadmissionpolicybindings/{_ADMISSION}guard-profiles"),
    ),
    Escape(
        "a policy of one's own",
        RBAC,
        requested(
            "POST",
            f"{_POLICIES}/mutatingadmissionpolicies",
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingAdmissionPolicy",
                "metadata": {"name": "mine"},
                "spec": {},
            },
        ),
    ),
    Escape("being the DaemonSet controller by impersonation", RBAC, _impersonates),
)

ARGO = "system:serviceaccount:kubeflow:argo"
EXCEPTED = {"app": "excepted"}
SETTINGS = {
    "exceptions": [{"namespace": NAMESPACE, "selector": EXCEPTED, "reason": "a restart costs a minute"}],
    "pipelineNamespaces": ["kubeflow"],
    "deviceClasses": ["gpu.nvidia.com"],
}
"""What a stack file may say of its guard, for the ways below."""


def claim(*classes: str, template: bool = False) -> Object:
    """A ResourceClaim, or a template of one, for a device of each class."""
    requests = [
        {"name": f"device-{number}", "exactly": {"deviceClassName": name}} for number, name in enumerate(classes)
    ]
    spec: Object = {"devices": {"requests": requests}} if requests else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate" if template else "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": NAMESPACE},
        "spec": {"spec": spec} if template else spec,
    }


def claiming() -> Object:
    """A pod with the GPU toleration and a claim."""
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    return pod("claiming", restart="Never", tolerations=[GPU], resourceClaims=claims)


def _with_claim(made: Object) -> Callable[[Bed], str]:
    """The claim, and a pod with it."""

    def tries(bed: Bed) -> str:
        try:
            bed.api.create(made, user=EDITOR, dry_run=True)
            bed.api.create(claiming(), user=EDITOR, dry_run=True)
        except Refused as refused:
            return named(refused)
        return _UNSEEN

    return tries


_UNSEEN = "let through: no policy can join a pod with its claim"

WITH_SETTINGS = (
    Escape(
        "an exception's labels on a pod that names its node",
        rule("node-name"),
        _on_a_node(lambda node: pod("excepted", labels=EXCEPTED, nodeName=node, **TOLERANT), posted),
    ),
    Escape("a claim that asks for no device", rule("empty-claim"), _with_claim(claim())),
    Escape("a template of such a claim", rule("empty-claim"), _with_claim(claim(template=True))),
    Escape("a claim for another device beside the GPU toleration", _UNSEEN, _with_claim(claim("dranet"))),
    Escape(
        "a workflow's label on a service where pipelines may run",
        rule("tolerates-spot"),
        posted(
            {
                **(p := pod("flow", labels={"workflows.argoproj.io/workflow": "train"}, **TOLERANT)),
                "metadata": {**p["metadata"], "namespace": "kubeflow"},
            },
            user=ARGO,
        ),
    ),
)
"""Ways that need what a stack file may say."""
