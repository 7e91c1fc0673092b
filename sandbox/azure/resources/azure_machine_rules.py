"""Rules of AKS on the machines of a pool: size, zones, disk, GPU partitions, capacity reservations.

Capacity reservation groups (page use-capacity-reservation-groups) are not emulated: an id stands for one that exists, with a
reservation of the pool's size and zones.
"""

import re

from sandbox.azure.azure_catalogue import machines, zones_of_region
from sandbox.azure.azure_errors import AzureRefused, aks, arm
from sandbox.azure.resources import azure_identity
from sandbox.azure.resources.azure_requests import PoolRequest
from sandbox.cloud import rules
from sandbox.cloud.state import Body, Resources

_LARGEST_DISK_GB = 2048


def size_known(request: PoolRequest) -> AzureRefused | None:
    # AKS error page invalidparameter. No region has a retired size.
    size = request.wanted.get("vmSize")
    if size is None or (size in machines() and machines()[size].status != "retired"):
        return None
    offered = ", ".join(sorted(m.size for m in machines().values() if m.status != "retired"))
    text = (
        f"The requested VM size {size} is not available in the current region. "
        f"The sizes available in the current region are: {offered}"
    )
    return aks("InvalidParameter", text, "vmSize")


@rules.as_read
def trusted_launch(request: PoolRequest) -> AzureRefused | None:
    # AKS page use-trusted-launch: a pool whose image is none of Trusted Launch cannot be updated to it. Words UNCONFIRMED.
    if (
        request.current is None
        or not asks_trusted_launch(request.wanted)
        or "TL" in request.current["nodeImageVersion"]
    ):
        return None
    text = "Trusted Launch cannot be enabled on a node pool that was not created with it."
    return aks("PropertyChangeNotAllowed", text, f"{request.section}.securityProfile")


@rules.as_read
def secure_boot_driver(request: PoolRequest) -> AzureRefused | None:
    # Same page: "To enable Secure Boot on GPU node pools, you need to skip installing the GPU driver." Words UNCONFIRMED.
    driver = (request.body.get("gpuProfile") or {}).get("driver")
    secure = (request.body.get("securityProfile") or {}).get("enableSecureBoot")
    if not secure or not request.machine or not request.machine.gpus or driver == "None":
        return None
    text = "Secure Boot on a GPU node pool needs gpuProfile.driver None."
    return aks("BadRequest", text, f"{request.section}.securityProfile.enableSecureBoot")


def asks_trusted_launch(body: Body) -> bool:
    """Return whether a pool's body has a part of Trusted Launch."""
    security = body.get("securityProfile") or {}
    return bool(security.get("enableSecureBoot") or security.get("enableVTPM"))


def system_size(request: PoolRequest) -> AzureRefused | None:
    # azure-dev-docs #216. 2-core sizes are accepted (azure-docs #121181); B-series are not (AKS page use-system-pools).
    machine = request.machine
    if not request.system or machine is None:
        return None
    if machine.system_pools and machine.vcpus >= 2 and machine.memory_gib >= 4:
        return None
    text = f"System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: {request.name}."
    return aks("SystemPoolSkuTooLow", text, "agentPoolProfile.vmSize")


def availability_zones(request: PoolRequest) -> AzureRefused | None:
    # AKS error page availabilityzonenotsupported; zones are written as in public logs ('3,1', and '' for a region without).
    region = request.cluster["location"]
    offered = zones_of_region(region)
    missing = [zone for zone in request.body.get("availabilityZones") or [] if zone not in offered]
    if not missing:
        return None
    text = (
        f"The zone(s) '{','.join(missing)}' for resource '{request.name}' is not supported. "
        f"The supported zones for location '{region}' are '{','.join(offered)}'"
    )
    return aks("AvailabilityZoneNotSupported", text)


def ephemeral_disk(request: PoolRequest) -> AzureRefused | None:
    # Azure/AKS #2672
    machine = request.machine
    if request.wanted.get("osDiskType") != "Ephemeral" or machine is None or machine.temp_disk_gb is None:
        return None
    has, needs = int(machine.temp_disk_gb * 2**30), (request.wanted.get("osDiskSizeGB") or 128) * 2**30
    if needs <= has:
        return None
    text = (
        f"The virtual machine size {machine.size} has a cache size of {has} bytes, but the OS disk requires {needs} bytes. "
        "Use a VM size with larger cache or disable ephemeral OS."
    )
    return aks("VMCacheSizeTooSmall", text)


