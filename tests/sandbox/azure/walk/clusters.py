"""Rules about a cluster: its identity, name, version and pools."""

from __future__ import annotations

from typing import Any

from sandbox.azure import ids
from sandbox.azure.resources import cluster_pools_rules, cluster_rules, version_rules
from sandbox.cloud.state import Store

from ..conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, SPOT, SYSTEM, Account, Props
from .grants import GROUP, GUID, OWN
from .row import Delete, Put, Row, cluster, id_of, pool

_ABSENT = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/no"
_TWO = id_of(CLUSTER, resourceGroupName="ml", resourceName="two")
_SENT = {k: v for k, v in CLUSTER_INPUTS.items() if k not in ("resourceGroupName", "resourceName")}
_AUTOSCALED = {**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 3}


def _older(account: Account, version: str) -> None:
    """A pool that stayed behind when versions were still offered that are not any more."""
    id = id_of(POOL, resourceGroupName="ml", resourceName="two", agentPoolName="cpu")
    with Store(account.state_file).change() as resources:
        resources.records[ids.key(id)].body["currentOrchestratorVersion"] = version


def _aks(**changes: Any) -> Put:
    """The cluster whose pools `pool` makes."""
    return Put(CLUSTER, {**CLUSTER_INPUTS, **changes})


def _named(**versions: str) -> list[Props]:
    return [{"name": name, "orchestratorVersion": version} for name, version in versions.items()]


