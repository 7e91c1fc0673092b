"""GKE's own objects in a cluster, log-in, and scale-up of its pools, on a real API server."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from sandbox.autoscaler.loop import Loop, Settings
from sandbox.cluster import plugins
from sandbox.cluster.clusters import LocalClusters, plane
from sandbox.cluster.control_plane import ControlPlane
from sandbox.gcp import workstation
from sandbox.gcp.auth_plugin import NAME
from sandbox.kubernetes import node_objects as kubernetes_nodes
from sandbox.kubernetes.client import ApiError, Client
from sandbox.tests.gke_pools import CLUSTER, KEY, Object, Pools, a_class, a_pod
from sandbox.tests.recording_server import kubeconfig
from sandbox.tests.stack import until
from sandbox.tests.stateful import claim, stateful_set
from sandbox.toolchain.programs import ensure

pytestmark = pytest.mark.engine

ZONE = "topology.kubernetes.io/zone"
ROOMY = {"cpu": "4", "memory": "16Gi", "pods": "30"}


def unstarted(folder: Path) -> LocalClusters:
    programs = ensure(("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl"), print)
    return LocalClusters(folder / "clusters", "gcp", lambda: programs, print, folder / "gcp.json")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalClusters]:
    clusters = unstarted(tmp_path_factory.mktemp("gke"))
    try:
        clusters.start(CLUSTER, "ml", "1.36.4-gke.1767000", "10.0.0.0/20")
        yield clusters
    finally:
        clusters.stop(CLUSTER)


@pytest.fixture(scope="module")
def local(runtime: LocalClusters) -> ControlPlane:
    return plane(runtime.folder(CLUSTER))


@pytest.fixture
def client(local: ControlPlane) -> Iterator[Client]:
    with kubernetes_nodes.opened(local.admin_kubeconfig) as opened:
        yield opened


RULES = [{"nodepools": ["l4"]}, {"nodepools": ["l4od", "l4big"]}]


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (a_class("right", priorities=RULES, whenUnsatisfiable="DoNotScaleUp"), None),
        (a_class("machines", priorities=[{"machineFamily": "n2", "spot": True}]), None),
        (a_class("migrates", priorities=RULES, activeMigration={"optimizeRulePriority": True}), None),
        (a_class("none"), "spec.priorities: Required value"),
        (a_class("empty", priorities=[]), "should have at least 1 items"),
        (a_class("emptypools", priorities=[{"nodepools": []}]), "should have at least 1 items"),
        (a_class("both", priorities=[{"nodepools": ["l4"], "spot": True}]), "nodepools cannot be used with other keys"),
        (a_class("otherwise", priorities=RULES, whenUnsatisfiable="Wait"), 'Unsupported value: "Wait"'),
        (a_class("unknown", priorities=RULES, description="for training"), "field not declared in schema"),
        (a_class("unknownkey", priorities=[{"nodePools": ["l4"]}]), "field not declared in schema"),
        (a_class("gke-spot", priorities=RULES), "cannot begin with gke or autopilot"),
    ],
    ids=lambda value: value["metadata"]["name"] if isinstance(value, dict) else "",
)
def test_compute_classes_are_checked(client: Client, body: Object, refusal: str | None) -> None:
    if refusal is None:
        assert client.apply(body, "test")["spec"] == body["spec"]
        client.delete(body["apiVersion"], "ComputeClass", body["metadata"]["name"])
    else:
        with pytest.raises(ApiError, match=refusal.replace("(", r"\(")):
            client.apply(body, "test")


def test_pods_that_ask_for_a_class_tolerate_its_taint_and_no_other(client: Client) -> None:
    def tolerations(name: str, **spec: Any) -> list[Object]:
        admitted: list[Object] = client.apply(a_pod(name, **spec), "test", dry_run=True)["spec"]["tolerations"]
        return admitted

    spot = {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    added = {"key": KEY, "operator": "Equal", "value": "kubeflow-spot", "effect": "NoSchedule"}
    asking = {"nodeSelector": {KEY: "kubeflow-spot"}}
    # A policy takes effect a moment after its creation.
    assert until(lambda: added in tolerations("asks", **asking))
    for name, spec, expected in (
        ("asks", asking, [added]),
        ("asks-and-more", {**asking, "tolerations": [spot]}, [spot, added]),
        ("tolerates", {**asking, "tolerations": [added]}, [added]),
        ("asks-not", {"nodeSelector": {"a": "b"}}, []),
    ):
        own = [each for each in tolerations(name, **spec) if not each["key"].startswith("node.kubernetes.io/")]
        assert own == expected


def test_nodes_have_their_version_and_the_built_in_plugin_runs_on_the_right_ones(
    runtime: LocalClusters, client: Client
) -> None:
    def a_node(name: str, **labels: str) -> Object:
        resources = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": [taint]},
            "status": {
                "capacity": resources,
                "allocatable": resources,
                "nodeInfo": {"kubeletVersion": "v1.35.7-gke.1240000"},
            },
        }

    accelerator = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    away = {"gke-no-default-nvidia-gpu-device-plugin": "true"}
    wanted = [a_node("cpu"), a_node("gpu", **accelerator), a_node("own", **accelerator, **away)]
    for _ in range(2):
        runtime.apply_nodes(CLUSTER, wanted)
        nodes = [node["status"] for node in client.list("v1", "Node")]
        assert {status["nodeInfo"]["kubeletVersion"] for status in nodes} == {"v1.35.7-gke.1240000"}
        assert {status["capacity"]["cpu"] for status in nodes} == {"4"}

    def places() -> list[str]:
        pods = client.list("v1", "Pod", namespace="kube-system", label_selector="k8s-app=nvidia-gpu-device-plugin")
        return [pod["spec"].get("nodeName", "") for pod in pods]

    assert until(lambda: places() == ["gpu"])


def test_a_user_logs_in_with_the_program_on_the_path(
    runtime: LocalClusters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = runtime.endpoint(CLUSTER)
    login = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": NAME, "provideClusterInfo": True}
    login |= {"interactiveMode": "IfAvailable", "installHint": "Install it"}

    environment = dict(os.environ)
    workstation.furnish(tmp_path / "bin", runtime.folder(CLUSTER).parent, environment)
    for name in ("PATH", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, environment[name])
    programs = ensure(["kubectl"], print)
    # By address, with the cluster's authority, and by a name with a publicly trusted certificate.
    for number, cluster in enumerate(({"certificate-authority-data": endpoint.certificate}, {})):
        text = kubeconfig(f"https://{endpoint.address}", cluster, exec=login)
        own = tmp_path / f"{number}.kubeconfig"
        own.write_text(text)
        command = [str(programs["kubectl"]), f"--kubeconfig={own}", "get", "namespace", "kube-system", "-o", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metadata"]["name"] == "kube-system"
        python = Client(text)
        try:
            assert python.get("v1", "Namespace", "kube-system")
        finally:
            python.close()


@pytest.fixture
def pools(runtime: LocalClusters, local: ControlPlane) -> Iterator[Pools]:
    """Pools with an autoscaler of their own: the cluster's process knows no pool here."""
    emulated = Pools(runtime)
    emulated.apply_nodes(CLUSTER)
    port = int(local.address().rpartition(":")[2])
    # Ten minutes take five seconds here.
    loop = Loop(Settings(local.directory, port, "gcp", local.directory / "none.json", CLUSTER, 120), lambda: emulated)
    thread = Thread(target=loop.run)
    thread.start()
    yield emulated
    loop.stopping.set()
    thread.join()


