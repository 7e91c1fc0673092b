"""`python -m bench.policies REV`: what admission costs with the policies of a revision and with those of the working tree.

Both sets are in force in one API server, each in namespaces of its own, and pods are created in turn, so that both meet the same
machine. A second pair of namespaces with the revision's set shows the noise.
"""

import copy
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import admission
from sandbox.base.home import PROJECT
from sandbox.tests.api import Object
from sandbox.tests.subjects import DEV
from tests.admission.bed import NAMESPACES, Bed, standing

SETS = ("none", "before", "now", "before again")
"""The policies that a namespace's pods meet."""

RUNS, WARM, TURNS, TOGETHER = 5, 1, 4, 100
"""Each run has so many turns, and each turn creates so many pods with each set."""

_LABEL = "bench.example.com/policies"
_API = "admissionregistration.k8s.io/v1"
_DECLARED = """\
import json, pathlib, sys
import pytest
from tests.admission.bed import _emulated, _settings, inside
from tests.components.program import declare
from sandbox.tests.subjects import DEV
stack = _settings(DEV, "1.36", {})
with pytest.MonkeyPatch.context() as patch:
    objects = inside(declare(stack, patch, cloud=_emulated(stack, pathlib.Path(sys.argv[1]))))
print(json.dumps([body for body in objects if "AdmissionPolicy" in body["kind"]]))
"""


def declared(project: Path) -> list[Object]:
    """Return the admission policies and bindings that the program in this folder declares for the dev stack."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _DECLARED, folder]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    objects: list[Object] = json.loads(done.stdout)
    return objects


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """Yield the project's files at a revision, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", revision], cwd=PROJECT, capture_output=True, check=True)
        subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
        yield Path(folder)


def confined(objects: Sequence[Object], name: str) -> Iterator[Object]:
    """Yield the policies for the namespaces of one of SETS alone, each under a name of its own."""
    for body in objects:
        ours = copy.deepcopy(body)
        ours["metadata"] = {"name": f"{body['metadata']['name']}-{name}"}
        spec = ours["spec"]
        if "policyName" in spec:
            spec["policyName"] += f"-{name}"
        else:
            constraints = spec["matchConstraints"]
            role = "profile" if "matchLabels" in constraints.get("namespaceSelector", {}) else "platform"
            constraints["namespaceSelector"] = {"matchLabels": {_LABEL: f"{name}-{role}"}}
        yield ours


def service(namespace: str, number: int) -> dict[str, Any]:
    """Return a notebook: it breaks no rule, and all rules are asked."""
    container = {"name": "main", "image": "example.com/notebook:1"}
    metadata = {"name": f"notebook-{number}", "namespace": namespace, "labels": {"notebook-name": "nb"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def job(namespace: str, number: int) -> dict[str, Any]:
    """Return a Job that would end with its first lost pod: it is marked, and its client warned."""
    worker = admission.pod(namespace, number)
    spec = {"backoffLimit": 0, "template": {"spec": worker["spec"]}}
    metadata = {"name": f"job-{number}", "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


OBJECTS = {
    "training worker in a profile": "profile",
    "notebook in a profile": "profile",
    "service of the platform": "platform",
    "Job in a profile": "profile",
}


def _object(kind: str, namespace: str, number: int) -> dict[str, Any]:
    if kind.startswith("Job"):
        return job(namespace, number)
    body = admission.pod(namespace, number) if kind.startswith("training") else service(namespace, number)
    body["spec"]["schedulerName"] = "nobody"
    return body


def furnish(bed: Bed, sets: Mapping[str, Sequence[Object]]) -> None:
    """Make the namespaces, and put the policies in force in them instead of the stack's own."""
    for body in bed.objects:
        if "AdmissionPolicy" in body["kind"]:
            bed.api.delete(body)
    labels = {key: value for key, value in NAMESPACES["team-a"].items() if key != "app.kubernetes.io/part-of"}
    for name in SETS:
        policies = name.partition(" ")[0]
        for role in ("profile", "platform"):
            metadata = {"name": _namespace(name, role), "labels": labels | {_LABEL: f"{policies}-{role}"}}
            bed.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    for name, objects in sets.items():
        for body in confined(objects, name):
            bed.api.create(body)
    bed.await_policies()


def _namespace(name: str, role: str) -> str:
    return f"{name.replace(' ', '-')}-{role}"


def milliseconds(bed: Bed, kind: str) -> dict[str, float]:
    """Return the API server's CPU time for such an object, by the policies that it meets: other programs do not count.

    The controllers' and the scheduler's own requests are in it, for all alike.
    """
    server = bed.plane.processes["kube-apiserver"].find()
    assert server
    spent = dict.fromkeys(SETS, 0.0)
    for number in range(-WARM, TURNS):
        for name in random.sample(SETS, len(SETS)):
            wanted = _object(kind, _namespace(name, OBJECTS[kind]), 0)
            began = sum(server.cpu_times()[:2])
            for _ in range(TOGETHER):
                bed.api.create(wanted, dry_run=True)
            if number >= 0:
                spent[name] += sum(server.cpu_times()[:2]) - began
    return {name: 1000 * seconds / TURNS / TOGETHER for name, seconds in spent.items()}


def _shown(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main(revision: str) -> None:
    """Measure and print."""
    with checkout(revision) as project:
        sets = {"before": declared(project), "now": declared(PROJECT)}
    with tempfile.TemporaryDirectory() as folder, standing(Path(folder), subject=DEV) as bed:
        furnish(bed, sets)
        for kind in OBJECTS:
            runs = [milliseconds(bed, kind) for _ in range(RUNS)]
            print(f"{kind}, {RUNS} runs of {TURNS * TOGETHER}: the API server's CPU time, median (from to)")
            for name in SETS:
                print(f"  {name}: {_shown([run[name] for run in runs])} ms")
            for name in SETS[2:]:
                share = [(run[name] - run["none"]) / (run["before"] - run["none"]) for run in runs]
                print(f"  {name} / before: {_shown([run[name] / run['before'] for run in runs])}")
                print(f"  {name} / before, of what the policies add: {_shown(share)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
