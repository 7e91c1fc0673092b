"""What controllers of training make of the manifests of public projects: stand-ins, with sources.

Where the real controllers run here, test_projects_lost.py compares their pods with these.
"""

import copy
import json
from collections.abc import Generator, Mapping
from typing import Any

from sandbox.tests.api import Object
from tests.admission.projects import Manifest

Made = Generator[tuple[str, Object, str | None], Object, None]
"""A role, an object and its creator, None for whoever applies manifests; receives it as stored."""

_TRAINING = "training.kubeflow.org/"
_OPERATOR = "system:serviceaccount:kubeflow:training-operator"


def child(parent: Object, version: str, kind: str, name: str, spec: Object, **metadata: Any) -> Object:
    """Return an object that the parent controls."""
    owner = {"apiVersion": parent["apiVersion"], "kind": parent["kind"]}
    owner |= {key: parent["metadata"][key] for key in ("name", "uid")}
    metadata |= {"name": name, "namespace": parent["metadata"]["namespace"]}
    metadata["ownerReferences"] = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(spec)}


def owned_pod(parent: Object, name: str, template: Object, labels: Mapping[str, str]) -> Object:
    own = template.get("metadata", {})
    metadata = {"labels": {**own.get("labels", {}), **labels}, "annotations": own.get("annotations", {})}
    return child(parent, "v1", "Pod", name, template["spec"], **metadata)


def training(job: Object, _: Manifest) -> Made:
    """Follow kubeflow/training-operator v1.9.3, pkg/controller.v1: common/pod.go and each kind."""
    kind, name = job["kind"].lower(), job["metadata"]["name"]
    replicas = next(value for key, value in job["spec"].items() if key.endswith("ReplicaSpecs"))
    default = "OnFailure" if kind in ("pytorchjob", "paddlejob") else "Never"
    # IsMasterRole of each controller.
    leads = {"Chief", "Master", "Launcher"} & replicas.keys()
    if not leads and kind != "paddlejob":
        leads = {"Worker"}
    for role, replica in replicas.items():
        count = replica.get("replicas", 1)
        for index in range(count):
            labels = {
                f"{_TRAINING}operator-name": f"{kind}-controller",
                f"{_TRAINING}job-name": name,
                f"{_TRAINING}replica-type": role.lower(),
            }
            if role != "Launcher":
                labels[f"{_TRAINING}replica-index"] = str(index)
            if role in leads and index == 0:
                labels[f"{_TRAINING}job-role"] = "master"
            suffix = role.lower() if role == "Launcher" else f"{role.lower()}-{index}"
            pod = owned_pod(job, f"{name}-{suffix}", replica["template"], labels)
            policy = replica.get("restartPolicy", default)
            pod["spec"]["restartPolicy"] = "Never" if policy == "ExitCode" else policy
            for container in pod["spec"]["containers"]:
                container["env"] = [*container.get("env", ()), *_environment(job, replicas, role, index)]
            yield (f"{role}-{index}" if count > 1 else role).lower(), pod, _OPERATOR


def _environment(job: Object, replicas: Object, role: str, index: int) -> list[Object]:
    """Return what says how many replicas there are, in envvar.go and tensorflow.go of each kind."""
    total = sum(replica.get("replicas", 1) for replica in replicas.values())
    rank = index + (role == "Worker" and "Master" in replicas)
    values: dict[str, Any] = {}
    if job["kind"] == "PyTorchJob":
        elastic = job["spec"].get("elasticPolicy")
        bounds = f"{elastic['minReplicas']}:{elastic['maxReplicas']}" if elastic else total
        values = {"PET_NNODES": bounds}
        if "Master" in replicas:
            values |= {"WORLD_SIZE": total, "RANK": rank, "PET_NODE_RANK": rank}
    elif job["kind"] == "JAXJob":
        values = {"NUM_PROCESSES": total, "PROCESS_ID": rank}
    elif job["kind"] == "XGBoostJob":
        values = {"WORLD_SIZE": total, "RANK": rank}
    elif job["kind"] == "PaddleJob":
        values = {"PADDLE_NNODES": total}
    elif job["kind"] == "TFJob" and total > 1:
        config = _tf_config(job, replicas, role, index)
        values = {"TF_CONFIG": json.dumps(config, separators=(",", ":"))}
    return [{"name": key, "value": str(value)} for key, value in values.items()]


def _tf_config(job: Object, replicas: Object, role: str, index: int) -> Object:
    name, domain = job["metadata"]["name"], f"{job['metadata']['namespace']}.svc:2222"
    hosts = {}
    for key, replica in sorted(replicas.items()):
        numbers = range(replica.get("replicas", 1))
        hosts[key.lower()] = [f"{name}-{key.lower()}-{number}.{domain}" for number in numbers]
    task = {"type": role.lower(), "index": index}
    return {"cluster": hosts, "task": task, "environment": "cloud"}


