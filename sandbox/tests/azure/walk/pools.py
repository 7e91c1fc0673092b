"""Rules about a pool: its name, counts, version, immutable properties; spot, labels and taints; machines and reservations."""

from typing import Any

from sandbox.azure.resources import azure_machine_rules, azure_pool_rules, cluster_pools_rules, node_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT, SYSTEM
from .requests import GROUP, OWN, Put, cluster, granted, pool

_RULES = " Please see https://aka.ms/aks-naming-rules for more details."
_AUTOSCALED = {**REGULAR, "enableAutoScaling": True, "minCount": 1, "maxCount": 4}
_ABSENT = "/subscriptions/s/resourceGroups/ml/providers/Microsoft.Network/virtualNetworks/n/subnets/x"
_D4DS = {**REGULAR, "vmSize": "Standard_D4ds_v5"}
_A100 = {**REGULAR, "vmSize": "Standard_NC24ads_A100_v4", "count": 0}
_RESERVED = f"{GROUP}/providers/Microsoft.Compute/capacityReservationGroups/gpus"
_CONTRIBUTOR = granted("b24988ac-6180-42a0-ab88-20f7382dd24c", _RESERVED)
_KUBELET = {"cpuManagerPolicy": "static", "failSwapOn": False}
_SWAP = {"swapFileSizeMB": 1500}
_READY = (_CONTRIBUTOR, cluster(identity=OWN))


def _reserved(base: dict[str, Any] = REGULAR, group: str = _RESERVED, **changes: Any) -> Put:
    return pool(base, resourceName="two", capacityReservationGroupID=group, **changes)


