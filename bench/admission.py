"""The cost of the policies for a pod: the API server's time to admit it, and the scheduler's time to place it.

Pods are created in three namespaces in turn: in a profile, where the policies are in force, and in two without policies. The
difference of those two is the machine's noise.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from sandbox.tests.subjects import Subject
from tests.admission.bed import NAMESPACES as bed_namespaces
from tests.admission.bed import Bed, standing

PROFILE = "team-a"
NAMESPACES = ("without", PROFILE, "without-again")
"""Without policies, with them, and without them again; they differ only in the label of profiles."""

WARM = 100
"""Rounds that do not count, while connections and caches fill."""

SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}

_GPUS = 110
"""GPUs of a node: the kubelet's maximum of pods decides how many fit."""


@contextmanager
def bed(directory: Path, subject: Subject) -> Iterator[Bed]:
    """Yield a stack's cluster with three spot nodes that have room for every pod."""
    with standing(directory, subject=subject) as bed:
        bed.scale(t4=3)
        labels = {key: value for key, value in bed_namespaces[PROFILE].items() if key != "app.kubernetes.io/part-of"}
        for name in NAMESPACES:
            if name != PROFILE:
                bed.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        for node in bed.api.list("v1", "Node"):
            if node["metadata"]["labels"]["kubeflow-spot.dev/pool"] == "t4":
                bed.api.patch(
                    {"apiVersion": "v1", "kind": "Node", **node},
                    {"status": {key: {"nvidia.com/gpu": str(_GPUS)} for key in ("capacity", "allocatable")}},
                    "/status",
                )
        yield bed


def pod(namespace: str, number: int) -> dict[str, Any]:
    """Return a training worker with a GPU, to which the policy adds all that it can add."""
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container]}
    labels = {"training.kubeflow.org/replica-type": "worker"}
    metadata = {"name": f"worker-{number}", "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def latencies(bed: Bed, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds to create a pod, by namespace. These pods name no existing scheduler."""
    result: dict[str, list[float]] = {namespace: [] for namespace in NAMESPACES}
    for number in range(-WARM, rounds):
        for namespace in NAMESPACES:
            wanted = pod(namespace, number + WARM)
            wanted["spec"]["schedulerName"] = "nobody"
            began = perf_counter()
            bed.api.create(wanted)
            if number >= 0:
                result[namespace].append((perf_counter() - began) * 1000)
    for namespace in NAMESPACES:
        empty(bed, namespace)
    return result


def empty(bed: Bed, namespace: str) -> None:
    """Delete all pods of a namespace and wait until they are gone."""
    bed.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0")
    while bed.api.list("v1", "Pod", namespace):
        sleep(0.05)


def check_durations(bed: Bed) -> dict[str, tuple[float, int]]:
    """Return seconds and number of all checks of each mutating policy so far, from the API server's metrics."""
    text = bed.api.text("/metrics")
    metric = "apiserver_mutating_admission_policy_check_duration_seconds"
    sums, counts = (dict[str, float](), dict[str, float]())
    for kind, labels, value in re.findall(rf"^{metric}_(sum|count){{(.*)}} (\S+)$", text, re.MULTILINE):
        policy = re.search(r'policy="([^"]*)"', labels)
        if policy:
            into = sums if kind == "sum" else counts
            into[policy[1]] = into.get(policy[1], 0) + float(value)
    return {name: (total, int(counts[name])) for name, total in sums.items()}


def hollow_out(bed: Bed) -> None:
    """Replace all policies by one that does nothing, to measure the price of having any."""
    api = "admissionregistration.k8s.io/v1"
    for binding in bed.api.list(api, "ValidatingAdmissionPolicyBinding"):
        bed.api.delete({"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", **binding})
    (policy,) = bed.api.list(api, "MutatingAdmissionPolicy")
    for part in ("variables", "matchConditions"):
        del policy["spec"][part]
    nothing = "[JSONPatch{op: 'remove', path: '/spec/none'}].filter(one, false)"
    policy["spec"]["mutations"] = [{"patchType": "JSONPatch", "jsonPatch": {"expression": nothing}}]
    policy["metadata"].pop("managedFields", None)
    path = f"/apis/{api}/mutatingadmissionpolicies/{policy['metadata']['name']}"
    bed.api.request("PUT", path, {"apiVersion": api, "kind": "MutatingAdmissionPolicy", **policy})
    sleep(5)  # the API server looks at its policies once a second


def throughput(bed: Bed, namespace: str, pods: int) -> float:
    """Return the pods per second that the scheduler places, from a queue that has all of them."""
    queue = [pod(namespace, number) for number in range(pods)]
    scheduler = bed.plane.processes["kube-scheduler"].find()
    assert scheduler
    scheduler.suspend()
    try:
        for body in queue:
            if namespace != PROFILE:
                body["spec"]["tolerations"] = [SPOT]
            bed.api.create(body)
    finally:
        began = perf_counter()
        scheduler.resume()
    while any(not placed["spec"].get("nodeName") for placed in bed.api.list("v1", "Pod", namespace)):
        sleep(0.01)
    taken = perf_counter() - began
    empty(bed, namespace)
    return pods / taken
