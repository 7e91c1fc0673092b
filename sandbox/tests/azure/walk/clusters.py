"""Rules about a cluster: its identity, name, version and pools; its autoscaler's profile, and operations one after the other."""

from typing import Any

from sandbox.azure import azure_ids, azure_operations
from sandbox.azure.azure_operations import Throttle
from sandbox.azure.resources import azure_cluster_rules, cluster_pools_rules
from sandbox.cloud.state import Store
from sandbox.tests.rule_walk import ABSENT, Row, Step

from ..conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, SPOT, SYSTEM, Account, Props
from .requests import GROUP, OWN, Delete, Put, cluster, id_of, pool

_ABSENT = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/no"
_TWO = id_of(CLUSTER, resourceGroupName="ml", resourceName="two")
_SENT = {k: v for k, v in CLUSTER_INPUTS.items() if k not in ("resourceGroupName", "resourceName")}


def _older(account: Account, version: str) -> None:
    """Leave a pool behind at a version that was offered once."""
    id = id_of(POOL, resourceGroupName="ml", resourceName="two", agentPoolName="cpu")
    with Store(account.state_file).change() as resources:
        resources.records[azure_ids.key(id)].body["currentOrchestratorVersion"] = version


def _aks(**changes: Any) -> Put:
    """Put the cluster whose pools `pool` makes."""
    return Put(CLUSTER, {**CLUSTER_INPUTS, **changes})


def _named(**versions: str) -> list[Props]:
    return [{"name": name, "orchestratorVersion": version} for name, version in versions.items()]


_CPU = id_of(POOL, resourceGroupName="ml", resourceName="aks", agentPoolName="cpu")


def _marked(token: str, state: str, **parameters: str) -> Step:
    """Mark a cluster or pool that another process is working on."""
    id = id_of(token, resourceGroupName="ml", **parameters)

    def mark(account: Account) -> None:
        with Store(account.state_file).change() as resources:
            resources.records[azure_ids.key(id)].body["provisioningState"] = state

    return mark


def _twenty_times(account: Account) -> None:
    for _ in range(20):
        account.cloud._throttle.admit(_CPU)
    # Waiting passes no time from now on.
    account.clock.wait = lambda seconds: None  # type: ignore[method-assign]
    account.cloud._throttle._wait = account.clock.wait


