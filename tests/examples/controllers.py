"""What controllers make of the examples: documented stand-ins, each with the source of what it copies.

Each returns golden objects by role, without an expectation: the pod, or the Job for which the cluster makes one.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.admission.corpus import corpus

Object = dict[str, Any]
Made = tuple[str, Object, str | None]
"""A role, the object, and the user that creates it; None for a controller of the cluster itself."""

OPERATOR = "system:serviceaccount:kubeflow:training-operator"
ARGO = "system:serviceaccount:kubeflow:argo"
_UID = "7c1e6f0a-9d0b-4c53-a1f6-3f0f27c1d5aa"


def task(pipeline: str, name: str, facts: Mapping[str, Any]) -> Object:
    """The executor pod of a task: the workflow's template with the driver's patch.

    kubeflow/pipelines, backend/src/v2/driver: driver.go (initPodSpecPatch) writes the resources, k8s.go (extendPodSpecPatch)
    tolerations, node selector and node affinity; backend/src/v2/compiler/argocompiler/container.go names the template and writes
    labels and annotations.
    """
    pod = copy.deepcopy(corpus()["kfp-executor-gpu"].object)
    kubernetes = facts.get("kubernetes", {})
    added = kubernetes.get("podMetadata", {})
    template = "system-container-impl"
    if facts.get("retry"):
        template = f"retry-{template}"
    if added:
        counts = (len(added.get("annotations", {})), len(added.get("labels", {})))
        template = f"metadata-{counts[0]}-{counts[1]}-{template}"
    metadata = pod["metadata"]
    metadata["name"] = f"{pipeline}-{name}-{template}-1042877310"
    for key in ("labels", "annotations"):
        metadata[key] |= added.get(key, {})
    main = next(container for container in pod["spec"]["containers"] if container["name"] == "main")
    main |= {"image": facts["image"], "resources": _resources(facts.get("resources", {}))}
    main["env"] = [*main.get("env", ()), *facts.get("env", ())]
    spec = pod["spec"]
    spec["tolerations"] = kubernetes.get("tolerations", [])
    spec["nodeSelector"] = kubernetes.get("nodeSelector", {}).get("labels", {})
    terms = kubernetes.get("nodeAffinity", [])
    if terms:
        expressions = [{"matchExpressions": term["matchExpressions"]} for term in terms]
        required = [e for e, term in zip(expressions, terms, strict=True) if "weight" not in term]
        preferred = [
            {"weight": int(term["weight"]), "preference": e}
            for e, term in zip(expressions, terms, strict=True)
            if "weight" in term
        ]
        affinity: Object = {}
        if required:
            affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": required}
        if preferred:
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
        spec["affinity"] = {"nodeAffinity": affinity}
    return pod


def _resources(written: Mapping[str, Any]) -> Object:
    """Only a limit with both type and count asks for a GPU (driver.go)."""
    resources: Object = {"limits": {}, "requests": {}}
    accelerator = written.get("accelerator", {})
    if accelerator.get("resourceType") and accelerator.get("resourceCount"):
        resources["limits"][accelerator["resourceType"]] = accelerator["resourceCount"]
    for kind, part in (("Limit", "limits"), ("Request", "requests")):
        for name in ("Cpu", "Memory"):
            if amount := written.get(f"resource{name}{kind}"):
                resources[part][name.lower()] = amount
    return resources


def made(documents: list[Object]) -> Iterator[Made]:
    """What controllers make of the documents of a file."""
    runtimes = {d["metadata"]["name"]: d for d in documents if d["kind"] == "ClusterTrainingRuntime"}
    flavors = {d["metadata"]["name"]: d for d in documents if d["kind"] == "ResourceFlavor"}
    for document in documents:
        kind = document["kind"]
        if kind == "TrainJob":
            yield from _train_job(document, runtimes[document["spec"]["runtimeRef"]["name"]])
        elif kind == "Job" and flavors:
            yield from _queued(document, flavors["example-spot"])
        elif kind in _KINDS:
            yield from _KINDS[kind](document)


def _owned(body: Object, owner: Object, name: str) -> Object:
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    body["metadata"] = {
        **body.get("metadata", {}),
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [{**reference, "uid": _UID, "controller": True, "blockOwnerDeletion": True}],
    }
    return body


def _pod(template: Object, labels: Mapping[str, str]) -> Object:
    metadata = copy.deepcopy(template.get("metadata", {}))
    metadata["labels"] = {**metadata.get("labels", {}), **labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(template["spec"])}


def _job(job: Object) -> Iterator[Made]:
    """A Job is the cluster's own: its real controller makes the pods."""
    yield "pod", {**copy.deepcopy(job), "spec": {**job["spec"], "suspend": False}}, None


