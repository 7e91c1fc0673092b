"""What controllers make of the examples: documented stand-ins, each with the source of what it copies.

Each returns golden objects by role, without an expectation: the pod, or the Job for which the cluster makes one.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.kubernetes.client import Object
from tests.admission.corpus import corpus
from tests.admission.projects import Manifest, stem
from tests.admission.stand_ins import STAND_INS, leaves

Made = tuple[str, Object, str | None]
"""A role, the object, and the user that creates it; None for a controller of the cluster itself."""

ARGO = "system:serviceaccount:kubeflow:argo"


def task(pipeline: str, name: str, facts: Mapping[str, Any]) -> Object:
    """Return the executor pod of a task: the workflow's template with the driver's patch.

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
    """Return resources: only a limit with both type and count asks for a GPU (driver.go)."""
    resources: Object = {"limits": {}, "requests": {}}
    accelerator = written.get("accelerator", {})
    if accelerator.get("resourceType") and accelerator.get("resourceCount"):
        resources["limits"][accelerator["resourceType"]] = accelerator["resourceCount"]
    for kind, part in (("Limit", "limits"), ("Request", "requests")):
        for name in ("Cpu", "Memory"):
            if amount := written.get(f"resource{name}{kind}"):
                resources[part][name.lower()] = amount
    return resources


def pods_and_jobs(documents: list[Object]) -> Iterator[Made]:
    """Yield what controllers make of the documents of a file."""
    flavors = {d["metadata"]["name"]: d for d in documents if d["kind"] == "ResourceFlavor"}
    served = {kind for _, kind in STAND_INS}
    for document in copy.deepcopy(documents):
        kind = document["kind"]
        if kind == "Job":
            yield from _queued(document, flavors["example-spot"]) if flavors else _job(document)
        elif kind in served:
            for role, body, user in leaves(document, Manifest("example", tuple(documents))):
                role = stem(role) or "pod"
                yield f"trial {role}" if kind == "Experiment" else role, body, user


def _job(job: Object) -> Iterator[Made]:
    """Yield a Job of the cluster's own: its real controller makes the pods."""
    yield "pod", {**copy.deepcopy(job), "spec": {**job["spec"], "suspend": False}}, None


def _queued(job: Object, flavor: Object) -> Iterator[Made]:
    """Yield an admitted Job, with the flavor's labels and tolerations (kubernetes-sigs/kueue v0.14.8, pkg/podset)."""
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
