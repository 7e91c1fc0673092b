"""Workload kinds of pods, tested in CEL as a pod arrives at admission, before any webhook.

A kind says which controller restarts a lost pod. A pod that no controller restarts, by its labels
and its owner, is of the kind `other`. Each test has its source in the controller that creates the
pod. A user of the namespace can write such a pod too, and gets the same: a toleration and a
preference. Leaders, initializers, drivers and importers have no kind: their loss ends the job, or
they hold no GPU. `config.placement.roles` recognizes leaders by their names.
"""

from __future__ import annotations

from components.layer import cel
from config.placement.pods import ENDS_JOB, IF_LOST, RESTARTED
from config.placement.roles import LEADER

KINDS = ("pipelineStep", "trainingWorker", "jobSetNode", "job", "other")
"""Workload kinds, with the stack file's names."""

_LABELS = "variables.labels"


def _has(label: str) -> str:
    return f"{cel.value(label)} in {_LABELS}"


def _label(label: str) -> str:
    return f"{_LABELS}[{cel.value(label)}]"


_TRAINING = "training.kubeflow.org/"
_JOB_SET = "jobset.sigs.k8s.io/replicatedjob-name"
_RAY = "ray.io/node-type"
_ROLE_LABELS = (
    # pkg/apis/kubeflow.org/v1/common_types.go (Training Operator 1.9): a leader may be worker 0,
    # and then has the role `master`.
    f"{_TRAINING}job-role",
    f"{_TRAINING}replica-type",
    # pkg/controllers/jobset_controller.go (JobSet 0.10.1)
    _JOB_SET,
    # pkg/apis/batch/v1alpha1/labels.go (Volcano 1.12)
    "volcano.sh/task-spec",
    # pkg/common/spark.go (Spark operator 2.5)
    "spark-role",
)
# controllers/ray/common/pod.go (KubeRay 1.7): what serves a RayService has the label ray.io/serve
# from the start.
_RAY_ROLE = f"{_has(_RAY)} ? ('ray.io/serve' in {_LABELS} ? 'head' : {_label(_RAY)})"

ROLE = "".join(f"{_has(key)} ? {_label(key)} :\n" for key in _ROLE_LABELS) + f"{_RAY_ROLE} : ''"
"""The pod's role in a distributed job; empty for other pods. Uses a variable `labels`."""

# backend/src/v2/compiler/argocompiler (KFP 2.16): drivers and importers have all of an executor's
# labels, but not this container.
_NO_EXECUTOR = (
    f"{_has('pipelines.kubeflow.org/v2_component')}"
    " && !(has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.name == "
    "'kfp-launcher'))"
)
_NODE_NAME = "workflows.argoproj.io/node-name"
# Each try of a step with a retry strategy is a node, `step(0)` (argo-workflows 3.7.3,
# workflow/controller/operator.go).
_RETRIED = (
    f"has(object.metadata.annotations) && {cel.value(_NODE_NAME)} in object.metadata.annotations"
    f" && object.metadata.annotations[{cel.value(_NODE_NAME)}].matches('[(][0-9]+[)]$')"
)
# Argo's own pods: agents and the removal of artifacts (argo-workflows 3.7.3,
# workflow/common/common.go).
_STEP = f"({_NO_EXECUTOR}) || {_has('workflows.argoproj.io/component')} ? '' : {_RETRIED} ? 'pipelineStep' : 'other'"

# A trial of Katib 0.19 is an ordinary Job until Katib's webhook labels it
# (pkg/controller.v1beta1/trial). The submitter of a RayJob is a Job's pod too.
_JOB = (
    "has(object.metadata.ownerReferences)"
    " && object.metadata.ownerReferences.exists(o, o.kind == 'Job' && "
    "o.apiVersion.startsWith('batch/'))"
    f" && !({_has('ray.io/originated-from-cr-name')})"
)

KIND = f"""\
{_has(IF_LOST)} && {_label(IF_LOST)} == {cel.value(ENDS_JOB)} ? 'other' :
variables.role != '' ?
  // A leader with nobody to lead has the label.
  (variables.role.matches({cel.value(LEADER)}) && !({_has(IF_LOST)} && {_label(IF_LOST)} == {cel.value(RESTARTED)}) ? '' :
   {_has(_JOB_SET)} ? 'jobSetNode' : 'trainingWorker') :
{_has("workflows.argoproj.io/workflow")} ? ({_STEP}) :
{_JOB} ? 'job' :
variables.gpu ? 'other' : ''"""
"""The pod's workload kind or ''. Uses the variables `labels`, `role` and `gpu`."""

