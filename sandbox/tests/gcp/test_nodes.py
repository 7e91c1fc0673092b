"""Node objects of GKE against literal expectations, and the GPUs of their machines."""

import re
from typing import Any

import pytest

from sandbox.cloud.node_groups import Gpus
from sandbox.cloud.state import Record
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.gcp_nodes import allocatable_disk, gpus, node, node_name, reserved_cpu, reserved_memory, template

PROJECT = "example-ml"
POOL_ID = f"projects/{PROJECT}/locations/europe-west4/clusters/ml-staging/nodePools/l4"
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
SPOT_TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}


def pool(machine: str = "g2-standard-8", id: str = POOL_ID, **config: Any) -> Record:
    body: dict[str, Any] = {
        "nodeConfig": {"machineType": machine, "diskSizeGb": 100, "diskType": "pd-balanced", **config}
    }
    body |= {"nodeLocations": ["europe-west4-a"], "maxPodsPerNode": 110, "version": "1.36.4-gke.1767000"}
    return Record("gcp:container/nodePool:NodePool", id, body)


def node_of(of: Record, zone: str = "europe-west4-a") -> Any:
    return node(of, machines()[of.body["nodeConfig"]["machineType"]], zone, 0)


def accelerator(type: str = "nvidia-l4", count: int = 1, **more: Any) -> Any:
    return {"type": type, "count": count, **more}