ROWS = [
    Row(
        "no identity",
        "1.1",
        cluster_rules.identity,
        "InvalidParameter",
        "servicePrincipalProfile",
        bad=cluster(identity=None),
        good=cluster(identity={"type": "SystemAssigned"}),
    ),
    Row(
        "identity that is not there",
        "1.1",
        cluster_rules.identity,
        "ResourceNotFound",
        "'Microsoft.ManagedIdentity/userAssignedIdentities/no' under resource group 'ml' was not found.",
        bad=cluster(identity={"type": "UserAssigned", "userAssignedIdentities": [_ABSENT]}),
        good=cluster(identity=OWN),
    ),
    Row(
        "no location",
        "ARM",
        cluster_rules.location,
        "LocationRequired",
        "The location property is required",
        # The provider always finds one, its own or the group's: only another client can leave it out.
        bad=lambda account: account.cloud.put(CLUSTER, _TWO, _SENT, create=True),
        good=lambda account: account.cloud.put(CLUSTER, _TWO, {**_SENT, "location": "westeurope"}, create=True),
    ),
    Row(
        "another region",
        "ARM",
        cluster_rules.moved,
        "InvalidResourceLocation",
        "already exists in location 'westeurope'",
        given=(cluster(),),
        bad=cluster(location="northeurope"),
        good=cluster(location="West Europe"),
    ),
    Row(
        "no DNS prefix",
        "1.1",
        cluster_rules.dns_name,
        "InvalidParameter",
        "Exactly one of dnsPrefix and fqdnSubdomain",
        bad=cluster(dnsPrefix=None),
        good=cluster(dnsPrefix="ml"),
    ),
    Row(
        "DNS prefix with a dot",
        "page aks-naming-rules",
        cluster_rules.dns_prefix,
        "InvalidParameter",
        "The value of parameter dnsPrefix is invalid.",
        bad=cluster(dnsPrefix="ml.dev"),
        good=cluster(dnsPrefix="ml-dev"),
    ),
    Row(
        "another DNS prefix",
        "3",
        cluster_rules.immutable_change,
        "PropertyChangeNotAllowed",
        "Changing property 'properties.dnsPrefix' is not allowed.",
        given=(cluster(),),
        bad=cluster(dnsPrefix="other"),
        good=cluster(dnsPrefix="ml"),
    ),
    Row(
        "public becomes private",
        "page private-clusters",
        cluster_rules.immutable_change,
        "PropertyChangeNotAllowed",
        "'properties.apiServerAccessProfile.enablePrivateCluster'",
        given=(cluster(),),
        bad=cluster(apiServerAccessProfile={"enablePrivateCluster": True}),
        good=cluster(apiServerAccessProfile={"enablePrivateCluster": False}),
    ),
    Row(
        "version not offered",
        "2.1",
        version_rules.version,
        "K8sVersionNotSupported",
        "Managed cluster two is on version 1.30 which is not supported in this region.",
        bad=cluster(kubernetesVersion="1.30"),
        good=cluster(kubernetesVersion="1.34"),
    ),
    Row(
        "unknown patch",
        "2.1",
        version_rules.version,
        "K8sVersionNotSupported",
        "Managed cluster two has invalid version 1.36.99.",
        bad=cluster(kubernetesVersion="1.36.99"),
        good=cluster(kubernetesVersion="1.36.2"),
    ),
    Row(
        "two minors at once",
        "page upgrade-aks-cluster",
        version_rules.version_step,
        "OperationNotAllowed",
        "Upgrading Kubernetes version 1.34.7 to 1.36 is not allowed.",
        given=(cluster(kubernetesVersion="1.34"),),
        bad=cluster(kubernetesVersion="1.36"),
        good=cluster(kubernetesVersion="1.35"),
    ),
    Row(
        "back to an older version",
        "page upgrade-aks-cluster",
        version_rules.version_step,
        "OperationNotAllowed",
        "Upgrading Kubernetes version 1.35.5 to 1.34 is not allowed.",
        given=(cluster(),),
        bad=cluster(kubernetesVersion="1.34"),
        good=cluster(kubernetesVersion="1.35"),
    ),
    Row(
        "spot pool upgraded with its cluster",
        "page spot-node-pool",
        version_rules.spot_with_cluster,
        "SpotPoolUpgradeNotAllowedDuringClusterUpgradeAll",
        "t4spot are spot pools",
        given=(pool(SPOT),),
        bad=_aks(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.36", t4spot="1.36")),
        good=_aks(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.35", t4spot="1.35")),
    ),
    Row(
        "system pool moved by the cluster, the others left out",
        "Azure/ARO-HCP PR 662",
        version_rules.pool_versions,
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be all specified or all unspecified",
        given=(pool(REGULAR),),
        bad=_aks(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.36")),
        good=_aks(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.36", cpu="1.36")),
    ),
    Row(
        "version of some pools where none moves",
        "UNCONFIRMED",
        version_rules.pool_versions,
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be all specified or all unspecified",
        given=(pool(REGULAR),),
        bad=_aks(agentPoolProfiles=_named(system="1.35")),
        good=_aks(agentPoolProfiles=[SYSTEM]),
    ),
    Row(
        "pool moved to a version that is not the control plane's",
        "Azure/AKS #4765",
        version_rules.pool_versions,
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be stay unchanged or the same with control plane",
        given=(cluster(kubernetesVersion="1.34"), cluster(kubernetesVersion="1.35")),
        bad=cluster(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.35")),
        good=cluster(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.34")),
    ),
    Row(
        "control plane alone where a channel upgrades the cluster",
        "page auto-upgrade-cluster",
        version_rules.upgraded_with_channel,
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be all specified or all unspecified",
        given=(cluster(autoUpgradeProfile={"upgradeChannel": "patch"}),),
        bad=cluster(kubernetesVersion="1.36"),
        good=cluster(kubernetesVersion="1.36", agentPoolProfiles=_named(system="1.36")),
    ),
    Row(
        "channel switched off and control plane upgraded at once",
        "UNCONFIRMED",
        version_rules.upgraded_with_channel,
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged",
        "must be all specified or all unspecified",
        given=(cluster(autoUpgradeProfile={"upgradeChannel": "patch"}),),
        bad=cluster(kubernetesVersion="1.36", autoUpgradeProfile={"upgradeChannel": "none"}),
        good=cluster(autoUpgradeProfile={"upgradeChannel": "none"}),
    ),
    Row(
        "long-term support below Premium",
        "page long-term-support",
        cluster_rules.support_plan,
        "BadRequest",
        "needs the Premium tier",
        bad=cluster(supportPlan="AKSLongTermSupport", sku={"name": "Base", "tier": "Standard"}),
        good=cluster(supportPlan="AKSLongTermSupport", sku={"name": "Base", "tier": "Premium"}),
    ),
    Row(
        "issuer switched off",
        "page use-oidc-issuer",
        cluster_rules.issuer_stays,
        "OIDCIssuerCannotBeDisabled",
        "cannot be disabled",
        given=(cluster(oidcIssuerProfile={"enabled": True}),),
        bad=cluster(oidcIssuerProfile={"enabled": False}),
        good=cluster(),
    ),
    Row(
        "workload identity without the issuer",
        "page workload-identity-deploy-cluster",
        cluster_rules.workload_identity,
        "BadRequest",
        "needs the OIDC issuer",
        bad=cluster(securityProfile={"workloadIdentity": {"enabled": True}}),
        good=cluster(securityProfile={"workloadIdentity": {"enabled": True}}, oidcIssuerProfile={"enabled": True}),
    ),
    Row(
        "no system pool",
        "2.1, 7.6",
        cluster_pools_rules.system_pool,
        "MustDefineAtLeastOneSystemPool",
        "Must define at least one system pool.",
        bad=cluster(agentPoolProfiles=[{**SYSTEM, "mode": "User"}]),
        good=cluster(agentPoolProfiles=[{**SYSTEM, "name": "user", "mode": "User"}, SYSTEM]),
    ),
    Row(
        "last system pool becomes another",
        "2.1, 7.6",
        cluster_pools_rules.system_pool,
        "MustDefineAtLeastOneSystemPool",
        "Must define at least one system pool.",
        bad=pool(REGULAR, agentPoolName="system", count=1, mode="User"),
        good=pool(REGULAR, agentPoolName="system", count=1, mode="System"),
    ),
    Row(
        "last system pool deleted",
        "2.1, 7.6",
        cluster_pools_rules.system_pool,
        "OperationNotAllowed",
        "There has to be at least one system agent pool.",
        given=(pool(REGULAR),),
        bad=Delete("system"),
        good=Delete("cpu"),
    ),
    Row(
        "last pool deleted",
        "2.1",
        cluster_pools_rules.some_pool,
        "OperationNotAllowed",
        "There has to be at least one agent pool.",
        bad=Delete("system"),
        good=Delete("no"),
    ),
    Row(
        "more than 100 pools",
        "page quotas-skus-regions",
        cluster_pools_rules.number_of_pools,
        "MaxAgentPoolCountReached",
        "at most 100",
        bad=cluster(agentPoolProfiles=[{**SYSTEM, "name": f"p{n}"} for n in range(101)]),
        good=cluster(agentPoolProfiles=[{**SYSTEM, "name": f"p{n}"} for n in range(100)]),
    ),
    Row(
        "two pools of one name",
        "1.2",
        cluster_rules.pools_named_once,
        "InvalidParameter",
        "must be unique",
        bad=cluster(agentPoolProfiles=[SYSTEM, SYSTEM]),
        good=cluster(agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "system2"}]),
    ),
    Row(
        "new inline pool on an update",
        "2.1, 7.16",
        cluster_rules.new_inline_pool,
        "BadRequest",
        "A new agent pool was introduced.",
        given=(cluster(),),
        bad=cluster(agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "new"}]),
        good=cluster(agentPoolProfiles=[SYSTEM]),
    ),
    Row(
        "pools left behind by their cluster",
        "2.1, 7.11",
        cluster_pools_rules.skew,
        "NodePoolMcVersionIncompatible",
        "Node pool version 1.33.9 and control plane version 1.36.2 are incompatible.",
        given=(
            cluster(),
            pool(REGULAR, resourceName="two"),
            lambda account: _older(account, "1.33.9"),
        ),
        bad=cluster(kubernetesVersion="1.36"),
        good=cluster(kubernetesVersion="1.35.5"),
    ),
    Row(
        "node auto-provisioning with autoscaled pools",
        "2.1",
        cluster_pools_rules.node_provisioning,
        "OperationNotAllowed",
        ".properties.nodeProvisioningProfile.mode cannot be Auto",
        bad=cluster(nodeProvisioningProfile={"mode": "Auto"}, agentPoolProfiles=[_AUTOSCALED]),
        good=cluster(nodeProvisioningProfile={"mode": "Auto"}),
    ),
    Row(
        "autoscaled pool under node auto-provisioning",
        "2.1",
        cluster_pools_rules.node_provisioning,
        "OperationNotAllowed",
        ".properties.nodeProvisioningProfile.mode cannot be Auto",
        given=(cluster(nodeProvisioningProfile={"mode": "Auto"}),),
        bad=pool(SPOT, resourceName="two"),
        good=pool(REGULAR, resourceName="two"),
    ),
    Row(
        "node auto-provisioning with IPv6",
        "2.1",
        cluster_rules.node_provisioning,
        "OperationNotAllowed",
        "unless .properties.networkProfile.ipFamilies is set to one of [IPv4].",
        bad=cluster(nodeProvisioningProfile={"mode": "Auto"}, networkProfile={"ipFamilies": ["IPv4", "IPv6"]}),
        good=cluster(networkProfile={"ipFamilies": ["IPv4", "IPv6"]}),
    ),
    Row(
        "node auto-provisioning with a service principal",
        "2.1",
        cluster_rules.node_provisioning,
        "OperationNotAllowed",
        "if .properties.servicePrincipalProfile is specified.",
        bad=cluster(
            nodeProvisioningProfile={"mode": "Auto"},
            identity=None,
            servicePrincipalProfile={"clientId": GUID, "secret": "x"},
        ),
        good=cluster(identity=None, servicePrincipalProfile={"clientId": GUID, "secret": "x"}),
    ),
]
