"""What controllers make of the manifests of public projects: stand-ins, each with its source."""

import copy
from collections.abc import Callable, Iterator, Mapping

from drill.world import argo
from sandbox.tests.api import Object
from tests.admission.projects import Manifest
from tests.admission.training_stand_ins import (
    Made,
    child,
    cron_job,
    experiment,
    job_set,
    mpi,
    owned_pod,
    train_job,
    training,
    trial,
)

_KUBEFLOW = "system:serviceaccount:kubeflow"
_RAY = f"{_KUBEFLOW}:kuberay-operator"
_ARGO = f"{_KUBEFLOW}:argo"
_TEKTON = "system:serviceaccount:tekton-pipelines:tekton-pipelines-controller"


def makes(body: Object, manifest: Manifest) -> Made:
    """Return what the controller of a stored object makes of it; nothing for the cluster's own."""
    stand_in = STAND_INS.get((body["apiVersion"], body["kind"]))
    return stand_in(body, manifest) if stand_in else _nothing()


def leaves(body: Object, manifest: Manifest) -> Iterator[tuple[str, Object, str | None]]:
    """Return role, object and creator of the pods and Jobs that come of an object, stored or not."""
    body["metadata"].setdefault("uid", "7c1e6f0a-9d0b-4c53-a1f6-3f0f27c1d5aa")
    if (body["apiVersion"], body["kind"]) not in STAND_INS:
        yield "", body, None
    for role, made, user in makes(body, manifest):
        for own_role, leaf, creator in leaves(made, manifest):
            yield own_role or role, leaf, creator or user


def _nothing() -> Made:
    yield from ()


def _volcano(body: Object, _: Manifest) -> Made:
    """Follow volcano-sh/volcano ed72c7c815a9, pkg/controllers/job/job_controller_util.go, createJobPod."""
    name = body["metadata"]["name"]
    for task in body["spec"]["tasks"]:
        for index in range(task["replicas"]):
            marks = {"job-name": name, "task-spec": task["name"], "task-index": str(index)}
            marks |= {
                "job-namespace": body["metadata"]["namespace"],
                "queue-name": body["spec"].get("queue", "default"),
            }
            labels = {f"volcano.sh/{key}": value for key, value in marks.items()}
            pod = owned_pod(body, f"{name}-{task['name']}-{index}", task["template"], labels)
            pod["metadata"]["annotations"] = labels | {"scheduling.k8s.io/group-name": name}
            pod["spec"].setdefault("schedulerName", body["spec"]["schedulerName"])
            role = f"{task['name']}-{index}" if task["replicas"] > 1 else task["name"]
            yield role, pod, "system:serviceaccount:volcano-system:volcano-controllers"


def _ray_cluster(body: Object, _: Manifest) -> Made:
    """Follow ray-project/kuberay feeaf72facab, ray-operator/controllers/ray/common/pod.go."""
    name, spec = body["metadata"]["name"], body["spec"]
    second = spec.get("autoscalerOptions", {}).get("version") == "v2"
    owners = body["metadata"].get("ownerReferences", ())
    serves = any(owner["kind"] == "RayService" for owner in owners)
    groups = [("head", "headgroup", 1, spec["headGroupSpec"])]
    workers = spec.get("workerGroupSpecs", ())
    groups += [("worker", group["groupName"], group["replicas"], group) for group in workers]
    for role, group, count, described in groups:
        for index in range(count):
            marks = {"is-ray-node": "yes", "cluster": name, "node-type": role, "group": group}
            marks |= {"serve": "true"} if serves and role == "worker" else {}
            labels = {f"ray.io/{key}": value for key, value in marks.items()}
            labels |= {"app.kubernetes.io/name": "kuberay", "app.kubernetes.io/created-by": "kuberay-operator"}
            pod = owned_pod(body, f"{name}-{group}-{index}", described["template"], labels)
            if second:
                pod["spec"]["restartPolicy"] = "Never"
            yield role, pod, _RAY


