"""Node pools: names, bounds, zones, upgrades, labels and taints; machine types, disks, prices, identities, versions."""

from sandbox.gcp import gcp_cloud
from sandbox.gcp.resources import gcp_identity, gcp_machine_rules, gcp_pool, gcp_pool_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import CLUSTER_ID, POOL, PROJECT, REGION, REGULAR, SPOT, ZONES
from .requests import Again, Make, cluster, key_granted, nodes, pool


def _taint(key: str, effect: str = "NO_SCHEDULE", value: str = "x") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


_H100 = {"machineType": "a3-highgpu-1g", "guestAccelerators": [{"type": "nvidia-h100-80gb", "count": 1}]}
_KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"
_GB200 = {
    "machineType": "a4x-highgpu-4g",
    "diskType": "hyperdisk-balanced",
    "guestAccelerators": [{"type": "nvidia-gb200", "count": 4}],
}
_RTX = [{"type": "nvidia-rtx-pro-6000", "count": 1}]
_RESERVED = {"consumeReservationType": "ANY_RESERVATION"}
_OLD = cluster(minMasterVersion="1.34", name="old")
_IN_OLD = {"cluster": "old"}
_GRACE = {"shutdownGracePeriodSeconds": 90}


def _grace(seconds: int, critical: int = 0) -> Make:
    kubelet = {"shutdownGracePeriodSeconds": seconds, "shutdownGracePeriodCriticalPodsSeconds": critical}
    return nodes(SPOT, kubeletConfig=kubelet)


