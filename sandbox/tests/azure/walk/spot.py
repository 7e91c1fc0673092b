"""Rules about spot pools, and about labels and taints."""

from __future__ import annotations

from sandbox.azure.resources import node_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT, SYSTEM
from .requests import cluster, pool

_RULES = " Please see https://aka.ms/aks-naming-rules for more details."


ROWS = [
    Row("surge on spot", node_rules.spot_upgrade, "2.1, 7.4")
    .says("InvalidParameter", "Error details: Spot pools can't set max surge." + _RULES)
    .tries(pool, SPOT, upgradeSettings=({"maxSurge": "10%"}, {"undrainableNodeBehavior": "Schedule"})),
    Row("unavailable nodes on spot", node_rules.spot_upgrade, "2.1, 7.4")
    .says("InvalidParameter", "Error details: Spot pools can't set maxUnavailable." + _RULES)
    .tries(pool, SPOT, upgradeSettings=({"maxUnavailable": "1"}, {"drainTimeoutInMinutes": 5})),
    Row("cordoned nodes on spot", node_rules.spot_upgrade, "REST 2025-09-01, UndrainableNodeBehavior")
    .assumes("InvalidParameter", "Spot pools can't cordon undrainable nodes")
    .tries(pool, (SPOT, REGULAR), upgradeSettings={"undrainableNodeBehavior": "Cordon"}),
    Row("surge on spot, in an update", node_rules.spot_upgrade, "2.1, 7.4")
    .says("InvalidParameter", "max surge")
    .given(pool(SPOT))
    .tries(pool, SPOT, upgradeSettings=({"maxSurge": "1"}, ABSENT), maxCount=(ABSENT, 9)),
    Row("spot without a type", node_rules.spot_upgrade, "bicep-types-az #2217")
    .assumes("InvalidParameter", "Spot pools can't set max surge")
    .tries(pool, SPOT, type=(None, ABSENT)),
    Row("spot as system pool", node_rules.spot_mode, "2.1, 7.6")
    .assumes("SystemPoolMustBeRegular", "must be in User mode")
    .tries(pool, SPOT, mode=("System", ABSENT), minCount=1, count=1),
    Row("spot as first pool", node_rules.spot_mode, "2.1, 7.6")
    .assumes("InvalidParameter", "cannot be the first pool")
    .tries(
        cluster,
        agentPoolProfiles=(
            [{**SYSTEM, "name": "spot", "mode": "User", "scaleSetPriority": "Spot"}, SYSTEM],
            [SYSTEM, {**SYSTEM, "name": "spot", "mode": "User", "scaleSetPriority": "Spot"}],
        ),
    ),
    Row("spot in single machines", node_rules.spot_settings, "page spot-node-pool")
    .assumes("InvalidParameter", "VirtualMachineScaleSets")
    .tries(pool, SPOT, type=("VirtualMachines", "VirtualMachineScaleSets")),
    Row("spot price of zero", node_rules.spot_settings, "page spot-node-pool")
    .assumes("InvalidParameter", "up to five decimals")
    .tries(pool, SPOT, spotMaxPrice=(0, -1)),
    Row("spot price too fine", node_rules.spot_settings, "page spot-node-pool")
    .assumes("InvalidParameter", "up to five decimals")
    .tries(pool, SPOT, spotMaxPrice=(0.123456, 0.12345)),
    Row("spot on a size without", node_rules.spot_settings, "machine catalogue")
    .assumes("InvalidParameter", "does not support Spot priority")
    .tries(pool, SPOT, vmSize=("Standard_B4ms", "Standard_D4s_v5")),
    Row("eviction policy of a regular pool", node_rules.spot_settings, "1.2, page spot-node-pool")
    .assumes("InvalidParameter", "when scaleSetPriority is Spot")
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
    .assumes("InvalidParameter", "agentpool=x")
    .tries(pool, REGULAR, nodeLabels=({"agentpool": "x"}, {"pool": "x"})),
    Row("label value with a space", node_rules.labels, "Kubernetes")
    .assumes("InvalidParameter", "a=b c")
    .tries(pool, REGULAR, nodeLabels={"a": ("b c", "")}),
    Row("taint without an effect", node_rules.taints, "2.1")
    .assumes("InvalidParameter", "invalid taint spec")
    .tries(pool, REGULAR, nodeTaints=[("nvidia.com/gpu=present", "nvidia.com/gpu=present:NoSchedule")]),
    Row("taint in GKE's spelling, in an update", node_rules.taints, "2.1")
    .assumes("InvalidParameter", "invalid taint spec")
    .given(pool(REGULAR, nodeTaints=["a=b:NoExecute"]))
    .tries(pool, REGULAR, nodeTaints=[("a=b:NO_SCHEDULE", "a=b:PreferNoSchedule")]),
    Row("taint with a newline", node_rules.taints, "2.1")
    .assumes("InvalidParameter", "invalid taint spec")
    .tries(pool, REGULAR, nodeTaints=[("a=b:NoSchedule\n", "a=b:NoSchedule")]),
]