@rules.as_read
def disk_size(request: PoolRequest) -> AzureRefused | None:
    # azure-rest-api-specs, ContainerServiceOSDisk: 0 (AKS chooses) to 2048. Text UNCONFIRMED.
    if 0 <= request.wanted.get("osDiskSizeGB", 0) <= _LARGEST_DISK_GB:
        return None
    text = f"osDiskSizeGB {request.wanted['osDiskSizeGB']} must be between 0 and {_LARGEST_DISK_GB}."
    return aks("InvalidParameter", text, "agentPoolProfile.osDiskSizeGB")


@rules.as_read
def gpu_partitions(request: PoolRequest) -> AzureRefused | None:
    # AKS page gpu-multi-instance; code: list.
    machine = request.machine
    if not request.body.get("gpuInstanceProfile") or machine is None or machine.mig:
        return None
    text = f"The VM size {machine.size} does not support multi-instance GPU."
    return aks("VMSizeDoesNotSupportMIG", text, "agentPoolProfile.gpuInstanceProfile")


_RESERVATION = "properties.capacityReservationGroupID"
_GROUP = re.compile(
    r"/subscriptions/([^/]+)/resourceGroups/[^/]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+",
    re.IGNORECASE,
)

# https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/privileged
_CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
_OWNER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"


def _group(request: PoolRequest) -> str:
    """Return the group that a new pool names; an existing pool keeps its own (`pool_rules`)."""
    return "" if request.current else str(request.body.get("capacityReservationGroupID") or "")


def _identities(cluster: Body) -> list[str]:
    return list((cluster.get("identity") or {}).get("userAssignedIdentities") or [])


@rules.as_read
def reservation_form(request: PoolRequest) -> AzureRefused | None:
    group = _group(request)
    if not group or _GROUP.fullmatch(group):
        return None
    return aks("InvalidParameter", f"{group} is not the id of a capacity reservation group.", _RESERVATION)


@rules.as_read
def reserved_spot(request: PoolRequest) -> AzureRefused | None:
    # Page capacity-reservation-overview, limitations. Text UNCONFIRMED.
    if not _group(request) or not request.spot:
        return None
    return aks("InvalidParameter", "Spot node pools cannot use a capacity reservation group.", _RESERVATION)


@rules.as_read
def reservation_identity(request: PoolRequest) -> AzureRefused | None:
    # "System-assigned managed identities don't work for this feature"; text UNCONFIRMED.
    if not _group(request) or _identities(request.cluster):
        return None
    return aks(
        "BadRequest", "A capacity reservation group needs a cluster with a user-assigned identity.", _RESERVATION
    )


@rules.as_read
def reservation_permission(request: PoolRequest) -> AzureRefused | None:
    # Azure/karpenter-provider-azure pull request 1839: the actions, which Contributor at the group has. ARM's code for a missing
    # right at a linked resource; that AKS says it so is UNCONFIRMED.
    return _unpermitted(request.resources, _identities(request.cluster), _group(request))


def dissociation(resources: Resources, cluster: Body, pool: Body) -> AzureRefused | None:
    """Return the refusal to delete a pool that the identity may not take out of its group any more.

    A pool that is deleted is taken out of its group first (the page's note); that this needs the right is UNCONFIRMED.
    """
    refused = _unpermitted(resources, _identities(cluster), str(pool.get("capacityReservationGroupID") or ""))
    return refused.as_read() if refused else None


def _unpermitted(resources: Resources, identities: list[str], group: str) -> AzureRefused | None:
    if not group or any(azure_identity.has_role(resources, identities, role, group) for role in (_CONTRIBUTOR, _OWNER)):
        return None
    text = (
        "The cluster's identity does not have permission to perform action "
        f"'Microsoft.Compute/capacityReservationGroups/deploy/action' on the linked scope '{group}'."
    )
    return arm("LinkedAuthorizationFailed", text, status=403)


RESERVATION_RULES = (reservation_form, reserved_spot, reservation_identity, reservation_permission)
