"""Every optional key of a stack on AKS, taken out again: the steps of the preview, or the error (`tests.upgrade.removal`)."""

from __future__ import annotations

from tests.upgrade import removal_queueing, removal_workloads
from tests.upgrade.removal import Removal
from tests.upgrade.removal_aks_stacks import FULL

LOSES = "a new cluster would replace it"
ANOTHER = "add `generation: b`: a new pool is made before the old one goes"
BY_HAND = "add a second system pool by hand"
SYSTEM_POOL = "properties.template.resources[0].properties"


def cluster(*properties: str) -> str:
    return f"update ManagedCluster lab [{', '.join(properties)}]"


def updated(pool: str, *properties: str) -> str:
    return f"update AgentPool lab-{pool} [{', '.join(properties)}]"


def replaced(pool: str, *properties: str) -> str:
    return f"replace AgentPool lab-{pool} [{', '.join(properties)}], deleted first"


def system(*properties: str) -> str:
    changed = ["properties.template.metadata", *(f"{SYSTEM_POOL}.{name}" for name in properties)]
    return f"update Deployment lab-system-pool [{', '.join(changed)}]"


def window(config: str, *properties: str) -> str:
    return f"update MaintenanceConfiguration lab-aksManaged{config}UpgradeSchedule [{', '.join(properties)}]"


AUTOSCALER = sorted(FULL["cloud"]["autoscaler"].keys() - {"expander"})
TAGGED = ["a100", "general", "plainb", "spot", "strange", "t4", "t4big", "t4moreb"]

