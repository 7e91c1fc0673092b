"""What the policies cost a pod: the API server's time to admit it, and the scheduler's to place it.

Pods of three namespaces are made in turn: of a profile, where the policies are in force, and of two in which nothing is. The
difference of those two is what the machine's noise makes of no difference at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from tests.admission.bed import NAMESPACES as bed_namespaces
from tests.admission.bed import Bed, standing
from tests.subjects import Subject

PROFILE = "team-a"
NAMESPACES = ("without", PROFILE, "without-again")
"""Without policies, with them, and without them again; alike but for the label by which a profile is known."""

WARM = 100
"""Rounds that do not count: connections and caches fill."""

SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}

_GPUS = 110
"""Of a node, so that the pods it takes (the kubelet's default) decide how many fit."""


@contextmanager
def bed(directory: Path, subject: Subject) -> Iterator[Bed]:
    """A stack's cluster with three spot nodes that have room for every pod."""
    with standing(directory, subject=subject) as there:
        there.scale(t4=3)
        labels = {key: value for key, value in bed_namespaces[PROFILE].items() if key != "app.kubernetes.io/part-of"}
        for name in NAMESPACES:
            if name != PROFILE:
                there.api.create(
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
                )
        for node in there.api.list("v1", "Node"):
            if node["metadata"]["labels"]["kubeflow-spot.dev/pool"] == "t4":
                there.api.patch(
                    {"apiVersion": "v1", "kind": "Node", **node},
                    {"status": {key: {"nvidia.com/gpu": str(_GPUS)} for key in ("capacity", "allocatable")}},
                    "/status",
                )
        yield there


def pod(namespace: str, number: int) -> dict[str, Any]:
    """A training worker with a GPU, to which the policy adds all that it can add."""
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container]}
    labels = {"training.kubeflow.org/replica-type": "worker"}
    metadata = {"name": f"worker-{number}", "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def latencies(there: Bed, rounds: int) -> dict[str, list[float]]:
    """Milliseconds until a pod is made, by namespace. No scheduler looks at these pods."""
    result: dict[str, list[float]] = {namespace: [] for namespace in NAMESPACES}
    for number in range(-WARM, rounds):
        for namespace in NAMESPACES:
            wanted = pod(namespace, number + WARM)
            wanted["spec"]["schedulerName"] = "nobody"
            began = perf_counter()
            there.api.create(wanted)
            if number >= 0:
                result[namespace].append((perf_counter() - began) * 1000)
    for namespace in NAMESPACES:
        empty(there, namespace)
    return result


def empty(there: Bed, namespace: str) -> None:
    """Delete all pods of a namespace, and return when they are gone."""
    there.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0")
    while there.api.list("v1", "Pod", namespace):
        sleep(0.05)


def check_durations(there: Bed) -> dict[str, tuple[float, int]]:
    """Seconds and number of all checks of each mutating policy so far, as the API server counts them."""
    text = there.api.text("/metrics")
    found: dict[str, tuple[float, int]] = {}
    name = "apiserver_mutating_admission_policy_check_duration_seconds"
    sums, counts = (dict[str, float](), dict[str, float]())
    for kind, labels, value in re.findall(rf"^{name}_(sum|count){{(.*)}} (\S+)$", text, re.MULTILINE):
        policy = re.search(r'policy="([^"]*)"', labels)
        if policy:
            into = sums if kind == "sum" else counts
            into[policy[1]] = into.get(policy[1], 0) + float(value)
    for policy_name, total in sums.items():
        found[policy_name] = (total, int(counts[policy_name]))
    return found


def hollow_out(there: Bed) -> None:
    """Leave of the policies one that does nothing: what is measured then is the price of having any."""
    api = "admissionregistration.k8s.io/v1"
    for binding in there.api.list(api, "ValidatingAdmissionPolicyBinding"):
        there.api.delete({"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", **binding})
    (policy,) = there.api.list(api, "MutatingAdmissionPolicy")
    for part in ("variables", "matchConditions"):
        del policy["spec"][part]
    nothing = "[JSONPatch{op: 'remove', path: '/spec/none'}].filter(one, false)"
    policy["spec"]["mutations"] = [{"patchType": "JSONPatch", "jsonPatch": {"expression": nothing}}]
    policy["metadata"].pop("managedFields", None)
    path = f"/apis/{api}/mutatingadmissionpolicies/{policy['metadata']['name']}"
    there.api.request("PUT", path, {"apiVersion": api, "kind": "MutatingAdmissionPolicy", **policy})
    sleep(5)  # the API server looks at its policies once a second


def throughput(there: Bed, namespace: str, pods: int) -> float:
    """Pods a second that the scheduler places, from a queue that has all of them."""
    made = [pod(namespace, number) for number in range(pods)]
    scheduler = there.plane.processes["kube-scheduler"].find()
    assert scheduler
    scheduler.suspend()
    try:
        for one in made:
            if namespace != PROFILE:
                one["spec"]["tolerations"] = [SPOT]
            there.api.create(one)
    finally:
        began = perf_counter()
        scheduler.resume()
    while any(not one["spec"].get("nodeName") for one in there.api.list("v1", "Pod", namespace)):
        sleep(0.01)
    taken = perf_counter() - began
    empty(there, namespace)
    return pods / taken
