"""Rules about a pool's machines, how they are upgraded, and the quotas they count against."""

from __future__ import annotations

from sandbox.azure import allocation
from sandbox.azure.resources import azure_machine_rules, node_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT
from .requests import cluster, pool

_D4DS = {**REGULAR, "vmSize": "Standard_D4ds_v5"}
_A100 = {**REGULAR, "vmSize": "Standard_NC24ads_A100_v4", "count": 0}
_NORTH = {**REGULAR, "resourceName": "north"}
_IN_NORTH = cluster(resourceName="north", location="northeurope")

ROWS = [
    Row("unknown size", azure_machine_rules.size_known, "2.1")
    .says("InvalidParameter", "The requested VM size Standard_NC6 is not available in the current region.")
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
    .assumes("InvalidParameter", "osDiskSizeGB 2049")
    .tries(pool, REGULAR, osDiskSizeGB=(2049, 2048)),
    Row("GPU partitions on a T4", azure_machine_rules.gpu_partitions, "page gpu-multi-instance")
    .assumes("VMSizeDoesNotSupportMIG", "Standard_NC4as_T4_v3")
    .tries(pool, _A100, vmSize=("Standard_NC4as_T4_v3", ABSENT), gpuInstanceProfile="MIG1g"),
    Row("surge that is no number", node_rules.nodes_at_once, "page upgrade-aks-node-pools-rolling")
    .assumes("InvalidParameter", "agentPoolProfile.upgradeSettings.maxSurge")
    .tries(pool, REGULAR, upgradeSettings={"maxSurge": ("101%", "100%")}),
    Row("drain timeout too short", node_rules.minutes, "page upgrade-aks-node-pools-rolling")
    .assumes("InvalidParameter", "drainTimeoutInMinutes")
    .tries(pool, REGULAR, upgradeSettings={"drainTimeoutInMinutes": (4, 5)}),
    Row("no surge and no unavailable node", node_rules.surge, "page upgrade-aks-node-pools-rolling")
    .assumes("InvalidParameter", "maxSurge and maxUnavailable cannot both be 0")
    .tries(pool, REGULAR, upgradeSettings={"maxSurge": "0", "maxUnavailable": (ABSENT, "1")}),
    Row("surge and unavailable nodes", node_rules.surge, "page upgrade-aks-node-pools-rolling")
    .assumes("InvalidParameter", "maxSurge and maxUnavailable cannot both be set")
    .tries(pool, REGULAR, upgradeSettings={"maxUnavailable": ("1", "0")}),
    Row("unavailable nodes in a system pool", node_rules.system_unavailable, "page upgrade-aks-node-pools-rolling")
    .assumes("InvalidParameter", "System pools can't set maxUnavailable")
    .tries(pool, REGULAR, mode=("System", "User"), upgradeSettings={"maxSurge": "0", "maxUnavailable": "1"}),
    Row("quota of the region", allocation.quota_at_the_door, "2.1, 7.12")
    .says(
        "ErrCode_InsufficientVCPUQuota",
        "Insufficient regional vcpu quota left for location northeurope. left regional vcpu quota 16, requested quota 20.",
    )
    .given(_IN_NORTH)
    .tries(pool, _NORTH, count=(5, 4)),
    Row("quota of a family", allocation.quota_at_the_door, "2.1, 7.12")
    .says(
        "ErrCode_InsufficientVCPUQuota",
        "Insufficient vcpu quota requested 12, remaining 8 for family Standard NCASv3_T4 Family for region northeurope.",
    )
    .given(_IN_NORTH)
    .tries(pool, _NORTH, vmSize="Standard_NC4as_T4_v3", count=(3, 2)),
    Row("quota of spot", allocation._spot_quota, "2.2, 7.12", late=True)
    .says(
        "QuotaExceeded",
        "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details - "
        "Deployment Model: Resource Manager, Location: northeurope, Current Limit: 12, Current Usage: 0, Additional Required: 16, "
        "(Minimum) New Limit Required: 16.",
    )
    .given(_IN_NORTH)
    .tries(pool, SPOT, resourceName="north", count=(4, 3), agentPoolName=(ABSENT, "other")),
]