CASES = [
    *removal_workloads.ON_AKS,
    *removal_queueing.CASES,
    # The cluster
    Removal("cluster.name", refused=["cluster.name: is missing"]),
    Removal(
        "cluster.tags",
        shows=[
            *(updated(pool, "tags.team") for pool in TAGGED),
            "update AzureMonitorWorkspace lab-metrics [tags.team]",
            "update DataCollectionEndpoint lab-metrics [tags.team]",
            "update DataCollectionRule lab-logs [tags.team]",
            "update DataCollectionRule lab-metrics [tags.team]",
            cluster("tags.team"),
            "update NatGateway lab-nat [tags.team]",
            "update PublicIPAddress lab-nat [tags.team]",
            "update ResourceGroup lab [tags.team]",
            "update UserAssignedIdentity lab-identity [tags.team]",
            "update VirtualNetwork lab-vnet [tags.team]",
            "update Workspace lab-logs [tags.team]",
        ],
    ),
    Removal("cluster.protect", nothing="the engine keeps it"),
    Removal("cluster.removedPools", nothing="it is a word for one update, and the pool is gone"),
    Removal(
        "cluster.kubernetesVersion",
        "small",
        also={"cluster": {"reason": None}},
        # kubernetesVersion, and every pool repeated unchanged
        shows=["update ManagedCluster lab", system("orchestratorVersion"), updated("t4", "orchestratorVersion")],
    ),
    Removal("cluster.reason", "small", refused=["cluster.reason: is missing"]),
    # The place
    Removal("cloud.existingCluster", "theirs", refused=["cloud.location: is missing"]),
    Removal("cloud.location", refused=["cloud.location: is missing"]),
    Removal("cloud.resourceGroup", refused=["cloud.resourceGroup: is group and cannot become lab", LOSES]),
    Removal(
        "cloud.existingResourceGroup", "small", refused=["cloud.resourceGroup: is theirs and cannot become lab", LOSES]
    ),
    Removal("cloud.tier", "entra", shows=[cluster("sku.tier")]),
    Removal("cloud.longTermSupport", shows=[cluster("supportPlan")]),
    # The network
    Removal(
        "cloud.network.existing", "small", refused=["systemPool.subnet: system: is corp/nodes in the cluster", BY_HAND]
    ),
    Removal(
        "cloud.network.addressSpace",
        "entra",
        shows=["update VirtualNetwork lab-vnet [addressSpace.addressPrefixes[0]]"],
    ),
    Removal(
        "cloud.network.nodeSubnet", refused=["cloud.network.nodeSubnet: is 10.9.0.0/20, has nodes in it and cannot"]
    ),
    Removal("cloud.network.subnets", "entra", shows=["delete Subnet lab-idle"]),
    Removal("cloud.network.podCidr", refused=["cloud.network.podCidr: is 10.200.0.0/16 ", LOSES]),
    Removal("cloud.network.serviceCidr", refused=["cloud.network.serviceCidr: is 10.1.0.0/16 ", LOSES]),
    Removal("cloud.network.outboundType", refused=["cloud.network.outboundType: is userAssignedNATGateway ", LOSES]),
    Removal(
        "cloud.network.dataplane",
        also={"cloud": {"network": {"policy": None}}},
        refused=["cloud.network.dataplane: is cilium in the cluster and cannot become azure", LOSES],
    ),
    Removal(
        "cloud.network.policy",
        "entra",
        refused=["cloud.network.policy: is calico in the cluster and cannot become none", LOSES],
    ),
    # Access
    Removal(
        "cloud.access.private",
        "small",
        also={"cloud": {"access": {"privateDnsZone": None}}},
        refused=["cloud.access.private: is true in the cluster and cannot become false", LOSES],
    ),
    Removal(
        "cloud.access.privateDnsZone", "small", refused=["cloud.access.privateDnsZone: is none in the cluster", LOSES]
    ),
    Removal("cloud.access.authorizedRanges", shows=[cluster("apiServerAccessProfile.authorizedIPRanges[0]")]),
    Removal("cloud.access.adminGroups", shows=[cluster("aadProfile.adminGroupObjectIDs[0]")]),
    Removal(
        "cloud.access.adminGroups",
        "entra",
        refused=["cloud.access.adminGroups: is unset: AKS does not switch logins through Entra off again"],
    ),
    Removal(
        "cloud.access.tenantId",
        refused=["cloud.access.tenantId: was 33333333-3333-4333-8333-333333333333, and AKS keeps"],
    ),
    Removal("cloud.access.azureRbac", shows=[cluster("aadProfile.enableAzureRBAC")]),
    Removal("cloud.access.localAccounts", shows=[cluster("disableLocalAccounts")]),
    Removal("cloud.access.runCommand", shows=[cluster("apiServerAccessProfile.disableRunCommand")]),
    # Automatic changes by AKS
    Removal(
        "cloud.upgrades.channel",
        also={"cloud": {"upgrades": {"clusterWindow": None}}},
        shows=[
            cluster("autoUpgradeProfile.upgradeChannel"),
            "delete MaintenanceConfiguration lab-aksManagedAutoUpgradeSchedule",
        ],
    ),
    Removal("cloud.upgrades.nodeOsChannel", shows=[cluster("autoUpgradeProfile.nodeOSUpgradeChannel")]),
    *(
        case
        for key, config in (("clusterWindow", "Auto"), ("nodeOsWindow", "NodeOS"))
        for case in (
            Removal(
                f"cloud.upgrades.{key}",
                shows=[f"delete MaintenanceConfiguration lab-aksManaged{config}UpgradeSchedule"],
            ),
            Removal(f"cloud.upgrades.{key}.durationHours", shows=[window(config, "maintenanceWindow.durationHours")]),
            Removal(f"cloud.upgrades.{key}.utcOffset", shows=[window(config, "maintenanceWindow.utcOffset")]),
            Removal(
                f"cloud.upgrades.{key}.everyWeeks",
                shows=[window(config, "maintenanceWindow.schedule.weekly.intervalWeeks")],
            ),
        )
    ),
    Removal("cloud.autoscaler.expander", shows=[cluster("autoScalerProfile.expander")]),
    *(Removal(f"cloud.autoscaler.{key}", shows=[cluster(f"autoScalerProfile.{key}")]) for key in AUTOSCALER),
    # Keys, registry, logs
    Removal("cloud.registry", shows=["delete RoleAssignment lab-pull"]),
    Removal("cloud.ssh", refused=["cloud.ssh: is lab with the key ...", "cannot become unset", LOSES]),
    Removal(
        "cloud.ssh.username", refused=["cloud.ssh: is lab with the key ...", "cannot become azureuser with", LOSES]
    ),
    Removal(
        "cloud.encryption.atHost", refused=["cloud.encryption.atHost: base: is true ", "general: is true ", ANOTHER]
    ),
    Removal(
        "cloud.encryption.diskEncryptionSet", refused=["cloud.encryption.diskEncryptionSet: is /subscriptions/", LOSES]
    ),
    Removal("cloud.encryption.kms", refused=["cloud.encryption.kms: encrypts the cluster's Secrets ", "az aks update"]),
    Removal("cloud.encryption.kms.vaultId", shows=["delete RoleAssignment lab-key"]),
    Removal(
        "cloud.monitoring.logs",
        shows=[
            "delete DataCollectionRule lab-logs",
            "delete DataCollectionRuleAssociation lab-logs",
            "delete DiagnosticSetting lab-control-plane",
            "delete Workspace lab-logs",
            cluster("addonProfiles.omsagent.config", "addonProfiles.omsagent.enabled"),
        ],
    ),
    Removal(
        "cloud.monitoring.logs.workspace",
        "small",
        shows=[
            "create Workspace lab-logs",
            "update DataCollectionRule lab-logs [destinations.logAnalytics[0].workspaceResourceId]",
            "update DiagnosticSetting lab-control-plane [workspaceId]",
            cluster("addonProfiles.omsagent.config.logAnalyticsWorkspaceResourceID"),
        ],
    ),
    Removal("cloud.monitoring.logs.retentionDays", shows=["update Workspace lab-logs [retentionInDays]"]),
    Removal(
        "cloud.monitoring.logs.controlPlane",
        shows=["update DiagnosticSetting lab-control-plane [logs[0].category, logs[1]]"],
    ),
    Removal(
        "cloud.monitoring.metrics",
        shows=[
            "delete AzureMonitorWorkspace lab-metrics",
            "delete DataCollectionEndpoint lab-metrics",
            "delete DataCollectionRule lab-metrics",
            "delete DataCollectionRuleAssociation lab-metrics",
            cluster("azureMonitorProfile.metrics.enabled"),
        ],
    ),
    Removal(
        "cloud.monitoring.metrics.workspace",
        "small",
        shows=[
            "create AzureMonitorWorkspace lab-metrics",
            "update DataCollectionRule lab-metrics [destinations.monitoringAccounts[0].accountResourceId]",
        ],
    ),
    # The system pool
    Removal("systemPool.name", refused=["systemPool.name: system: is no pool of the cluster", BY_HAND]),
    Removal("systemPool.minNodes", shows=[system("minCount")]),
    Removal(
        "systemPool.zones", refused=["systemPool.zones: base: is [1] in the cluster and cannot become []", BY_HAND]
    ),
    Removal("systemPool.criticalAddonsOnly", shows=[system("nodeTaints[0]")]),
    Removal(
        "systemPool.osDisk.type", refused=["systemPool.osDisk.type: base: was Managed, and AKS keeps that", BY_HAND]
    ),
    Removal(
        "systemPool.osDisk.sizeGb", refused=["systemPool.osDisk.sizeGb: base: was 200, and AKS keeps that", BY_HAND]
    ),
    Removal("systemPool.maxPods", refused=["systemPool.maxPods: base: was 64, and AKS keeps that", BY_HAND]),
    Removal("systemPool.subnet", refused=["systemPool.subnet: base: is lab/more in the cluster", BY_HAND]),
    Removal("systemPool.upgrade", shows=[system("upgradeSettings.maxSurge")]),
    Removal("systemPool.upgrade.maxSurge", refused=["systemPool.upgrade.maxSurge: leaves no way"]),
    # On-demand pools
    Removal("pools.general.minNodes", shows=[updated("general", "minCount")]),
    Removal("pools.general.maxNodes", refused=["pools[0].maxNodes: is missing"]),
    Removal("pools.general.labels", shows=[updated("general", "nodeLabels.tier")]),
    Removal("pools.general.taints", shows=[updated("general", "nodeTaints[0]")]),
    Removal("pools.general.taints.0.effect", shows=[updated("general", "nodeTaints[0]")]),
    Removal(
        "pools.general.zones", refused=["pools[0].zones: general: is [1] in the cluster and cannot become []", ANOTHER]
    ),
    Removal(
        "pools.general.osDisk.type", refused=["pools[0].osDisk.type: general: was Managed, and AKS keeps", ANOTHER]
    ),
    Removal(
        "pools.general.osDisk.sizeGb", refused=["pools[0].osDisk.sizeGb: general: was 200, and AKS keeps", ANOTHER]
    ),
    Removal("pools.general.maxPods", refused=["pools[0].maxPods: general: was 64, and AKS keeps", ANOTHER]),
    Removal("pools.general.subnet", refused=["pools[0].subnet: general: is lab/more in the cluster", ANOTHER]),
    Removal(
        "pools.plain.reservation",
        refused=["pools[1].reservation: plainb: is cpus in the cluster and cannot become unset", "add `generation: c`"],
    ),
    Removal(
        "pools.general.azure",
        shows=[updated("general", "securityProfile.enableSecureBoot", "securityProfile.enableVTPM")],
    ),
    Removal("pools.general.azure.secureBoot", shows=[updated("general", "securityProfile.enableSecureBoot")]),
    Removal("pools.general.azure.vtpm", shows=[updated("general", "securityProfile.enableVTPM")]),
    Removal("pools.spot.azure", shows=[replaced("spot", "securityProfile")]),
    Removal("pools.spot.azure.vtpm", shows=[replaced("spot", "securityProfile")]),
    Removal("systemPool.azure", shows=[system("securityProfile.enableSecureBoot", "securityProfile.enableVTPM")]),
    Removal("systemPool.azure.vtpm", shows=[system("securityProfile.enableVTPM")]),
    Removal("systemPool.azure.secureBoot", shows=[system("securityProfile.enableSecureBoot")]),
    Removal("pools.general.upgrade", shows=[updated("general", "upgradeSettings.maxSurge")]),
    Removal("pools.general.upgrade.maxSurge", refused=["pools[0].upgrade: leaves no way to exchange a node"]),
    Removal("pools.plain.upgrade.maxUnavailable", refused=["pools[1].upgrade: leaves no way to exchange a node"]),
    Removal("pools.plain.generation", shows=["create AgentPool lab-plain", "delete AgentPool lab-plainb"]),
    # Spot pools; what a twin shares with its pool changes by generation
    Removal("pools.a100.capacity", shows=[replaced("a100", "scaleSetPriority")]),
    Removal("pools.spot.minNodes", shows=[updated("spot", "minCount")]),
    Removal("pools.spot.spot", shows=[replaced("spot", "scaleSetEvictionPolicy", "spotMaxPrice")]),
    Removal("pools.spot.spot.evictionPolicy", shows=[replaced("spot", "scaleSetEvictionPolicy")]),
    Removal("pools.spot.spot.maxPrice", shows=[replaced("spot", "spotMaxPrice")]),
    Removal("pools.spot.zones", shows=[replaced("spot", "availabilityZones")]),
    Removal("pools.spot.osDisk.type", shows=[replaced("spot", "osDiskType")]),
    Removal("pools.spot.osDisk.sizeGb", shows=[replaced("spot", "osDiskSizeGB")]),
    Removal("pools.spot.maxPods", shows=[replaced("spot", "maxPods")]),
    Removal("pools.spot.subnet", shows=[replaced("spot", "vnetSubnetID")]),
    Removal(
        "pools.t4.maxPods", refused=["pools[3].maxPods: t4moreb: was 64, and AKS keeps that", "add `generation: c`"]
    ),
    Removal("pools.t4.generation", shows=["create AgentPool lab-t4more", "delete AgentPool lab-t4moreb"]),
    # GPUs
    Removal("pools.t4.fallback", also={"pools": {"t4": {"generation": None}}}, shows=["delete AgentPool lab-t4moreb"]),
    Removal("pools.t4.fallback.0.pool", refused=["pools[3].fallback[0]: must name one thing"]),
    Removal("pools.t4.fallback.1.onDemand", refused=["pools[3].fallback[1]: must name one thing"]),
    Removal("pools.t4.fallback.1.onDemand.name", shows=["create AgentPool lab-t4odb", "delete AgentPool lab-t4moreb"]),
    Removal(
        "pools.t4.gpuSharing",
        shows=[
            updated("t4", 'nodeLabels["nvidia.com/device-plugin.config"]'),
            updated("t4moreb", 'nodeLabels["nvidia.com/device-plugin.config"]'),
        ],
    ),
    Removal("pools.a100.mig", shows=[replaced("a100", "gpuInstanceProfile")]),
    Removal("pools.t4big.installDriver", shows=[replaced("t4big", "gpuProfile")]),
    Removal("pools.strange.gpus", nothing="the catalogue knows as many"),
    Removal("pools.strange.gpuModel", nothing="the catalogue knows the same"),
]
