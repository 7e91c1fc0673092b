"""Ways around the guard, tried as the editor of a profile, and the rule that stops each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec

from sandbox.tests.api import Object, Refused, collection
from sandbox.tests.stack import eventually
from sandbox.tests.subjects import DEV
from tests.admission.bed import Bed

NAMESPACE = "team-a"
EDITOR = "alice@example.com"
ADMINISTRATOR = "root@example.com"
"""May create pods, and update nodes."""
DEPLOYER = "system:serviceaccount:gitops:deployer"
"""May do everything."""
ARGO = "system:serviceaccount:kubeflow:argo"
SPOT = DEV.toleration
GPU = {"key": "nvidia.com/gpu", "operator": "Exists"}
TOLERANT = {"tolerations": [SPOT]}
ANYTHING = {"operator": "Exists"}
GATED = {"schedulingGates": [{"name": "example.com/wait"}]}
CRITICAL_CLASS = {"priorityClassName": "system-node-critical"}
_RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""kubernetes.io/docs/concepts/security/pod-security-standards, as the platform's namespaces require."""

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

Way = Callable[[Bed], str]
"""Tries a way on the bed; returns what refused it, in the words of `Escape.by`, or why it is harmless."""


@dataclass(frozen=True)
class Escape:
    """One way, and what stops it."""

    name: str
    by: str
    tries: Way


def escapes(ways: Mapping[str, Mapping[str, Way | Object]]) -> tuple[Escape, ...]:
    """Return the ways of a table, by what stops them; an object is posted as the editor."""
    return tuple(
        Escape(name, by, posted(tries) if isinstance(tries, dict) else tries)
        for by, tried in ways.items()
        for name, tries in tried.items()
    )


_P = ParamSpec("_P")


def way(tries: Callable[Concatenate[Bed, _P], str]) -> Callable[_P, Way]:
    """Make a function of a bed and more one that takes the bed last."""

    @wraps(tries)
    def prepared(*args: _P.args, **words: _P.kwargs) -> Way:
        return lambda bed: tries(bed, *args, **words)

    return prepared


def rule(name: str) -> str:
    """Return the name of a rule of the guard in a table."""
    return f"guard, rule `{name}`"


def named(refused: Refused) -> str:
    """Return the source of a refusal, by its words."""
    if "kubeflow-spot guard, rule " in refused.message:
        return rule(refused.message.partition("kubeflow-spot guard, rule ")[2].partition(":")[0])
    if f'User "{EDITOR}" cannot ' in refused.message:
        return RBAC
    return next((by for words, by in _REFUSALS.items() if words in refused.message), refused.message)


def owned(body: Object, api_version: str, kind: str, **reference: Any) -> Object:
    """Return the object with an owner, which exists or not."""
    owner = {"name": "tune", "uid": "7c1e6f0a-9d0b-4c53-a1f6-3f0f27c1d5aa", **reference}
    return with_metadata(body, ownerReferences=[{"apiVersion": api_version, "kind": kind, **owner}])


def with_metadata(body: Object, **metadata: Any) -> Object:
    return {**body, "metadata": {**body["metadata"], **metadata}}


def with_container(body: Object, **container: Any) -> Object:
    """Return the pod with more in its container."""
    first, *others = body["spec"]["containers"]
    return {**body, "spec": {**body["spec"], "containers": [{**first, **container}, *others]}}


def pod(name: str, *, restart: str = "Always", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return a pod of the profile."""
    container = {"name": "main", "image": "example.com/notebook:1", "securityContext": _RESTRICTED}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}},
        "spec": {"restartPolicy": restart, "containers": [container], **spec},
    }


def workload(kind: str, name: str, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return a Deployment, StatefulSet or DaemonSet with such a pod."""
    template = pod(name, labels={"app": name, **(labels or {})}, **spec)
    described: Object = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]},
        **({"serviceName": name} if kind == "StatefulSet" else {}),
    }
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels or {}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": described}


def verdict(bed: Bed, body: Object, user: str | None = None) -> str:
    """Return the rule that refuses an object, or the words of another refusal; empty when it is admitted."""
    try:
        bed.api.create(body, user=user, dry_run=True)
    except Refused as refused:
        return refused.message.partition("kubeflow-spot guard, rule ")[2].partition(":")[0] or refused.message
    return ""