def mpi(job: Object, _: Manifest) -> Made:
    """Follow kubeflow/mpi-operator caa3c47fc42e, pkg/controller/mpi_job_controller.go."""
    name, replicas = job["metadata"]["name"], job["spec"]["mpiReplicaSpecs"]
    labels = {f"{_TRAINING}operator-name": "mpi-operator", f"{_TRAINING}job-name": name}
    for index in range(replicas["Worker"]["replicas"]):
        marks = {f"{_TRAINING}job-role": "worker", f"{_TRAINING}replica-index": str(index)}
        pod = owned_pod(job, f"{name}-worker-{index}", replicas["Worker"]["template"], labels | marks)
        pod["spec"]["restartPolicy"] = replicas["Worker"].get("restartPolicy", "Never")
        yield f"worker-{index}", pod, "system:serviceaccount:mpi-operator:mpi-operator"
    template = copy.deepcopy(replicas["Launcher"]["template"])
    template["metadata"] = {"labels": labels | {f"{_TRAINING}job-role": "launcher"}}
    template["spec"]["restartPolicy"] = replicas["Launcher"].get("restartPolicy", "OnFailure")
    spec = {key: value for key, value in job["spec"]["runPolicy"].items() if key == "backoffLimit"}
    yield "launcher", child(job, "batch/v1", "Job", f"{name}-launcher", spec | {"template": template}), None


def job_set(body: Object, _: Manifest) -> Made:
    """Follow kubernetes-sigs/jobset v0.10.1, pkg/controllers/jobset_controller.go, and pkg/webhooks."""
    name, spec = body["metadata"]["name"], body["spec"]
    for replicated in spec["replicatedJobs"]:
        for index in range(replicated.get("replicas", 1)):
            marks = {
                "jobset-name": name,
                "replicatedjob-name": replicated["name"],
                "restart-attempt": "0",
                "replicatedjob-replicas": str(replicated.get("replicas", 1)),
                "job-index": str(index),
            }
            if coordinator := spec.get("coordinator"):
                place = [str(coordinator[key]) for key in ("replicatedJob", "jobIndex", "podIndex")]
                marks["coordinator"] = f"{'-'.join([name, *place])}.{name}"
            marks = {f"jobset.sigs.k8s.io/{key}": value for key, value in marks.items()}
            described = copy.deepcopy(replicated["template"]["spec"])
            described.setdefault("completionMode", "Indexed")
            template = described["template"]
            template["spec"].setdefault("restartPolicy", "OnFailure")
            own = template.get("metadata", {})
            kept = {key: own.get(key, {}) for key in ("labels", "annotations")}
            template["metadata"] = {key: {**value, **marks} for key, value in kept.items()}
            labels = replicated["template"].get("metadata", {}).get("labels", {}) | marks
            named = f"{name}-{replicated['name']}-{index}"
            job = child(body, "batch/v1", "Job", named, described, labels=labels, annotations=marks)
            yield replicated["name"], job, None


def train_job(job: Object, manifest: Manifest) -> Made:
    """Follow kubeflow/trainer v2.1.0, pkg/runtime/framework/plugins: jobset/builder.go and mpi/mpi.go."""
    wanted, trainer = job["spec"]["runtimeRef"]["name"], job["spec"].get("trainer", {})
    runtime = next(body for body in manifest.objects if body["metadata"]["name"] == wanted)
    as_node = runtime["spec"].get("mlPolicy", {}).get("mpi", {}).get("runLauncherAsNode", False)
    spec = copy.deepcopy(runtime["spec"]["template"]["spec"])
    for replicated in spec["replicatedJobs"]:
        described, ancestor = replicated["template"]["spec"], _ancestor(replicated)
        count = 1
        if replicated["name"] == "node":
            count = max(trainer.get("numNodes", 1) - as_node, 1)
        described |= {"parallelism": count, "completions": count}
        for container in described["template"]["spec"]["containers"]:
            trains = ancestor == "trainer" or (as_node and replicated["name"] == "node")
            if trains and container["name"] == "node":
                container |= {k: trainer[k] for k in ("image", "command", "args") if k in trainer}
                container["resources"] = trainer.get("resourcesPerNode", container.get("resources", {}))
    yield "", child(job, "jobset.x-k8s.io/v1alpha2", "JobSet", job["metadata"]["name"], spec), None


def _ancestor(replicated: Object) -> Any:
    labels = replicated["template"].get("metadata", {}).get("labels", {})
    return labels.get("trainer.kubeflow.org/trainjob-ancestor-step")


def cron_job(body: Object, _: Manifest) -> Made:
    """Make the Job at once that Kubernetes' own controller makes by the clock."""
    name, spec = f"{body['metadata']['name']}-1", body["spec"]["jobTemplate"]["spec"]
    yield "pod", child(body, "batch/v1", "Job", name, spec), None


def experiment(body: Object, _: Manifest) -> Made:
    """Follow kubeflow/katib 33c8ff4e5d18, pkg/controller.v1beta1, experiment and trial."""
    template = body["spec"]["trialTemplate"]
    text = json.dumps(template["trialSpec"])
    for parameter in template.get("trialParameters", ()):
        text = text.replace(f"${{trialParameters.{parameter['name']}}}", "0.05")
    spec = {"runSpec": json.loads(text)}
    yield "", child(body, "kubeflow.org/v1beta1", "Trial", f"{body['metadata']['name']}-8c2kq7xw", spec), None


def trial(body: Object, _: Manifest) -> Made:
    run = body["spec"]["runSpec"]
    yield "", child(body, run["apiVersion"], run["kind"], body["metadata"]["name"], run["spec"]), None