def _replicated(job: Object) -> Iterator[Made]:
    """kubeflow/trainer v1.9.2, pkg/controller.v1/common/pod.go; labels of pkg/apis/kubeflow.org/v1/common_types.go."""
    kind, name = job["kind"].lower(), job["metadata"]["name"]
    replicas = next(value for key, value in job["spec"].items() if key.endswith("ReplicaSpecs"))
    for role, replica in replicas.items():
        labels = {
            "training.kubeflow.org/operator-name": f"{kind}-controller",
            "training.kubeflow.org/job-name": name,
            "training.kubeflow.org/replica-type": role.lower(),
            "training.kubeflow.org/replica-index": "0",
        }
        if role in ("Chief", "Master"):
            labels["training.kubeflow.org/job-role"] = "master"
        pod = _pod(replica["template"], labels)
        # ExitCode is the operator's own policy: the pod is never restarted in place.
        pod["spec"]["restartPolicy"] = {"ExitCode": "Never"}.get(replica["restartPolicy"], replica["restartPolicy"])
        yield role.lower(), _owned(pod, job, f"{name}-{role.lower()}-0"), OPERATOR


def _train_job(train_job: Object, runtime: Object) -> Iterator[Made]:
    """kubeflow/trainer v2.1.0, pkg/runtime/framework/plugins/jobset; kubernetes-sigs/jobset v0.10.1, jobset_controller.go."""
    name, trainer = train_job["metadata"]["name"], train_job["spec"]["trainer"]
    job_set = {**train_job, "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    for replicated in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        spec = copy.deepcopy(replicated["template"]["spec"])
        marks = {
            "jobset.sigs.k8s.io/jobset-name": name,
            "jobset.sigs.k8s.io/replicatedjob-name": replicated["name"],
            "jobset.sigs.k8s.io/job-index": "0",
        }
        template = spec["template"]
        template["metadata"] = {"labels": marks, "annotations": marks}
        container = template["spec"]["containers"][0]
        container |= {key: trainer[key] for key in ("image", "command", "args") if key in trainer}
        container["resources"] = trainer["resourcesPerNode"]
        spec |= {"completionMode": "Indexed", "completions": 1, "parallelism": 1}
        job = {"apiVersion": "batch/v1", "kind": "Job", "spec": spec}
        yield replicated["name"], _owned(job, job_set, f"{name}-{replicated['name']}-0"), None


def _experiment(experiment: Object) -> Iterator[Made]:
    """kubeflow/katib v0.19.0, pkg/controller.v1beta1/trial/trial_controller.go: the trial's spec with values, and an owner."""
    template = experiment["spec"]["trialTemplate"]
    text = json.dumps(template["trialSpec"])
    for parameter in template["trialParameters"]:
        text = text.replace(f"${{trialParameters.{parameter['name']}}}", "0.05")
    trial = json.loads(text)
    name = f"{experiment['metadata']['name']}-8c2kq7xw"
    metadata = {"name": name, "namespace": experiment["metadata"]["namespace"]}
    owner = {"apiVersion": "kubeflow.org/v1beta1", "kind": "Trial", "metadata": metadata}
    for role, body, user in _KINDS[trial["kind"]]({**trial, "metadata": metadata}):
        yield f"trial {role}", body if user else _owned(body, owner, name), user


def _ray_job(job: Object) -> Iterator[Made]:
    """ray-project/kuberay v1.6.0, controllers/ray/common/pod.go and controllers/ray/rayjob_controller.go."""
    spec, name = job["spec"]["rayClusterSpec"], job["metadata"]["name"]
    cluster = {**job, "kind": "RayCluster"}
    groups = [("head", "headgroup", spec["headGroupSpec"])]
    groups += [("worker", group["groupName"], group) for group in spec["workerGroupSpecs"]]
    for role, group, described in groups:
        labels = {
            "ray.io/is-ray-node": "yes",
            "ray.io/cluster": name,
            "ray.io/node-type": role,
            "ray.io/group": group,
            "ray.io/identifier": f"{name}-{role}",
            "app.kubernetes.io/name": "kuberay",
            "app.kubernetes.io/created-by": "kuberay-operator",
        }
        pod = _pod(described["template"], labels)
        pod["spec"].setdefault("restartPolicy", "Always")
        yield role, _owned(pod, cluster, f"{name}-{group}"), "system:serviceaccount:kubeflow:kuberay-operator"
    template = copy.deepcopy(job["spec"]["submitterPodTemplate"])
    marks = {"ray.io/originated-from-cr-name": name, "ray.io/originated-from-crd": "RayJob"}
    template["metadata"]["labels"] = {**template["metadata"].get("labels", {}), **marks}
    submitter = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": template}}
    yield "submitter", _owned(submitter, job, name), None


def _spark(application: Object) -> Iterator[Made]:
    """kubeflow/spark-operator v2.5.0, pkg/common/spark.go; Spark makes the executors, with the driver's account."""
    name, spec = application["metadata"]["name"], application["spec"]
    users = {"driver": "system:serviceaccount:kubeflow:spark-operator-controller"}
    for role in ("driver", "executor"):
        described = spec[role]
        labels = {
            "spark-role": role,
            "sparkoperator.k8s.io/app-name": name,
            "sparkoperator.k8s.io/launched-by-spark-operator": "true",
        }
        container = {"name": f"spark-kubernetes-{role}", "image": spec["image"]}
        # Spark's own factor for what is beside the heap makes 512m to 896Mi; a request of less shows the same.
        container["resources"] = {"requests": {"cpu": "100m", "memory": "128Mi"}}
        metadata = {"labels": described.get("labels", {}), "annotations": described["annotations"]}
        pod = _pod({"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}, labels)
        user = users.get(role, "system:serviceaccount:team-a:default-editor")
        yield role, _owned(pod, application, f"{name}-{role}"), user


def _queued(job: Object, flavor: Object) -> Iterator[Made]:
    """kubernetes-sigs/kueue v0.14.8, pkg/podset: an admitted Job's template gets the flavor's labels and tolerations."""
    admitted = copy.deepcopy(job)
    admitted["spec"]["suspend"] = False
    template = admitted["spec"]["template"]
    template["metadata"] = {
        "labels": {"kueue.x-k8s.io/podset": "main"},
        "annotations": {"kueue.x-k8s.io/workload": f"job-{job['metadata']['name']}-6f1c2"},
    }
    template["spec"]["nodeSelector"] = flavor["spec"]["nodeLabels"]
    template["spec"]["tolerations"] = flavor["spec"]["tolerations"]
    yield "pod", admitted, None


_KINDS: dict[str, Callable[[Object], Iterator[Made]]] = {
    "Job": _job,
    "TFJob": _replicated,
    "PyTorchJob": _replicated,
    "Experiment": _experiment,
    "RayJob": _ray_job,
    "SparkApplication": _spark,
}
