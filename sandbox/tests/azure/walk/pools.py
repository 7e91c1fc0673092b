"""Rules about a pool: its name, its counts, its version, and its immutable properties."""

from __future__ import annotations

from sandbox.azure.resources import azure_machine_rules, azure_pool_rules, cluster_pools_rules, node_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT, SYSTEM
from .requests import cluster, pool

_RULES = " Please see https://aka.ms/aks-naming-rules for more details."
_AUTOSCALED = {**REGULAR, "enableAutoScaling": True, "minCount": 1, "maxCount": 4}
_ABSENT = "/subscriptions/s/resourceGroups/ml/providers/Microsoft.Network/virtualNetworks/n/subnets/x"


ROWS = [
    Row("bad pool name", azure_pool_rules.name, "2.1")
    .says("InvalidParameter", "The value of parameter agentPoolProfile.name is invalid." + _RULES)
    .tries(cluster, agentPoolProfiles=[{**SYSTEM, "name": ("Sys", "sys")}]),
    Row("no count, with autoscaling", node_rules.count_present, "2.1, 7.7")
    .says("InvalidParameter", "Required parameter properties.count is missing (null).")
    .given(pool(SPOT))
    .tries(pool, SPOT, count=(None, 0), maxCount=5),
    Row("count above the maximum", node_rules.count_bounds, "2.1, 7.8")
    .says(
        "InvalidParameter",
        "agentPoolProfile.count was 5. It must be greater or equal to minCount:0 and less than or equal to maxCount:4.",
    )
    .tries(pool, SPOT, count=(5, 4)),
    Row("no node in a system pool", node_rules.count_bounds, "2.1, 7.8")
    .says(
        "InvalidParameter",
        "agentPoolProfile.count was 0. It must be greater or equal to minCount:1 and less than or equal to maxCount:1000.",
    )
    .tries(pool, REGULAR, mode=("System", "User"), count=0),
    Row("too many nodes", node_rules.count_bounds, "1.2, 7.8")
    .says("InvalidParameter", "less than or equal to maxCount:1000.")
    .tries(pool, REGULAR, count=(1001, 100)),
    Row("count of another time", node_rules.stale_count, "the sandbox's reading")
    .assumes("InvalidParameter", "agentPoolProfile.count was 0. The pool is autoscaled and has 3 nodes.")
    .given(pool(SPOT), lambda account: account.cloud.scale("aks", "t4spot", 3))
    .tries(pool, SPOT, count=(0, 3), nodeLabels={"a": "b"}),
    Row("count of another time, inline", node_rules.stale_count, "the sandbox's reading")
    .assumes("InvalidParameter", "has 3 nodes")
    .given(
        cluster(agentPoolProfiles=[{**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 4}]),
        lambda account: account.cloud.scale("two", "system", 3),
    )
    .tries(cluster, agentPoolProfiles=[{"name": "system", "count": (1, 3)}]),
    Row("count further in than new bounds want it", node_rules.stale_count, "the sandbox's reading")
    .assumes("InvalidParameter", "agentPoolProfile.count was 1. The pool is autoscaled and has 3 nodes.")
    .given(pool(SPOT, count=3))
    .tries(pool, SPOT, maxCount=2, count=(1, 2)),
    Row("minimum over maximum", node_rules.autoscaling_bounds, "1.2")
    .assumes("InvalidParameter", "minCount 5 and maxCount 4")
    .tries(pool, _AUTOSCALED, minCount=(5, 4), count=(5, 4)),
    Row("system pool from zero", node_rules.autoscaling_bounds, "page use-system-pools")
    .assumes("InvalidParameter", "minCount 0")
    .tries(pool, _AUTOSCALED, mode="System", minCount=(0, 1)),
    Row("bounds without autoscaling", node_rules.bounds_only_with_autoscaling, "1.2")
    .assumes("InvalidParameter", "can only be set when enableAutoScaling is true")
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
            ("osSKU", REGULAR, "AzureLinux", "Ubuntu"),
            ("availabilityZones", {**REGULAR, "availabilityZones": ["1"]}, ["1", "2"], ["1"]),
            ("enableEncryptionAtHost", REGULAR, True, False),
        )
    ),
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
]
