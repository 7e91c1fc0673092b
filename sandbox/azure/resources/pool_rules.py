"""What AKS refuses about an agent pool: one function a rule, in the order of the tables at the end.

Each returns the refusal or None. Codes and texts are quoted from the source beside them; where no source gives the text, it
says UNCONFIRMED.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sandbox.azure import errors, ids, versions
from sandbox.azure.errors import AzureRefused, aks
from sandbox.azure.machines import machines
from sandbox.azure.resources import label_rules, spot_rules
from sandbox.azure.resources.pool_request import POOL_NAME, PoolRequest, Rule, invalid
from sandbox.azure.state import Record

# What a pool has when the property is not in its body.
_IMPLIED = {"scaleSetPriority": "Regular", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}

# domain-facts 1.3 and azure-native #959: not marked as force-new, and refused by the service afterwards.
_IMMUTABLE = (
    "scaleSetEvictionPolicy",
    "spotMaxPrice",
    "maxPods",
    "osDiskType",
    "osDiskSizeGB",
    "osType",
    "osSKU",
    "type",
    "vnetSubnetID",
    "podSubnetID",
    "availabilityZones",
    "enableEncryptionAtHost",
    "gpuProfile",
    "gpuInstanceProfile",
)


def name(request: PoolRequest) -> AzureRefused | None:
    if re.fullmatch(POOL_NAME, request.name):
        return None
    return invalid("agentPoolProfile.name")  # Azure/AKS #3300


def count_present(request: PoolRequest) -> AzureRefused | None:
    # azure-native #2943, also with autoscaling on. The REST text's default of 1 is not what the service does; for a new
    # inline pool the same is assumed. An inline entry of an existing pool keeps the current count.
    if "count" in request.wanted or (request.inline and request.current is not None):
        return None
    return aks("InvalidParameter", "Required parameter properties.count is missing (null).", "properties.count")


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
    current, wanted = request.current.get("scaleSetPriority", "Regular"), request.wanted["scaleSetPriority"]
    if current == wanted:
        return None
    shown = "" if current == "Regular" else current
    text = f"ScaleSetPriority is immutable. Provided value is {wanted}, Please use current value {shown}."
    return aks("BadRequest", text, f"{request.section}.scaleSetPriority")


def immutable_change(request: PoolRequest) -> AzureRefused | None:
    # Text as in azure-native #959 for another property; the text for each of these is UNCONFIRMED.
    if request.current is None:
        return None
    for field in _IMMUTABLE:
        current = request.current.get(field, _IMPLIED.get(field))
        if field in request.wanted and _comparable(field, request.wanted[field]) != _comparable(field, current):
            target = f"properties.{field}"
            return aks("PropertyChangeNotAllowed", f"Changing property '{target}' is not allowed.", target)
    return None


def _comparable(field: str, value: Any) -> Any:
    return ids.key(value) if field.endswith("SubnetID") and value else value


def size_known(request: PoolRequest) -> AzureRefused | None:
    # AKS error page invalidparameter. A retired size is one the region no longer has.
    size = request.wanted.get("vmSize")
    if size is None or (size in machines() and machines()[size].status != "retired"):
        return None
    offered = ", ".join(sorted(m.size for m in machines().values() if m.status != "retired"))
    text = (
        f"The requested VM size {size} is not available in the current region. "
        f"The sizes available in the current region are: {offered}"
    )
    return aks("InvalidParameter", text, "vmSize")


def autoscaling(request: PoolRequest) -> AzureRefused | None:
    # Only the service bounds these (no limits in the schema); texts UNCONFIRMED.
    least, most = request.body.get("minCount"), request.body.get("maxCount")
    if not request.body["enableAutoScaling"]:
        for field in ("minCount", "maxCount"):
            if field in request.wanted:
                text = f"Parameter {field} can only be set when enableAutoScaling is true."
                return aks("InvalidParameter", text, f"agentPoolProfile.{field}")
        return None
    if least is None or most is None:
        text = "minCount and maxCount are required when enableAutoScaling is true."
        return aks("InvalidParameter", text, "agentPoolProfile.enableAutoScaling")
    lowest = 1 if request.system else 0
    if not lowest <= least <= most <= 1000 or most < 1:
        text = f"minCount {least} and maxCount {most} must satisfy {lowest} <= minCount <= maxCount <= 1000."
        return aks("InvalidParameter", text, "agentPoolProfile.minCount")
    # AKS page node-auto-provisioning: needs a feature flag; text UNCONFIRMED.
    if request.cluster.get("nodeProvisioningProfile", {}).get("mode") == "Auto":
        return nap_with_autoscaling()
    return None


def nap_with_autoscaling() -> AzureRefused:
    # The pattern of the message is Azure/AKS #5345's; whether autoscaled pools give it is UNCONFIRMED.
    text = (
        ".properties.nodeProvisioningProfile.mode cannot be Auto if "
        ".properties.agentPoolProfiles.enableAutoScaling is specified."
    )
    return aks("OperationNotAllowed", text, "properties.nodeProvisioningProfile.mode")


def count_bounds(request: PoolRequest) -> AzureRefused | None:
    # CAPZ #5947 (2025-10)
    lowest, highest = (1 if request.system else 0), 1000
    if request.body["enableAutoScaling"]:
        lowest, highest = max(lowest, request.body["minCount"]), min(highest, request.body["maxCount"])
    count = request.body["count"]
    if lowest <= count <= highest:
        return None
    text = (
        f"agentPoolProfile.count was {count}. It must be greater or equal to minCount:{lowest} and less than or equal to "
        f"maxCount:{highest}."
    )
    if request.system and count == 0:
        text += " If allowedMinCount was expected to be 0 but is 1: .. 3) The node is a system pool."
    return aks("InvalidParameter", text, "agentPoolProfile.count")


def max_pods(request: PoolRequest) -> AzureRefused | None:
    # AKS page concepts-network-ip-address-planning: 10..250, system pools at least 30. Text UNCONFIRMED.
    lowest = 30 if request.system else 10
    if lowest <= request.body["maxPods"] <= 250:
        return None
    text = f"maxPods {request.body['maxPods']} must be between {lowest} and 250."
    return aks("InvalidParameter", text, "agentPoolProfile.maxPods")


def system_size(request: PoolRequest) -> AzureRefused | None:
    # azure-dev-docs #216; 2-core sizes pass (azure-docs #121181). B-series by the AKS page use-system-pools.
    machine = request.machine
    if not request.system or machine is None:
        return None
    if machine.system_pools and machine.vcpus >= 2 and machine.memory_gib >= 4:
        return None
    text = f"System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: {request.name}."
    return aks("SystemPoolSkuTooLow", text, "agentPoolProfile.vmSize")


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


def surge(request: PoolRequest) -> AzureRefused | None:
    # AKS page upgrade-aks-node-pools-rolling: with maxUnavailable 0, maxSurge must be above 0. Text UNCONFIRMED.
    settings = request.body.get("upgradeSettings", {})
    if request.spot or settings["maxSurge"] not in ("0", "0%") or settings["maxUnavailable"] not in ("0", "0%"):
        return None
    text = "maxSurge and maxUnavailable cannot both be 0."
    return aks("InvalidParameter", text, "agentPoolProfile.upgradeSettings.maxSurge")


def version(request: PoolRequest) -> AzureRefused | None:
    wanted = request.body["orchestratorVersion"]
    sent = "orchestratorVersion" in request.wanted and wanted != (request.current or {}).get("orchestratorVersion")
    if sent and versions.patch(wanted) is None:
        # dSPACE simphera #29
        return aks("AgentPoolK8sVersionNotSupported", f"Version {wanted} is not supported in this region.")
    return skew(request.body["currentOrchestratorVersion"], request.cluster["currentKubernetesVersion"])


def skew(pool: str, control_plane: str) -> AzureRefused | None:
    # AKS error page nodepoolmcversionincompatible
    older, newer = _numbers(pool), _numbers(control_plane)
    if older <= newer and newer[1] - older[1] <= 2:
        return None
    text = (
        f"Node pool version {pool} and control plane version {control_plane} are incompatible. Minor version of node pool "
        "cannot be more than 2 versions less than control plane's version."
    )
    return aks("NodePoolMcVersionIncompatible", text)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def subnets(request: PoolRequest) -> AzureRefused | None:
    # ARM's 404; whether AKS reports it in these words is UNCONFIRMED.
    for field in ("vnetSubnetID", "podSubnetID"):
        subnet = request.body.get(field)
        if subnet and request.resources.get(subnet) is None:
            return errors.resource_not_found(subnet)
    return None


_SENT: tuple[Rule, ...] = (
    name,
    count_present,
    size_known,
    size_change,
    priority_change,
    immutable_change,
    label_rules.labels,
    label_rules.taints,
    spot_rules.spot_upgrade,
)
"""Rules about what was sent: before defaults are added."""

_RESULT: tuple[Rule, ...] = (
    spot_rules.spot_mode,
    spot_rules.spot_settings,
    autoscaling,
    count_bounds,
    max_pods,
    system_size,
    ephemeral_disk,
    surge,
    version,
    subnets,
)
"""Rules about what would result: defaults and kept values included."""


def check_sent(request: PoolRequest) -> None:
    _check(_SENT, request)


def check_result(request: PoolRequest) -> None:
    _check(_RESULT, request)


def _check(rules: Iterable[Rule], request: PoolRequest) -> None:
    for rule in rules:
        refused = rule(request)
        if refused is not None:
            raise refused


def check_remaining(pools: list[Record]) -> None:
    """Refuse to leave a cluster without pools, or without a system pool."""
    if not pools:
        raise aks("OperationNotAllowed", "There has to be at least one agent pool.")  # azure-native #1575
    if not any(p.body.get("mode") == "System" for p in pools):
        # azure-cli #13420; the code is UNCONFIRMED.
        raise aks("OperationNotAllowed", "There has to be at least one system agent pool.")
