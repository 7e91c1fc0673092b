"""Rules of GKE on the machines of a pool: types, disks, images, spot, scopes; and on the labels and taints of its nodes."""

import re

from sandbox.cloud import rules
from sandbox.gcp import gcp_catalogue, gcp_ids
from sandbox.gcp.gcp_catalogue import gpu_offered, machines
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.flex_rules import reserved
from sandbox.gcp.resources.gcp_identity import missing_account
from sandbox.gcp.resources.gcp_requests import PoolRequest

# https://cloud.google.com/kubernetes-engine/docs/concepts/node-images, Linux.
_IMAGES = ("COS_CONTAINERD", "UBUNTU_CONTAINERD")

# Page spot-vms: the grace period of Spot VMs can be extended from this version on.
_LONGER_GRACE = "1.35.0-gke.1171000"
_GRACE = (30, 120)

_SCOPE = "https://www.googleapis.com/auth/"
_STORAGE = ("cloud-platform", "devstorage.read_only", "devstorage.read_write", "devstorage.full_control")


def machine_type(request: PoolRequest) -> GcpRefused | None:
    # keras-team/kinetic #305. A family with built-in GPUs exists in the zones of its GPUs.
    name = request.config["machineType"]
    machine = machines().get(name)
    for zone in request.zones:
        if machine is None or (machine.gpu_model and not gpu_offered(machine.gpu_model, zone)):
            return bad_request(f'Invalid machine type "{name}" in zone "{zone}": GCE_NOT_FOUND')
    return None


@rules.as_read
def spot_and_preemptible(request: PoolRequest) -> GcpRefused | None:
    # Page spot-vms: they are two provisioning models. Words UNCONFIRMED.
    if request.config.get("spot") and request.config.get("preemptible"):
        return bad_request("Node pool cannot have both spot and preemptible set.")
    return None


@rules.as_read
def provisioning(request: PoolRequest) -> GcpRefused | None:
    # Accelerator-optimized machines, "Consumption options"; the words are UNCONFIRMED.
    machine, config = request.machine, request.config
    reclaimable = bool(config.get("spot") or config.get("preemptible"))
    if reclaimable and not machine.spot:
        return bad_request(f"Machine type {machine.name} is not available as Spot VM.")
    other_ways = config.get("flexStart") or reserved(config) or request.body.get("queuedProvisioning")
    if not reclaimable and not machine.on_demand and not other_ways:
        ways = "as Spot VM, by Flex-start or in a reservation" if machine.spot else "in a reservation"
        return bad_request(f"Machine type {machine.name} is available {ways} only.")
    return None


@rules.as_read
def too_old(request: PoolRequest) -> GcpRefused | None:
    # Page gpus, availability of GPUs by version. Words UNCONFIRMED.
    since = request.machine.since
    if since and gcp_catalogue.number(request.body["version"]) < gcp_catalogue.number(since):
        return bad_request(f"Machine type {request.machine.name} needs version {since} or later.")
    return None


def boot_disk(request: PoolRequest) -> GcpRefused | None:
    # Google's GKE autoscaler source, machinetypes. Compute Engine's words as quoted in a vmware issue and others, 2024.
    disk_type, machine = request.config["diskType"], request.machine
    if disk_type not in machine.boot_disks:
        return bad_request(f"{disk_type} disk type cannot be used by {machine.name} machine type.")
    return None


@rules.as_read
def boot_disk_key(request: PoolRequest) -> GcpRefused | None:
    # Page using-cmek: the key is in the cluster's region. Words UNCONFIRMED.
    key, region = request.config.get("bootDiskKmsKey"), gcp_ids.region(request.cluster["location"])
    if key and gcp_ids.key_location(key) != region:
        return bad_request(f'Node_config.boot_disk_kms_key "{key}" is not a key of region {region}.')
    return None