ROWS = [
    Row("bad pool name", azure_pool_rules.name, "2.1")
    .says("The value of parameter agentPoolProfile.name is invalid." + _RULES)
    .tries(cluster, agentPoolProfiles=[{**SYSTEM, "name": ("Sys", "sys")}]),
    Row("no count, with autoscaling", node_rules.count_present, "2.1, 7.7")
    .says("Required parameter properties.count is missing (null).")
    .given(pool(SPOT))
    .tries(pool, SPOT, count=(None, 0), maxCount=5),
    Row("count above the maximum", node_rules.count_bounds, "2.1, 7.8")
    .says(
        "agentPoolProfile.count was 5. It must be greater or equal to minCount:0 and less than or equal to maxCount:4."
    )
    .tries(pool, SPOT, count=(5, 4)),
    Row("no node in a system pool", node_rules.count_bounds, "2.1, 7.8")
    .says(
        "agentPoolProfile.count was 0. It must be greater or equal to minCount:1 and less than or equal to maxCount:1000."
    )
    .tries(pool, REGULAR, mode=("System", "User"), count=0),
    Row("too many nodes", node_rules.count_bounds, "1.2, 7.8")
    .says("less than or equal to maxCount:1000.")
    .tries(pool, REGULAR, count=(1001, 100)),
    Row("count of another time", node_rules.stale_count, "the sandbox's reading")
    .assumes("agentPoolProfile.count was 0. The pool is autoscaled and has 3 nodes.")
    .given(pool(SPOT), lambda account: account.cloud.scale("aks", "t4spot", 3))
    .tries(pool, SPOT, count=(0, 3), nodeLabels={"a": "b"}),
    Row("count of another time, inline", node_rules.stale_count, "the sandbox's reading")
    .assumes("has 3 nodes")
    .given(
        cluster(agentPoolProfiles=[{**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 4}]),
        lambda account: account.cloud.scale("two", "system", 3),
    )
    .tries(cluster, agentPoolProfiles=[{"name": "system", "count": (1, 3)}]),
    Row("count further in than new bounds want it", node_rules.stale_count, "the sandbox's reading")
    .assumes("agentPoolProfile.count was 1. The pool is autoscaled and has 3 nodes.")
    .given(pool(SPOT, count=3))
    .tries(pool, SPOT, maxCount=2, count=(1, 2)),
    Row("minimum over maximum", node_rules.autoscaling_bounds, "1.2")
    .assumes("minCount 5 and maxCount 4")
    .tries(pool, _AUTOSCALED, minCount=(5, 4), count=(5, 4)),
    Row("system pool from zero", node_rules.autoscaling_bounds, "page use-system-pools")
    .assumes("minCount 0")
    .tries(pool, _AUTOSCALED, mode="System", minCount=(0, 1)),
    Row("bounds without autoscaling", node_rules.bounds_only_with_autoscaling, "1.2")
    .assumes("can only be set when enableAutoScaling is true")
    .tries(pool, REGULAR, maxCount=3, minCount=(ABSENT, 1), enableAutoScaling=(ABSENT, True)),
    Row("too few pods", node_rules.max_pods, "1.2")
    .assumes("InsufficientMaxPods", "maxPods 9")
    .tries(pool, REGULAR, maxPods=(9, 10), count=4),
    Row("too many pods", node_rules.max_pods, "1.2")
    .assumes("MaxPodsLimitExceeded", "maxPods 251")
    .tries(pool, REGULAR, maxPods=(251, 250)),
    Row("room for fewer than 30 pods", node_rules.pods_of_a_pool, "1.2")
    .assumes("InsufficientAgentPoolMaxPodsPerAgentPool", "2 nodes of maxPods 14")
    .tries(pool, REGULAR, maxPods=(14, 15)),
    Row("few pods in a system pool", node_rules.pods_of_a_pool, "page use-system-pools")
    .assumes("InsufficientAgentPoolMaxPodsPerAgentPool", "maxPods 29")
    .tries(pool, REGULAR, mode=("System", "User"), maxPods=29),
    Row("another size", azure_pool_rules.size_change, "2.1, 7.9")
    .says(
        "PropertyChangeNotAllowed",
        'Changing property "agentPoolProfile.vmSize" is not allowed in an api-version before "2026-01-02-preview".',
    )
    .given(pool(REGULAR))
    .tries(pool, REGULAR, vmSize=("Standard_D8s_v5", ABSENT), count=(ABSENT, 3)),
    Row("another size, inline", azure_pool_rules.size_change, "3")
    .says("PropertyChangeNotAllowed", "agentPoolProfile.vmSize")
    .given(cluster())
    .tries(cluster, agentPoolProfiles=[({**SYSTEM, "vmSize": "Standard_D8s_v5"}, {**SYSTEM, "count": 2})]),
    Row("regular becomes spot", azure_pool_rules.priority_change, "2.1, 7.9")
    .says("BadRequest", "ScaleSetPriority is immutable. Provided value is Spot, Please use current value .")
    .given(pool(REGULAR, type="VirtualMachineScaleSets"))
    .tries(pool, REGULAR, scaleSetPriority=("Spot", "Regular")),
    Row("spot becomes regular", azure_pool_rules.priority_change, "2.1, 7.9")
    .says("BadRequest", "ScaleSetPriority is immutable. Provided value is Regular, Please use current value Spot.")
    .given(pool(SPOT))
    .tries(pool, SPOT, scaleSetPriority=("Regular", "Spot")),
    *(
        Row(f"{field} changes", azure_pool_rules.immutable_change, "2.1")
        .assumes("PropertyChangeNotAllowed", f"Changing property 'properties.{field}' is not allowed.")
        .given(pool(base))
        .refuses(pool(base, **{field: value}))
        .accepts(pool(base, **{field: same}))
        for field, base, value, same in (
            ("scaleSetEvictionPolicy", SPOT, "Deallocate", "Delete"),
            ("spotMaxPrice", SPOT, 0.5, -1),
            ("maxPods", REGULAR, 100, 250),
            ("osDiskType", {**REGULAR, "vmSize": "Standard_D4ds_v5"}, "Managed", "Ephemeral"),
            # Of an object, what a request leaves out stays.
            ("kubeletConfig", {**REGULAR, "kubeletConfig": _KUBELET}, {"failSwapOn": True}, {"failSwapOn": False}),
            ("linuxOSConfig", {**REGULAR, "linuxOSConfig": _SWAP}, {"swapFileSizeMB": 1}, _SWAP),
            ("enableUltraSSD", REGULAR, True, False),
            ("kubeletDiskType", REGULAR, "Temporary", "OS"),
            ("availabilityZones", {**REGULAR, "availabilityZones": ["1"]}, ["1", "2"], ["1"]),
            ("enableEncryptionAtHost", REGULAR, True, False),
        )
    ),
    Row("osSKU changes", azure_pool_rules.system_change, "azurerm os_sku")
    .assumes("PropertyChangeNotAllowed", "Changing property 'properties.osSKU' is not allowed.")
    .given(pool(REGULAR))
    .tries(pool, REGULAR, osSKU=("CBLMariner", "AzureLinux")),
    Row("pool version not offered", azure_pool_rules.version, "2.1")
    .says("AgentPoolK8sVersionNotSupported", "Version 1.30 is not supported in this region.")
    .tries(pool, REGULAR, orchestratorVersion=("1.30", "1.35.5")),
    Row("pool newer than its cluster", cluster_pools_rules.skew, "2.1, 7.11")
    .says(
        "NodePoolMcVersionIncompatible", "Node pool version 1.36.2 and control plane version 1.35.5 are incompatible."
    )
    .tries(pool, REGULAR, orchestratorVersion=("1.36", "1.34")),
    Row("Trusted Launch on a pool that was made without", azure_machine_rules.trusted_launch, "use-trusted-launch")
    .assumes(
        "PropertyChangeNotAllowed", "Trusted Launch cannot be enabled on a node pool that was not created with it."
    )
    .given(pool(REGULAR))
    .tries(pool, REGULAR, securityProfile={"enableVTPM": (True, False), "enableSecureBoot": False}),
    Row("Secure Boot beside the GPU driver of AKS", azure_machine_rules.secure_boot_driver, "use-trusted-launch")
    .assumes("BadRequest", "Secure Boot on a GPU node pool needs gpuProfile.driver None.")
    .tries(
        pool,
        REGULAR,
        vmSize="Standard_NC4as_T4_v3",
        securityProfile={"enableSecureBoot": True},
        gpuProfile=(ABSENT, {"driver": "None"}),
    ),
    Row("subnet that is not there", azure_pool_rules.subnets, "1.1")
    .assumes(
        "ResourceNotFound",
        "The Resource 'Microsoft.Network/virtualNetworks/n/subnets/x' under resource group 'ml' was not found.",
    )
    .tries(pool, REGULAR, vnetSubnetID=(_ABSENT, ABSENT)),
    Row("surge on spot", node_rules.spot_upgrade, "2.1, 7.4")
    .says("Error details: Spot pools can't set max surge." + _RULES)
    .tries(pool, SPOT, upgradeSettings=({"maxSurge": "10%"}, {"undrainableNodeBehavior": "Schedule"})),
    Row("unavailable nodes on spot", node_rules.spot_upgrade, "2.1, 7.4")
    .says("Error details: Spot pools can't set maxUnavailable." + _RULES)
    .tries(pool, SPOT, upgradeSettings=({"maxUnavailable": "1"}, {"drainTimeoutInMinutes": 5})),
    Row("cordoned nodes on spot", node_rules.spot_upgrade, "REST 2025-09-01, UndrainableNodeBehavior")
    .assumes("Spot pools can't cordon undrainable nodes")
    .tries(pool, (SPOT, REGULAR), upgradeSettings={"undrainableNodeBehavior": "Cordon"}),
    Row("surge on spot, in an update", node_rules.spot_upgrade, "2.1, 7.4")
    .says("max surge")
    .given(pool(SPOT))
    .tries(pool, SPOT, upgradeSettings=({"maxSurge": "1"}, ABSENT), maxCount=(ABSENT, 9)),
    Row("spot without a type", node_rules.spot_upgrade, "bicep-types-az #2217")
    .assumes("Spot pools can't set max surge")
    .tries(pool, SPOT, type=(None, ABSENT)),
    Row("spot as system pool", node_rules.spot_mode, "2.1, 7.6")
    .assumes("SystemPoolMustBeRegular", "must be in User mode")
    .tries(pool, SPOT, mode=("System", ABSENT), minCount=1, count=1),
    Row("spot as first pool", node_rules.spot_mode, "2.1, 7.6")
    .assumes("cannot be the first pool")
    .tries(
        cluster,
        agentPoolProfiles=(
            [{**SYSTEM, "name": "spot", "mode": "User", "scaleSetPriority": "Spot"}, SYSTEM],
            [SYSTEM, {**SYSTEM, "name": "spot", "mode": "User", "scaleSetPriority": "Spot"}],
        ),
    ),
    Row("spot in single machines", node_rules.spot_settings, "page spot-node-pool")
    .assumes("VirtualMachineScaleSets")
    .tries(pool, SPOT, type=("VirtualMachines", "VirtualMachineScaleSets")),
    Row("spot price of zero", node_rules.spot_settings, "page spot-node-pool")
    .assumes("up to five decimals")
    .tries(pool, SPOT, spotMaxPrice=(0, -1)),
    Row("spot price too fine", node_rules.spot_settings, "page spot-node-pool")
    .assumes("up to five decimals")
    .tries(pool, SPOT, spotMaxPrice=(0.123456, 0.12345)),
    Row("spot on a size without", node_rules.spot_settings, "machine catalogue")
    .assumes("does not support Spot priority")
    .tries(pool, SPOT, vmSize=("Standard_B4ms", "Standard_D4s_v5")),
    Row("eviction policy of a regular pool", node_rules.spot_settings, "1.2, page spot-node-pool")
    .assumes("when scaleSetPriority is Spot")
    .tries(
        pool,
        REGULAR,
        scaleSetEvictionPolicy=("Deallocate", "Delete"),
        spotMaxPrice=(ABSENT, -1),
        scaleSetPriority=(ABSENT, "Regular"),
    ),
    Row("label of AKS", node_rules.labels, "2.1, 7.10")
    .says(
        "BadRequest",
        "Invalid node label key kubernetes.azure.com/tier. The 'kubernetes.azure.com' prefix is preserved by aks system labels",
    )
    .tries(pool, REGULAR, nodeLabels=({"kubernetes.azure.com/tier": "a"}, {"azure.com/tier": "a"})),
    Row("spot label with another value", node_rules.labels, "2.1, 7.10")
    .says("BadRequest", "preserved by aks system labels")
    .tries(pool, SPOT, nodeLabels={"kubernetes.azure.com/scalesetpriority": ("regular", "spot")}),
    Row("spot label on a regular pool", node_rules.labels, "2.1, 7.10")
    .says("BadRequest", "preserved by aks system labels")
    .tries(pool, REGULAR, nodeLabels=({"kubernetes.azure.com/scalesetpriority": "spot"}, {"scalesetpriority": "spot"})),
    Row("label of Kubernetes", node_rules.labels, "2.1, 7.10")
    .says("BadRequest", "namespace must begin with an allowed prefix")
    .tries(pool, REGULAR, nodeLabels=({"node-role.kubernetes.io/gpu": "yes"}, {"node.kubernetes.io/gpu": "yes"})),
    Row("label of k8s.io, in an update", node_rules.labels, "2.1, 7.10")
    .says("BadRequest", "allowed prefix")
    .given(pool(REGULAR))
    .tries(pool, REGULAR, nodeLabels=({"x.k8s.io/a": "b"}, {"xk8s.io/a": "b"})),
    Row("label agentpool", node_rules.labels, "2.1")
    .assumes("agentpool=x")
    .tries(pool, REGULAR, nodeLabels=({"agentpool": "x"}, {"pool": "x"})),
    Row("label value with a space", node_rules.labels, "Kubernetes")
    .assumes("a=b c")
    .tries(pool, REGULAR, nodeLabels={"a": ("b c", "")}),
    Row("taint without an effect", node_rules.taints, "2.1")
    .assumes("invalid taint spec")
    .tries(pool, REGULAR, nodeTaints=[("nvidia.com/gpu=present", "nvidia.com/gpu=present:NoSchedule")]),
    Row("taint in GKE's spelling, in an update", node_rules.taints, "2.1")
    .assumes("invalid taint spec")
    .given(pool(REGULAR, nodeTaints=["a=b:NoExecute"]))
    .tries(pool, REGULAR, nodeTaints=[("a=b:NO_SCHEDULE", "a=b:PreferNoSchedule")]),
    Row("taint with a newline", node_rules.taints, "2.1")
    .assumes("invalid taint spec")
    .tries(pool, REGULAR, nodeTaints=[("a=b:NoSchedule\n", "a=b:NoSchedule")]),
    Row("unknown size", azure_machine_rules.size_known, "2.1")
    .says("The requested VM size Standard_NC6 is not available in the current region.")
    .tries(pool, REGULAR, vmSize=("Standard_NC6", "Standard_NC4as_T4_v3")),
    Row("B-series in a system pool", azure_machine_rules.system_size, "2.1")
    .says(
        "SystemPoolSkuTooLow",
        "System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: cpu.",
    )
    .tries(pool, REGULAR, mode=("System", "User"), vmSize="Standard_B4as_v2"),
    Row("zone the region does not have", azure_machine_rules.availability_zones, "2.1")
    .says(
        "AvailabilityZoneNotSupported",
        "The zone(s) '4' for resource 'cpu' is not supported. The supported zones for location 'westeurope' are '1,2,3'",
    )
    .tries(pool, REGULAR, availabilityZones=(["1", "4"], ["1", "3"])),
    Row("region without zones", azure_machine_rules.availability_zones, "2.1")
    .says("AvailabilityZoneNotSupported", "The supported zones for location 'westus' are ''")
    .given(cluster(resourceName="west", location="West US"))
    .tries(pool, REGULAR, resourceName="west", availabilityZones=(["1"], [])),
    Row("ephemeral disk on no disk", azure_machine_rules.ephemeral_disk, "1.2, 2.1, 7.14")
    .says(
        "VMCacheSizeTooSmall",
        "The virtual machine size Standard_D4s_v5 has a cache size of 0 bytes, but the OS disk requires 137438953472 bytes.",
    )
    .tries(pool, REGULAR, osDiskType=("Ephemeral", "Managed")),
    Row("ephemeral disk larger than the local one", azure_machine_rules.ephemeral_disk, "1.2, 2.1, 7.14")
    .says("VMCacheSizeTooSmall", "has a cache size of 161061273600 bytes")
    .tries(pool, _D4DS, osDiskType="Ephemeral", osDiskSizeGB=(151, 150)),
    Row("disk too large", azure_machine_rules.disk_size, "REST specification")
    .assumes("osDiskSizeGB 2049")
    .tries(pool, REGULAR, osDiskSizeGB=(2049, 2048)),
    Row("GPU partitions on a T4", azure_machine_rules.gpu_partitions, "page gpu-multi-instance")
    .assumes("VMSizeDoesNotSupportMIG", "Standard_NC4as_T4_v3")
    .tries(pool, _A100, vmSize=("Standard_NC4as_T4_v3", ABSENT), gpuInstanceProfile="MIG1g"),
    Row("surge that is no number", node_rules.nodes_at_once, "page upgrade-aks-node-pools-rolling")
    .assumes("agentPoolProfile.upgradeSettings.maxSurge")
    .tries(pool, REGULAR, upgradeSettings={"maxSurge": ("101%", "100%")}),
    Row("drain timeout too short", node_rules.minutes, "page upgrade-aks-node-pools-rolling")
    .assumes("drainTimeoutInMinutes")
    .tries(pool, REGULAR, upgradeSettings={"drainTimeoutInMinutes": (4, 5)}),
    Row("no surge and no unavailable node", node_rules.surge, "page upgrade-aks-node-pools-rolling")
    .assumes("maxSurge and maxUnavailable cannot both be 0")
    .tries(pool, REGULAR, upgradeSettings={"maxSurge": "0", "maxUnavailable": (ABSENT, "1")}),
    Row("surge and unavailable nodes", node_rules.surge, "page upgrade-aks-node-pools-rolling")
    .assumes("maxSurge and maxUnavailable cannot both be set")
    .tries(pool, REGULAR, upgradeSettings={"maxUnavailable": ("1", "0")}),
    Row("unavailable nodes in a system pool", node_rules.system_unavailable, "page upgrade-aks-node-pools-rolling")
    .assumes("System pools can't set maxUnavailable")
    .tries(pool, REGULAR, mode=("System", "User"), upgradeSettings={"maxSurge": "0", "maxUnavailable": "1"}),
    Row(
        "capacity reservation group that is none",
        azure_machine_rules.reservation_form,
        "page use-capacity-reservation-groups",
    )
    .assumes("hostGroups/gpus is not the id of a capacity reservation group")
    .given(*_READY)
    .tries(_reserved, group=(_RESERVED.replace("capacityReservationGroups", "hostGroups"), ABSENT)),
    Row("reserved spot", azure_machine_rules.reserved_spot, "page capacity-reservation-overview")
    .assumes("Spot node pools cannot use a capacity reservation group.")
    .given(*_READY)
    .tries(_reserved, SPOT, scaleSetPriority=(ABSENT, "Regular")),
    Row(
        "reservation for a system-assigned identity",
        azure_machine_rules.reservation_identity,
        "page use-capacity-reservation-groups",
    )
    .assumes("BadRequest", "user-assigned identity")
    .given(_CONTRIBUTOR, cluster())
    .refuses(_reserved())
    .accepts(pool(REGULAR, resourceName="two")),
    Row(
        "reservation the identity may not use",
        azure_machine_rules.reservation_permission,
        "Azure/karpenter-provider-azure pull request 1839",
    )
    .assumes("LinkedAuthorizationFailed", "Microsoft.Compute/capacityReservationGroups/deploy/action")
    .given(*_READY)
    .tries(_reserved, group=(_RESERVED.replace("/gpus", "/others"), ABSENT)),
    Row("reservation for a pool that exists", azure_pool_rules.immutable_change, "Azure/AKS pull request 5913")
    .assumes("PropertyChangeNotAllowed", "Changing property 'properties.capacityReservationGroupID' is not allowed.")
    .given(*_READY, pool(REGULAR, resourceName="two"))
    .refuses(_reserved())
    .accepts(pool(REGULAR, resourceName="two", nodeLabels={"a": "b"})),
]