ROWS = [
    Row("pool of a cluster that is none", gcp_pool._running_cluster, "4.4")
    .says(
        "error creating NodePool: googleapi: Error 404: Not found: projects/ml-project/locations/europe-west4/clusters/no., "
        "notFound"
    )
    .tries(pool, REGULAR, cluster=("no", CLUSTER_ID), location=(ABSENT, None)),
    Row("pool twice", gcp_cloud._exists, "4.1")
    .says(f"error creating NodePool: resource - {CLUSTER_ID}/nodePools/general - already exists")
    .tries(Again, POOL, ({**REGULAR, "name": "general"}, REGULAR)),
    Row("pool's name in capitals", gcp_pool_rules.name, "4.4, 7.25")
    .says(
        'googleapi: Error 400: Invalid value for field "node_pool.name": "primaryPool". Must be a match of regex '
        "'(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)'"
    )
    .tries(pool, REGULAR, name=("primaryPool", "primary-pool")),
    Row("pool's name too long", gcp_pool_rules.name, "4.4, 7.25")
    .says("no longer than 40 characters")
    .tries(pool, REGULAR, name=("a" * 41, "a" * 40)),
    Row("no most nodes", gcp_pool_rules.both_limits_zero, "4.4")
    .says(
        "googleapi: Error 400: Node_pool_autoscaling.max_node_count and node_pool_autoscaling.total_max_node_count cannot be "
        "both set to zero., badRequest"
    )
    .tries(pool, REGULAR, autoscaling=({"minNodeCount": 0}, {"maxNodeCount": 1})),
    Row("bounds of two kinds", gcp_pool_rules.two_kinds_of_limits, "4.1")
    .assumes("cannot be both set., badRequest")
    .tries(pool, SPOT, autoscaling={"maxNodeCount": 2, "totalMaxNodeCount": (4, ABSENT), "minNodeCount": (ABSENT, 0)}),
    Row("bounds of two kinds, in an update", gcp_pool_rules.two_kinds_of_limits, "4.1")
    .assumes("cannot be both set., badRequest")
    .given(pool(SPOT))
    .tries(pool, SPOT, autoscaling={"minNodeCount": (1, ABSENT), "totalMinNodeCount": 1, "totalMaxNodeCount": 4}),
    Row("least above most", gcp_pool_rules.least_above_most, "the sandbox's reading")
    .assumes("Node_pool_autoscaling.total_min_node_count must be less than or equal to")
    .tries(pool, REGULAR, autoscaling={"totalMinNodeCount": (4, 3), "totalMaxNodeCount": 3}),
    Row("least above most of a zone", gcp_pool_rules.least_above_most, "the sandbox's reading")
    .assumes("Node_pool_autoscaling.min_node_count must be less than or equal to")
    .tries(pool, REGULAR, autoscaling={"minNodeCount": (4, 3), "maxNodeCount": 3}),
    Row("more nodes than a pool can have", gcp_pool_rules.too_many_nodes, "page quotas")
    .assumes("can have at most 1000 nodes in a zone")
    .tries(pool, SPOT, autoscaling={"maxNodeCount": (1001, 1000)}),
    Row("zone of another region, for a pool", gcp_pool_rules.locations, "page regional-clusters")
    .assumes('zone "us-central1-a" is not in region "europe-west4".')
    .tries(pool, REGULAR, nodeLocations=(["us-central1-a"], ZONES[:1])),
    Row("zone that is none", gcp_pool_rules.locations, "page regional-clusters")
    .assumes('zone "europe-west4-d" is not in region "europe-west4".')
    .given(pool(REGULAR))
    .tries(pool, REGULAR, nodeLocations=([f"{REGION}-d"], ZONES[1:])),
    Row("too many pods a node", gcp_pool_rules.pods_per_node, "6")
    .assumes("Max_pods_per_node must be between 8 and 256.")
    .tries(pool, REGULAR, maxPodsPerNode=(257, 256)),
    Row("pool's range of pods that is none", gcp_pool_rules.pod_range, "4.4")
    .says('Pod secondary range "more-pods" not found in network "net", subnetwork "nodes".')
    .tries(pool, REGULAR, networkConfig={"podRange": ("more-pods", "pods")}),
    Row("no way to upgrade", gcp_pool_rules.surge, "page node-pool-upgrade-strategies")
    .assumes("The sum of max_surge and max_unavailable must be between 1 and 20.")
    .tries(pool, REGULAR, upgradeSettings={"maxSurge": 0, "maxUnavailable": (0, 1)}),
    Row("no automatic upgrades in a channel", gcp_pool_rules.management, "page release-channels")
    .says("Auto_upgrade must be true when release_channel REGULAR is set.")
    .tries(pool, REGULAR, management={"autoUpgrade": (False, True)}),
    Row("label of a role", gcp_machine_rules.labels, "4.4")
    .says("googleapi: Error 400: Applying kubernetes label is not allowed: node-role.kubernetes.io/gpu., badRequest")
    .tries(nodes, REGULAR, labels=({"node-role.kubernetes.io/gpu": "true"}, {"example.com/gpu": "true"})),
    Row("label of GKE's", gcp_machine_rules.labels, "page about-custom-compute-classes")
    .assumes("Applying kubernetes label is not allowed: cloud.google.com/gke-spot.")
    .given(pool(SPOT))
    .tries(nodes, SPOT, labels=({"cloud.google.com/gke-spot": "true"}, {"cloud.google.com/compute-class": "ml"})),
    Row("label that is none", gcp_machine_rules.labels, "Kubernetes")
    .assumes("Invalid kubernetes label a=not a value.")
    .tries(nodes, REGULAR, labels={"a": ("not a value", "")}),
    Row("taint twice", gcp_machine_rules.taints, "Kubernetes")
    .assumes("Taints must be unique by key and effect: a has NO_SCHEDULE twice.")
    .tries(nodes, REGULAR, taints=([_taint("a"), _taint("a", value="y")], [_taint("a"), _taint("a", "NO_EXECUTE")])),
    Row("taint that is none", gcp_machine_rules.taints, "Kubernetes")
    .assumes("Invalid taint a b=x.")
    .tries(nodes, REGULAR, taints=[(_taint("a b"), _taint("a.b/c"))]),
    Row("machine type that is none", gcp_machine_rules.machine_type, "4.4")
    .says(
        'error creating NodePool: googleapi: Error 400: Invalid machine type "e2-standard-3" in zone "europe-west4-a": '
        "GCE_NOT_FOUND, badRequest"
    )
    .tries(nodes, REGULAR, machineType=("e2-standard-3", "e2-standard-4")),
    Row("machine type that is not in a zone", gcp_machine_rules.machine_type, "4.4, config/clouds/gcp/gpu-zones.csv")
    .says('Invalid machine type "a3-highgpu-1g" in zone "europe-west4-a": GCE_NOT_FOUND')
    .refuses(nodes({**SPOT, "nodeLocations": ZONES[:1]}, **{**_H100, "guestAccelerators": None}))
    .accepts(nodes({**SPOT, "nodeLocations": ZONES[1:]}, **_H100)),
    Row("machine type that is none, in an update", gcp_machine_rules.machine_type, "4.4")
    .says('updating urn:it: 1 error occurred:\n\t* googleapi: Error 400: Invalid machine type "x"')
    .given(pool(REGULAR))
    .tries(nodes, REGULAR, machineType=("x", "n2-standard-16")),
    Row("spot and preemptible", gcp_machine_rules.spot_and_preemptible, "the sandbox's reading")
    .assumes("Node pool cannot have both spot and preemptible set.")
    .tries(nodes, SPOT, preemptible=True, spot=(ABSENT, None)),
    Row("H100 on demand", gcp_machine_rules.provisioning, "page accelerator-optimized-machines")
    .assumes("Machine type a3-highgpu-1g is available as Spot VM, by Flex-start or in a reservation only.")
    .tries(nodes, {**SPOT, "nodeLocations": ZONES[1:]}, **_H100, spot=(None, ABSENT)),
    Row("spot where there is none", gcp_machine_rules.provisioning, "machine catalogue")
    .assumes("Machine type a4x-highgpu-4g is not available as Spot VM.")
    .tries(nodes, SPOT, **_GB200, reservationAffinity=_RESERVED, spot=(ABSENT, None)),
    Row("GB200 outside a reservation", gcp_machine_rules.provisioning, "page accelerator-optimized-machines")
    .assumes("Machine type a4x-highgpu-4g is available in a reservation only.")
    .tries(nodes, SPOT, **_GB200, spot=None, reservationAffinity=(ABSENT, _RESERVED)),
    Row("a part of a GPU before its time", gcp_machine_rules.too_old, "page gpus")
    .assumes("Machine type g4-standard-6 needs version 1.35.2-gke.1485000 or later.")
    .given(_OLD)
    .tries(nodes, {**SPOT, **_IN_OLD}, machineType=("g4-standard-6", "g4-standard-48"), guestAccelerators=_RTX),
    Row("a part of a GPU on nodes that are older than the control plane", gcp_machine_rules.too_old, "page gpus")
    .assumes("Machine type g4-standard-6 needs version 1.35.2-gke.1485000 or later.")
    .tries(nodes, {**SPOT, "version": ("1.34", "1.35")}, machineType="g4-standard-6", guestAccelerators=_RTX),
    Row("disk of another family", gcp_machine_rules.boot_disk, "Google's GKE autoscaler source, Boot disk")
    .says("pd-standard disk type cannot be used by g2-standard-8 machine type.")
    .tries(nodes, SPOT, diskType=("pd-standard", "pd-ssd")),
    Row(
        "disk of another family, without GPUs",
        gcp_machine_rules.boot_disk,
        "gcp-compute-persistent-disk-csi-driver #1391",
    )
    .says("pd-standard disk type cannot be used by c3-standard-8 machine type.")
    .tries(nodes, REGULAR, machineType="c3-standard-8", diskType=("pd-standard", "hyperdisk-balanced")),
    Row("key of another region, for boot disks", gcp_machine_rules.boot_disk_key, "page using-cmek")
    .assumes("is not a key of region europe-west4.")
    .given(key_granted(_KEY.format("europe-west4"), gcp_identity.compute_agent(PROJECT)))
    .tries(nodes, REGULAR, bootDiskKmsKey=(_KEY.format("us-east1"), _KEY.format("europe-west4"))),
    Row("key that Compute Engine may not use", gcp_identity.boot_disk_key, "page using-cmek")
    .assumes(
        "Error 403: Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource "
        f"'{_KEY.format('europe-west4')}2' (or it may not exist) for {gcp_identity.compute_agent(PROJECT)}."
    )
    .given(key_granted(_KEY.format("europe-west4"), gcp_identity.compute_agent(PROJECT)))
    .tries(nodes, REGULAR, bootDiskKmsKey=(f"{_KEY.format('europe-west4')}2", _KEY.format("europe-west4"))),
    Row("image that is none", gcp_machine_rules.image, "page node-images")
    .assumes('Invalid image type "COS"')
    .tries(nodes, REGULAR, imageType=("COS", "ubuntu_containerd")),
    Row("notice on demand", gcp_machine_rules.shutdown_grace, "page spot-vms")
    .assumes("shutdown_grace_period_seconds can be set for node pools of Spot VMs only.")
    .tries(nodes, (REGULAR, SPOT), kubeletConfig=_GRACE),
    Row("notice of preemptible machines", gcp_machine_rules.shutdown_grace, "page spot-vms")
    .assumes("for node pools of Spot VMs only")
    .tries(nodes, SPOT, spot=None, preemptible=True, kubeletConfig=(_GRACE, ABSENT)),
    Row("notice too long", gcp_machine_rules.shutdown_grace, "page spot-vms")
    .assumes("must be between 30 and 120.")
    .tries(_grace, (121, 120)),
    Row("notice too short", gcp_machine_rules.shutdown_grace, "page spot-vms")
    .assumes("must be between 30 and 120.")
    .tries(_grace, (29, 30)),
    Row("notice that is all the system's", gcp_machine_rules.shutdown_grace, "SDK docstring")
    .assumes("must not be more than")
    .tries(_grace, 60, (61, 15)),
    Row("notice before its time", gcp_machine_rules.shutdown_grace, "page spot-vms")
    .assumes("needs version 1.35.0-gke.1171000 or later.")
    .given(_OLD)
    .refuses(nodes({**SPOT, **_IN_OLD}, kubeletConfig=_GRACE))
    .accepts(pool({**SPOT, **_IN_OLD})),
    Row("account that is none", gcp_machine_rules.service_account, "the sandbox's reading")
    .assumes(f'Service account "gone@{PROJECT}.iam.gserviceaccount.com" does not exist.')
    .tries(
        nodes,
        REGULAR,
        serviceAccount=(f"gone@{PROJECT}.iam.gserviceaccount.com", f"ml-nodes@{PROJECT}.iam.gserviceaccount.com"),
    ),
    Row("GPUs without storage", gcp_machine_rules.scopes, "page gpus")
    .assumes("require a scope that reads from Cloud Storage")
    .tries(
        nodes,
        SPOT,
        oauthScopes=[
            ("https://www.googleapis.com/auth/logging.write", "https://www.googleapis.com/auth/devstorage.read_only")
        ],
    ),
    Row("identities of pods in a cluster without", gcp_machine_rules.workload_metadata, "page workload-identity")
    .assumes("Workload Identity must be enabled in the cluster to use GKE_METADATA")
    .given(cluster(workloadIdentityConfig=None, name="plain"))
    .tries(nodes, {**REGULAR, "cluster": "plain"}, workloadMetadataConfig={"mode": ("GKE_METADATA", "GCE_METADATA")}),
    Row("nodes newer than the control plane", gcp_machine_rules.version, "page versioning")
    .assumes('must not be newer than the master version "1.34.9-gke.1045000".')
    .given(_OLD)
    .tries(pool, {**REGULAR, **_IN_OLD}, version=("1.36", "1.34")),
    Row("version of nodes that is none", gcp_machine_rules.version_served, "logs")
    .says('Node version "1.30" is unsupported.')
    .tries(pool, REGULAR, version=("1.30", "1.35")),
    Row("machines' label in capitals", gcp_machine_rules.resource_labels, "labeling-resources")
    .assumes("Invalid resource label team=ML")
    .tries(nodes, REGULAR, resourceLabels={"team": ("ML", "ml")}),
    Row("SSDs that a machine does not take", gcp_machine_rules.local_ssds, "page disks/local-ssd")
    .assumes("Machine type n2-standard-8 does not support 3 local SSDs.")
    .tries(
        *(pool, REGULAR),
        nodeConfig={"machineType": "n2-standard-8", "ephemeralStorageLocalSsdConfig": {"localSsdCount": (3, 2)}},
    ),
    Row("SSDs of two uses", gcp_machine_rules.local_ssds, "page local-ssd")
    .assumes("either for ephemeral storage or raw block devices")
    .tries(
        *(pool, REGULAR),
        nodeConfig={
            "machineType": "n2-standard-8",
            "ephemeralStorageLocalSsdConfig": {"localSsdCount": 1},
            "localNvmeSsdBlockConfig": ({"localSsdCount": 1}, ABSENT),
        },
    ),
]
