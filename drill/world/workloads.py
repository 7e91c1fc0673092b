"""The Kubernetes objects of a scenario's work, as Kubeflow makes them."""

from collections.abc import Sequence

from drill.world.pipelines import TASK, Task, pipeline
from drill.world.scenario import Workload
from sandbox.kubernetes.client import Object

PREFIX = "drill.kubeflow-spot.dev"
ROLE, WORK = f"{PREFIX}/role", f"{PREFIX}/work"
GPUS, SPOT = f"{PREFIX}/gpus", f"{PREFIX}/may-run-on-spot"
RUN_FOR, CHECKPOINT = f"{PREFIX}/run-for", f"{PREFIX}/checkpoint-every"
SAVE = f"{PREFIX}/save-takes"
"""Annotations of pods; times are seconds as text."""
INDEX = "batch.kubernetes.io/job-completion-index"
PIECE = f"{PREFIX}/piece"
"""The name of the task, for pods of a Workflow."""
GPU = "nvidia.com/gpu"
STEP = "step"
"""The only task of a Workflow."""
DRIVERS = ("root-driver", f"{STEP}-driver")
DRIVER_SECONDS = 5.0
"""Seconds of a pipeline's driver. Assumed."""


# kubeflow/manifests 26.03 and profile_controller.go: the labels that placement and guard read.
NAMESPACES = {
    "kubeflow": {"control-plane": "kubeflow", "istio-injection": "enabled"},
    "team-a": {"app.kubernetes.io/part-of": "kubeflow-profile", "istio-injection": "enabled"},
}


def namespace(name: str) -> Object:
    """Return a namespace of Kubeflow or of a profile."""
    metadata = {"name": name, "labels": NAMESPACES[name]}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def workload(
    work: Workload,
    number: int,
    pods: int,
    at_once: int,
    run_for: float | None,
    tolerations: Sequence[Object] = (),
) -> Object:
    """Return one object of some work. Work that ends and has GPUs gets these tolerations."""
    name = f"{work.name}-{number}"
    labels = {"app": name, **_labels(work, name)}
    annotations = {ROLE: work.role, WORK: f"{work.namespace}/{name}", GPUS: str(work.gpus)}
    if work.kind == "Job" and work.gpus:
        annotations[SPOT] = "true"
    if run_for is not None:
        annotations[RUN_FOR] = f"{run_for:.10g}"
    if work.checkpoint_every:
        annotations[CHECKPOINT] = f"{work.checkpoint_every:.10g}"
        # A pipeline's step and its launcher end at once at SIGTERM (docs/workloads.md).
        if work.kind == "Job" and work.role != "pipeline":
            annotations[SAVE] = f"{work.save_takes:.10g}"
    if work.kind == "Workflow":
        return _workflow(work, name, annotations, tolerations)
    if work.role == "pipeline":
        # argo-workflows 3.7.3, workflow/controller/operator.go: each try of a step has a number.
        annotations["workflows.argoproj.io/node-name"] = f"{name}.{STEP}(0)"
    metadata = {"labels": labels, "annotations": annotations}
    template = {"metadata": metadata, "spec": _spec(work, tolerations)}
    if work.kind == "Job":
        version, spec = "batch/v1", _job_spec(pods, at_once)
    else:
        selector = {"matchLabels": {"app": name}}
        version, spec = "apps/v1", {"replicas": pods, "selector": selector}
        if work.kind == "StatefulSet":
            spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
    own = {"labels": {"app": name}, "annotations": {WORK: annotations[WORK]}}
    return {
        "apiVersion": version,
        "kind": work.kind,
        "metadata": {"name": name, "namespace": work.namespace, **own},
        "spec": {**spec, "template": template},
    }


def _job_spec(pods: int, at_once: int) -> Object:
    # A pod that is lost with its machine does not fail the Job.
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    rules = [{"action": "Ignore", "onPodConditions": disrupted}]
    return {
        "completions": pods,
        "parallelism": at_once,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "podFailurePolicy": {"rules": rules},
    }


def _workflow(
    work: Workload, name: str, notes: dict[str, str], tolerations: Sequence[Object]
) -> Object:
    """Return a pipeline of one step with its two drivers: three pieces of work."""
    resources = _spec(work, tolerations)["containers"][0]["resources"]
    spec: Object = {"containers": [{"name": "main", "resources": resources}]}
    if work.gpus and tolerations:
        spec["tolerations"] = list(tolerations)
    of_work = {key: notes.pop(key) for key in (GPUS, RUN_FOR, CHECKPOINT, SPOT) if key in notes}
    of_drivers = {GPUS: "0", RUN_FOR: f"{DRIVER_SECONDS:.10g}", PIECE: TASK}
    if work.gpus:
        of_work[SPOT] = "true"
    task, steps = Task(STEP, spec=spec), {**of_work, PIECE: TASK}
    return pipeline(
        name, work.namespace, [task], annotations=notes, of_drivers=of_drivers, of_steps=steps
    )


def pieces_of(
    work: Workload, name: str, pods: int, run_for: float | None
) -> dict[str, float | None]:
    """Return the seconds of each piece of an object; None for one that serves until the end."""
    if work.kind == "Job":
        return {f"{name}/{index}": run_for for index in range(pods)}
    if work.kind == "Workflow":
        drivers = {f"{name}/{each}": DRIVER_SECONDS for each in DRIVERS}
        return {**drivers, f"{name}/{STEP}": run_for}
    return {name: None}


def _labels(work: Workload, name: str) -> dict[str, str]:
    match work.role:
        case "notebook":
            return {"notebook-name": name, "statefulset": name}
        case "predictor":
            return {"serving.kserve.io/inferenceservice": name, "component": "predictor"}
        case "pipeline":
            component = {"pipelines.kubeflow.org/v2_component": "true"}
            return {"workflows.argoproj.io/workflow": name, **component}
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
        # kubeflow/pipelines 2.16.0, argocompiler/container.go: this container marks a step.
        spec["initContainers"] = [{"name": "kfp-launcher", "image": "example.invalid/launcher:1"}]
        spec["volumes"] = [{"name": "kfp-launcher", "emptyDir": {}}]
    if work.greedy:
        spec["tolerations"] = [{"operator": "Exists"}]
        spot = {"key": "kubeflow-spot.dev/capacity", "operator": "In", "values": ["spot"]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [spot]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        spec["affinity"] = {"nodeAffinity": required}
    return spec