@rules.as_read
def image(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    if request.config["imageType"].upper() not in _IMAGES:
        return bad_request(
            f'Invalid image type "{request.config["imageType"]}"; it must be one of {", ".join(_IMAGES)}.'
        )
    return None


@rules.as_read
def shutdown_grace(request: PoolRequest) -> GcpRefused | None:
    # Page spot-vms; SDK docstring: the part of critical pods is at most the whole. Words UNCONFIRMED.
    kubelet = request.config.get("kubeletConfig") or {}
    whole, critical = (kubelet.get(f"shutdownGracePeriod{part}Seconds") for part in ("", "CriticalPods"))
    if not whole and not critical:
        return None
    field = "kubelet_config.shutdown_grace_period_seconds"
    if not request.config.get("spot"):
        return bad_request(f"{field} can be set for node pools of Spot VMs only.")
    if gcp_catalogue.number(request.cluster["masterVersion"]) < gcp_catalogue.number(_LONGER_GRACE):
        return bad_request(f"{field} needs version {_LONGER_GRACE} or later.")
    least, most = _GRACE
    if not whole or not least <= whole <= most:
        return bad_request(f"{field} must be between {least} and {most}.")
    if critical and critical > whole:
        return bad_request(f"kubelet_config.shutdown_grace_period_critical_pods_seconds must not be more than {field}.")
    return None


@rules.as_read
def service_account(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    address = request.config["serviceAccount"]
    if missing_account(request.resources, gcp_ids.project_of(request.id), address):
        return bad_request(f'Service account "{address}" does not exist.')
    return None


@rules.as_read
def scopes(request: PoolRequest) -> GcpRefused | None:
    # Page gpus: node pools with GPUs need the scope to read Cloud Storage, where the driver is. Words UNCONFIRMED.
    given = {scope.removeprefix(_SCOPE) for scope in request.config["oauthScopes"]}
    given |= {"devstorage.read_only"} if "storage-ro" in given else set()
    if request.accelerators and not given & set(_STORAGE):
        return bad_request(
            "Node pools with GPUs require a scope that reads from Cloud Storage, such as cloud-platform."
        )
    return None


@rules.as_read
def workload_metadata(request: PoolRequest) -> GcpRefused | None:
    # Page workload-identity: the cluster enables Workload Identity first. Words UNCONFIRMED.
    mode = (request.config.get("workloadMetadataConfig") or {}).get("mode")
    if mode == "GKE_METADATA" and not (request.cluster.get("workloadIdentityConfig") or {}).get("workloadPool"):
        return bad_request("Workload Identity must be enabled in the cluster to use GKE_METADATA in a node pool.")
    return None


@rules.as_read
def version(request: PoolRequest) -> GcpRefused | None:
    # Page versioning: nodes are never newer than the control plane, and at most two minor versions older. Words UNCONFIRMED.
    requested, master = request.body["version"], request.cluster["masterVersion"]
    if gcp_catalogue.number(requested) > gcp_catalogue.number(master):
        return bad_request(f'Node version "{requested}" must not be newer than the master version "{master}".')
    behind = int(gcp_catalogue.minor(master).split(".")[1]) - int(gcp_catalogue.minor(requested).split(".")[1])
    if behind > 2:
        return bad_request(f'Node version "{requested}" is more than two minor versions older than the master.')
    return None


def version_served(request: PoolRequest) -> GcpRefused | None:
    # Logs of many projects.
    requested = request.wanted.get("version")
    if requested and gcp_catalogue.resolved(requested, request.cluster["releaseChannel"]["channel"]) is None:
        return bad_request(f'Node version "{requested}" is unsupported.')
    return None


@rules.as_read
def resource_labels(request: PoolRequest) -> GcpRefused | None:
    return bad_resource_labels(request.config.get("resourceLabels") or {})


def bad_resource_labels(labels: dict[str, str]) -> GcpRefused | None:
    """Return the refusal of labels of Google Cloud, which are not those of Kubernetes (compute: docs labeling-resources)."""
    for key, value in labels.items():
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key) or not re.fullmatch(r"[a-z0-9_-]{0,63}", value):
            # Words UNCONFIRMED
            return bad_request(
                f"Invalid resource label {key}={value}: lower-case letters, digits, _ and -, 63 at most."
            )
    return None


# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"(?=.{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/")

# GKE reserves its own prefixes (bitpoke/stack #86 for node-role), except the label that joins a pool to a ComputeClass (page
# about-custom-compute-classes). For prefixes other than node-role the refusal is UNCONFIRMED.
_RESERVED = ("kubernetes.io", "k8s.io", "cloud.google.com", "gke.io")
_ALLOWED = ("cloud.google.com/compute-class",)


def _well_formed(key: str) -> bool:
    match = _PREFIX.match(key)
    return bool(_NAME.fullmatch(key[match.end() :] if match else key))


def labels(request: PoolRequest) -> GcpRefused | None:
    for key, value in (request.config.get("labels") or {}).items():
        prefix = key.rpartition("/")[0]
        if key not in _ALLOWED and any(prefix == own or prefix.endswith(f".{own}") for own in _RESERVED):
            refused = bad_request(f"Applying kubernetes label is not allowed: {key}.")
            return refused if prefix == "node-role.kubernetes.io" else refused.as_read()
        if not _well_formed(key) or (value and not _NAME.fullmatch(value)):
            # Words UNCONFIRMED
            return bad_request(f"Invalid kubernetes label {key}={value}.").as_read()
    return None


@rules.as_read
def taints(request: PoolRequest) -> GcpRefused | None:
    # Kubernetes' validation of a node's taints; the words are UNCONFIRMED.
    seen = set()
    for taint in request.config.get("taints") or []:
        if not _well_formed(taint["key"]) or (taint.get("value") and not _NAME.fullmatch(taint["value"])):
            return bad_request(f"Invalid taint {taint['key']}={taint.get('value', '')}.")
        if (taint["key"], taint["effect"]) in seen:
            return bad_request(f"Taints must be unique by key and effect: {taint['key']} has {taint['effect']} twice.")
        seen.add((taint["key"], taint["effect"]))
    return None


@rules.as_read
def local_ssds(request: PoolRequest) -> GcpRefused | None:
    # docs.cloud.google.com/compute/docs/disks/local-ssd, the two tables; zero means the machine's own number (NodeConfig's
    # EphemeralStorageLocalSsdConfig). Words UNCONFIRMED.
    uses = ("ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig")
    counts = [(request.config.get(use) or {}).get("localSsdCount") or 0 for use in uses]
    if not any(counts):
        return None
    name = request.machine.name
    if all(counts):
        return bad_request("Local SSDs are either for ephemeral storage or raw block devices.")
    allowed = gcp_catalogue.local_ssds(name)
    if allowed is not None and sum(counts) not in allowed:
        return bad_request(f"Machine type {name} does not support {sum(counts)} local SSDs.")
    return None
