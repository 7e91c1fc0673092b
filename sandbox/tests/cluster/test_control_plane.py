"""A real control plane: started, used, broken, restarted and stopped."""

import json
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil
import pytest
import yaml

from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import read_ports
from sandbox.cluster.control_plane.start import start
from sandbox.tests import tally
from sandbox.tests.reaper import running
from sandbox.tests.stack import until
from sandbox.toolchain.programs import ensure

NAMES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok", "kubectl")
engine = pytest.mark.engine


class Cluster:
    """A control plane and kubectl for it."""

    def __init__(self, plane: ControlPlane, programs: Mapping[str, Path]) -> None:
        self.plane, self.programs = plane, programs

    def kubectl(self, *arguments: str, kubeconfig: Path | None = None, **objects: object) -> Any:
        command = [str(self.programs["kubectl"]), f"--kubeconfig={kubeconfig or self.plane.admin_kubeconfig}"]
        text = json.dumps(objects["apply"]) if objects else None
        done = subprocess.run([*command, *arguments], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", "-o", "json", *arguments))

    def create(self, **manifest: Any) -> None:
        self.kubectl("create", "-f", "-", apply=manifest)

    def node(self, name: str, **labels: str) -> None:
        capacity = {"cpu": "4", "memory": "16Gi", "pods": "30", "nvidia.com/gpu": "1"}
        status = {"capacity": capacity, "allocatable": capacity | {"cpu": "3800m"}}
        self.create(apiVersion="v1", kind="Node", metadata={"name": name, "labels": labels}, status=status)

    def conditions(self, *resource: str) -> dict[str, str]:
        conditions = self.get(*resource)["status"].get("conditions", [])
        return {condition["type"]: condition["status"] for condition in conditions}

    def serves(self, resource: str) -> bool:
        served = json.loads(self.kubectl("get", "--raw", "/apis/admissionregistration.k8s.io/v1"))
        return resource in {each["name"] for each in served["resources"]}

    def pids(self) -> list[int]:
        return [live.pid for process in self.plane.processes.values() if (live := process.find())]


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    return ensure(NAMES, print)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    plane = ControlPlane(tmp_path_factory.mktemp("planes") / "dev", version="1.36", cloud="azure")
    yield plane
    plane.stop()


@pytest.fixture
def cluster(plane: ControlPlane, programs: dict[str, Path]) -> Cluster:
    """Return the running control plane, also after a test that stopped it."""
    start(plane, programs, tally.report)
    return Cluster(plane, programs)


def pod(image: str = "image", **spec: object) -> dict[str, object]:
    return {"containers": [{"name": "main", "image": image}], **spec}


@engine
def test_a_node_keeps_the_values_of_the_cloud_and_becomes_ready(cluster: Cluster) -> None:
    cluster.node("kept")
    assert until(lambda: cluster.conditions("node", "kept").get("Ready") == "True", 10)
    assert until(lambda: not cluster.get("node", "kept")["spec"].get("taints"))
    status = cluster.get("node", "kept")["status"]
    assert (status["capacity"]["cpu"], status["allocatable"]["cpu"]) == ("4", "3800m")
    assert status["nodeInfo"]["kubeletVersion"].startswith("v1.36.")
    cluster.kubectl("delete", "node", "kept")


@engine
def test_pods_of_every_kind_run_end_and_are_deleted(cluster: Cluster) -> None:
    """One pod of a DaemonSet, one of a Job, one with a GPU: scheduler, controllers, admission and kwok together."""
    # Only on its own node: another test may have left a pod.
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": pod(nodeSelector={"pool": "work"})}
    selector = {"matchLabels": {"app": "agent"}}
    spec = {"selector": selector, "template": template}
    cluster.create(
        apiVersion="apps/v1", kind="DaemonSet", metadata={"name": "agent", "namespace": "kube-system"}, spec=spec
    )
    cluster.node("worker", pool="work")  # After the DaemonSet, whose pod is then bound before the node has an address.
    # Workers that would wait for each other: the node has room for two of three.
    half = {"name": "main", "image": "image", "resources": {"requests": {"cpu": "1500m"}}}
    worker = {"spec": {"restartPolicy": "Never", "nodeSelector": {"pool": "work"}, "containers": [half]}}
    gang = {"parallelism": 3, "completions": 3, "template": worker}
    cluster.create(apiVersion="batch/v1", kind="Job", metadata={"name": "gang"}, spec=gang)
    assert until(lambda: cluster.get("job", "gang")["status"].get("ready") == 2)
    short = {"metadata": {"annotations": {"kubeflow-spot.dev/run-for": "2s"}}, "spec": pod(restartPolicy="Never")}
    cluster.create(apiVersion="batch/v1", kind="Job", metadata={"name": "train"}, spec={"template": short})
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    gpu = {
        "containers": [{"name": "main", "image": "image", **limits}],
        "initContainers": [{"name": "i", "image": "i"}],
    }
    cluster.create(apiVersion="v1", kind="Pod", metadata={"name": "gpu"}, spec=gpu)

    assert until(lambda: cluster.conditions("pod", "gpu").get("Ready") == "True")
    running = cluster.get("pod", "gpu")
    assert running["status"]["phase"] == "Running"
    # ExtendedResourceToleration, an admission plugin that is off by default.
    assert "nvidia.com/gpu" in [toleration["key"] for toleration in running["spec"]["tolerations"]]
    assert until(lambda: cluster.get("-n", "kube-system", "daemonset", "agent")["status"]["numberReady"] == 1)
    (agent,) = cluster.get("-n", "kube-system", "pods")["items"]
    assert agent["status"]["hostIP"] == cluster.get("node", "worker")["status"]["addresses"][0]["address"]
    assert until(lambda: cluster.conditions("job", "train").get("Complete") == "True")
    # They have not ended meanwhile, and the third still waits for them.
    status = cluster.get("job", "gang")["status"]
    assert (status["ready"], status["active"]) == (2, 3)
    cluster.kubectl("delete", "job", "gang", "--timeout=10s")
    cluster.kubectl("delete", "pod", "gpu", "--timeout=10s")
    cluster.kubectl("delete", "job", "train", "--timeout=10s")
    prefixes = ("gpu", "train-", "gang-")
    assert until(
        lambda: not any(each["metadata"]["name"].startswith(prefixes) for each in cluster.get("pods")["items"])
    )


@engine
def test_the_users_kubeconfig_gives_access_and_a_missing_token_does_not(cluster: Cluster, tmp_path: Path) -> None:
    document = yaml.safe_load(cluster.plane.user_kubeconfig())
    assert document["current-context"] == "dev"
    # The engine shows its state to every user of the machine.
    (token_file,) = document["users"][0]["user"].values()
    assert document["users"][0]["user"] == {"tokenFile": token_file}
    assert Path(token_file).read_text() == cluster.plane.token() not in cluster.plane.user_kubeconfig()
    assert Path(token_file).stat().st_mode & 0o077 == 0
    own = tmp_path / "kubeconfig"
    own.write_text(cluster.plane.user_kubeconfig())
    assert cluster.kubectl("auth", "can-i", "*", "*", "--all-namespaces", kubeconfig=own).strip() == "yes"
    document["users"][0]["user"] = {"token": "wrong"}
    own.write_text(yaml.safe_dump(document))
    with pytest.raises(AssertionError, match=r"Unauthorized|must be logged in"):
        cluster.kubectl("get", "nodes", kubeconfig=own)
    assert cluster.plane.admin_kubeconfig.stat().st_mode & 0o077 == 0


def stranger_status(port: int, path: str) -> int | None:
    """Return the status of an answer to a client without a certificate; None without an answer."""
    connection = HTTPSConnection("127.0.0.1", port, timeout=5, context=ssl._create_unverified_context())
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


@engine
def test_the_ports_of_a_control_plane_refuse_strangers(cluster: Cluster) -> None:
    ports = read_ports(cluster.plane.directory / "ports.json")
    paths = {"etcd": "/version", "etcd-peer": "/members", "kube-apiserver": "/api"}
    paths |= dict.fromkeys(("kube-scheduler", "kube-controller-manager"), "/metrics")
    answers = {name: stranger_status(ports[name], path) for name, path in paths.items()}
    assert answers.pop("kube-apiserver") == 401
    assert answers.pop("etcd") is answers.pop("etcd-peer") is None
    assert set(answers.values()) <= {401, 403}
    with pytest.raises((OSError, HTTPException)):
        # Nor without TLS.
        assert not urlopen(f"http://127.0.0.1:{ports['etcd-peer']}/members").read()


@engine
@pytest.mark.parametrize("killed", [("etcd", "kube-apiserver"), ("kwok",), NAMES[:5]], ids="+".join)
def test_a_start_restores_killed_processes_with_their_data(cluster: Cluster, killed: tuple[str, ...]) -> None:
    name = f"kept-{len(killed)}"
    cluster.create(apiVersion="v1", kind="ConfigMap", metadata={"name": name}, data={"a": "b"})
    cluster.node(f"node-{name}")
    assert until(lambda: cluster.conditions("node", f"node-{name}").get("Ready") == "True")
    server = yaml.safe_load(cluster.plane.user_kubeconfig())["clusters"][0]["cluster"]["server"]
    untouched = {n: p.find().pid for n, p in cluster.plane.processes.items() if n not in killed}  # type: ignore[union-attr]
    for name_of_killed in killed:
        victim = cluster.plane.processes[name_of_killed].find()
        assert victim
        os.kill(victim.pid, signal.SIGKILL)
    assert until(lambda: not cluster.plane.running())
    # Another command, which launched none of the processes.
    again = Cluster(ControlPlane(cluster.plane.directory, version="1.36", cloud="azure"), cluster.programs)
    lines: list[str] = []
    start(again.plane, cluster.programs, lines.append)
    assert again.plane.running()
    assert {n: p.find().pid for n, p in again.plane.processes.items() if n not in killed} == untouched  # type: ignore[union-attr]
    assert again.get("configmap", name)["data"] == {"a": "b"}
    assert yaml.safe_load(again.plane.user_kubeconfig())["clusters"][0]["cluster"]["server"] == server
    # The new kwok serves the old nodes: a pod runs on one of them, long before a dead kwok's lease would expire.
    again.create(apiVersion="v1", kind="Pod", metadata={"name": name}, spec=pod(nodeName=f"node-{name}"))
    assert until(lambda: again.conditions("pod", name).get("Ready") == "True", 15)
    start(again.plane, cluster.programs, lines.append)
    assert len(lines) == 2, "a second start had something to do"


@engine
def test_mutating_admission_policies_exist_from_1_36_on(cluster: Cluster) -> None:
    """A cluster moves a minor version down and up again and keeps its data: an upgrade is emulated in the same way."""
    assert cluster.serves("mutatingadmissionpolicies")
    older = Cluster(ControlPlane(cluster.plane.directory, version="1.35.2", cloud="azure"), cluster.programs)
    start(older.plane, cluster.programs, tally.report)
    assert not older.serves("mutatingadmissionpolicies")
    assert older.serves("validatingadmissionpolicies")
    older.node("older")
    assert until(lambda: older.get("node", "older")["status"]["nodeInfo"]["kubeletVersion"])
    assert older.get("node", "older")["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.2"
    start(cluster.plane, cluster.programs, tally.report)
    assert cluster.serves("mutatingadmissionpolicies")


@engine
def test_stop_ends_every_process_and_is_repeatable(cluster: Cluster) -> None:
    pids = cluster.pids()
    assert len(pids) == 5
    assert cluster.plane.memory() < 1.1e9
    listening = {
        each.laddr.ip for pid in pids for each in psutil.Process(pid).net_connections() if each.status == "LISTEN"
    }
    assert listening == {"127.0.0.1"}
    cluster.plane.stop()
    cluster.plane.stop()
    assert not cluster.plane.running()
    assert not any(running(pid) for pid in pids)
    directory = str(cluster.plane.directory)
    assert not [each for each in psutil.process_iter(["cmdline"]) if directory in str(each.info["cmdline"])]


@engine
def test_a_port_taken_meanwhile_is_replaced(cluster: Cluster) -> None:
    """Use the stopped cluster of the test before, or stop it."""
    cluster.plane.stop()
    taken = read_ports(cluster.plane.directory / "ports.json")["kube-apiserver"]
    lines: list[str] = []
    with socket.create_server(("127.0.0.1", taken)):
        start(cluster.plane, cluster.programs, lines.append)
    assert f"port {taken} of kube-apiserver is taken by" in lines[0]
    assert cluster.get("namespace", "kube-system")


@engine
def test_a_port_taken_during_the_start_is_replaced(cluster: Cluster) -> None:
    cluster.plane.stop()
    lines: list[str] = []
    with ExitStack() as others:

        def notify(line: str) -> None:
            lines.append(line)
            if "starting" in line and len(lines) == 1:
                port = read_ports(cluster.plane.directory / "ports.json")["kwok"]
                others.enter_context(socket.create_server(("127.0.0.1", port)))

        start(cluster.plane, cluster.programs, notify)
    assert [line for line in lines if " of kwok is taken by" in line]
    assert cluster.get("namespace", "kube-system")


@engine
def test_a_process_that_dies_at_start_is_named(programs: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "etcd"
    broken.write_text("#!/bin/sh\necho cannot open the database\nexit 3\n")
    broken.chmod(0o755)
    plane = ControlPlane(tmp_path / "dev", version="1.36", cloud="gcp")
    with pytest.raises(SandboxError, match=r"(?s)etcd ended with exit code 3;.*cannot open the database"):
        start(plane, programs | {"etcd": broken}, print)
    assert not any(process.find() for process in plane.processes.values())