def _ray_job(body: Object, _: Manifest) -> Made:
    """Follow ray-project/kuberay feeaf72facab, ray-operator/controllers/ray/rayjob_controller.go."""
    name = body["metadata"]["name"]
    yield "", child(body, "ray.io/v1", "RayCluster", name, body["spec"]["rayClusterSpec"]), None
    marks = {"ray.io/originated-from-cr-name": name, "ray.io/originated-from-crd": "RayJob"}
    container = {"name": "ray-job-submitter", "image": "example.invalid/ray:1"}
    default = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    template = copy.deepcopy(body["spec"].get("submitterPodTemplate", default))
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**metadata.get("labels", {}), **marks}
    yield "submitter", child(body, "batch/v1", "Job", name, {"backoffLimit": 2, "template": template}), None


def _ray_service(body: Object, _: Manifest) -> Made:
    """Follow ray-project/kuberay feeaf72facab, ray-operator/controllers/ray/rayservice_controller.go."""
    yield "", child(body, "ray.io/v1", "RayCluster", body["metadata"]["name"], body["spec"]["rayClusterConfig"]), None


def _spark(body: Object, _: Manifest) -> Made:
    """Follow kubeflow/spark-operator 38082f3318e9, internal/controller/sparkapplication/submission.go.

    The driver makes the executors.
    """
    name = body["metadata"]["name"]

    def pod_of(parent: Object, role: str, named: str) -> Object:
        marks = {"spark-role": role, "sparkoperator.k8s.io/app-name": name}
        marks["sparkoperator.k8s.io/launched-by-spark-operator"] = "true"
        described = body["spec"][role]
        # Less than Spark's own factor makes of `memory`, with the same effect.
        resources: Object = {"requests": {"cpu": "100m", "memory": "128Mi"}}
        if gpu := described.get("gpu"):
            resources["limits"] = {gpu["name"]: str(gpu["quantity"])}
        image = body["spec"].get("image", "example.invalid/spark:1")
        container = {"name": f"spark-kubernetes-{role}", "image": image, "resources": resources}
        metadata = {key: described.get(key, {}) for key in ("labels", "annotations")}
        spec = {"restartPolicy": "Never", "containers": [container]}
        return owned_pod(parent, named, {"metadata": metadata, "spec": spec}, marks)

    driver = yield "driver", pod_of(body, "driver", f"{name}-driver"), f"{_KUBEFLOW}:spark-operator-controller"
    # Nobody has stored the driver where only the pods are asked for.
    executor = pod_of(driver or body, "executor", f"{name}-exec-1")
    yield "executor", executor, f"system:serviceaccount:{body['metadata']['namespace']}:default-editor"


def _mini_cluster(body: Object, _: Manifest) -> Made:
    """Follow flux-framework/flux-operator 0d75cef855de, controllers/flux/job.go."""
    size, name = body["spec"]["size"], body["metadata"]["name"]
    template = {"metadata": {"labels": {"app.kubernetes.io/name": name, "hpa-selector": name}}}
    template["spec"] = {"restartPolicy": "OnFailure", "containers": body["spec"]["containers"]}
    spec = {"backoffLimit": 100, "completions": size, "parallelism": size, "completionMode": "Indexed"}
    spec["template"] = template
    yield "pod", child(body, "batch/v1", "Job", name, spec), None


def _app_wrapper(body: Object, _: Manifest) -> Made:
    """Follow project-codeflare/appwrapper b47a99ee8e28, internal/controller/appwrapper."""
    mark = {"workload.codeflare.dev/appwrapper": body["metadata"]["name"]}
    for component in body["spec"]["components"]:
        wrapped = component["template"]
        spec = copy.deepcopy(wrapped["spec"])
        if "template" in spec:
            spec["template"].setdefault("metadata", {}).setdefault("labels", {}).update(mark)
        made = child(body, wrapped["apiVersion"], wrapped["kind"], wrapped["metadata"]["name"], spec, labels=mark)
        yield "pod", made, None