def test_gpu_pods_scale_up_the_pools_of_their_class_in_its_order(
    pools: Pools, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [{"nodepools": ["l4"]}, {"nodepools": ["l4od"]}]
    client.apply(a_class("kubeflow-spot", priorities=rules, whenUnsatisfiable="DoNotScaleUp"), "test")
    resources = {"requests": {"cpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    spot = {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    for number in range(3):
        spec = a_pod(f"train-{number}", nodeSelector={KEY: "kubeflow-spot"}, tolerations=[spot])
        spec["spec"]["containers"][0]["resources"] = resources
        client.apply(spec, "test")
    client.apply(a_pod("lost", nodeSelector={KEY: "nobody"}), "test")

    def running() -> Object:
        listed = client.list("v1", "Pod", namespace="default")
        return {pod["metadata"]["name"]: pod["status"]["phase"] for pod in listed}

    assert until(lambda: running() == dict.fromkeys(("train-0", "train-1", "train-2"), "Running") | {"lost": "Pending"})
    assert pools.sizes() == {"general": 1, "l4": 2, "l4od": 1}
    printed = capsys.readouterr().out
    assert re.search(r"pool l4: 0 -> \d nodes for .*: ComputeClass kubeflow-spot, rule 1 of 2\n", printed)
    assert re.search(r"pool l4od: 0 -> 1 nodes for .*: ComputeClass kubeflow-spot, rule 2 of 2\n", printed)
    assert "no pool can grow for 1 pod (default/lost): there is no ComputeClass nobody\n" in printed
    assert len(re.findall(r"nvidia.com/gpu 1 \(kube-system/nvidia-gpu-device-plugin-\w+\)\n", printed)) == 3
    for name in running():
        client.delete("v1", "Pod", name, "default")
    # The last node of the cluster stays, also in a pool with a minimum of 0.
    assert until(lambda: sum(pools.sizes().values()) == 1, 60)


def test_the_disks_of_a_datastore_are_in_the_zones_of_its_pods_and_deleted_with_it(
    runtime: LocalClusters, client: Client, local: ControlPlane
) -> None:
    zonal = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": zone, "labels": dict.fromkeys(("topology.gke.io/zone", ZONE), zone)},
            "status": {"capacity": ROOMY, "allocatable": ROOMY},
        }
        for zone in ("europe-west4-a", "europe-west4-b")
    ]
    runtime.apply_nodes(CLUSTER, zonal)
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    datastore = stateful_set("minio", 2)
    datastore["spec"]["template"]["spec"]["topologySpreadConstraints"] = [
        {**spread, "labelSelector": {"matchLabels": {"app": "minio"}}}
    ]
    client.apply(datastore, "test")
    client.apply(claim("old", storageClassName="standard"), "test")

    def pods() -> list[Object]:
        listed = client.list("v1", "Pod", namespace="default")
        return [pod for pod in listed if pod["status"].get("phase") == "Running"]

    def volumes() -> dict[str, str]:
        """Return the zones of volumes by the names of their claims."""
        specs = [volume["spec"] for volume in client.list("v1", "PersistentVolume")]
        terms = [spec["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"] for spec in specs]
        return {spec["claimRef"]["name"]: term[0]["values"][0] for spec, term in zip(specs, terms, strict=True)}

    assert until(lambda: len(pods()) == 2)
    zone_of_claim = {f"data-{pod['metadata']['name']}": pod["spec"]["nodeName"] for pod in pods()}
    assert set(zone_of_claim.values()) == {"europe-west4-a", "europe-west4-b"}
    # A class that does not wait for a pod may use any zone.
    assert until(lambda: volumes() == {**zone_of_claim, "old": "europe-west4-a"})

    # A class changed by hand stays so with the next `up`, and a deleted one comes back.
    changed = client.get("storage.k8s.io/v1", "StorageClass", "standard-rwo") or {}
    changed["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "false"}
    del changed["metadata"]["managedFields"]
    client.apply(changed, "test", force=True)
    client.delete("storage.k8s.io/v1", "StorageClass", "premium-rwo")
    plugins.install("gcp", local.admin_kubeconfig, "1.36.4-gke.1767000")
    classes = {body["metadata"]["name"]: body["metadata"] for body in client.list("storage.k8s.io/v1", "StorageClass")}
    assert classes.keys() == {"premium-rwo", "standard", "standard-rwo"}
    assert classes["standard-rwo"]["annotations"] == changed["metadata"]["annotations"]

    client.delete("apps/v1", "StatefulSet", "minio", "default")
    client.delete("v1", "PersistentVolumeClaim", "old", "default")
    assert until(lambda: volumes() == {})


def test_below_1_36_the_autoscaler_adds_the_toleration_instead_of_a_policy(tmp_path: Path) -> None:
    clusters = unstarted(tmp_path)
    try:
        clusters.start(CLUSTER, "ml", "1.35.7-gke.1240000", "10.0.0.0/20")
        with kubernetes_nodes.opened(plane(clusters.folder(CLUSTER)).admin_kubeconfig) as client:
            client.apply(a_class("right", priorities=RULES), "test")
            asks = a_pod("asks", nodeSelector={KEY: "right"})
            assert KEY not in tolerated(client.apply(asks, "test", dry_run=True))
            before = tolerated(client.apply(asks, "test"))
            assert until(lambda: tolerated(client.get("v1", "Pod", "asks", "default") or asks) == [*before, KEY])
    finally:
        clusters.stop(CLUSTER)


def tolerated(pod: Object) -> list[str]:
    return [toleration["key"] for toleration in pod["spec"].get("tolerations", ())]
