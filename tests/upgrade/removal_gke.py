"""Every optional key of a stack on GKE, taken out again: the steps of the preview, or the error (`tests.upgrade.removal`)."""

from __future__ import annotations

from tests.upgrade import removal_queueing, removal_workloads
from tests.upgrade.removal import Removal

LABELLED = ["a100", "apartb", "base", "even", "general", "l4", "l4more", "spare", "t4"]
REPLACED = "nodeConfig.guestAccelerators[0]"
IN_CLASS = [
    *('nodeConfig.labels["cloud.google.com/compute-class"]', "nodeConfig.taints[0].key", "nodeConfig.taints[0].value"),
]


def updated(pool: str, *properties: str) -> str:
    return f"update NodePool lab-{pool} [{', '.join(properties)}]"


def replaced(pool: str, *properties: str) -> str:
    return f"replace NodePool lab-{pool} [{', '.join(properties)}], deleted first"


def cluster(*properties: str) -> str:
    return f"update Cluster lab [{', '.join(properties)}]"


LOSES = "a new cluster would replace it"
ANOTHER = "add `generation: b`: a new pool is made before the old one goes"

CASES = [
    *removal_workloads.ON_GKE,
    *removal_queueing.CASES,
    # The cluster
    Removal("cluster.name", refused=["cluster.name: is missing"]),
    Removal(
        "cluster.tags",
        shows=[cluster("resourceLabels.team"), *(updated(pool, "nodeConfig.resourceLabels.team") for pool in LABELLED)],
    ),
    Removal("cluster.removedPools", nothing="it is a word for one update, and the pool is gone"),
    Removal("cluster.protect", shows=[cluster("deletionProtection")]),
    Removal(
        "cluster.kubernetesVersion",
        also={"cluster": {"reason": None}},
        shows=[cluster("minMasterVersion")],
        stack="old",
    ),
    Removal("cluster.reason", refused=["cluster.reason: is missing"]),
    # The place
    Removal("cloud.existingCluster", "theirs", refused=["cloud.location: is missing"]),
    Removal("cloud.location", refused=["cloud.location: is missing"]),
    Removal(
        "cloud.zones",
        refused=[
            "cloud.zones: is unset: GKE keeps the zones that the cluster has, europe-west4-a, europe-west4-b",
            "write `zones: [europe-west4-a, europe-west4-b]`",
            "clusters update lab --location europe-west4 --project example-lab --node-locations ZONE,ZONE,ZONE` first",
        ],
    ),
    Removal("cloud.zones", "zonal", refused=["cloud.zones: ", "--node-locations europe-west4-a` first"]),
    Removal("cloud.releaseChannel", shows=[cluster("releaseChannel.channel")]),
    # The network
    Removal(
        "cloud.network.existing",
        "shared",
        refused=["cloud.network.existing.name: is corp in the cluster and cannot become lab", LOSES],
    ),
    Removal(
        "cloud.network.existing.project",
        "shared",
        refused=["there is no subnet 'nodes' in europe-west4 of project example-lab"],
    ),
    Removal("cloud.network.nodeSubnet", refused=["cloud.network.nodeSubnet: is 10.40.0.0/20 in the cluster", LOSES]),
    Removal("cloud.network.podCidr", refused=["cloud.network.podCidr: is 10.48.0.0/14 in the cluster", LOSES]),
    Removal("cloud.network.serviceCidr", refused=["cloud.network.serviceCidr: is 10.52.0.0/20 in the cluster", LOSES]),
    Removal(
        "cloud.network.controlPlaneCidr",
        refused=["cloud.network.controlPlaneCidr: is 172.16.0.0/28 for the cluster's life", "only another cluster"],
    ),
    Removal(
        "cloud.network.privateNodes",
        "zonal",
        refused=["cloud.network.privateNodes: is true, but nodes have public addresses", "--enable-private-nodes"],
    ),
    Removal("cloud.network.outboundType", shows=["create Router lab", "create RouterNat lab"]),
    Removal("cloud.network.outboundType", "shared", nothing="of an existing network it changes nothing"),
    Removal("cloud.network.dataplane", refused=["cloud.network.dataplane: is legacy in the cluster", LOSES]),
    Removal("cloud.network.flowLogSampling", shows=["update Subnetwork lab [logConfig]"]),
    # Access
    Removal(
        "cloud.access.dnsEndpoint",
        shows=[cluster("controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic")],
    ),
    Removal("cloud.access.ipEndpoint", "private", shows=[cluster("privateClusterConfig.enablePrivateEndpoint")]),
    Removal(
        "cloud.access.ipEndpoint",
        "closed",
        shows=[cluster("masterAuthorizedNetworksConfig.cidrBlocks[0]", "privateClusterConfig.enablePrivateEndpoint")],
    ),
    Removal("cloud.access.authorizedRanges", shows=[cluster("masterAuthorizedNetworksConfig.cidrBlocks[0].cidrBlock")]),
    Removal(
        "cloud.access.authorizedRanges", "private", shows=[cluster("masterAuthorizedNetworksConfig.cidrBlocks[0]")]
    ),
    Removal(
        "cloud.access.rolesForEverybody",
        shows=[cluster("rbacBindingConfig.enableInsecureBindingSystemUnauthenticated")],
    ),
    Removal("cloud.access.securityGroup", shows=[cluster("authenticatorGroupsConfig.securityGroup")]),
    # Identity and keys
    Removal(
        "cloud.serviceAccount",
        refused=["cloud.serviceAccount: general: is lab-nodes@example-lab", ANOTHER, "cloud.serviceAccount: base: "],
    ),
    Removal("cloud.registries", shows=["delete RepositoryIamMember lab-example-images-europe-west4-images"]),
    Removal(
        "cloud.registries.0.project",
        shows=[
            "create RepositoryIamMember lab-example-lab-europe-west4-images",
            "delete RepositoryIamMember lab-example-images-europe-west4-images",
        ],
    ),
    Removal("cloud.encryption.secretsKey", shows=[cluster("databaseEncryption.keyName", "databaseEncryption.state")]),
    Removal(
        "cloud.encryption.grantAccess",
        shows=["create CryptoKeyIAMMember lab-disks-key", "create CryptoKeyIAMMember lab-secrets-key"],
    ),
    Removal(
        "cloud.network.existing.grantAccess",
        "shared",
        shows=[
            "create IAMMember lab-host",
            "create SubnetworkIAMMember lab-subnet-google",
            "create SubnetworkIAMMember lab-subnet-kubernetes",
        ],
    ),
    Removal("cloud.encryption.bootDiskKey", refused=["cloud.encryption.bootDiskKey: general: is ", ANOTHER]),
    # Automatic changes by GKE
    Removal("cloud.maintenance", shows=[cluster("maintenancePolicy")]),
    Removal("cloud.autoscaler.profile", shows=[cluster("clusterAutoscaling.autoscalingProfile")]),
    Removal("cloud.logging.components", shows=[cluster("loggingConfig.enableComponents[1]")]),
    Removal("cloud.monitoring.components", shows=[cluster("monitoringConfig.enableComponents[1]")]),
    Removal("cloud.monitoring.managedPrometheus", shows=[cluster("monitoringConfig.managedPrometheus.enabled")]),
    Removal(
        "cloud.fallback.mode",
        shows=[
            updated("l4more", *IN_CLASS, "nodeConfig.taints[1]"),
            *(
                updated(
                    pool, *IN_CLASS, "nodeConfig.taints[1].key", "nodeConfig.taints[1].value", "nodeConfig.taints[2]"
                )
                for pool in ("a100", "l4", "t4")
            ),
        ],
    ),
    Removal(
        "cloud.fallback.className",
        shows=[updated(pool, IN_CLASS[0], IN_CLASS[2]) for pool in ("a100", "l4", "l4more", "t4")],
    ),
    Removal("cloud.fallback.activeMigration", inside=True),
    Removal("cloud.fallback.whenUnsatisfiable", inside=True),
    Removal("cloud.fallback.consolidationDelayMinutes", inside=True),
    # On-demand pools
    Removal("pools.general.minNodes", shows=[updated("general", "autoscaling.totalMinNodeCount")]),
    Removal("pools.general.maxNodes", refused=["pools[0].maxNodes: is missing"]),
    Removal("pools.general.labels", shows=[updated("general", "nodeConfig.labels.tier")]),
    Removal("pools.general.taints", shows=[updated("general", "nodeConfig.taints[0]")]),
    Removal("pools.general.taints.0.effect", shows=[updated("general", "nodeConfig.taints[0].effect")]),
    Removal("pools.general.zones", shows=[updated("general", "nodeLocations[0]", "nodeLocations[1]")]),
    Removal("pools.general.osDisk.sizeGb", refused=["osDisk.sizeGb: general: is 200 in the cluster", ANOTHER]),
    Removal(
        "pools.general.maxPods", refused=["pools[0].maxPods: general: is 64 in the cluster", "become 110", ANOTHER]
    ),
    Removal(
        "pools.general.upgrade",
        shows=[updated("general", "upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable")],
    ),
    Removal("pools.general.upgrade.maxSurge", shows=[updated("general", "upgradeSettings.maxSurge")]),
    Removal("pools.general.upgrade.maxUnavailable", shows=[updated("general", "upgradeSettings.maxUnavailable")]),
    Removal("pools.general.gcp", refused=["4 changes refused", ANOTHER]),
    Removal("pools.general.gcp.diskType", refused=["gcp.diskType: general: is pd-ssd ", "become pd-balanced", ANOTHER]),
    Removal("pools.general.gcp.imageType", refused=["gcp.imageType: general: is UBUNTU_CONTAINERD ", ANOTHER]),
    Removal("pools.general.gcp.secureBoot", refused=["gcp.secureBoot: general: is true ", ANOTHER]),
    Removal("pools.general.gcp.integrityMonitoring", refused=["gcp.integrityMonitoring: general: is false ", ANOTHER]),
    Removal(
        "pools.apart.gcp.computeClass",
        shows=[updated("apartb", *IN_CLASS, "nodeConfig.taints[1]")],
    ),
    Removal(
        "pools.apart.reservation",
        refused=["reservation: apartb: is l4-prod in the cluster and cannot become unset", "add `generation: c`"],
    ),
    Removal("pools.apart.generation", shows=["create NodePool lab-apart", "delete NodePool lab-apartb"]),
    # Spot pools
    Removal("pools.spare.capacity", shows=[replaced("spare", "nodeConfig.spot")]),
    Removal("pools.spare.minNodes", shows=[updated("spare", "autoscaling.totalMinNodeCount")]),
    Removal("pools.spare.zones", shows=[updated("spare", "nodeLocations[0]", "nodeLocations[1]")]),
    Removal("pools.spare.osDisk.sizeGb", shows=[updated("spare", "nodeConfig.diskSizeGb")]),
    Removal("pools.spare.maxPods", shows=[replaced("spare", "maxPodsPerNode")]),
    Removal("pools.spare.maxPods", "theirs", shows=["replace NodePool theirs-spare [maxPodsPerNode], deleted first"]),
    Removal(
        "pools.spare.upgrade", shows=[updated("spare", "upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable")]
    ),
    Removal("pools.spare.gcp.diskType", shows=[updated("spare", "nodeConfig.diskType")]),
    Removal("pools.spare.gcp.imageType", shows=[updated("spare", "nodeConfig.imageType")]),
    Removal(
        "pools.spare.gcp.secureBoot",
        shows=[replaced("spare", "nodeConfig.shieldedInstanceConfig.enableSecureBoot")],
    ),
    Removal(
        "pools.general.zones",
        "theirs",
        shows=["update NodePool theirs-general [nodeLocations[0], nodeLocations[1], nodeLocations[2]]"],
    ),
    Removal("pools.even.gcp.minNodesPerZone", shows=[updated("even", "autoscaling.minNodeCount")]),
    Removal(
        "pools.even.gcp.maxNodesPerZone",
        also={"pools": {"even": {"maxNodes": 6, "gcp": {"minNodesPerZone": None}}}},
        shows=[
            updated(
                "even",
                "autoscaling.maxNodeCount",
                "autoscaling.minNodeCount",
                "autoscaling.totalMaxNodeCount",
            )
        ],
    ),
    Removal(
        "pools.later.gcp.maxRunDuration",
        "zonal",
        shows=["replace NodePool lab-later [nodeConfig.maxRunDuration], deleted first"],
    ),
    Removal("pools.l4.gcp.locationPolicy", shows=[updated("l4", "autoscaling.locationPolicy")]),
    Removal(
        "pools.l4.gcp.shutdownGraceSeconds",
        shows=[updated("l4", "nodeConfig.kubeletConfig.shutdownGracePeriodSeconds")],
    ),
    # GPUs
    Removal("pools.l4.fallback", shows=["delete NodePool lab-l4more"]),
    Removal("pools.l4.fallback.0.pool", refused=["pools[2].fallback[0]: must name one thing"]),
    Removal("pools.l4.fallback.1.onDemand", refused=["pools[2].fallback[1]: must name one thing"]),
    Removal("pools.l4.fallback.1.onDemand.name", shows=["create NodePool lab-l4od", "delete NodePool lab-l4more"]),
    Removal(
        "pools.l4.gpuSharing",
        also={"pools": {"l4": {"generation": "b"}}},
        shows=[
            replaced("l4", f"{REPLACED}.gpuSharingConfig"),
            *("create NodePool lab-l4moreb", "delete NodePool lab-l4more"),
        ],
    ),
    Removal(
        "pools.l4.gcp.driverVersion",
        refused=["gcp.driverVersion: l4more: is LATEST in the cluster and cannot become DEFAULT", ANOTHER],
    ),
    Removal("pools.a100.mig", shows=[replaced("a100", f"{REPLACED}.gpuPartitionSize")]),
    Removal("pools.t4.gpus", refused=["pools[4].gpus: is missing"]),
    Removal(
        "pools.v100.gpus",
        "old",
        also={"pools": {"v100": {"gpuModel": None}}},
        refused=["pools[0].gpus: v100: has 1 nvidia-tesla-v100 a machine", "give the pool another name"],
    ),
    Removal("pools.t4.gpuModel", refused=["pools[4].gpuModel: is missing"]),
    Removal(
        "pools.t4.installDriver",
        shows=[replaced("t4", f"{REPLACED}.gpuDriverInstallationConfig.gpuDriverVersion")],
    ),
    Removal(
        "pools.own.gcp.devicePlugin",
        "zonal",
        shows=[updated("own", 'nodeConfig.labels["gke-no-default-nvidia-gpu-device-plugin"]')],
    ),
    # The system pool
    Removal("systemPool.name", shows=["create NodePool lab-system", "delete NodePool lab-base"]),
    Removal("systemPool.minNodes", shows=[updated("base", "autoscaling.totalMinNodeCount")]),
    Removal("systemPool.zones", shows=[updated("base", "nodeLocations[0]", "nodeLocations[1]")]),
    Removal("systemPool.criticalAddonsOnly", "zonal", shows=[updated("system", "nodeConfig.taints[0]")]),
    Removal("systemPool.osDisk.sizeGb", refused=["systemPool.osDisk.sizeGb: base: is 200 ", "give it another name"]),
    Removal("systemPool.maxPods", refused=["systemPool.maxPods: base: is 64 ", "give it another name as well"]),
    Removal(
        "systemPool.upgrade", shows=[updated("base", "upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable")]
    ),
    Removal("systemPool.upgrade.maxSurge", shows=[updated("base", "upgradeSettings.maxSurge")]),
    Removal("systemPool.upgrade.maxUnavailable", shows=[updated("base", "upgradeSettings.maxUnavailable")]),
    Removal("systemPool.gcp", refused=["4 changes refused", "give it another name as well"]),
    Removal("systemPool.gcp.diskType", refused=["systemPool.gcp.diskType: base: is pd-ssd "]),
    Removal("systemPool.gcp.imageType", refused=["systemPool.gcp.imageType: base: is UBUNTU_CONTAINERD "]),
    Removal("systemPool.gcp.secureBoot", refused=["systemPool.gcp.secureBoot: base: is true "]),
    Removal("systemPool.gcp.integrityMonitoring", refused=["systemPool.gcp.integrityMonitoring: base: is false "]),
]