@way
def posted(bed: Bed, body: Object, user: str = EDITOR) -> str:
    try:
        bed.api.create(body, user=user)
    except Refused as refused:
        return named(refused)
    bed.api.delete(body)
    return "nobody"


@way
def through_a_controller(bed: Bed, body: Object) -> str:
    """Create the object; its controller creates the pods, and an event says why they are refused."""
    name = body["metadata"]["name"]
    with bed.api.created(body, user=EDITOR):
        failed = eventually(lambda: event(bed, name, "FailedCreate"), f"{body['kind']} cannot make pods")
        pods = [created["metadata"]["name"] for created in bed.api.list("v1", "Pod", NAMESPACE)]
        assert not [created for created in pods if created.startswith(name)]
        return named(Refused(403, failed["message"]))


def event(bed: Bed, name: str, reason: str) -> Object | None:
    """Return an event about an object whose name begins so."""
    events = [e for e in bed.api.list("v1", "Event", NAMESPACE) if e["involvedObject"]["name"].startswith(name)]
    return next((e for e in events if e["reason"] == reason), None)


def _afterwards(bed: Bed, body: Object, attempt: Callable[[Object], str | None]) -> str:
    """Try something with an admitted pod."""
    with bed.api.created(body, user=EDITOR) as (created,):
        try:
            return attempt(created) or "nobody"
        except Refused as refused:
            return named(refused)


@way
def patched(bed: Bed, body: Object, change: Object, subresource: str = "") -> str:
    """Change an admitted pod."""

    def attempt(created: Object) -> str | None:
        after = bed.api.patch(created, change, subresource, user=EDITOR)
        return _EPHEMERAL if after["spec"].get("tolerations") == created["spec"].get("tolerations") else None

    return _afterwards(bed, body, attempt)


