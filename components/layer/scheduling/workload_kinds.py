"""Workload kinds of pods, tested in CEL as a pod arrives at admission, before any webhook.

Each test has its source in the Kubeflow component that makes the pod, in the version of kubeflow/manifests 26.03. A user of the
namespace can write such a pod as well, and gets the same for it: a toleration and a preference.
Leaders, launchers, parameter servers, initializers, drivers and importers are deliberately no workload kind: their loss ends the
job, or they hold no GPU.
"""

from __future__ import annotations

from components.layer import cel

_LABELS = "variables.labels"

# backend/src/v2/compiler/argocompiler (KFP 2.16): drivers and importers have all of an executor's labels, but not this container.
_EXECUTOR = (
    f"'workflows.argoproj.io/workflow' in {_LABELS}"
    " && has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.name == 'kfp-launcher')"
)
# A step of KFP v1 (kfp-tekton and Argo YAML): cache_enabled is on its template, v2_component on everything of v2.
_FIRST_STEP = (
    f"'pipelines.kubeflow.org/cache_enabled' in {_LABELS} && !('pipelines.kubeflow.org/v2_component' in {_LABELS})"
)
# pkg/apis/kubeflow.org/v1/common_types.go (Training Operator 1.9): a leader may be worker 0, and then has the role `master`.
_TRAINING = "training.kubeflow.org/"
_ROLE = (
    f"('{_TRAINING}job-role' in {_LABELS} ? {_LABELS}['{_TRAINING}job-role']"
    f" : '{_TRAINING}replica-type' in {_LABELS} ? {_LABELS}['{_TRAINING}replica-type'] : '')"
)
_WORKER = f"{_ROLE} == 'worker'"
# pkg/runtime/framework/plugins/jobset (Trainer 2.1): `node` are the workers; a launcher's container is called node as well.
_REPLICA = "jobset.sigs.k8s.io/replicatedjob-name"
_NODE = f"'{_REPLICA}' in {_LABELS} && {_LABELS}['{_REPLICA}'] == 'node'"
# pkg/controller.v1beta1/trial (Katib 0.19): a trial is a Job like any other until Katib's webhook has labelled it.
_NOT_PLAIN = ("jobset.sigs.k8s.io/jobset-name", f"{_TRAINING}job-name", "ray.io/originated-from-cr-name")
_JOB = (
    "has(object.metadata.ownerReferences)"
    " && object.metadata.ownerReferences.exists(o, o.kind == 'Job' && o.apiVersion.startsWith('batch/'))"
    f" && !{cel.value(_NOT_PLAIN)}.exists(k, k in {_LABELS})"
)

TESTS = {
    "pipelineStep": f"({_EXECUTOR}) || ({_FIRST_STEP})",
    "trainingWorker": _WORKER,
    "jobSetNode": _NODE,
    "job": _JOB,
}
"""Tests by workload kind, with the stack file's names. Each uses a variable `labels`."""

KIND = "".join(f"{test} ? {cel.value(kind)} :\n" for kind, test in TESTS.items()) + "''"
"""The pod's workload kind; empty for other pods."""

_ASKS = (
    "c, has(c.resources) && has(c.resources.limits) && c.resources.limits.exists(r, (r.startsWith('nvidia.com/')"
    # The implicit extended resource of a device class (kubernetes.io, page dynamic-resource-allocation, "Extended resource").
    " || (r.startsWith('deviceclass.resource.kubernetes.io/') && r.endsWith('.nvidia.com')))"
)
# Kubernetes requires a limit beside every request for an extended resource.
_SOME = f"{_ASKS} && string(c.resources.limits[r]) != '0')"
GPU = (
    f"object.spec.containers.exists({_SOME})"
    f" || (has(object.spec.initContainers) && object.spec.initContainers.exists({_SOME}))"
)
"""Whether the pod asks for a GPU, or for a part of one under any name of NVIDIA's. `compute_class` has a narrower test."""