def _dask_job(body: Object, _: Manifest) -> Made:
    """Follow dask/dask-kubernetes 1daa175f3355, dask_kubernetes/operator/controller/controller.py."""
    name, spec = body["metadata"]["name"], body["spec"]
    for role in ("scheduler", "worker"):
        described = spec["cluster"]["spec"][role]
        for index in range(described.get("replicas", 1)):
            labels = {"dask.org/cluster-name": name, "dask.org/component": role, "instance": str(index)}
            template = {"metadata": {"labels": labels}, "spec": described["spec"]}
            deployed = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
            yield role, child(body, "apps/v1", "Deployment", f"{name}-{role}-{index}", deployed), None
    labels = {"dask.org/cluster-name": name, "dask.org/component": "job-runner"}
    template = {"spec": {"restartPolicy": "OnFailure", **spec["job"]["spec"]}}
    runner = owned_pod(body, f"{name}-runner", template, labels)
    yield "runner", runner, "system:serviceaccount:dask-operator:dask-kubernetes-operator"


def _leader_worker_set(body: Object, _: Manifest) -> Made:
    """Follow kubernetes-sigs/lws 060ab4da17ee, pkg/controllers: StatefulSets of leaders and of workers."""
    described, name = body["spec"]["leaderWorkerTemplate"], body["metadata"]["name"]
    for role, count in (("leader", body["spec"]["replicas"]), ("worker", described["size"] - 1)):
        template = copy.deepcopy(described[f"{role}Template"])
        labels = {"leaderworkerset.sigs.k8s.io/name": name, "group": role}
        template.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
        spec = {"replicas": count, "serviceName": name, "selector": {"matchLabels": labels}, "template": template}
        spec["podManagementPolicy"] = "Parallel"
        yield role, child(body, "apps/v1", "StatefulSet", f"{name}-{role}", spec), None


def _inference_service(body: Object, _: Manifest) -> Made:
    """Follow kserve/kserve aaac4e294dae, pkg/controller/v1beta1/inferenceservice, in its raw mode."""
    ((_, described),) = body["spec"]["predictor"].items()
    name = body["metadata"]["name"]
    labels = {"serving.kserve.io/inferenceservice": name, "component": "predictor"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "kserve-container", **described}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    yield "predictor", child(body, "apps/v1", "Deployment", f"{name}-predictor", spec), None


def _workflow(body: Object, manifest: Manifest) -> Made:
    """Return the pods of all steps, though some wait for others.

    argoproj/argo-workflows v3.7.3, workflow/controller/operator.go and workflowpod.go.
    """
    spec, name = body["spec"], body["metadata"]["name"]
    # templateDefaults of the Workflow, or of the controller's workflowDefaults.
    controller = argo.workflow_defaults() if manifest.retried else {"spec": {}}
    defaults = {**controller["spec"], **spec}.get("templateDefaults", {})
    always = {key: spec[key] for key in ("retryStrategy",) if key in spec}
    templates = {t["name"]: {**always, **defaults, **t} for t in spec["templates"]}
    metadata = spec.get("podMetadata", {})
    for number, (template, node) in enumerate(_nodes(templates, spec["entrypoint"], name)):
        own = template.get("metadata", {})
        marks = {"workflows.argoproj.io/workflow": name, "workflows.argoproj.io/completed": "false"}
        labels = {**marks, **metadata.get("labels", {}), **own.get("labels", {})}
        notes = {"workflows.argoproj.io/node-name": node, "workflows.argoproj.io/node-id": f"{name}-{number}"}
        annotations = {**notes, **metadata.get("annotations", {}), **own.get("annotations", {})}
        described = template.get("container") or template["script"]
        main = {key: value for key, value in described.items() if key != "source"}
        executor = {"image": "example.invalid/argoexec:1"}
        pod = {
            "restartPolicy": "Never",
            "initContainers": [{"name": "init", **executor}, *template.get("initContainers", ())],
            "containers": [{"name": "wait", **executor}, {**main, "name": "main"}],
        }
        named = f"{name}-{template['name']}-{number}"
        yield template["name"], child(body, "v1", "Pod", named, pod, labels=labels, annotations=annotations), _ARGO


