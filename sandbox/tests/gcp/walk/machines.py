"""Node pools: machine types, disks, prices, identities, versions."""

from __future__ import annotations

from sandbox.gcp.resources import agent_rules, gcp_machine_rules

from ..conftest import PROJECT, REGULAR, SPOT, ZONES
from .row import Make, Row, cluster, key_granted, nodes, pool

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
    Row(
        "machine type that is none",
        "4.4",
        gcp_machine_rules.machine_type,
        'error creating NodePool: googleapi: Error 400: Invalid machine type "e2-standard-3" in zone "europe-west4-a": '
        "GCE_NOT_FOUND, badRequest",
        bad=nodes(REGULAR, machineType="e2-standard-3"),
        good=nodes(REGULAR, machineType="e2-standard-4"),
    ),
    Row(
        "machine type that is not in a zone",
        "4.4, config/clouds/gcp/gpu-zones.csv",
        gcp_machine_rules.machine_type,
        'Invalid machine type "a3-highgpu-1g" in zone "europe-west4-a": GCE_NOT_FOUND',
        bad=nodes({**SPOT, "nodeLocations": ZONES[:1]}, **{**_H100, "guestAccelerators": None}),
        good=nodes({**SPOT, "nodeLocations": ZONES[1:]}, **_H100),
    ),
    Row(
        "machine type that is none, in an update",
        "4.4",
        gcp_machine_rules.machine_type,
        'updating urn:it: 1 error occurred:\n\t* googleapi: Error 400: Invalid machine type "x"',
        given=(pool(REGULAR),),
        bad=nodes(REGULAR, machineType="x"),
        good=nodes(REGULAR, machineType="n2-standard-16"),
    ),
    Row(
        "spot and preemptible",
        "the sandbox's reading",
        gcp_machine_rules.spot_and_preemptible,
        "Node pool cannot have both spot and preemptible set.",
        confirmed=False,
        bad=nodes(SPOT, preemptible=True),
        good=nodes(SPOT, spot=None, preemptible=True),
    ),
    Row(
        "H100 on demand",
        "page accelerator-optimized-machines",
        gcp_machine_rules.provisioning,
        "Machine type a3-highgpu-1g is available as Spot VM, by Flex-start or in a reservation only.",
        confirmed=False,
        bad=nodes({**SPOT, "nodeLocations": ZONES[1:]}, **_H100, spot=None),
        good=nodes({**SPOT, "nodeLocations": ZONES[1:]}, **_H100),
    ),
    Row(
        "spot where there is none",
        "machine catalogue",
        gcp_machine_rules.provisioning,
        "Machine type a4x-highgpu-4g is not available as Spot VM.",
        confirmed=False,
        bad=nodes(SPOT, **_GB200, reservationAffinity=_RESERVED),
        good=nodes(SPOT, **_GB200, reservationAffinity=_RESERVED, spot=None),
    ),
    Row(
        "GB200 outside a reservation",
        "page accelerator-optimized-machines",
        gcp_machine_rules.provisioning,
        "Machine type a4x-highgpu-4g is available in a reservation only.",
        confirmed=False,
        bad=nodes(SPOT, **_GB200, spot=None),
        good=nodes(SPOT, **_GB200, reservationAffinity=_RESERVED, spot=None),
    ),
    Row(
        "a part of a GPU before its time",
        "page gpus",
        gcp_machine_rules.too_old,
        "Machine type g4-standard-6 needs version 1.35.2-gke.1485000 or later.",
        confirmed=False,
        given=(_OLD,),
        bad=nodes({**SPOT, **_IN_OLD}, machineType="g4-standard-6", guestAccelerators=_RTX),
        good=nodes({**SPOT, **_IN_OLD}, machineType="g4-standard-48", guestAccelerators=_RTX),
    ),
    Row(
        "a part of a GPU on nodes that are older than the control plane",
        "page gpus",
        gcp_machine_rules.too_old,
        "Machine type g4-standard-6 needs version 1.35.2-gke.1485000 or later.",
        confirmed=False,
        bad=nodes({**SPOT, "version": "1.34"}, machineType="g4-standard-6", guestAccelerators=_RTX),
        good=nodes({**SPOT, "version": "1.35"}, machineType="g4-standard-6", guestAccelerators=_RTX),
    ),
    Row(
        "disk of another family",
        "Google's GKE autoscaler source, Boot disk",
        gcp_machine_rules.boot_disk,
        "pd-standard disk type cannot be used by g2-standard-8 machine type.",
        bad=nodes(SPOT, diskType="pd-standard"),
        good=nodes(SPOT, diskType="pd-ssd"),
    ),
    Row(
        "disk of another family, without GPUs",
        "gcp-compute-persistent-disk-csi-driver #1391",
        gcp_machine_rules.boot_disk,
        "pd-standard disk type cannot be used by c3-standard-8 machine type.",
        bad=nodes(REGULAR, machineType="c3-standard-8", diskType="pd-standard"),
        good=nodes(REGULAR, machineType="c3-standard-8", diskType="hyperdisk-balanced"),
    ),
    Row(
        "key of another region, for boot disks",
        "page using-cmek",
        gcp_machine_rules.boot_disk_key,
        "is not a key of region europe-west4.",
        confirmed=False,
        bad=nodes(REGULAR, bootDiskKmsKey=_KEY.format("us-east1")),
        good=nodes(REGULAR, bootDiskKmsKey=_KEY.format("europe-west4")),
        given=(key_granted(_KEY.format("europe-west4"), agent_rules.compute(PROJECT)),),
    ),
    Row(
        "key that Compute Engine may not use",
        "page using-cmek",
        agent_rules.boot_disk_key,
        "Error 403: Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource "
        f"'{_KEY.format('europe-west4')}2' (or it may not exist) for {agent_rules.compute(PROJECT)}.",
        confirmed=False,
        bad=nodes(REGULAR, bootDiskKmsKey=f"{_KEY.format('europe-west4')}2"),
        good=nodes(REGULAR, bootDiskKmsKey=_KEY.format("europe-west4")),
        given=(key_granted(_KEY.format("europe-west4"), agent_rules.compute(PROJECT)),),
    ),
    Row(
        "image that is none",
        "page node-images",
        gcp_machine_rules.image,
        'Invalid image type "COS"',
        confirmed=False,
        bad=nodes(REGULAR, imageType="COS"),
        good=nodes(REGULAR, imageType="ubuntu_containerd"),
    ),
    Row(
        "notice on demand",
        "page spot-vms",
        gcp_machine_rules.shutdown_grace,
        "shutdown_grace_period_seconds can be set for node pools of Spot VMs only.",
        confirmed=False,
        bad=nodes(REGULAR, kubeletConfig=_GRACE),
        good=nodes(SPOT, kubeletConfig=_GRACE),
    ),
    Row(
        "notice of preemptible machines",
        "page spot-vms",
        gcp_machine_rules.shutdown_grace,
        "for node pools of Spot VMs only",
        confirmed=False,
        bad=nodes(SPOT, spot=None, preemptible=True, kubeletConfig=_GRACE),
        good=nodes(SPOT, spot=None, preemptible=True),
    ),
    Row(
        "notice too long",
        "page spot-vms",
        gcp_machine_rules.shutdown_grace,
        "must be between 30 and 120.",
        confirmed=False,
        bad=_grace(121),
        good=_grace(120),
    ),
    Row(
        "notice too short",
        "page spot-vms",
        gcp_machine_rules.shutdown_grace,
        "must be between 30 and 120.",
        confirmed=False,
        bad=_grace(29),
        good=_grace(30),
    ),
    Row(
        "notice that is all the system's",
        "SDK docstring",
        gcp_machine_rules.shutdown_grace,
        "must not be more than",
        confirmed=False,
        bad=_grace(60, 61),
        good=_grace(60, 15),
    ),
    Row(
        "notice before its time",
        "page spot-vms",
        gcp_machine_rules.shutdown_grace,
        "needs version 1.35.0-gke.1171000 or later.",
        confirmed=False,
        given=(_OLD,),
        bad=nodes({**SPOT, **_IN_OLD}, kubeletConfig=_GRACE),
        good=pool({**SPOT, **_IN_OLD}),
    ),
    Row(
        "account that is none",
        "the sandbox's reading",
        gcp_machine_rules.service_account,
        f'Service account "gone@{PROJECT}.iam.gserviceaccount.com" does not exist.',
        confirmed=False,
        bad=nodes(REGULAR, serviceAccount=f"gone@{PROJECT}.iam.gserviceaccount.com"),
        good=nodes(REGULAR, serviceAccount=f"ml-nodes@{PROJECT}.iam.gserviceaccount.com"),
    ),
    Row(
        "GPUs without storage",
        "page gpus",
        gcp_machine_rules.scopes,
        "require a scope that reads from Cloud Storage",
        confirmed=False,
        bad=nodes(SPOT, oauthScopes=["https://www.googleapis.com/auth/logging.write"]),
        good=nodes(SPOT, oauthScopes=["https://www.googleapis.com/auth/devstorage.read_only"]),
    ),
    Row(
        "identities of pods in a cluster without",
        "page workload-identity",
        gcp_machine_rules.workload_metadata,
        "Workload Identity must be enabled in the cluster to use GKE_METADATA",
        confirmed=False,
        given=(cluster(workloadIdentityConfig=None, name="plain"),),
        bad=nodes({**REGULAR, "cluster": "plain"}, workloadMetadataConfig={"mode": "GKE_METADATA"}),
        good=nodes({**REGULAR, "cluster": "plain"}, workloadMetadataConfig={"mode": "GCE_METADATA"}),
    ),
    Row(
        "nodes newer than the control plane",
        "page versioning",
        gcp_machine_rules.version,
        'must not be newer than the master version "1.34.9-gke.1045000".',
        confirmed=False,
        given=(_OLD,),
        bad=pool({**REGULAR, **_IN_OLD}, version="1.36"),
        good=pool({**REGULAR, **_IN_OLD}, version="1.34"),
    ),
    Row(
        "version of nodes that is none",
        "logs",
        gcp_machine_rules.version_served,
        'Node version "1.30" is unsupported.',
        bad=pool(REGULAR, version="1.30"),
        good=pool(REGULAR, version="1.35"),
    ),
    Row(
        "machines' label in capitals",
        "labeling-resources",
        gcp_machine_rules.resource_labels,
        "Invalid resource label team=ML",
        confirmed=False,
        bad=nodes(REGULAR, resourceLabels={"team": "ML"}),
        good=nodes(REGULAR, resourceLabels={"team": "ml"}),
    ),
]
