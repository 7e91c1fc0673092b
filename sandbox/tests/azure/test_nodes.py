"""Node objects against literal expectations, and the pool sizes behind them."""

import re

import pytest

from sandbox.autoscaler.resources import quantity
from sandbox.azure.azure_catalogue import machines
from sandbox.azure.azure_nodes import gpu_resources, reserved_cpu
from sandbox.cloud.node_groups import PoolStatus
from sandbox.tests.autoscaler.objects import decisions, pod

from .conftest import CLUSTER_ID, POOL, REGULAR, SPOT, Account

TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}


def test_spot_gpu_node(account: Account) -> None:
    network = account.network()
    subnet = account.subnet()
    cluster = account.cluster()
    account.create(POOL, {**SPOT, "count": 1, "vnetSubnetID": subnet.id, "nodeLabels": {"tier": "spot"}})
    (node,) = (n for n in account.runtime.nodes[cluster.id.lower()] if n["metadata"]["labels"]["agentpool"] == "t4spot")
    name = node["metadata"]["name"]
    match = re.fullmatch(r"aks-t4spot-(\d{8})-vmss000000", name)
    assert match
    assert node["spec"] == {
        "providerID": "azure:///subscriptions/00000000-0000-4000-8000-00000000a2e5/resourceGroups/mc_ml_aks_westeurope"
        f"/providers/Microsoft.Compute/virtualMachineScaleSets/aks-t4spot-{match[1]}-vmss/virtualMachines/0",
        "taints": [TAINT],
    }
    labels = dict(node["metadata"]["labels"])
    assert labels.pop("kubernetes.azure.com/consolidated-additional-properties")
    client = cluster.old_outputs["identityProfile"]["kubeletidentity"]["clientId"]
    assert labels == {
        "tier": "spot",
        "accelerator": "nvidia",
        "agentpool": "t4spot",
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": "Standard_NC4as_T4_v3",
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": "westeurope",
        "failure-domain.beta.kubernetes.io/zone": "0",
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/agentpool": "t4spot",
        "kubernetes.azure.com/azure-cni-overlay": "true",
        "kubernetes.azure.com/cluster": "MC_ml_aks_westeurope",
        "kubernetes.azure.com/kubelet-identity-client-id": client,
        "kubernetes.azure.com/kubelet-serving-ca": "cluster",
        "kubernetes.azure.com/localdns-state": "disabled",
        "kubernetes.azure.com/mode": "user",
        "kubernetes.azure.com/network-name": "net",
        "kubernetes.azure.com/network-resourcegroup": "ml",
        "kubernetes.azure.com/network-stateless-cni": "false",
        "kubernetes.azure.com/network-subnet": "nodes",
        "kubernetes.azure.com/network-subscription": "00000000-0000-4000-8000-00000000a2e5",
        "kubernetes.azure.com/node-image-version": "AKSUbuntu-2204gen2containerd-202506.16.0",
        "kubernetes.azure.com/nodenetwork-vnetguid": network.old_outputs["resourceGuid"],
        "kubernetes.azure.com/nodepool-type": "VirtualMachineScaleSets",
        "kubernetes.azure.com/os-sku": "Ubuntu",
        "kubernetes.azure.com/os-sku-effective": "Ubuntu2204",
        "kubernetes.azure.com/os-sku-requested": "Ubuntu",
        "kubernetes.azure.com/podnetwork-type": "overlay",
        "kubernetes.azure.com/priority": "spot",
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/scalesetpriority": "spot",
        "kubernetes.azure.com/sku-cpu": "4",
        "kubernetes.azure.com/sku-memory": "28672",
        "kubernetes.azure.com/storageprofile": "managed",
        "kubernetes.azure.com/storagetier": "Premium_LRS",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "Standard_NC4as_T4_v3",
        "storageprofile": "managed",
        "storagetier": "Premium_LRS",
        "topology.disk.csi.azure.com/zone": "",
        "topology.kubernetes.io/region": "westeurope",
        "topology.kubernetes.io/zone": "0",
    }
    # No device plugin has run on this node yet.
    assert "nvidia.com/gpu" not in {**node["status"]["capacity"], **node["status"]["allocatable"]}
    assert node["status"]["allocatable"]["cpu"] == "3860m"
    assert node["status"]["allocatable"]["pods"] == "250"


def test_regular_node_has_no_priority_label_and_no_taint(account: Account) -> None:
    account.cluster(networkProfile={"networkPlugin": "azure", "networkPolicy": "calico"})
    account.create(POOL, {**REGULAR, "availabilityZones": ["1", "3"]})
    _, first, second = (node for nodes in account.runtime.nodes.values() for node in nodes)
    labels = first["metadata"]["labels"]
    assert not {"kubernetes.azure.com/priority", "kubernetes.azure.com/scalesetpriority"} & labels.keys()
    assert "kubernetes.azure.com/azure-cni-overlay" not in labels
    assert labels["kubernetes.azure.com/network-policy"] == "calico"
    assert "taints" not in first["spec"]
    assert labels["topology.kubernetes.io/zone"] == "westeurope-1"
    assert second["metadata"]["labels"]["topology.disk.csi.azure.com/zone"] == "westeurope-3"


