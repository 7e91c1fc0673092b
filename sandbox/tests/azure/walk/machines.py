"""Rules about a pool's machines, how they are upgraded, and the quotas they count against."""

from __future__ import annotations

from sandbox.azure import allocation
from sandbox.azure.resources import azure_machine_rules, upgrade_rules

from ..conftest import REGULAR, SPOT
from .row import Row, cluster, pool

_D4DS = {**REGULAR, "vmSize": "Standard_D4ds_v5"}
_A100 = {**REGULAR, "vmSize": "Standard_NC24ads_A100_v4", "count": 0}
_NORTH = {**REGULAR, "resourceName": "north"}
_IN_NORTH = cluster(resourceName="north", location="northeurope")

ROWS = [
    Row(
        "unknown size",
        "2.1",
        azure_machine_rules.size_known,
        "InvalidParameter",
        "The requested VM size Standard_NC6 is not available in the current region.",
        bad=pool(REGULAR, vmSize="Standard_NC6"),
        good=pool(REGULAR, vmSize="Standard_NC4as_T4_v3"),
    ),
    Row(
        "B-series in a system pool",
        "2.1",
        azure_machine_rules.system_size,
        "SystemPoolSkuTooLow",
        "System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: cpu.",
        bad=pool(REGULAR, mode="System", vmSize="Standard_B4as_v2"),
        good=pool(REGULAR, mode="User", vmSize="Standard_B4as_v2"),
    ),
    Row(
        "zone the region does not have",
        "2.1",
        azure_machine_rules.availability_zones,
        "AvailabilityZoneNotSupported",
        "The zone(s) '4' for resource 'cpu' is not supported. The supported zones for location 'westeurope' are '1,2,3'",
        bad=pool(REGULAR, availabilityZones=["1", "4"]),
        good=pool(REGULAR, availabilityZones=["1", "3"]),
    ),
    Row(
        "region without zones",
        "2.1",
        azure_machine_rules.availability_zones,
        "AvailabilityZoneNotSupported",
        "The supported zones for location 'westus' are ''",
        given=(cluster(resourceName="west", location="West US"),),
        bad=pool(REGULAR, resourceName="west", availabilityZones=["1"]),
        good=pool(REGULAR, resourceName="west", availabilityZones=[]),
    ),
    Row(
        "ephemeral disk on no disk",
        "1.2, 2.1, 7.14",
        azure_machine_rules.ephemeral_disk,
        "VMCacheSizeTooSmall",
        "The virtual machine size Standard_D4s_v5 has a cache size of 0 bytes, but the OS disk requires 137438953472 bytes.",
        bad=pool(REGULAR, osDiskType="Ephemeral"),
        good=pool(REGULAR, osDiskType="Managed"),
    ),
    Row(
        "ephemeral disk larger than the local one",
        "1.2, 2.1, 7.14",
        azure_machine_rules.ephemeral_disk,
        "VMCacheSizeTooSmall",
        "has a cache size of 161061273600 bytes",
        bad=pool(_D4DS, osDiskType="Ephemeral", osDiskSizeGB=151),
        good=pool(_D4DS, osDiskType="Ephemeral", osDiskSizeGB=150),
    ),
    Row(
        "disk too large",
        "REST specification",
        azure_machine_rules.disk_size,
        "InvalidParameter",
        "osDiskSizeGB 2049",
        confirmed=False,
        bad=pool(REGULAR, osDiskSizeGB=2049),
        good=pool(REGULAR, osDiskSizeGB=2048),
    ),
    Row(
        "GPU partitions on a T4",
        "page gpu-multi-instance",
        azure_machine_rules.gpu_partitions,
        "VMSizeDoesNotSupportMIG",
        "Standard_NC4as_T4_v3",
        confirmed=False,
        bad=pool(_A100, vmSize="Standard_NC4as_T4_v3", gpuInstanceProfile="MIG1g"),
        good=pool(_A100, gpuInstanceProfile="MIG1g"),
    ),
    Row(
        "surge that is no number",
        "page upgrade-aks-node-pools-rolling",
        upgrade_rules.nodes_at_once,
        "InvalidParameter",
        "agentPoolProfile.upgradeSettings.maxSurge",
        confirmed=False,
        bad=pool(REGULAR, upgradeSettings={"maxSurge": "101%"}),
        good=pool(REGULAR, upgradeSettings={"maxSurge": "100%"}),
    ),
    Row(
        "drain timeout too short",
        "page upgrade-aks-node-pools-rolling",
        upgrade_rules.minutes,
        "InvalidParameter",
        "drainTimeoutInMinutes",
        confirmed=False,
        bad=pool(REGULAR, upgradeSettings={"drainTimeoutInMinutes": 4}),
        good=pool(REGULAR, upgradeSettings={"drainTimeoutInMinutes": 5}),
    ),
    Row(
        "no surge and no unavailable node",
        "page upgrade-aks-node-pools-rolling",
        upgrade_rules.surge,
        "InvalidParameter",
        "maxSurge and maxUnavailable cannot both be 0",
        confirmed=False,
        bad=pool(REGULAR, upgradeSettings={"maxSurge": "0"}),
        good=pool(REGULAR, upgradeSettings={"maxSurge": "0", "maxUnavailable": "1"}),
    ),
    Row(
        "surge and unavailable nodes",
        "page upgrade-aks-node-pools-rolling",
        upgrade_rules.surge,
        "InvalidParameter",
        "maxSurge and maxUnavailable cannot both be set",
        confirmed=False,
        bad=pool(REGULAR, upgradeSettings={"maxUnavailable": "1"}),
        good=pool(REGULAR, upgradeSettings={"maxUnavailable": "0"}),
    ),
    Row(
        "unavailable nodes in a system pool",
        "page upgrade-aks-node-pools-rolling",
        upgrade_rules.system_unavailable,
        "InvalidParameter",
        "System pools can't set maxUnavailable",
        confirmed=False,
        bad=pool(REGULAR, mode="System", upgradeSettings={"maxSurge": "0", "maxUnavailable": "1"}),
        good=pool(REGULAR, mode="User", upgradeSettings={"maxSurge": "0", "maxUnavailable": "1"}),
    ),
    Row(
        "quota of the region",
        "2.1, 7.12",
        allocation.quota_at_the_door,
        "ErrCode_InsufficientVCPUQuota",
        "Insufficient regional vcpu quota left for location northeurope. left regional vcpu quota 16, requested quota 20.",
        given=(_IN_NORTH,),
        bad=pool(_NORTH, count=5),
        good=pool(_NORTH, count=4),
    ),
    Row(
        "quota of a family",
        "2.1, 7.12",
        allocation.quota_at_the_door,
        "ErrCode_InsufficientVCPUQuota",
        "Insufficient vcpu quota requested 12, remaining 8 for family Standard NCASv3_T4 Family for region northeurope.",
        given=(_IN_NORTH,),
        bad=pool(_NORTH, vmSize="Standard_NC4as_T4_v3", count=3),
        good=pool(_NORTH, vmSize="Standard_NC4as_T4_v3", count=2),
    ),
    Row(
        "quota of spot",
        "2.2, 7.12",
        allocation._spot_quota,
        "QuotaExceeded",
        "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details - "
        "Deployment Model: Resource Manager, Location: northeurope, Current Limit: 12, Current Usage: 0, Additional Required: 16, "
        "(Minimum) New Limit Required: 16.",
        given=(_IN_NORTH,),
        bad=pool(SPOT, resourceName="north", count=4),
        good=pool(SPOT, agentPoolName="other", resourceName="north", count=3),
    ),
]