def _nodes(templates: Mapping[str, Object], template: str, name: str) -> Iterator[tuple[Object, str]]:
    """Return the templates of the pods below one, with the names of their nodes."""
    described = templates[template]
    if "retryStrategy" in described:
        name += "(0)"
    groups = enumerate(described.get("steps", ()))
    below = [(f"{name}[{number}].", step) for number, group in groups for step in group]
    below += [(f"{name}.", task) for task in described.get("dag", {}).get("tasks", ())]
    for prefix, step in below:
        items = step.get("withItems") or range(int(step.get("withSequence", {}).get("count", 0)))
        ends = [f"({number}:{item})" for number, item in enumerate(items)] or [""]
        for end in ends:
            yield from _nodes(templates, step["template"], f"{prefix}{step['name']}{end}")
    if not below:
        yield described, name


def _cron_workflow(body: Object, _: Manifest) -> Made:
    """Follow argoproj/argo-workflows v3.7.3, workflow/common/convert.go."""
    name, spec = f"{body['metadata']['name']}-1", body["spec"]["workflowSpec"]
    yield "", child(body, "argoproj.io/v1alpha1", "Workflow", name, spec), None


def _pipeline_run(body: Object, _: Manifest) -> Made:
    """Follow tektoncd/pipeline 3ee1745ae5b2, pkg/reconciler/pipelinerun/pipelinerun.go."""
    name = body["metadata"]["name"]
    for task in body["spec"]["pipelineSpec"]["tasks"]:
        labels = {"tekton.dev/pipelineRun": name, "tekton.dev/pipelineTask": task["name"]}
        labels = {**body["metadata"].get("labels", {}), **labels}
        spec = {"taskSpec": task["taskSpec"], **{key: task[key] for key in ("retries",) if key in task}}
        run = child(body, "tekton.dev/v1", "TaskRun", f"{name}-{task['name']}", spec, labels=labels)
        yield task["name"], run, None


def _task_run(body: Object, _: Manifest) -> Made:
    """Follow tektoncd/pipeline 3ee1745ae5b2, pkg/pod/pod.go."""
    name = body["metadata"]["name"]
    labels = {"tekton.dev/taskRun": name, "app.kubernetes.io/managed-by": "tekton-pipelines"}
    labels = {**body["metadata"].get("labels", {}), **labels}
    containers = [
        {"name": f"step-{step['name']}", "image": step["image"], "resources": step.get("computeResources", {})}
        for step in body["spec"]["taskSpec"]["steps"]
    ]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    yield "", owned_pod(body, f"{name}-pod", template, labels), _TEKTON


STAND_INS: dict[tuple[str, str], Callable[[Object, Manifest], Made]] = {
    ("argoproj.io/v1alpha1", "CronWorkflow"): _cron_workflow,
    ("argoproj.io/v1alpha1", "Workflow"): _workflow,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano,
    ("batch/v1", "CronJob"): cron_job,
    ("flux-framework.org/v1alpha2", "MiniCluster"): _mini_cluster,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): job_set,
    ("kubeflow.org/v1", "JAXJob"): training,
    ("kubeflow.org/v1", "MPIJob"): training,
    ("kubeflow.org/v1", "PaddleJob"): training,
    ("kubeflow.org/v1", "PyTorchJob"): training,
    ("kubeflow.org/v1", "TFJob"): training,
    ("kubeflow.org/v1", "XGBoostJob"): training,
    ("kubeflow.org/v1beta1", "Experiment"): experiment,
    ("kubeflow.org/v1beta1", "Trial"): trial,
    ("kubeflow.org/v2beta1", "MPIJob"): mpi,
    ("kubernetes.dask.org/v1", "DaskJob"): _dask_job,
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): _leader_worker_set,
    ("ray.io/v1", "RayCluster"): _ray_cluster,
    ("ray.io/v1", "RayJob"): _ray_job,
    ("ray.io/v1", "RayService"): _ray_service,
    ("serving.kserve.io/v1beta1", "InferenceService"): _inference_service,
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"): _spark,
    ("tekton.dev/v1", "PipelineRun"): _pipeline_run,
    ("tekton.dev/v1", "TaskRun"): _task_run,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): train_job,
    ("workload.codeflare.dev/v1beta2", "AppWrapper"): _app_wrapper,
}
"""The stand-in of each kind that Kubernetes' own controllers do not serve."""