ROWS = [
    Row("no identity", azure_cluster_rules.identity, "1.1")
    .assumes("servicePrincipalProfile")
    .tries(cluster, identity=(None, {"type": "SystemAssigned"})),
    Row("identity that is not there", azure_cluster_rules.identity, "1.1")
    .assumes(
        "ResourceNotFound",
        "'Microsoft.ManagedIdentity/userAssignedIdentities/no' under resource group 'ml' was not found.",
    )
    .tries(cluster, identity=({"type": "UserAssigned", "userAssignedIdentities": [_ABSENT]}, OWN)),
    Row("no location", azure_cluster_rules.location, "ARM")
    .says("LocationRequired", "The location property is required")
    # The provider always finds one, its own or the group's: only another client can leave it out.
    .refuses(lambda account: account.cloud.put(CLUSTER, _TWO, _SENT, create=True))
    .accepts(lambda account: account.cloud.put(CLUSTER, _TWO, {**_SENT, "location": "westeurope"}, create=True)),
    Row("region that does not exist", azure_cluster_rules.location, "Azure/AKS #5099")
    .says(
        "LocationNotAvailableForResourceType",
        "The provided location 'westeuropa' is not available for resource type 'Microsoft.ContainerService/managedClusters'.",
    )
    .tries(cluster, location=("westeuropa", "West Europe")),
    Row("another region", azure_cluster_rules.moved, "ARM")
    .says("InvalidResourceLocation", "already exists in location 'westeurope'")
    .given(cluster())
    .tries(cluster, location=("northeurope", "West Europe")),
    Row("no DNS prefix", azure_cluster_rules.dns_name, "1.1")
    .assumes("Exactly one of dnsPrefix and fqdnSubdomain")
    .tries(cluster, dnsPrefix=(None, "ml")),
    Row("DNS prefix with a dot", azure_cluster_rules.dns_prefix, "page aks-naming-rules")
    .assumes("The value of parameter dnsPrefix is invalid.")
    .tries(cluster, dnsPrefix=("ml.dev", "ml-dev")),
    Row("another DNS prefix", azure_cluster_rules.immutable_change, "3")
    .assumes("PropertyChangeNotAllowed", "Changing property 'properties.dnsPrefix' is not allowed.")
    .given(cluster())
    .tries(cluster, dnsPrefix=("other", "ml")),
    Row("public becomes private", azure_cluster_rules.immutable_change, "page private-clusters")
    .assumes("PropertyChangeNotAllowed", "'properties.apiServerAccessProfile.enablePrivateCluster'")
    .given(cluster())
    .tries(cluster, apiServerAccessProfile={"enablePrivateCluster": (True, False)}),
    Row("version not offered", cluster_pools_rules.version, "2.1")
    .says("K8sVersionNotSupported", "Managed cluster two is on version 1.30 which is not supported in this region.")
    .tries(cluster, kubernetesVersion=("1.30", "1.34")),
    Row(
        "version with long-term support only",
        cluster_pools_rules.version,
        "apecloud/kubeblocks PR 10136, kubernetes-sigs/cluster-api-provider-azure #5953",
    )
    .says("K8sVersionNotSupported", "is on version 1.33.7, which is only available for Long-Term Support (LTS).")
    .tries(
        cluster,
        kubernetesVersion="1.33",
        sku=(ABSENT, {"name": "Base", "tier": "Premium"}),
        supportPlan=(ABSENT, "AKSLongTermSupport"),
        autoUpgradeProfile=(ABSENT, {"upgradeChannel": "patch"}),
    ),
    Row("unknown patch", cluster_pools_rules.version, "2.1")
    .says("K8sVersionNotSupported", "Managed cluster two has invalid version 1.36.99.")
    .tries(cluster, kubernetesVersion=("1.36.99", "1.36.2")),
    Row("two minors at once", cluster_pools_rules.version_step, "page upgrade-aks-cluster")
    .assumes("OperationNotAllowed", "Upgrading Kubernetes version 1.34.7 to 1.36 is not allowed.")
    .given(cluster(kubernetesVersion="1.34"))
    .tries(cluster, kubernetesVersion=("1.36", "1.35")),
    Row("back to an older version", cluster_pools_rules.version_step, "page upgrade-aks-cluster")
    .assumes("OperationNotAllowed", "Upgrading Kubernetes version 1.35.5 to 1.34 is not allowed.")
    .given(cluster())
    .tries(cluster, kubernetesVersion=("1.34", "1.35")),
    Row("spot pool upgraded with its cluster", cluster_pools_rules.spot_with_cluster, "page spot-node-pool")
    .assumes("SpotPoolUpgradeNotAllowedDuringClusterUpgradeAll", "t4spot are spot pools")
    .given(pool(SPOT))
    .tries(
        _aks,
        kubernetesVersion="1.36",
        agentPoolProfiles=(_named(system="1.36", t4spot="1.36"), _named(system="1.35", t4spot="1.35")),
    ),
    Row(
        "system pool moved by the cluster, the others left out",
        cluster_pools_rules.pool_versions,
        "Azure/ARO-HCP PR 662",
    )
    .says("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "must be all specified or all unspecified")
    .given(pool(REGULAR))
    .tries(
        _aks, kubernetesVersion="1.36", agentPoolProfiles=(_named(system="1.36"), _named(system="1.36", cpu="1.36"))
    ),
    Row("version of some pools where none moves", cluster_pools_rules.pool_versions, "the sandbox's reading")
    .assumes("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "must be all specified or all unspecified")
    .given(pool(REGULAR))
    .tries(_aks, agentPoolProfiles=(_named(system="1.35"), [SYSTEM])),
    Row("pool moved to a version that is not the control plane's", cluster_pools_rules.pool_versions, "Azure/AKS #4765")
    .says(
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be stay unchanged or the same with control plane",
    )
    .given(cluster(kubernetesVersion="1.34"), cluster(kubernetesVersion="1.35"))
    .tries(cluster, kubernetesVersion="1.36", agentPoolProfiles=(_named(system="1.35"), _named(system="1.34"))),
    Row(
        "control plane alone where a channel upgrades the cluster",
        cluster_pools_rules.upgraded_with_channel,
        "page auto-upgrade-cluster",
    )
    .assumes("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "must be all specified or all unspecified")
    .given(cluster(autoUpgradeProfile={"upgradeChannel": "patch"}))
    .tries(cluster, kubernetesVersion="1.36", agentPoolProfiles=(ABSENT, _named(system="1.36"))),
    Row(
        "channel switched off and control plane upgraded at once",
        cluster_pools_rules.upgraded_with_channel,
        "the sandbox's reading",
    )
    .assumes("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "must be all specified or all unspecified")
    .given(cluster(autoUpgradeProfile={"upgradeChannel": "patch"}))
    .tries(cluster, kubernetesVersion=("1.36", ABSENT), autoUpgradeProfile={"upgradeChannel": "none"}),
    Row("long-term support below Premium", azure_cluster_rules.support_plan, "page long-term-support")
    .assumes("BadRequest", "needs the Premium tier")
    .tries(cluster, supportPlan="AKSLongTermSupport", sku={"name": "Base", "tier": ("Standard", "Premium")}),
    Row("issuer switched off", azure_cluster_rules.issuer_stays, "page use-oidc-issuer")
    .assumes("OIDCIssuerCannotBeDisabled", "cannot be disabled")
    .given(cluster(oidcIssuerProfile={"enabled": True}))
    .tries(cluster, oidcIssuerProfile=({"enabled": False}, ABSENT)),
    Row(
        "workload identity without the issuer",
        azure_cluster_rules.workload_identity,
        "page workload-identity-deploy-cluster",
    )
    .assumes("BadRequest", "needs the OIDC issuer")
    .tries(
        cluster, securityProfile={"workloadIdentity": {"enabled": True}}, oidcIssuerProfile=(ABSENT, {"enabled": True})
    ),
    Row("no system pool", cluster_pools_rules.system_pool, "2.1, 7.6")
    .says("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")
    .tries(
        cluster, agentPoolProfiles=([{**SYSTEM, "mode": "User"}], [{**SYSTEM, "name": "user", "mode": "User"}, SYSTEM])
    ),
    Row("last system pool becomes another", cluster_pools_rules.system_pool, "2.1, 7.6")
    .says("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")
    .tries(pool, REGULAR, agentPoolName="system", count=1, mode=("User", "System")),
    Row("last system pool deleted", cluster_pools_rules.system_pool, "2.1, 7.6")
    .assumes("OperationNotAllowed", "There has to be at least one system agent pool.")
    .given(pool(REGULAR))
    .tries(Delete, ("system", "cpu")),
    Row("last pool deleted", cluster_pools_rules.some_pool, "2.1")
    .says("OperationNotAllowed", "There has to be at least one agent pool.")
    .tries(Delete, ("system", "no")),
    Row("more than 100 pools", cluster_pools_rules.number_of_pools, "page quotas-skus-regions")
    .assumes("MaxAgentPoolCountReached", "at most 100")
    .tries(
        cluster,
        agentPoolProfiles=(
            [{**SYSTEM, "name": f"p{n}"} for n in range(101)],
            [{**SYSTEM, "name": f"p{n}"} for n in range(100)],
        ),
    ),
    Row("two pools of one name", azure_cluster_rules.pools_named_once, "1.2")
    .assumes("must be unique")
    .tries(cluster, agentPoolProfiles=([SYSTEM, SYSTEM], [SYSTEM, {**SYSTEM, "name": "system2"}])),
    Row("new inline pool on an update", azure_cluster_rules.new_inline_pool, "2.1, 7.16")
    .says("BadRequest", "A new agent pool was introduced.")
    .given(cluster())
    .tries(cluster, agentPoolProfiles=([SYSTEM, {**SYSTEM, "name": "new"}], [SYSTEM])),
    Row("pools left behind by their cluster", cluster_pools_rules.skew, "2.1, 7.11")
    .says(
        "NodePoolMcVersionIncompatible", "Node pool version 1.33.9 and control plane version 1.36.2 are incompatible."
    )
    .given(cluster(), pool(REGULAR, resourceName="two"), lambda account: _older(account, "1.33.9"))
    .tries(cluster, kubernetesVersion=("1.36", "1.35.5")),
    *(
        Row(f"{field} {value}", azure_cluster_rules.profile_formats, "page cluster-autoscaler")
        .says(f"Invalid value specified for the cluster-autoscaler parameter '{flag}'.")
        .tries(cluster, autoScalerProfile={field: (value, neighbour)})
        for field, flag, value, neighbour in (
            ("scanInterval", "scan-interval", "1m", "60s"),
            ("maxNodeProvisionTime", "max-node-provision-time", "900s", "15m"),
            ("scaleDownDelayAfterAdd", "scale-down-delay-after-add", "10", "0m"),
            ("scaleDownDelayAfterDelete", "scale-down-delay-after-delete", "1h", "10s"),
            ("scaleDownDelayAfterFailure", "scale-down-delay-after-failure", "30s", "3m"),
            ("scaleDownUnneededTime", "scale-down-unneeded-time", "0s", "10m"),
            ("scaleDownUnreadyTime", "scale-down-unready-time", "20", "20m"),
            ("newPodScaleUpDelay", "new-pod-scale-up-delay", "10", "10s"),
            ("maxGracefulTerminationSec", "max-graceful-termination-sec", "600s", "600"),
            ("maxEmptyBulkDelete", "max-empty-bulk-delete", "0", "1"),
            ("okTotalUnreadyCount", "ok-total-unready-count", "-1", "0"),
            ("maxTotalUnreadyPercentage", "max-total-unready-percentage", "101", "100"),
            ("scaleDownUtilizationThreshold", "scale-down-utilization-threshold", "1.5", "0.5"),
            ("balanceSimilarNodeGroups", "balance-similar-node-groups", "yes", "true"),
            ("skipNodesWithLocalStorage", "skip-nodes-with-local-storage", "False", "false"),
            ("skipNodesWithSystemPods", "skip-nodes-with-system-pods", "1", "true"),
        )
    ),
    Row("a pool that is worked on", azure_operations.conflict, "2.1, 7.15")
    .says(
        "OperationNotAllowed",
        "Operation is not allowed: Another operation (cpu - Updating) is in progress, please wait for it to finish before "
        "starting a new operation. See https://aka.ms/aks-pending-operation for more details",
    )
    .given(pool(REGULAR), _marked(POOL, "Updating", resourceName="aks", agentPoolName="cpu"))
    .tries(pool, REGULAR, count=(3, ABSENT), agentPoolName=(ABSENT, "other")),
    Row("a cluster one of whose pools is worked on", azure_operations.conflict, "2.1, 7.15")
    .says("OperationNotAllowed", "Another operation (system - Creating) is in progress")
    .given(cluster(), _marked(POOL, "Creating", resourceName="two", agentPoolName="system"))
    .refuses(cluster(tags={"a": "b"}))
    .accepts(Put(CLUSTER, {**CLUSTER_INPUTS, "tags": {"a": "b"}})),
    Row("a pool whose cluster is worked on", azure_operations.conflict, "2.1, 7.15")
    .says("OperationNotAllowed", "Another operation (aks - Deleting) is in progress")
    .given(cluster(), _marked(CLUSTER, "Deleting", resourceName="aks"))
    .tries(pool, REGULAR, resourceName=(ABSENT, "two")),
    Row("a pool deleted that is worked on", azure_operations.conflict, "2.1, 7.15")
    .says("OperationNotAllowed", "Another operation (cpu - Updating) is in progress")
    .given(
        pool(REGULAR),
        pool(REGULAR, agentPoolName="other"),
        _marked(POOL, "Updating", resourceName="aks", agentPoolName="cpu"),
    )
    .tries(Delete, ("cpu", "other")),
    Row("the twenty-first PUT", Throttle.admit, "2.1, 7.18")
    .says(
        "Throttled",
        "The PutAgentPoolHandler.PUT request limit has been exceeded for agentpool "
        f"{_CPU}, please retry again in 60 seconds.",
    )
    .given(_twenty_times)
    .tries(pool, REGULAR, agentPoolName=(ABSENT, "other")),
]