def test_a_spot_gpu_node() -> None:
    taints = [SPOT_TAINT, GPU_TAINT]
    spot = pool(
        spot=True, labels={"gpu": "true"}, effectiveTaints=taints, taints=taints[:1], guestAccelerators=[accelerator()]
    )
    spot.body["networkConfig"] = {"enablePrivateNodes": True}
    spot.body["nodeConfig"]["workloadMetadataConfig"] = {"mode": "GKE_METADATA"}
    spot_node = node_of(spot)
    name = spot_node["metadata"]["name"]
    assert re.fullmatch(r"gke-ml-staging-l4-[0-9a-f]{8}-[0-9a-z]{4}", name)
    assert spot_node["spec"] == {
        "providerID": f"gce://example-ml/europe-west4-a/{name}",
        "taints": [
            {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NoSchedule"},
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        ],
    }
    assert spot_node["metadata"]["labels"] == {
        "gpu": "true",
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": "g2-standard-8",
        "beta.kubernetes.io/os": "linux",
        "cloud.google.com/gke-accelerator": "nvidia-l4",
        "cloud.google.com/gke-accelerator-count": "1",
        "cloud.google.com/gke-boot-disk": "pd-balanced",
        "cloud.google.com/gke-container-runtime": "containerd",
        "cloud.google.com/gke-cpu-scaling-level": "8",
        "cloud.google.com/gke-gpu": "true",
        "cloud.google.com/gke-gpu-driver-version": "default",
        "cloud.google.com/gke-logging-variant": "DEFAULT",
        "cloud.google.com/gke-max-pods-per-node": "110",
        "cloud.google.com/gke-memory-gb-scaling-level": "32",
        "cloud.google.com/gke-netd-ready": "true",
        "cloud.google.com/gke-nodepool": "l4",
        "cloud.google.com/gke-os-distribution": "cos",
        "cloud.google.com/gke-provisioning": "spot",
        "cloud.google.com/gke-spot": "true",
        "cloud.google.com/gke-stack-type": "IPV4",
        "cloud.google.com/machine-family": "g2",
        "cloud.google.com/private-node": "true",
        "disk-type.gke.io/pd-balanced": "true",
        "failure-domain.beta.kubernetes.io/region": "europe-west4",
        "failure-domain.beta.kubernetes.io/zone": "europe-west4-a",
        "iam.gke.io/gke-metadata-server-enabled": "true",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "g2-standard-8",
        "topology.gke.io/zone": "europe-west4-a",
        "topology.kubernetes.io/region": "europe-west4",
        "topology.kubernetes.io/zone": "europe-west4-a",
    }
    # No device plugin has run on this node yet; the autoscaler knows what the pool will have.
    assert "nvidia.com/gpu" not in {**spot_node["status"]["capacity"], **spot_node["status"]["allocatable"]}
    expected = template(spot, machines()["g2-standard-8"], "europe-west4-a")["status"]
    assert (expected["capacity"]["nvidia.com/gpu"], expected["allocatable"]["nvidia.com/gpu"]) == ("1", "1")
    assert spot_node["status"]["nodeInfo"] == {"kubeletVersion": "v1.36.4-gke.1767000"}


@pytest.mark.parametrize(
    ("config", "provisioning", "other_labels"),
    [
        ({}, "standard", set()),
        ({"spot": True}, "spot", {"gke-spot"}),
        ({"preemptible": True}, "preemptible", {"gke-preemptible"}),
        ({"flexStart": True}, "flex-start", {"gke-flex-start"}),
    ],
)
def test_capacity_is_a_label_and_never_a_taint(config: Any, provisioning: str, other_labels: set[str]) -> None:
    manifest = node_of(pool("e2-standard-4", **config))
    labels = {key.removeprefix("cloud.google.com/"): value for key, value in manifest["metadata"]["labels"].items()}
    assert labels["gke-provisioning"] == provisioning
    assert {"gke-spot", "gke-preemptible", "gke-flex-start"} & labels.keys() == other_labels
    assert "taints" not in manifest["spec"]
    assert "private-node" in labels
    assert not [key for key in labels if "gpu" in key or "accelerator" in key]


@pytest.mark.parametrize(
    ("guest_accelerator", "labels", "expected"),
    [
        (accelerator(count=4), {"gke-accelerator-count": "4", "gke-gpu-driver-version": "default"}, Gpus(4)),
        (
            accelerator(gpuDriverInstallationConfig={"gpuDriverVersion": "LATEST"}),
            {"gke-accelerator-count": "1", "gke-gpu-driver-version": "latest"},
            Gpus(1),
        ),
        (
            accelerator(gpuDriverInstallationConfig={"gpuDriverVersion": "INSTALLATION_DISABLED"}),
            {"gke-accelerator-count": "1"},
            Gpus(1, driver=False),
        ),
        (
            accelerator(gpuSharingConfig={"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 8}),
            {
                "gke-accelerator-count": "1",
                "gke-gpu-driver-version": "default",
                "gke-gpu-sharing-strategy": "time-sharing",
                "gke-max-shared-clients-per-gpu": "8",
            },
            Gpus(1, clients=8),
        ),
        (
            accelerator(
                count=2,
                gpuPartitionSize="2g.10gb",
                gpuSharingConfig={"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": 2},
            ),
            {
                "gke-accelerator-count": "2",
                "gke-gpu-driver-version": "default",
                "gke-gpu-partition-size": "2g.10gb",
                "gke-gpu-sharing-strategy": "mps",
                "gke-max-shared-clients-per-gpu": "2",
            },
            Gpus(2, profile="2g.10gb", instances=3, clients=2),
        ),
    ],
)
def test_gpus_and_how_they_are_shared(guest_accelerator: Any, labels: dict[str, str], expected: Gpus) -> None:
    of = pool(guestAccelerators=[guest_accelerator])
    gke_labels = {
        key.removeprefix("cloud.google.com/"): value
        for key, value in node_of(of)["metadata"]["labels"].items()
        if any(word in key for word in ("gpu", "accelerator"))
    }
    assert gke_labels == {"gke-accelerator": "nvidia-l4", "gke-gpu": "true", **labels}
    assert gpus(of.body) == expected
    offered = template(of, machines()["g2-standard-8"], "europe-west4-a")["status"]["allocatable"]["nvidia.com/gpu"]
    assert int(offered) == expected.count * expected.instances * expected.clients


def test_a_node_of_nominal_16_gib_and_100_gb_has_what_a_real_one_had() -> None:
    status = node_of(pool("e2-standard-4"))["status"]
    assert status["capacity"] == {
        "cpu": "4",
        "memory": "16380004Ki",
        "ephemeral-storage": "98831908Ki",
        "pods": "110",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
    }
    allocatable = {name: status["allocatable"][name] for name in ("cpu", "memory", "ephemeral-storage")}
    assert allocatable == {"cpu": "3920m", "memory": "13591652Ki", "ephemeral-storage": "47060071478"}


@pytest.mark.parametrize(("cores", "millicores"), [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (96, 310)])
def test_reserved_cpu(cores: int, millicores: int) -> None:
    assert reserved_cpu(cores) == millicores


@pytest.mark.parametrize(
    ("gib", "mib"),
    [
        (0.5, 255),
        (4, 1024),
        (8, 1024 + 819),
        (16, 1024 + 819 + 819),
        (128, int((4 * 0.25 + 4 * 0.2 + 8 * 0.1 + 112 * 0.06) * 1024)),
        (256, int((4 * 0.25 + 4 * 0.2 + 8 * 0.1 + 112 * 0.06 + 128 * 0.02) * 1024)),
    ],
)
def test_reserved_memory(gib: float, mib: int) -> None:
    assert reserved_memory(int(gib * (1 << 30))) >> 20 in (mib + 100, mib + 101)


@pytest.mark.parametrize(("gb", "kept"), [(10, 5), (30, 15), (100, 41), (500, 100)])
def test_a_part_of_a_disk_is_reserved(gb: int, kept: int) -> None:
    capacity = gb << 30
    assert capacity - int(capacity * 0.10000000149011612) - allocatable_disk(capacity, gb) == kept << 30


def test_names_are_stable_never_met_twice_and_cut_as_google_cuts_them() -> None:
    names = {node_name(POOL_ID, zone, number) for zone in ("europe-west4-a", "europe-west4-b") for number in range(999)}
    assert len(names) == 2 * 999
    assert node_name(POOL_ID, "europe-west4-a", 7) == node_name(POOL_ID, "europe-west4-a", 7)
    long = "projects/p/locations/l/clusters/sandbox/nodePools/n2d-std-8-20260330102605160300000001"
    assert node_name(long, "us-east1-b", 0).startswith("gke-sandbox-n2d-std-8-202603301026051-")
    both = f"projects/p/locations/l/clusters/{'c' * 40}/nodePools/{'p' * 40}"
    assert re.fullmatch(r"gke-c{16}-p{16}-\w{8}-\w{4}", node_name(both, "us-east1-b", 0))


def test_a_pool_can_limit_the_pods_of_a_node() -> None:
    small = pool("e2-standard-4")
    small.body["maxPodsPerNode"] = 32
    manifest = node_of(small)
    assert manifest["metadata"]["labels"]["cloud.google.com/gke-max-pods-per-node"] == "32"
    assert (manifest["status"]["capacity"]["pods"], manifest["status"]["allocatable"]["pods"]) == ("32", "32")