_ASKS = (
    "c, has(c.resources) && has(c.resources.limits) && c.resources.limits.exists(r, "
    "(r.startsWith('nvidia.com/')"
    # The implicit extended resource of a device class (kubernetes.io, page
    # dynamic-resource-allocation, "Extended resource").
    " || (r.startsWith('deviceclass.resource.kubernetes.io/') && r.endsWith('.nvidia.com')))"
)
# Kubernetes requires a limit beside every request for an extended resource.
_SOME = f"{_ASKS} && string(c.resources.limits[r]) != '0')"


def asks_for_gpu(spec: str) -> str:
    """Return the test whether the pod with this spec asks for a GPU, or for a part of one under any
    name of NVIDIA's.

    `compute_class` has a narrower test.
    """
    return (
        f"{spec}.containers.exists({_SOME})\n|| (has({spec}.initContainers) && "
        f"{spec}.initContainers.exists({_SOME}))"
    )


GPU = asks_for_gpu("object.spec")

# Kubernetes >= 1.35 lets a container have a restartPolicy of its own, and rules that restart it
# after certain exit codes (kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, "Individual
# container restart policy and rules"). RestartAllContainers restarts succeeded containers too, init
# containers included (same page; on since 1.36).
_AGAIN_AFTER_SUCCESS = """\
has(c.restartPolicyRules) && c.restartPolicyRules.exists(r, r.action == 'RestartAllContainers' || has(r.exitCodes)
    && (r.exitCodes.operator == 'In') == (has(r.exitCodes.values) && 0 in r.exitCodes.values))"""

ENDS = f"""\
object.spec.restartPolicy != 'Always'
&& !object.spec.containers.exists(c, (has(c.restartPolicy) && c.restartPolicy == 'Always')
    || ({_AGAIN_AFTER_SUCCESS}))
// A sidecar that says Always is stopped when the others have ended; an init container that starts again after success is not.
&& !(has(object.spec.initContainers) && object.spec.initContainers.exists(c, {_AGAIN_AFTER_SUCCESS}))"""
"""Whether the pod ends by itself: no container is restarted after success.

Deployments, StatefulSets and DaemonSets allow only Always (kubernetes pkg/apis/apps/validation),
Jobs anything else. No field shows whether a program ever returns."""

_LABELLED = "object.metadata.labels"


UPDATES_NODES = "authorizer.group('').resource('nodes').check('update').allowed()"
"""Whether the pod's creator may update nodes, as administrators may."""


def _owned_by(group: str) -> str:
    """Return the test whether an object of this API group owns the pod. Kubernetes deletes pods
    whose owner is missing.
    """
    return (
        "has(object.metadata.ownerReferences)"
        f" && object.metadata.ownerReferences.exists(o, o.apiVersion.startsWith('{group}/'))"
    )


_OF_TRAINING_OPERATOR = f"'{_TRAINING}job-name' in {_LABELLED} && {_owned_by('kubeflow.org')}"
# controllers/ray/common/pod.go (KubeRay 1.7): workers that serve a RayService have the label
# ray.io/serve from the start.
_OF_KUBERAY = (
    f"'ray.io/node-type' in {_LABELLED} && {_LABELLED}['ray.io/node-type'] == 'worker'"
    f" && !('ray.io/serve' in {_LABELLED}) && {_owned_by('ray.io')}"
)


def _writes_status(group: str, resource: str) -> str:
    """Return the test whether the pod's creator may write such jobs' status everywhere."""
    return f"authorizer.group('{group}').resource('{resource}').subresource('status').check('update').allowed()"


MAY_TRAIN = f"has({_LABELLED}) && (({_OF_TRAINING_OPERATOR}) || ({_OF_KUBERAY}))"
"""Whether a pod looks like training that may have Always; anybody may write that."""

# Only the operator may write such jobs' status everywhere, in whatever namespace it runs; no role
# for users has that right (kubeflow/trainer 1.9, ClusterRoles training-operator and
# kubeflow-training-edit; ray-project/kuberay, chart kuberay-operator). An account with all rights
# is excluded: it may deploy users' files, whose pods may name a user's job as their owner.
TRAINS = f"""\
has({_LABELLED})
&& (({_OF_TRAINING_OPERATOR} && {_writes_status("kubeflow.org", "mpijobs")})
    || ({_OF_KUBERAY} && {_writes_status("ray.io", "rayclusters")}))
&& !({UPDATES_NODES})"""
"""Whether an operator of training jobs creates the pod: it may be evicted even with Always.

Replicas of the Training Operator may have Always (1.9), Ray's workers have it by default. Ray's
head and servers do not count."""

WORKFLOW = (
    "has(object.metadata.labels) && 'workflows.argoproj.io/workflow' in object.metadata.labels"
)
"""Whether the pod's labels name a workflow of Argo, such as a run of Kubeflow Pipelines."""
