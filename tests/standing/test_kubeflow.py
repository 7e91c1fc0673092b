"""`sandbox kubeflow` on a stack that is up, with the small tree of ours that stands for Kubeflow's manifests."""

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.tests.stack import Standing
from sandbox.tests.subjects import Subject
from sandbox.toolchain.programs import ensure
from tests.overlay.test_own_secrets import MAKE, PUBLISHED
from tests.overlay.tree import MANIFESTS, OVERLAY

pytestmark = pytest.mark.engine

CLOUDS = {"dev": "azure", "staging": "gcp"}
CLUSTERED = (
    *("crd/clustertrainingruntimes.trainer.kubeflow.org", "daemonset/istio-cni-node"),
    *("storageclass/kubeflow-retain", "storageclass/kubeflow-workspace"),
    *("mutatingadmissionpolicy/kubeflow-notebooks-stay", "mutatingadmissionpolicybinding/kubeflow-notebooks-stay"),
)
"""What no namespace of the tree holds."""
SPACES = (
    "auth",
    "cert-manager",
    "istio-system",
    "knative-serving",
    "kubeflow",
    "kubeflow-system",
    "oauth2-proxy",
    "team-a",
)


@pytest.fixture
def tidy(stack: Standing) -> Iterator[Standing]:
    """Yield the stack; remove the installation afterwards."""
    yield stack
    stack.kubectl("delete", "--ignore-not-found", "--wait=false", "-n", "kube-system", *CLUSTERED)
    stack.kubectl("delete", "namespace", "--wait=true", *SPACES)
    stack.kubectl("delete", "pv", "--all", "--wait=false")


def test_kubeflow_lands_on_on_demand_cpu_nodes_with_its_volumes_bound_and_notebooks_stay(
    tidy: Standing, subject: Subject
) -> None:
    # The chapter's lines; then again, with one side of the login lost.
    lines(tidy)
    first = secrets(tidy)
    tidy.kubectl("delete", "secret", "-n", "oauth2-proxy", "oauth2-proxy")
    lines(tidy)
    own = ("secret", "generic", "dex-passwords", "-n", "auth", "--from-literal=DEX_USER_PASSWORD=a hash of mine")
    tidy.kubectl("create", *own)
    before = secrets(tidy)
    assert before.keys() == PUBLISHED.keys()
    assert {name for name in first if before[name] != first[name]} == {"oauth2-proxy/oauth2-proxy"}
    options = ("--manifests", str(MANIFESTS), "--kustomization", str(OVERLAY / CLOUDS[subject.name]), "--json")
    report = json.loads(tidy.run("kubeflow", *options).stdout)
    assert report["faults"] == []
    assert report["ok"] is True
    measured = {verdict["name"]: verdict["measured"] for verdict in report["verdicts"]}
    assert measured["Pods running"] == "8 of 8"
    assert measured["Datastores bound"] == "3 of 3 claims, class kubeflow-retain"
    placed = {pool["name"]: pool["pods"] for pool in report["pools"]}
    assert sum(placed.values()) == 8
    assert not any(placed.get(pool) for pool in (subject.spot, subject.twin))

    # What is applied again and again writes over none of them.
    assert measured["Secrets with a public value"] == "none"
    assert secrets(tidy) == before
    assert before["auth/dex-oidc-client"]["OIDC_CLIENT_SECRET"] == before["oauth2-proxy/oauth2-proxy"]["client-secret"]

    volumes = tidy.get("persistentvolumes")["items"]
    assert {volume["spec"]["persistentVolumeReclaimPolicy"] for volume in volumes} == {"Retain"}
    form = next(
        item["data"]["spawner_ui_config.yaml"]
        for item in tidy.get("configmaps", "-n", "kubeflow")["items"]
        if item["metadata"]["name"].startswith("jupyter-web-app-config-")
    )
    assert "gpu-on-demand" in form
    assert subject.taint[0] not in form

    # A webhook of the tree would refuse every pod, were it in force.
    annotations = notebook(tidy, {})["metadata"]["annotations"]
    assert annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"
    said = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    assert notebook(tidy, said)["metadata"]["annotations"].items() >= said.items()


def lines(stack: Standing) -> None:
    """Run the chapter's lines that make the Secrets."""
    folder = ensure(["kubectl"], print)["kubectl"].parent
    settings = {
        **os.environ,
        "KUBECONFIG": str(stack._plane().admin_kubeconfig),
        "PATH": f"{folder}:{os.environ['PATH']}",
    }
    done = subprocess.run(["bash", "-c", MAKE], env=settings, capture_output=True, text=True, check=False, timeout=120)
    wrong = [line for line in done.stderr.splitlines() if "already exists" not in line]
    assert wrong == []


def secrets(stack: Standing) -> dict[str, dict[str, str]]:
    """Return the data of the Secrets that the manifests would bring, by namespace and name."""
    live = stack.get("secrets", "-A")["items"]
    named = {f"{each['metadata']['namespace']}/{each['metadata']['name']}": each.get("data", {}) for each in live}
    return {name: data for name, data in named.items() if name in PUBLISHED}


def notebook(stack: Standing, annotations: dict[str, str]) -> Any:
    """Return a notebook's pod in a profile, as the API server would store it."""
    profile = {"app.kubernetes.io/part-of": "kubeflow-profile"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", "labels": profile}}
    metadata = {"name": "nb-0", "namespace": "team-a", "labels": {"notebook-name": "nb"}, "annotations": annotations}
    containers = [{"name": "nb", "image": "example.com/notebook:1"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}
    files = {name: stack.project.parent / f"{name}.json" for name in ("space", "pod")}
    files["space"].write_text(json.dumps(space))
    files["pod"].write_text(json.dumps(pod))
    stack.kubectl("apply", "-f", str(files["space"]))
    return json.loads(stack.kubectl("create", "--dry-run=server", "-o", "json", "-f", str(files["pod"])))
