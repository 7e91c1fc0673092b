"""Workload kinds of pods, tested in CEL as a pod arrives at admission, before any webhook.

Each test has its source in the Kubeflow component that makes the pod, in the version of kubeflow/manifests 26.03. A user of the
namespace can write such a pod as well, and gets the same for it: a toleration and a preference.
Leaders, launchers, parameter servers, initializers, drivers and importers are deliberately no workload kind: their loss ends the
job, or they hold no GPU.
"""

from __future__ import annotations

from components.addons import cel

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

_ASKS = "c, has(c.resources) && has(c.resources.limits) && c.resources.limits.exists(r, r.startsWith('nvidia.com/')"
# Kubernetes requires a limit beside every request for an extended resource.
_SOME = f"{_ASKS} && string(c.resources.limits[r]) != '0')"
GPU = (
    f"object.spec.containers.exists({_SOME})"
    f" || (has(object.spec.initContainers) && object.spec.initContainers.exists({_SOME}))"
)
"""Whether the pod asks for a GPU, or for a part of one under any name of NVIDIA's. `compute_class` has a narrower test."""
