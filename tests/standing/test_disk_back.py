"""A Released disk comes back by the lines of docs/kubeflow.md, with the real volume controller."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.tests.stack import Standing, until
from sandbox.toolchain.programs import ensure
from tests.overlay.tree import PROJECT

# The volume controller is the same on every cloud; a disk is lost too seldom for each run.
pytestmark = [pytest.mark.engine, pytest.mark.slow]

BLOCKS = re.findall(r"```sh\n(.*?)```", (PROJECT / "docs" / "kubeflow.md").read_text(), re.DOTALL)
(LINES,) = (block for block in BLOCKS if "claimRef" in block)

SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeflow"}}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "kubeflow-retain"},
    "reclaimPolicy": "Retain",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def claim(name: str) -> dict[str, Any]:
    """Return an empty claim."""
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "kubeflow-retain"}
    asked = {"resources": {"requests": {"storage": "2Gi"}}}
    metadata = {"name": name, "namespace": "kubeflow"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec | asked}


def database(name: str, claim: str, where: dict[str, str] | None = None) -> dict[str, Any]:
    """Return what writes to the claim's disk, on nodes with these labels."""
    container = {"name": "main", "image": "example.com/database:1"}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    pod = {"containers": [container], "volumes": [volume], "nodeSelector": where or {}}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "strategy": {"type": "Recreate"}}
    metadata = {"name": name, "namespace": "kubeflow"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec | {"template": template}}


@pytest.fixture
def tidy(stack: Standing, tmp_path: Path) -> Iterator[Standing]:
    """Yield the stack with a database, which is removed afterwards."""
    driver = stack.outputs()["kubeflowValues"]["disk"]["provisioner"]
    apply(stack, tmp_path, SPACE, {**CLASS, "provisioner": driver}, claim("mysql-pv-claim"))
    apply(stack, tmp_path, database("mysql", "mysql-pv-claim"))
    assert until(lambda: bound(stack, "mysql-pv-claim") != "")
    yield stack
    stack.kubectl("delete", "namespace", "--wait=true", "kubeflow")
    stack.kubectl("delete", "pv", "--all", "--wait=false")
    stack.kubectl("delete", "storageclass", "kubeflow-retain")


def apply(stack: Standing, folder: Path, *bodies: dict[str, Any]) -> None:
    file = folder / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}))
    stack.kubectl("apply", "-f", str(file))


def bound(stack: Standing, name: str) -> str:
    """Return the volume of a claim that is Bound; empty otherwise."""
    found = {each["metadata"]["name"]: each for each in stack.get("persistentvolumeclaims", "-n", "kubeflow")["items"]}
    here = found.get(name, {})
    return str(here["spec"]["volumeName"]) if here.get("status", {}).get("phase") == "Bound" else ""


THIEF = """#!/bin/sh
{kubectl} "$@" || exit
[ "$1 $2" = "patch pv" ] || exit 0
{kubectl} apply -f {folder}/objects.json >&2
{kubectl} wait -n kubeflow pvc/another --for=jsonpath='{{.status.phase}}'=Bound --timeout=60s >&2
"""
"""A kubectl that lets another claim of the class take a disk as soon as one is to be had."""


def lines(stack: Standing, volume: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the page's lines for this volume."""
    thief = folder / "kubectl"
    thief.write_text(THIEF.format(kubectl=ensure(["kubectl"], print)["kubectl"], folder=folder))
    thief.chmod(0o755)
    kubeconfig = str(stack._plane().admin_kubeconfig)
    settings = {**os.environ, "KUBECONFIG": kubeconfig, "PATH": f"{folder}:{os.environ['PATH']}"}
    text = LINES.replace("THE-OLD-ONE", volume)
    return subprocess.run(["bash", "-c", text], env=settings, capture_output=True, text=True, check=False, timeout=120)


def near(stack: Standing, volume: str) -> dict[str, str]:
    """Labels of the nodes that a volume can be attached to."""
    (found,) = (each for each in stack.get("persistentvolumes")["items"] if each["metadata"]["name"] == volume)
    (term,) = found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    return {each["key"]: each["values"][0] for each in term["matchExpressions"]}


def test_a_released_disk_comes_back_to_its_claim_and_to_no_other(tidy: Standing, tmp_path: Path) -> None:
    old = bound(tidy, "mysql-pv-claim")
    tidy.kubectl("delete", "deployment,pvc", "--all", "-n", "kubeflow")
    apply(tidy, tmp_path, claim("mysql-pv-claim"), database("mysql", "mysql-pv-claim"))
    assert until(lambda: bound(tidy, "mysql-pv-claim") not in ("", old))
    empty = bound(tidy, "mysql-pv-claim")

    # A name that is no volume's ends it before anything is scaled or deleted.
    assert lines(tidy, "no-such-volume", tmp_path).returncode != 0
    assert bound(tidy, "mysql-pv-claim") == empty

    thief = {
        "kind": "List",
        "apiVersion": "v1",
        "items": [claim("another"), database("another", "another", near(tidy, old))],
    }
    (tmp_path / "objects.json").write_text(json.dumps(thief))
    done = lines(tidy, old, tmp_path)
    assert done.returncode == 0, done.stderr
    assert until(lambda: bound(tidy, "mysql-pv-claim") == old)
    assert bound(tidy, "another") not in ("", old, empty)