# Kubernetes >= 1.35 lets a container have a restartPolicy of its own, and rules that restart it after certain exit codes
# (kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, "Individual container restart policy and rules").
# RestartAllContainers starts those again too that have succeeded, init containers included (same page; on since 1.36).
_AGAIN_AFTER_SUCCESS = """\
has(c.restartPolicyRules) && c.restartPolicyRules.exists(r, r.action == 'RestartAllContainers' || has(r.exitCodes)
    && (r.exitCodes.operator == 'In') == (has(r.exitCodes.values) && 0 in r.exitCodes.values))"""

ENDS = f"""\
object.spec.restartPolicy != 'Always'
&& !object.spec.containers.exists(c, (has(c.restartPolicy) && c.restartPolicy == 'Always')
    || ({_AGAIN_AFTER_SUCCESS}))
// A sidecar that says Always is stopped when the others have ended; an init container that starts again after success is not.
&& !(has(object.spec.initContainers) && object.spec.initContainers.exists(c, {_AGAIN_AFTER_SUCCESS}))"""
"""Whether the pod ends by itself: nothing in it is started again after it has succeeded.

Deployments, StatefulSets and DaemonSets allow nothing but Always (kubernetes pkg/apis/apps/validation), Jobs anything else. A
program that never returns makes any pod last; no field of a pod shows it.
"""

_LABELLED = "object.metadata.labels"


UPDATES_NODES = "authorizer.group('').resource('nodes').check('update').allowed()"
"""Whether the pod's creator may update nodes, as administrators may."""


def _owned_by(group: str) -> str:
    """Whether an object of this API group owns the pod. A pod that names an owner which does not exist is deleted."""
    return (
        "has(object.metadata.ownerReferences)"
        f" && object.metadata.ownerReferences.exists(o, o.apiVersion.startsWith('{group}/'))"
    )


_OF_TRAINING_OPERATOR = f"'{_TRAINING}job-name' in {_LABELLED} && {_owned_by('kubeflow.org')}"
# controllers/ray/common/pod.go (KubeRay 1.7): workers that serve a RayService have the label ray.io/serve from the start.
_OF_KUBERAY = (
    f"'ray.io/node-type' in {_LABELLED} && {_LABELLED}['ray.io/node-type'] == 'worker'"
    f" && !('ray.io/serve' in {_LABELLED}) && {_owned_by('ray.io')}"
)


def _writes_status(group: str, resource: str) -> str:
    """Whether the pod's creator may write the status of such jobs in all namespaces."""
    return f"authorizer.group('{group}').resource('{resource}').subresource('status').check('update').allowed()"


MAY_TRAIN = f"has({_LABELLED}) && (({_OF_TRAINING_OPERATOR}) || ({_OF_KUBERAY}))"
"""Whether labels and owner are those of a pod of training that may say Always: anybody may write them."""

# The right to write such jobs' status everywhere is their operator's alone, whatever its namespace; no role for users has it
# (kubeflow/trainer 1.9, ClusterRoles training-operator and kubeflow-training-edit; ray-project/kuberay, chart kuberay-operator).
# Who may do everything is no such operator: a deployer of users' files, whose pods may name a job of the user's as their owner.
TRAINS = f"""\
has({_LABELLED})
&& (({_OF_TRAINING_OPERATOR} && {_writes_status("kubeflow.org", "mpijobs")})
    || ({_OF_KUBERAY} && {_writes_status("ray.io", "rayclusters")}))
&& !({UPDATES_NODES})"""
"""Whether an operator of training jobs makes the pod: such a pod may be evicted, even if it says Always.

Replicas of the Training Operator may say so (1.9), and Ray's workers do by default. Ray's head and servers are none of them.
"""

WORKFLOW = "has(object.metadata.labels) && 'workflows.argoproj.io/workflow' in object.metadata.labels"
"""Whether the pod says that it belongs to a workflow of Argo's, such as a run of Kubeflow Pipelines."""
