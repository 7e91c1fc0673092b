"""Workloads: the Kubernetes objects of a scenario's work, as Kubeflow makes them."""

from collections.abc import Sequence
from typing import Any

from drill.world.pipelines import TASK, Task, pipeline
from drill.world.scenario import Workload

PREFIX = "drill.kubeflow-spot.dev"
ROLE, WORK, GPUS, SPOT = (
    f"{PREFIX}/role",
    f"{PREFIX}/work",
    f"{PREFIX}/gpus",
    f"{PREFIX}/may-run-on-spot",
)
RUN_FOR, CHECKPOINT, SAVE = (
    f"{PREFIX}/run-for",
    f"{PREFIX}/checkpoint-every",
    f"{PREFIX}/save-takes",
)
"""Annotations of pods: seconds, as text."""
INDEX = "batch.kubernetes.io/job-completion-index"
PIECE = f"{PREFIX}/piece"
"""The same for the pods of a Workflow: the name of the task."""
GPU = "nvidia.com/gpu"
STEP = "step"
"""The only task of a Workflow."""
DRIVERS = ("root-driver", f"{STEP}-driver")
DRIVER_SECONDS = 5.0
"""Seconds that a driver of a pipeline works. Assumed."""

Object = dict[str, Any]

# kubeflow/manifests 26.03 and profile_controller.go: the labels that placement and guard look at.
NAMESPACES = {
    "kubeflow": {"control-plane": "kubeflow", "istio-injection": "enabled"},
    "team-a": {"app.kubernetes.io/part-of": "kubeflow-profile", "istio-injection": "enabled"},
}


def namespace(name: str) -> Object:
    """A namespace of Kubeflow's, or a profile's."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": NAMESPACES[name]},
    }


def workload(
    work: Workload,
    number: int,
    pods: int,
    at_once: int,
    run_for: float | None,
    tolerations: Sequence[Object] = (),
) -> Object:
    """The object with this number of some work, of so many pods; work that ends and asks for GPUs has these tolerations."""
    name = f"{work.name}-{number}"
    labels = {"app": name, **_labels(work, name)}
    annotations = {ROLE: work.role, WORK: f"{work.namespace}/{name}", GPUS: str(work.gpus)}
    if work.kind == "Job" and work.gpus:
        annotations[SPOT] = "true"
    if run_for is not None:
        annotations[RUN_FOR] = f"{run_for:.10g}"
    if work.checkpoint_every:
        annotations[CHECKPOINT] = f"{work.checkpoint_every:.10g}"
        # The launcher of a pipeline's step ends at once at SIGTERM, and its program with it (docs/retries.md).
        if work.kind == "Job" and work.role != "pipeline":
            annotations[SAVE] = f"{work.save_takes:.10g}"
    if work.kind == "Workflow":
        return _workflow(work, name, annotations, tolerations)
    if work.role == "pipeline":
        # argo-workflows 3.7.3, workflow/controller/operator.go: each try of a step with a retry strategy has a number.
        annotations["workflows.argoproj.io/node-name"] = f"{name}.{STEP}(0)"
    template = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": _spec(work, tolerations),
    }
    metadata = {
        "name": name,
        "namespace": work.namespace,
        "labels": {"app": name},
        "annotations": {WORK: annotations[WORK]},
    }
    selector = {"matchLabels": {"app": name}}
    match work.kind:
        case "Job":
            spec = {
                "completions": pods,
                "parallelism": at_once,
                "completionMode": "Indexed",
                "backoffLimit": 0,
                "template": template,
                # A pod that is lost with its machine is no failure of the work.
                "podFailurePolicy": {
                    "rules": [
                        {
                            "action": "Ignore",
                            "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                        }
                    ]
                },
            }
            return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
        case "StatefulSet":
            spec = {
                "replicas": pods,
                "serviceName": name,
                "podManagementPolicy": "Parallel",
                "selector": selector,
                "template": template,
            }
        case "Deployment":
            spec = {"replicas": pods, "selector": selector, "template": template}
    return {"apiVersion": "apps/v1", "kind": work.kind, "metadata": metadata, "spec": spec}


def _workflow(
    work: Workload, name: str, notes: dict[str, str], tolerations: Sequence[Object]
) -> Object:
    """A pipeline of one step, with its two drivers: three pieces of work."""
    resources = _spec(work, tolerations)["containers"][0]["resources"]
    spec: Object = {"containers": [{"name": "main", "resources": resources}]}
    if work.gpus and tolerations:
        spec["tolerations"] = list(tolerations)
    of_work = {key: notes.pop(key) for key in (GPUS, RUN_FOR, CHECKPOINT, SPOT) if key in notes}
    of_drivers = {GPUS: "0", RUN_FOR: f"{DRIVER_SECONDS:.10g}", PIECE: TASK}
    if work.gpus:
        of_work[SPOT] = "true"
    return pipeline(
        name,
        work.namespace,
        [Task(STEP, spec=spec)],
        annotations=notes,
        of_drivers=of_drivers,
        of_steps={**of_work, PIECE: TASK},
    )


def pieces(work: Workload, name: str, pods: int, run_for: float | None) -> dict[str, float | None]:
    """The pieces of an object of some work, with the seconds that each needs; None for one that serves until the end."""
    match work.kind:
        case "Job":
            return {f"{name}/{index}": run_for for index in range(pods)}
        case "Workflow":
            return {f"{name}/{each}": DRIVER_SECONDS for each in DRIVERS} | {
                f"{name}/{STEP}": run_for
            }
    return {name: None}


def _labels(work: Workload, name: str) -> dict[str, str]:
    match work.role:
        case "notebook":
            return {"notebook-name": name, "statefulset": name}
        case "predictor":
            return {"serving.kserve.io/inferenceservice": name, "component": "predictor"}
        case "pipeline":
            return {
                "workflows.argoproj.io/workflow": name,
                "pipelines.kubeflow.org/v2_component": "true",
            }
    return {}


def _spec(work: Workload, tolerations: Sequence[Object]) -> Object:
    limits = {GPU: str(work.gpus)} if work.gpus else {}
    resources = {"requests": {"cpu": work.cpu, "memory": work.memory, **limits}, "limits": limits}
    container = {"name": "main", "image": "example.invalid/work:1", "resources": resources}
    spec: Object = {"containers": [container]}
    if work.kind == "Job":
        spec["restartPolicy"] = "Never"
        if work.gpus and tolerations:
            spec["tolerations"] = list(tolerations)
    if work.role == "pipeline":
        # kubeflow/pipelines 2.16.0, argocompiler/container.go: by this container a step is known.
        spec["initContainers"] = [{"name": "kfp-launcher", "image": "example.invalid/launcher:1"}]
        spec["volumes"] = [{"name": "kfp-launcher", "emptyDir": {}}]
    if work.greedy:
        spec["tolerations"] = [{"operator": "Exists"}]
        spec["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": "kubeflow-spot.dev/capacity",
                                    "operator": "In",
                                    "values": ["spot"],
                                }
                            ]
                        }
                    ]
                }
            }
        }
    return spec