@way
def added(bed: Bed, body: Object, toleration: Object = SPOT) -> str:
    """Append the toleration to the pod's own, which the API allows for every pod."""

    def attempt(created: Object) -> None:
        operation: Any = [{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]
        path = f"{collection(created)}/{created['metadata']['name']}"
        bed.api.request("PATCH", path, operation, user=EDITOR, content="application/json-patch+json")

    return _afterwards(bed, body, attempt)


def _binds(bed: Bed) -> str:
    def attempt(created: Object) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": "aks-t4"}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "bound"}, "target": target}
        bed.api.request("POST", f"{collection(created)}/bound/binding", binding, user=EDITOR)

    return _afterwards(bed, pod("bound", schedulerName="nobody"), attempt)


@way
def requested(bed: Bed, method: str, path: str, body: Object | None = None) -> str:
    try:
        bed.api.request(method, path, body, user=EDITOR, content="application/merge-patch+json")
    except Refused as refused:
        return named(refused)
    return "nobody"


def cluster_wide(api_version: str, kind: str, **fields: Any) -> Object:
    """Return an object outside of namespaces."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "mine"}, **fields}


def relabelled(label: str, value: str | None) -> Way:
    """Change a label of the profile's namespace."""
    return requested("PATCH", f"/api/v1/namespaces/{NAMESPACE}", {"metadata": {"labels": {label: value}}})


def _impersonates(bed: Bed) -> str:
    """Impersonation cannot be nested, so the right to it is asked for."""
    account = {"resource": "serviceaccounts", "namespace": "kube-system", "name": "daemon-set-controller"}
    spec = {"resourceAttributes": {"verb": "impersonate", **account}}
    group = "authorization.k8s.io/v1"
    review = {"apiVersion": group, "kind": "SelfSubjectAccessReview", "metadata": {}, "spec": spec}
    answer = bed.api.request("POST", f"/apis/{group}/selfsubjectaccessreviews", review, user=EDITOR)
    return "nobody" if answer["status"]["allowed"] else RBAC


@way
def on_a_node(bed: Bed, make: Callable[[str], Object], try_it: Callable[[Object], Way]) -> str:
    """Try an object that names a node of the cluster."""
    return try_it(make(min(bed.pools())))(bed)


@way
def _on_spot(bed: Bed, body: Object) -> str:
    """Try a DaemonSet while there is a spot node."""
    with bed.scaled(t4=1):
        return through_a_controller(body)(bed)


@way
def _admitted(bed: Bed, body: Object, why: str, user: str = EDITOR) -> str:
    """Post a pod that this user may create."""
    bed.api.create(body, user=user, dry_run=True)
    return why


@way
def _labelled(bed: Bed, restart: str, **container: Any) -> str:
    """Give a pod the labels of a training worker: it gets what it gets without them."""

    def tolerations(labels: dict[str, str]) -> Any:
        resources = {"limits": {"nvidia.com/gpu": "1"}}
        body = with_container(pod("worker", restart=restart, labels=labels), resources=resources, **container)
        return bed.api.create(body, user=EDITOR, dry_run=True)["spec"]["tolerations"]

    return _NO_DEFAULT if tolerations({"training.kubeflow.org/replica-type": "worker"}) == tolerations({}) else "nobody"


def restarting(**container: Any) -> Object:
    """Return a pod that says Never, with the toleration, and with more in its container."""
    return with_container(pod("again", restart="Never", **TOLERANT), **container)


def debugger(node: str, name: str = "node-debugger") -> Object:
    """Return the pod of `kubectl debug node/...` (kubernetes/kubectl, pkg/cmd/debug/debug.go, profile `restricted`)."""
    return pod(name, restart="Never", nodeName=node, tolerations=[ANYTHING])


def again_after(operator: str, *codes: int, action: str = "Restart") -> Object:
    """Return what restarts a container that says Never, or all containers, after these exit codes."""
    restart = {"action": action, "exitCodes": {"operator": operator, "values": list(codes)}}
    return {"restartPolicy": "Never", "restartPolicyRules": [restart]}


def with_sidecar(body: Object) -> Object:
    """Return the pod with an init container that runs beside its containers, as Istio's proxy does."""
    sidecar = {**body["spec"]["containers"][0], "name": "sidecar", "restartPolicy": "Always"}
    return {**body, "spec": {**body["spec"], "initContainers": [sidecar]}}


def required(*expressions: Object) -> Object:
    """Return a required node affinity with a term for each expression."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]} for expression in expressions]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


_NO_DEFAULT = "harmless: no default is for pods that never end"
_EPHEMERAL = "harmless: only ephemeral containers change"
_MAY_UPDATE_NODES = "let through: this user may take the taints away as well"
_OWN_LOSS = "let through: nothing shows it, and an eviction costs this pod alone"
_UNSEEN = "let through: no policy can join a pod with its claim"
_PLACEMENT, _CAPACITY = "kubeflow-spot.dev/placement", "kubeflow-spot.dev/capacity"
_POLICIES = "/apis/admissionregistration.k8s.io/v1"
_GUARD = "kubeflow-spot-test-guard-profiles"
_WORKER = {"training.kubeflow.org/replica-type": "worker", "jobset.sigs.k8s.io/replicatedjob-name": "node"}
_RAY_WORKER = {"ray.io/node-type": "worker", "ray.io/cluster": "tune"}
_JOB = {"job-name": "train", "batch.kubernetes.io/job-name": "train"}
_AGENT = {"name": "agent", "uid": "u", "controller": True}
_OF_TRAINING = pod("operated", labels={"training.kubeflow.org/job-name": "train"}, **TOLERANT)
_CHOSEN = {"nodeSelector": {_CAPACITY: "spot"}, "tolerations": [ANYTHING]}
_CLAIMS = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}

ESCAPES = escapes(
    {
        rule("tolerates-spot"): {
            "spot toleration on a notebook's StatefulSet": through_a_controller(
                workload("StatefulSet", "notebook", {"notebook-name": "nb"}, **TOLERANT)
            ),
            "a Deployment named and labelled like a Job": through_a_controller(
                workload("Deployment", "train-job-x7k2p", _JOB, **TOLERANT)
            ),
            "a toleration of everything": pod("blanket", tolerations=[ANYTHING]),
            "a toleration of the key alone": pod("key", tolerations=[{"key": SPOT["key"], "operator": "Exists"}]),
            "labels of a training worker on a service with the toleration": pod("spoofed", labels=_WORKER, **TOLERANT),
            "an owner reference to a DaemonSet": owned(pod("owned", **TOLERANT), "apps/v1", "DaemonSet", **_AGENT),
            "the toleration patched onto a gated pod": added(pod("gated", **GATED)),
            "the toleration patched onto a running pod": added(pod("running")),
            "`system-node-critical` with the toleration": pod("critical", **CRITICAL_CLASS, **TOLERANT),
            "a DaemonSet with the toleration": through_a_controller(workload("DaemonSet", "agent", **TOLERANT)),
            "a DaemonSet with the toleration and a selector for spot": _on_spot(
                workload("DaemonSet", "chosen", **_CHOSEN)
            ),
            "a pod that says Never with a container that says Always": restarting(restartPolicy="Always"),
            "a container's rule that restarts it after success": restarting(**again_after("In", 0, 1)),
            "a container's rule that restarts it after all codes but one": restarting(**again_after("NotIn", 137)),
            "labels and owner of a Ray worker on a service with the toleration": owned(
                pod("ray", labels=_RAY_WORKER, **TOLERANT), "ray.io/v1", "RayCluster"
            ),
            "a service account called like the Training Operator's": posted(
                owned(_OF_TRAINING, "kubeflow.org/v1", "TFJob"),
                user=f"system:serviceaccount:{NAMESPACE}:training-operator",
            ),
            "labels and owner of a Ray worker through a deployer of users' files with all rights": posted(
                owned(pod("deployed", labels=_RAY_WORKER, **TOLERANT), "ray.io/v1", "RayCluster"), user=DEPLOYER
            ),
        },
        _NO_DEFAULT: {
            "labels of a training worker on a service without it": _labelled("Always"),
            "labels of a training worker on a pod that says Never with a container that says Always": _labelled(
                "Never", restartPolicy="Always"
            ),
        },
        rule("tolerates-gpu"): {
            "the GPU toleration patched onto a pod without a GPU": added(pod("parked"), GPU),
            "a claim of dynamic resource allocation beside the GPU toleration": pod(
                "claims", tolerations=[GPU], **_CLAIMS
            ),
            "a DaemonSet with the GPU toleration and no GPU": through_a_controller(
                workload("DaemonSet", "parked", tolerations=[GPU])
            ),
        },
        rule("requires-spot"): {
            "a node selector put on a gated pod": patched(
                pod("pinned", **GATED), {"spec": {"nodeSelector": {_CAPACITY: "spot"}}}
            ),
            "`kubeflow-spot.dev/placement: require-spot` on a service": pod(
                "label", labels={_PLACEMENT: "require-spot"}
            ),
            "a second term of the affinity that no node fulfils": pod(
                "either",
                **required(
                    {"key": _CAPACITY, "operator": "In", "values": ["spot"]}, {"key": "none", "operator": "Exists"}
                ),
            ),
            "an affinity to all that is not on-demand": pod(
                "not", **required({"key": _CAPACITY, "operator": "NotIn", "values": ["on-demand"]})
            ),
        },
        rule("placement"): {
            "an unknown value of `kubeflow-spot.dev/placement`": pod(
                "typo", restart="Never", labels={_PLACEMENT: "spot"}
            )
        },
        rule("node-name"): {
            "`spec.nodeName`": pod("placed", nodeName="aks-t4"),
            "`spec.nodeName` of a pod that looks like a kubelet's own": with_metadata(
                pod("mirror", nodeName="aks-t4"), annotations={"kubernetes.io/config.mirror": "x"}
            ),
            "`spec.nodeName` of a pod that ends": pod("batch", restart="Never", nodeName="aks-t4"),
            "a DaemonSet with `spec.nodeName`": on_a_node(
                lambda node: workload("DaemonSet", "named", nodeName=node), through_a_controller
            ),
            "debugging a node without the right to nodes": on_a_node(debugger, posted),
            "debugging a node through a deployer of users' files with all rights": on_a_node(
                debugger, partial(posted, user=DEPLOYER)
            ),
        },
        RBAC: {
            "pods/binding": _binds,
            "a RuntimeClass that adds the toleration": cluster_wide(
                "node.k8s.io/v1", "RuntimeClass", handler="runc", scheduling=TOLERANT
            ),
            "the toleration through pods/status": patched(pod("status"), {"spec": TOLERANT}, "/status"),
            "the namespace's placement label": relabelled(_PLACEMENT, "require-spot"),
            "taking the profile's label off the namespace": relabelled("app.kubernetes.io/part-of", None),
            "editing the contract": requested(
                "PATCH", "/api/v1/namespaces/kube-public/configmaps/kubeflow-spot", {"data": {"release": "mine"}}
            ),
            "deleting the guard": requested("DELETE", f"{_POLICIES}/validatingadmissionpolicies/{_GUARD}"),
            "deleting the guard's binding": requested(
                "DELETE", f"{_POLICIES}/validatingadmissionpolicybindings/{_GUARD}"
            ),
            "a policy of one's own": cluster_wide(
                "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", spec={}
            ),
            "being the DaemonSet controller by impersonation": _impersonates,
        },
        _OWN_LOSS: {
            "a server in a pod that says OnFailure": _admitted(
                pod("server", restart="OnFailure", **TOLERANT), _OWN_LOSS
            ),
            "a server as a sidecar of a pod that says Never": _admitted(
                with_sidecar(pod("sidecar", restart="Never", **TOLERANT)), _OWN_LOSS
            ),
        },
        _MAY_UPDATE_NODES: {
            "debugging a node with the right to update nodes": on_a_node(
                debugger, partial(_admitted, why=_MAY_UPDATE_NODES, user=ADMINISTRATOR)
            )
        },
        rule("priority"): {"`system-node-critical` alone": pod("critical", **CRITICAL_CLASS)},
        _EPHEMERAL: {
            "an ephemeral container with the toleration beside it": patched(
                pod("debugged"),
                {"spec": {**TOLERANT, "ephemeralContainers": [{"name": "d", "image": "example.com/d:1"}]}},
                "/ephemeralcontainers",
            )
        },
    }
)

EXCEPTED = {"app": "excepted"}
SETTINGS = {
    "exceptions": [{"namespace": NAMESPACE, "selector": EXCEPTED, "reason": "a restart costs a minute"}],
    "pipelineNamespaces": ["kubeflow"],
    "deviceClasses": ["gpu.nvidia.com"],
}
"""What a stack file may say of its guard, for the ways below."""


def claim(*classes: str, template: bool = False, **more: Any) -> Object:
    """Return a ResourceClaim, or a template of one, for a device of each class, with more in each request."""
    requests = [
        {"name": f"device-{number}", "exactly": {"deviceClassName": name, **more}}
        for number, name in enumerate(classes)
    ]
    spec: Object = {"devices": {"requests": requests}} if requests else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate" if template else "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": NAMESPACE},
        "spec": {"spec": spec} if template else spec,
    }


CLAIMING = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}


def claiming() -> Object:
    """Return a pod with the GPU toleration and a claim."""
    return pod("claiming", restart="Never", tolerations=[GPU], **CLAIMING)


@way
def _with_claim(bed: Bed, claimed: Object) -> str:
    """Post the claim, and a pod with it."""
    try:
        for body in (claimed, claiming()):
            bed.api.create(body, user=EDITOR, dry_run=True)
    except Refused as refused:
        return named(refused)
    return _UNSEEN


WITH_SETTINGS = escapes(
    {
        rule("node-name"): {
            "an exception's labels on a pod that names its node": on_a_node(
                lambda node: pod("excepted", labels=EXCEPTED, nodeName=node, **TOLERANT), posted
            )
        },
        rule("empty-claim"): {
            "a claim that asks for no device": _with_claim(claim()),
            "a template of such a claim": _with_claim(claim(template=True)),
        },
        _UNSEEN: {"a claim for another device beside the GPU toleration": _with_claim(claim("dranet"))},
        rule("tolerates-spot"): {
            "a workflow's label on a service where pipelines may run": posted(
                with_metadata(
                    pod("flow", labels={"workflows.argoproj.io/workflow": "train"}, **TOLERANT), namespace="kubeflow"
                ),
                user=ARGO,
            )
        },
    }
)
"""Ways that need what a stack file may say."""