def test_memory_of_the_measured_node(account: Account) -> None:
    account.cluster()
    account.create(POOL, {**REGULAR, "vmSize": "Standard_D2as_v5", "maxPods": 110, "count": 1})
    node = next(iter(account.runtime.nodes.values()))[-1]
    assert node["status"]["capacity"]["memory"] == "8129936Ki"
    assert node["status"]["allocatable"]["memory"] == "5930384Ki"
    assert node["status"]["allocatable"]["cpu"] == "1900m"


@pytest.mark.parametrize(
    ("cores", "millicores"), [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740), (24, 340)]
)
def test_reserved_cpu(cores: int, millicores: int) -> None:
    assert reserved_cpu(cores) == millicores


@pytest.mark.parametrize(
    ("size", "gpus"),
    [
        ("Standard_NC4as_T4_v3", {"nvidia.com/gpu": "1"}),
        ("Standard_NC64as_T4_v3", {"nvidia.com/gpu": "4"}),
        ("Standard_NV6ads_A10_v5", {"nvidia.com/gpu": "1"}),
        ("Standard_D4s_v5", {}),
        ("Standard_ND96isr_MI300X_v5", {}),
    ],
)
def test_gpus_of_a_size(size: str, gpus: dict[str, str]) -> None:
    assert gpu_resources(machines()[size]) == gpus


@pytest.mark.parametrize(
    ("size", "profile", "gpus"),
    [
        ("Standard_NC24ads_A100_v4", "MIG1g", "7"),
        ("Standard_NC24ads_A100_v4", "MIG2g", "3"),
        ("Standard_NC48ads_A100_v4", "MIG3g", "4"),
        ("Standard_NC40ads_H100_v5", "MIG4g", "1"),
        ("Standard_ND96asr_v4", "MIG7g", "8"),
        # The page's own example.
        ("Standard_ND96asr_v4", "MIG1g", "56"),
    ],
)
def test_partitions_count_as_gpus(ready: Account, size: str, profile: str, gpus: str) -> None:
    ready.create(POOL, {**REGULAR, "vmSize": size, "gpuInstanceProfile": profile, "count": 1})
    status = ready.cloud.node_groups(CLUSTER_ID).groups[-1].template["status"]
    assert status["capacity"]["nvidia.com/gpu"] == gpus
    assert status["allocatable"]["nvidia.com/gpu"] == gpus


def test_an_empty_pool_promises_the_machines_whole_size_and_a_pod_that_just_does_not_fit_buys_a_node(
    ready: Account,
) -> None:
    """Seen on the real autoscaler: a pod of one GPU and 24 GiB bought T4 nodes of 28 GiB, and stayed pending."""
    ready.create(
        POOL,
        {
            **REGULAR,
            "vmSize": "Standard_NC4as_T4_v3",
            "count": 0,
            "enableAutoScaling": True,
            "minCount": 0,
            "maxCount": 3,
        },
    )
    group = ready.cloud.node_groups(CLUSTER_ID).groups[-1]
    size = {"cpu": "4", "memory": "28672Mi", "pods": "110", "ephemeral-storage": "128Gi", "nvidia.com/gpu": "1"}
    assert group.template["status"]["capacity"] == group.template["status"]["allocatable"] == size
    large = pod("large", {"cpu": "1", "memory": "24Gi", "nvidia.com/gpu": "1"})
    assert decisions([group], [large], by="random")[0][0] == group.pool
    ready.cloud.grow(group.pool_id, 1)
    node = next(iter(ready.runtime.nodes.values()))[-1]
    assert quantity(node["status"]["allocatable"]["memory"]) < quantity("24Gi")


def test_node_says_what_the_problem_detector_watches(ready: Account) -> None:
    (node,) = next(iter(ready.runtime.nodes.values()))
    conditions = {c["type"]: (c["status"], c["reason"], c["message"]) for c in node["status"]["conditions"]}
    assert conditions["VMEventScheduled"] == ("False", "NoVMEventScheduled", "VM has no scheduled event")
    assert {status for status, _, _ in conditions.values()} == {"False"}
    # The kubelet says that itself.
    assert "Ready" not in conditions


def test_pools_of_a_cluster_share_their_digits_and_clusters_do_not(ready: Account) -> None:
    ready.create(POOL, REGULAR)
    ready.cluster(resourceName="two")
    digits = [name.split("-")[2] for name in ready.runtime.names()]
    assert len(digits) == 4
    assert digits[0] == digits[1] == digits[2] != digits[3]


def test_scaling_moves_nodes(ready: Account) -> None:
    ready.create(POOL, SPOT)
    ready.cloud.scale("aks", "t4spot", 4)
    assert ready.cloud.pools()[1] == PoolStatus(
        f"{CLUSTER_ID}/agentPools/t4spot", "aks", "t4spot", 4, 0, 4, "Standard_NC4as_T4_v3", "Spot"
    )
    assert sum("t4spot" in name for name in ready.runtime.names()) == 4
