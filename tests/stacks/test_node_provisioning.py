"""Node auto-provisioning on a real API server: Karpenter with Azure's provider, over the emulated Azure.

Its one hour without spot after a refusal passes sixty times faster.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.spot_nodes import Bound
from sandbox.cluster import clusters
from sandbox.cluster.clusters import CLOCK_FACTOR, LocalClusters
from sandbox.cluster.control_plane.plane import PROVISIONER
from sandbox.cluster.control_plane.process import Process
from sandbox.kubernetes import node_objects
from sandbox.kubernetes.client import Client
from sandbox.tests.azure.conftest import CLUSTER, CLUSTER_ID, Account
from sandbox.tests.stack import eventually, until
from sandbox.toolchain.programs import ensure

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.tools]

T4 = "Standard_NC4as_T4_v3"
FACTOR = 60
BACK_OFF = 3600 / FACTOR
"""Seconds for which Karpenter asks for no spot machine after a refusal."""
KEPT = {"karpenter.sh/do-not-disrupt": "true"}
TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}

Object = dict[str, Any]


def node_class() -> Object:
    spec = {"imageFamily": "Ubuntu", "osDiskSizeGB": 128, "maxPods": 110}
    return {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "t4"},
        "spec": spec,
    }


def node_pool(capacity: str, weight: int) -> Object:
    """Return a NodePool of T4 machines of one capacity type, from which work goes as soon as that is cheaper."""
    requirements = {
        "node.kubernetes.io/instance-type": T4,
        "karpenter.sh/capacity-type": capacity,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    spec = {
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "t4"},
        "requirements": [{"key": key, "operator": "In", "values": [value]} for key, value in requirements.items()],
        "taints": [TAINT] if capacity == "spot" else [],
        "expireAfter": "Never",
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": f"t4-{capacity}"},
        "spec": {
            "weight": weight,
            "template": {"spec": spec},
            "limits": {"cpu": "64"},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "10s",
                "budgets": [{"nodes": "100%"}],
            },
        },
    }


def work(name: str, annotations: dict[str, str] | None = None) -> Object:
    """Return a Deployment of one pod, which fills a machine."""
    labels = {"work": name}
    container = {"name": "main", "image": "example.com/train:1", "resources": {"requests": {"cpu": "3"}}}
    pod = {
        "containers": [container],
        "tolerations": [{"key": TAINT["key"], "operator": "Exists"}],
        # Not on the system pool.
        "nodeSelector": {"node.kubernetes.io/instance-type": T4},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels, "annotations": annotations or {}}, "spec": pod},
        },
    }


class Provisioned:
    """A cluster with node auto-provisioning, its cloud, and a client."""

    def __init__(self, account: Account, folder: Path, client: Client) -> None:
        self.account, self.folder, self.client = account, folder, client

    def running(self, name: str) -> Object | None:
        """Return the running pod of a Deployment; None without one."""
        pods = self.client.list("v1", "Pod", "default", f"work={name}")
        live = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        return next((pod for pod in live if pod["status"].get("phase") == "Running"), None)

    def capacity_of(self, name: str) -> str:
        """Return the capacity type of the node on which a Deployment's pod runs; empty while none does."""
        pod = self.running(name)
        node = self.client.get("v1", "Node", pod["spec"]["nodeName"]) if pod else None
        return str(node["metadata"]["labels"].get("karpenter.sh/capacity-type", "")) if node else ""

    def run(self, name: str, capacity: str, seconds: float, annotations: dict[str, str] | None = None) -> float:
        """Run a Deployment; return the seconds until its pod runs on a capacity type."""
        began = time.monotonic()
        self.client.create(work(name, annotations))
        eventually(lambda: self.capacity_of(name) == capacity, f"{name} runs on {capacity}", seconds, 0.2)
        return time.monotonic() - began

    def remove(self, *names: str) -> None:
        for name in names:
            self.client.delete("apps/v1", "Deployment", name, "default")


@pytest.fixture(scope="module")
def provisioned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provisioned]:
    folder = tmp_path_factory.mktemp("nap")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOCK_FACTOR, str(FACTOR))
        account = Account(folder / "azure.json")
        programs = ensure(clusters.PROGRAMS, print)
        runtime = LocalClusters(folder / "clusters", "azure", lambda: programs, print, account.state_file)
        account.runtime = runtime  # type: ignore[assignment]
        account.cloud._runtime = runtime
        try:
            network = {"networkPlugin": "azure", "networkPluginMode": "overlay"}
            account.cluster(nodeProvisioningProfile={"mode": "Auto"}, networkProfile=network)
            plane = clusters.plane(runtime.folder(CLUSTER_ID))
            with node_objects.opened(plane.admin_kubeconfig) as client:
                for body in (node_class(), node_pool("spot", 20), node_pool("on-demand", 10)):
                    client.create(body)
                yield Provisioned(account, plane.directory, client)
        finally:
            runtime.stop(CLUSTER_ID.lower())


def test_work_goes_to_spot_and_a_machine_without_work_goes(provisioned: Provisioned) -> None:
    seconds = provisioned.run("first", "spot", 90)
    print(f"on spot after {seconds:.1f} s")
    provisioned.remove("first")
    eventually(lambda: not provisioned.account.cloud.machines_in(CLUSTER_ID), "no machine is left", 90, 0.5)


def test_spot_refused_and_back(provisioned: Provisioned) -> None:
    cloud = provisioned.account.cloud
    cloud.set_capacity(Bound(T4, 0))
    fallback = provisioned.run("trains", "on-demand", 60)
    refused = time.monotonic()
    kept = provisioned.run("notebook", "on-demand", 60, KEPT)
    cloud.lift_capacity(T4)
    before = provisioned.running("notebook")
    assert before
    eventually(lambda: provisioned.capacity_of("trains") == "spot", "the work is back on spot", BACK_OFF + 180, 0.5)
    back = time.monotonic() - refused
    print(
        f"on demand after {fallback:.1f} s and {kept:.1f} s, back on spot after {back:.1f} s of {BACK_OFF:.0f} s without"
    )
    assert back > BACK_OFF / 2, "Karpenter did not wait for the end of its hour"

    def moved() -> bool:
        after = provisioned.running("notebook")
        return after is None or after["metadata"]["uid"] != before["metadata"]["uid"]

    # As long as Karpenter needed for the other.
    assert not until(moved, 30)
    provisioned.remove("trains", "notebook")


def test_an_evicted_machine_is_replaced(provisioned: Provisioned) -> None:
    cloud = provisioned.account.cloud
    provisioned.run("evicted", "spot", 90)
    pod = provisioned.running("evicted")
    assert pod
    node = pod["spec"]["nodeName"]
    (pool,) = [pool for pool in cloud.pools() if node in cloud.running(pool.id)]
    cloud.mark(pool.id, [node], "noticed", "soon")
    began = time.monotonic()

    def moved() -> bool:
        now = provisioned.running("evicted")
        return now is not None and now["spec"]["nodeName"] != node

    eventually(moved, "the work runs on another machine", 60, 0.2)
    print(f"on another machine {time.monotonic() - began:.1f} s after the notice")
    provisioned.remove("evicted")


def test_once_it_is_off_karpenter_ends(provisioned: Provisioned) -> None:
    cloud = provisioned.account.cloud
    eventually(lambda: not cloud.machines_in(CLUSTER_ID), "no machine is left", 120, 0.5)
    process = Process(PROVISIONER, provisioned.folder)
    assert process.find()
    cloud.put(CLUSTER, CLUSTER_ID, {"nodeProvisioningProfile": {"mode": "Manual"}}, create=False)
    assert process.find() is None
