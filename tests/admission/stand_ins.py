"""What controllers make of the manifests of public projects: stand-ins, each with its source."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from sandbox.tests.api import Object

from tests.admission.pipeline_stand_ins import cron_workflow, pipeline_run, task_run, workflow
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

_RAY = "system:serviceaccount:kubeflow:kuberay-operator"


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
    """volcano-sh/volcano ed72c7c815a9, pkg/controllers/job/job_controller_util.go, createJobPod."""
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
    """ray-project/kuberay feeaf72facab, ray-operator/controllers/ray/common/pod.go."""
    name, spec = body["metadata"]["name"], body["spec"]
    second = spec.get("autoscalerOptions", {}).get("version") == "v2"
    owners = body["metadata"].get("ownerReferences", ())
    serves = any(owner["kind"] == "RayService" for owner in owners)
    groups = [("head", "headgroup", 1, spec["headGroupSpec"])]
    workers = spec.get("workerGroupSpecs", ())
    groups += [("worker", group["groupName"], group["replicas"], group) for group in workers]
    for role, group, count, described in groups:
        for index in range(count):
            labels = {
                "ray.io/is-ray-node": "yes",
                "ray.io/cluster": name,
                "ray.io/node-type": role,
                "ray.io/group": group,
                "app.kubernetes.io/name": "kuberay",
                "app.kubernetes.io/created-by": "kuberay-operator",
            }
            if serves and role == "worker":
                labels["ray.io/serve"] = "true"
            pod = owned_pod(body, f"{name}-{group}-{index}", described["template"], labels)
            if second:
                pod["spec"]["restartPolicy"] = "Never"
            yield role, pod, _RAY


def _ray_job(body: Object, _: Manifest) -> Made:
    """ray-project/kuberay feeaf72facab, ray-operator/controllers/ray/rayjob_controller.go."""
    name = body["metadata"]["name"]
    yield "", child(body, "ray.io/v1", "RayCluster", name, body["spec"]["rayClusterSpec"]), None
    marks = {"ray.io/originated-from-cr-name": name, "ray.io/originated-from-crd": "RayJob"}
    container = {"name": "ray-job-submitter", "image": "example.invalid/ray:1"}
    default = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    template = copy.deepcopy(body["spec"].get("submitterPodTemplate", default))
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**metadata.get("labels", {}), **marks}
    yield (
        "submitter",
        child(body, "batch/v1", "Job", name, {"backoffLimit": 2, "template": template}),
        None,
    )


def _ray_service(body: Object, _: Manifest) -> Made:
    """ray-project/kuberay feeaf72facab, ray-operator/controllers/ray/rayservice_controller.go."""
    yield (
        "",
        child(
            body,
            "ray.io/v1",
            "RayCluster",
            body["metadata"]["name"],
            body["spec"]["rayClusterConfig"],
        ),
        None,
    )


def _spark(body: Object, _: Manifest) -> Made:
    """kubeflow/spark-operator 38082f3318e9, internal/controller/sparkapplication/submission.go.

    The driver makes the executors.
    """
    name = body["metadata"]["name"]

    def made(parent: Object, role: str, named: str) -> Object:
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

    driver = yield (
        "driver",
        made(body, "driver", f"{name}-driver"),
        "system:serviceaccount:kubeflow:spark-operator-controller",
    )
    yield (
        "executor",
        # Nobody has stored the driver where only the pods are asked for.
        made(driver or body, "executor", f"{name}-exec-1"),
        f"system:serviceaccount:{body['metadata']['namespace']}:default-editor",
    )


def _mini_cluster(body: Object, _: Manifest) -> Made:
    """flux-framework/flux-operator 0d75cef855de, controllers/flux/job.go."""
    size, name = body["spec"]["size"], body["metadata"]["name"]
    template = {"metadata": {"labels": {"app.kubernetes.io/name": name, "hpa-selector": name}}}
    template["spec"] = {"restartPolicy": "OnFailure", "containers": body["spec"]["containers"]}
    spec = {
        "backoffLimit": 100,
        "completions": size,
        "parallelism": size,
        "completionMode": "Indexed",
        "template": template,
    }
    yield "pod", child(body, "batch/v1", "Job", name, spec), None


def _app_wrapper(body: Object, _: Manifest) -> Made:
    """project-codeflare/appwrapper b47a99ee8e28, internal/controller/appwrapper."""
    mark = {"workload.codeflare.dev/appwrapper": body["metadata"]["name"]}
    for component in body["spec"]["components"]:
        wrapped = component["template"]
        spec = copy.deepcopy(wrapped["spec"])
        if "template" in spec:
            spec["template"].setdefault("metadata", {}).setdefault("labels", {}).update(mark)
        made = child(
            body,
            wrapped["apiVersion"],
            wrapped["kind"],
            wrapped["metadata"]["name"],
            spec,
            labels=mark,
        )
        yield "pod", made, None


def _dask_job(body: Object, _: Manifest) -> Made:
    """dask/dask-kubernetes 1daa175f3355, dask_kubernetes/operator/controller/controller.py."""
    name, spec = body["metadata"]["name"], body["spec"]
    for role in ("scheduler", "worker"):
        described = spec["cluster"]["spec"][role]
        for index in range(described.get("replicas", 1)):
            labels = {
                "dask.org/cluster-name": name,
                "dask.org/component": role,
                "instance": str(index),
            }
            template = {"metadata": {"labels": labels}, "spec": described["spec"]}
            deployed = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
            yield (
                role,
                child(body, "apps/v1", "Deployment", f"{name}-{role}-{index}", deployed),
                None,
            )
    labels = {"dask.org/cluster-name": name, "dask.org/component": "job-runner"}
    template = {"spec": {"restartPolicy": "OnFailure", **spec["job"]["spec"]}}
    yield (
        "runner",
        owned_pod(body, f"{name}-runner", template, labels),
        "system:serviceaccount:dask-operator:dask-kubernetes-operator",
    )


def _leader_worker_set(body: Object, _: Manifest) -> Made:
    """kubernetes-sigs/lws 060ab4da17ee, pkg/controllers: StatefulSets of leaders and of workers."""
    described, name = body["spec"]["leaderWorkerTemplate"], body["metadata"]["name"]
    for role, count in (("leader", body["spec"]["replicas"]), ("worker", described["size"] - 1)):
        template = copy.deepcopy(described[f"{role}Template"])
        labels = {"leaderworkerset.sigs.k8s.io/name": name, "group": role}
        template.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
        spec = {
            "replicas": count,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": template,
        }
        spec["podManagementPolicy"] = "Parallel"
        yield role, child(body, "apps/v1", "StatefulSet", f"{name}-{role}", spec), None


def _inference_service(body: Object, _: Manifest) -> Made:
    """kserve/kserve aaac4e294dae, pkg/controller/v1beta1/inferenceservice, in its raw mode."""
    ((_, described),) = body["spec"]["predictor"].items()
    name = body["metadata"]["name"]
    labels = {"serving.kserve.io/inferenceservice": name, "component": "predictor"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "kserve-container", **described}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    yield "predictor", child(body, "apps/v1", "Deployment", f"{name}-predictor", spec), None


STAND_INS: dict[tuple[str, str], Callable[[Object, Manifest], Made]] = {
    ("argoproj.io/v1alpha1", "CronWorkflow"): cron_workflow,
    ("argoproj.io/v1alpha1", "Workflow"): workflow,
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
    ("tekton.dev/v1", "PipelineRun"): pipeline_run,
    ("tekton.dev/v1", "TaskRun"): task_run,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): train_job,
    ("workload.codeflare.dev/v1beta2", "AppWrapper"): _app_wrapper,
}
"""The stand-in of each kind that Kubernetes' own controllers do not serve."""
