"""Rules of AKS on an agent pool: one function a rule, in the order of the tables at the end.

Each returns the refusal or None. Codes and texts are quoted from the source beside them. A rule that no source confirms says
UNCONFIRMED and is marked `as_read`.
"""

import re
from typing import Any

from sandbox.azure import azure_catalogue, azure_errors, azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_machine_rules, node_rules
from sandbox.azure.resources.azure_requests import POOL_NAME, PoolRequest, PoolRule, invalid
from sandbox.cloud import rules

# Values of a pool whose body lacks the property.
_IMPLIED = {"scaleSetPriority": "Regular", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}

# AKS pages spot-node-pool, create-node-pools, gpu-multi-instance, enable-host-encryption, and azure-native #959: the provider
# does not replace a pool for these, and the service refuses the update.
_IMMUTABLE = (
    *("scaleSetEvictionPolicy", "spotMaxPrice", "maxPods", "osDiskType", "osDiskSizeGB", "osType"),
    *("type", "vnetSubnetID", "podSubnetID", "availabilityZones", "enableEncryptionAtHost", "gpuProfile"),
    "gpuInstanceProfile",
    # Terraform makes a pool again for these (terraform-provider-azurerm, kubernetes_cluster_node_pool_resource.go); page
    # use-ultra-disks: at creation only. Not for FIPS, which changes with the image (page enable-fips-nodes).
    *("creationData", "enableNodePublicIP", "enableUltraSSD", "hostGroupID", "kubeletConfig", "kubeletDiskType"),
    *("linuxOSConfig", "nodePublicIPPrefixID", "proximityPlacementGroupID", "windowsProfile"),
    # AKS release notes of 2026-08-07 (Azure/AKS PR 5913): a group for an existing pool needs a preview API.
    "capacityReservationGroupID",
)


_SERVICES_SUBNETS = {
    "gatewaysubnet",
    "azurebastionsubnet",
    "azurefirewallsubnet",
    "azurefirewallmanagementsubnet",
    "routeserversubnet",
}


def name(request: PoolRequest) -> AzureRefused | None:
    if re.fullmatch(POOL_NAME, request.name):
        return None
    return invalid("agentPoolProfile.name")  # Azure/AKS #3300


def size_change(request: PoolRequest) -> AzureRefused | None:
    # bicep-registry-modules #7130 (2026-06)
    if request.current is None or request.wanted.get("vmSize", request.current["vmSize"]) == request.current["vmSize"]:
        return None
    text = 'Changing property "agentPoolProfile.vmSize" is not allowed in an api-version before "2026-01-02-preview".'
    return aks("PropertyChangeNotAllowed", text, "agentPoolProfile.vmSize")


def priority_change(request: PoolRequest) -> AzureRefused | None:
    # ansible-collections/azure PR 2186 (2026-03)
    if request.current is None or "scaleSetPriority" not in request.wanted:
        return None
    current, requested = request.current.get("scaleSetPriority", "Regular"), request.wanted["scaleSetPriority"]
    if current == requested:
        return None
    shown = "" if current == "Regular" else current
    text = f"ScaleSetPriority is immutable. Provided value is {requested}, Please use current value {shown}."
    return aks("BadRequest", text, f"{request.section}.scaleSetPriority")


@rules.as_read
def immutable_change(request: PoolRequest) -> AzureRefused | None:
    # Text as in azure-native #959 for another property; for each of these it is UNCONFIRMED.
    if request.current is None:
        return None
    for field in _IMMUTABLE:
        current = request.current.get(field, _IMPLIED.get(field))
        if isinstance(request.wanted.get(field), dict) and current == request.body.get(field):
            # What a request leaves out of an object stays.
            continue
        if field in request.wanted and _comparable(field, request.wanted[field]) != _comparable(field, current):
            target = f"properties.{field}"
            return aks("PropertyChangeNotAllowed", f"Changing property '{target}' is not allowed.", target)
    return None


@rules.as_read
def system_change(request: PoolRequest) -> AzureRefused | None:
    # terraform-provider-azurerm, the same file: Ubuntu and Azure Linux become each other in place, no other does. Words as above.
    current, requested = (request.current or {}).get("osSKU"), request.wanted.get("osSKU")
    if current in (None, requested) or requested is None:
        return None
    if all(system.startswith(("Ubuntu", "AzureLinux")) for system in (current, requested)):
        return None
    return aks("PropertyChangeNotAllowed", "Changing property 'properties.osSKU' is not allowed.", "properties.osSKU")


def _comparable(field: str, value: Any) -> Any:
    return azure_ids.key(value) if field.endswith(("SubnetID", "GroupID")) and value else value


def version(request: PoolRequest) -> AzureRefused | None:
    requested = request.body["orchestratorVersion"]
    sent = "orchestratorVersion" in request.wanted and requested != (request.current or {}).get("orchestratorVersion")
    if sent and azure_catalogue.patch(requested) is None:
        # dSPACE simphera #29
        return aks("AgentPoolK8sVersionNotSupported", f"Version {requested} is not supported in this region.")
    return None


@rules.as_read
def subnets(request: PoolRequest) -> AzureRefused | None:
    # ARM's 404; whether AKS reports it in these words is UNCONFIRMED.
    for field in ("vnetSubnetID", "podSubnetID"):
        subnet = request.body.get(field)
        if subnet and request.resources.get(subnet) is None:
            return azure_errors.resource_not_found(subnet)
    return None


@rules.as_read
def services_subnet(request: PoolRequest) -> AzureRefused | None:
    # Pages vpn-gateway-vpn-faq, bastion/configuration-settings and virtual-network-for-azure-services: no machine of a customer's
    # is in these. Code and words UNCONFIRMED.
    for field in ("vnetSubnetID", "podSubnetID"):
        subnet = azure_ids.last(request.body.get(field) or "")
        if subnet.lower() in _SERVICES_SUBNETS:
            text = f"Subnet {subnet} is reserved for another service and cannot be used by an agent pool."
            return aks("InvalidParameter", text, f"{request.section}.{field}")
    return None


SENT: tuple[PoolRule, ...] = (
    *(name, node_rules.count_present, azure_machine_rules.size_known, size_change, priority_change),
    *(immutable_change, system_change, azure_machine_rules.trusted_launch, node_rules.labels, node_rules.taints),
    *(node_rules.spot_upgrade, node_rules.nodes_at_once, node_rules.minutes, azure_machine_rules.disk_size),
)
"""Rules on the body that was sent, before defaults are added."""

RESULT: tuple[PoolRule, ...] = (
    *(node_rules.spot_mode, node_rules.spot_settings, node_rules.bounds_only_with_autoscaling),
    *(node_rules.autoscaling_bounds, node_rules.count_bounds, node_rules.stale_count, node_rules.max_pods),
    *(node_rules.pods_of_a_pool, azure_machine_rules.system_size, azure_machine_rules.availability_zones),
    *(azure_machine_rules.ephemeral_disk, azure_machine_rules.gpu_partitions),
    *(azure_machine_rules.secure_boot_driver, node_rules.system_unavailable, node_rules.surge),
    *(version, subnets, services_subnet),
    *azure_machine_rules.RESERVATION_RULES,
)
"""Rules on the resulting body: defaults and kept values included."""
