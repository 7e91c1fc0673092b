"""For each rule about pools: one request the service refuses, and a near neighbour it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.azure.errors import AzureRefused

from .conftest import POOL, REGULAR, SPOT, Account, CheckFailed

RULES = " Please see https://aka.ms/aks-naming-rules for more details."

# (rule, base, what is refused, code, part of the message, what is accepted)
CREATES: list[tuple[str, dict[str, Any], dict[str, Any], str, str, dict[str, Any]]] = [
    (
        "spot with surge",
        SPOT,
        {"upgradeSettings": {"maxSurge": "10%"}},
        "InvalidParameter",
        "Error details: Spot pools can't set max surge." + RULES,
        {"upgradeSettings": {"undrainableNodeBehavior": "Schedule"}},
    ),
    (
        "spot with maxUnavailable",
        SPOT,
        {"upgradeSettings": {"maxUnavailable": "1"}},
        "InvalidParameter",
        "Error details: Spot pools can't set maxUnavailable." + RULES,
        {"upgradeSettings": {"drainTimeoutInMinutes": 5}},
    ),
    ("spot without a type", SPOT, {"type": None}, "InvalidParameter", "Spot pools can't set max surge", {}),
    ("spot as system pool", SPOT, {"mode": "System", "minCount": 1, "count": 1}, "InvalidParameter", "User mode", {}),
    ("spot in single VMs", SPOT, {"type": "VirtualMachines"}, "InvalidParameter", "VirtualMachineScaleSets", {}),
    (
        "spot price of zero",
        SPOT,
        {"spotMaxPrice": 0},
        "InvalidParameter",
        "up to five decimals",
        {"spotMaxPrice": 0.12345},
    ),
    (
        "spot price too fine",
        SPOT,
        {"spotMaxPrice": 0.123456},
        "InvalidParameter",
        "five decimals",
        {"spotMaxPrice": -1},
    ),
    ("spot on a size without", SPOT, {"vmSize": "Standard_B4ms"}, "InvalidParameter", "support Spot", {}),
    (
        "eviction policy on regular",
        REGULAR,
        {"scaleSetEvictionPolicy": "Deallocate"},
        "InvalidParameter",
        "when scaleSetPriority is Spot",
        {"scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1, "scaleSetPriority": "Regular"},
    ),
    (
        "count absent with autoscaling",
        SPOT,
        {"count": None},
        "InvalidParameter",
        "Required parameter properties.count is missing (null).",
        {"count": 0},
    ),
    ("count absent", REGULAR, {"count": None}, "InvalidParameter", "properties.count is missing", {"count": 0}),
    (
        "count above the maximum",
        SPOT,
        {"count": 5},
        "InvalidParameter",
        "agentPoolProfile.count was 5. It must be greater or equal to minCount:0 and less than or equal to maxCount:4.",
        {"count": 4},
    ),
    (
        "no node in a system pool",
        REGULAR,
        {"mode": "System", "count": 0},
        "InvalidParameter",
        "agentPoolProfile.count was 0. It must be greater or equal to minCount:1 and less than or equal to maxCount:1000.",
        {"mode": "System", "count": 1},
    ),
    ("too many nodes", REGULAR, {"count": 1001}, "InvalidParameter", "maxCount:1000", {"count": 1}),
    (
        "minimum over maximum",
        SPOT,
        {"minCount": 5, "count": 5},
        "InvalidParameter",
        "minCount 5",
        {"minCount": 4, "count": 4},
    ),
    ("autoscaling without bounds", SPOT, {"maxCount": None}, "InvalidParameter", "are required", {"maxCount": 1}),
    ("bounds without autoscaling", REGULAR, {"maxCount": 3}, "InvalidParameter", "enableAutoScaling", {}),
    (
        "label of AKS",
        REGULAR,
        {"nodeLabels": {"kubernetes.azure.com/tier": "a"}},
        "BadRequest",
        "Invalid node label key kubernetes.azure.com/tier. The 'kubernetes.azure.com' prefix is preserved by aks system labels",
        {"nodeLabels": {"azure.com/tier": "a"}},
    ),
    (
        "spot label on a regular pool",
        REGULAR,
        {"nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"}},
        "BadRequest",
        "preserved by aks system labels",
        {},
    ),
    (
        "another spot label",
        SPOT,
        {"nodeLabels": {"kubernetes.azure.com/scalesetpriority": "regular"}},
        "BadRequest",
        "preserved by aks system labels",
        {"nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"}},
    ),
    (
        "label of Kubernetes",
        REGULAR,
        {"nodeLabels": {"node-role.kubernetes.io/gpu": "yes"}},
        "BadRequest",
        "namespace must begin with an allowed prefix",
        {"nodeLabels": {"node.kubernetes.io/gpu": "yes"}},
    ),
    (
        "label of k8s.io",
        REGULAR,
        {"nodeLabels": {"x.k8s.io/a": "b"}},
        "BadRequest",
        "allowed prefix",
        {"nodeLabels": {"xk8s.io/a": "b"}},
    ),
    ("label agentpool", REGULAR, {"nodeLabels": {"agentpool": "x"}}, "InvalidParameter", "agentpool=x", {}),
    (
        "label value with a space",
        REGULAR,
        {"nodeLabels": {"a": "b c"}},
        "InvalidParameter",
        "a=b c",
        {"nodeLabels": {"a": ""}},
    ),
    (
        "taint without an effect",
        REGULAR,
        {"nodeTaints": ["nvidia.com/gpu=present"]},
        "InvalidParameter",
        "invalid taint spec",
        {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]},
    ),
    (
        "taint in GKE's spelling",
        REGULAR,
        {"nodeTaints": ["a=b:NO_SCHEDULE"]},
        "InvalidParameter",
        "invalid taint spec",
        {"nodeTaints": ["a=b:PreferNoSchedule"]},
    ),
    (
        "taint with a newline",
        REGULAR,
        {"nodeTaints": ["a=b:NoSchedule\n"]},
        "InvalidParameter",
        "invalid taint spec",
        {},
    ),
    (
        "pool newer than its cluster",
        REGULAR,
        {"orchestratorVersion": "1.36"},
        "NodePoolMcVersionIncompatible",
        "Node pool version 1.36.2 and control plane version 1.35.5 are incompatible.",
        {"orchestratorVersion": "1.34"},
    ),
    (
        "pool version not offered",
        REGULAR,
        {"orchestratorVersion": "1.30"},
        "AgentPoolK8sVersionNotSupported",
        "Version 1.30 is not supported in this region.",
        {"orchestratorVersion": "1.35.5"},
    ),
    (
        "unknown size",
        REGULAR,
        {"vmSize": "Standard_NC5"},
        "InvalidParameter",
        "The requested VM size Standard_NC5 is not available in the current region.",
        {"vmSize": "Standard_D8s_v5"},
    ),
    (
        "retired size",
        REGULAR,
        {"vmSize": "Standard_NC6"},
        "InvalidParameter",
        "The requested VM size Standard_NC6 is not available",
        {"vmSize": "Standard_NC4as_T4_v3"},
    ),
    (
        "B-series in a system pool",
        REGULAR,
        {"mode": "System", "vmSize": "Standard_B4as_v2"},
        "SystemPoolSkuTooLow",
        "System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: cpu.",
        {"mode": "User", "vmSize": "Standard_B4as_v2"},
    ),
    ("too few pods", REGULAR, {"maxPods": 9}, "InvalidParameter", "maxPods 9", {"maxPods": 10}),
    ("too many pods", REGULAR, {"maxPods": 251}, "InvalidParameter", "maxPods 251", {"maxPods": 250}),
    (
        "few pods in a system pool",
        REGULAR,
        {"mode": "System", "maxPods": 29},
        "InvalidParameter",
        "30",
        {"maxPods": 29},
    ),
    (
        "no surge and no unavailability",
        REGULAR,
        {"upgradeSettings": {"maxSurge": "0"}},
        "InvalidParameter",
        "cannot both be 0",
        {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}},
    ),
    (
        "ephemeral disk on no disk",
        REGULAR,
        {"osDiskType": "Ephemeral"},
        "VMCacheSizeTooSmall",
        "The virtual machine size Standard_D4s_v5 has a cache size of 0 bytes, but the OS disk requires 137438953472 bytes.",
        {"osDiskType": "Ephemeral", "vmSize": "Standard_D4ds_v5"},
    ),
    (
        "subnet that is not there",
        REGULAR,
        {"vnetSubnetID": "/subscriptions/s/resourceGroups/ml/providers/Microsoft.Network/virtualNetworks/n/subnets/x"},
        "ResourceNotFound",
        "The Resource 'Microsoft.Network/virtualNetworks/n/subnets/x' under resource group 'ml' was not found.",
        {},
    ),
    (
        "cluster that is not there",
        REGULAR,
        {"resourceName": "other"},
        "ParentResourceNotFound",
        "the parent resource",
        {},
    ),
    ("group that is not there", REGULAR, {"resourceGroupName": "no"}, "ResourceGroupNotFound", "'no'", {}),
]


@pytest.mark.parametrize(("base", "bad", "code", "text", "good"), [c[1:] for c in CREATES], ids=[c[0] for c in CREATES])
def test_create_is_refused_and_its_neighbour_is_not(
    ready: Account, base: dict[str, Any], bad: dict[str, Any], code: str, text: str, good: dict[str, Any]
) -> None:
    before = ready.cloud.pools()
    with pytest.raises(AzureRefused) as refused:
        ready.create(POOL, {**base, **bad})
    assert refused.value.code == code
    assert text in refused.value.message
    assert ready.cloud.pools() == before
    ready.create(POOL, {**base, **good})
    assert len(ready.cloud.pools()) == 2


UPDATES: list[tuple[str, dict[str, Any], dict[str, Any], str, str, dict[str, Any]]] = [
    (
        "size",
        REGULAR,
        {"vmSize": "Standard_D8s_v5"},
        "PropertyChangeNotAllowed",
        'Changing property "agentPoolProfile.vmSize" is not allowed in an api-version before "2026-01-02-preview".',
        {"vmSize": "Standard_D4s_v5"},
    ),
    (
        "regular to spot",
        REGULAR,
        {"scaleSetPriority": "Spot"},
        "BadRequest",
        "ScaleSetPriority is immutable. Provided value is Spot, Please use current value .",
        {"scaleSetPriority": "Regular"},
    ),
    ("spot to regular", SPOT, {"scaleSetPriority": "Regular"}, "BadRequest", "ScaleSetPriority is immutable.", {}),
    (
        "eviction",
        SPOT,
        {"scaleSetEvictionPolicy": "Deallocate"},
        "PropertyChangeNotAllowed",
        "scaleSetEvictionPolicy",
        {},
    ),
    ("price", SPOT, {"spotMaxPrice": 0.5}, "PropertyChangeNotAllowed", "spotMaxPrice", {"spotMaxPrice": -1}),
    ("pods", REGULAR, {"maxPods": 100}, "PropertyChangeNotAllowed", "'properties.maxPods'", {"maxPods": 250}),
    ("disk", REGULAR, {"osDiskType": "Ephemeral"}, "PropertyChangeNotAllowed", "osDiskType", {"osDiskType": "Managed"}),
    ("zones", REGULAR, {"availabilityZones": ["1"]}, "PropertyChangeNotAllowed", "availabilityZones", {}),
    ("spot surge", SPOT, {"upgradeSettings": {"maxSurge": "1"}}, "InvalidParameter", "max surge", {"maxCount": 9}),
    ("count", SPOT, {"count": None}, "InvalidParameter", "properties.count is missing", {"count": 2}),
    ("labels", REGULAR, {"nodeLabels": {"k8s.io/a": "b"}}, "BadRequest", "allowed prefix", {"nodeLabels": {"a": "b"}}),
    ("taints", REGULAR, {"nodeTaints": ["a"]}, "InvalidParameter", "taint", {"nodeTaints": ["a=b:NoExecute"]}),
]


@pytest.mark.parametrize(("base", "bad", "code", "text", "good"), [c[1:] for c in UPDATES], ids=[c[0] for c in UPDATES])
def test_update_is_refused_and_its_neighbour_is_not(
    ready: Account, base: dict[str, Any], bad: dict[str, Any], code: str, text: str, good: dict[str, Any]
) -> None:
    made = ready.create(POOL, base)
    with pytest.raises(AzureRefused) as refused:
        ready.update(made, {**base, **bad})
    assert refused.value.code == code
    assert text in refused.value.message
    assert ready.refresh(made).old_outputs == made.old_outputs
    ready.update(made, {**base, **good})


@pytest.mark.parametrize("name", ["gpu-spot", "GPU", "1gpu", "thirteenchars", ""])
def test_bad_pool_name_is_refused_at_check(ready: Account, name: str) -> None:
    with pytest.raises(CheckFailed, match=r"'agentPoolName' does not match expression '\^\[a-z\]\[a-z0-9\]\{0,11\}\$'"):
        ready.check(POOL, {**SPOT, "agentPoolName": name})
    ready.check(POOL, {**SPOT, "agentPoolName": "twelvechars1"})


def test_existing_pool_is_not_created_again(ready: Account) -> None:
    inline = {**REGULAR, "agentPoolName": "system"}
    with pytest.raises(Exception, match=r"^cannot create already existing resource '.*/agentPools/system'$"):
        ready.create(POOL, inline)


def test_last_system_pool_stays(ready: Account) -> None:
    cpu = ready.create(POOL, REGULAR)
    second = ready.create(POOL, {**REGULAR, "agentPoolName": "system2", "mode": "System"})
    system = second.id.replace("system2", "system")
    ready.cloud.delete(system)
    with pytest.raises(AzureRefused, match="There has to be at least one system agent pool"):
        ready.provider.delete(second)
    ready.provider.delete(cpu)
    with pytest.raises(AzureRefused, match="There has to be at least one agent pool"):
        ready.provider.delete(second)
    assert [p.pool for p in ready.cloud.pools()] == ["system2"]


def test_aks_error_prints_its_whole_body(ready: Account) -> None:
    with pytest.raises(AzureRefused) as refused:
        ready.create(POOL, {**SPOT, "count": None})
    prefix = 'Status=400 Code="InvalidParameter" Message="'
    assert str(refused.value).startswith(prefix)
    body = json.loads(str(refused.value)[len(prefix) : -1])
    assert body == {
        "code": "InvalidParameter",
        "details": None,
        "message": "Required parameter properties.count is missing (null).",
        "subcode": "",
        "target": "properties.count",
    }


def test_arm_error_prints_its_message(ready: Account) -> None:
    with pytest.raises(AzureRefused) as refused:
        ready.create(POOL, {**REGULAR, "resourceGroupName": "no"})
    assert str(refused.value) == (
        'Status=404 Code="ResourceGroupNotFound" Message="Resource group \'no\' could not be found."'
    )
