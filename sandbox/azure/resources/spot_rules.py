"""Rules of AKS on spot pools and on the settings that only spot pools have."""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_pool_request import PoolRequest, invalid
from sandbox.cloud import rules


def spot_upgrade(request: PoolRequest) -> AzureRefused | None:
    # azurerm PR 31129; the parameter path as in a live response of 2026-09-12.
    if not request.spot:
        return None
    settings = request.wanted.get("upgradeSettings", {})
    for field, words in (("maxSurge", "max surge"), ("maxUnavailable", "maxUnavailable")):
        if field in settings:
            return invalid(f"agentPoolProfile.upgradeSettings.{field}", f"Spot pools can't set {words}")
    # A live spot pool had `Schedule` sent and shown. Of `Cordon`, which replaces nodes by surge nodes (REST 2025-09-01,
    # UndrainableNodeBehavior), no source says that a pool without them takes it: refused as the stricter reading.
    if settings.get("undrainableNodeBehavior", "Schedule") != "Schedule":
        return invalid(
            "agentPoolProfile.upgradeSettings.undrainableNodeBehavior", "Spot pools can't cordon undrainable nodes"
        ).as_read()
    # Azure/bicep-types-az #2217: without `type` the same error came though no surge was set. Seen in a preflight only; for a
    # PUT it is UNCONFIRMED, and refused here as the stricter reading.
    if request.current is None and "type" not in request.wanted:
        return invalid("agentPoolProfile.upgradeSettings.maxSurge", "Spot pools can't set max surge").as_read()
    return None


@rules.as_read
def spot_mode(request: PoolRequest) -> AzureRefused | None:
    # AKS pages spot-node-pool and use-system-pools; code: list. For the first pool the code is UNCONFIRMED.
    if not request.spot or not (request.system or request.first):
        return None
    code = "SystemPoolMustBeRegular" if request.system else "InvalidParameter"
    text = f"Spot node pool '{request.name}' must be in User mode and cannot be the first pool of a cluster."
    return aks(code, text, "agentPoolProfile.scaleSetPriority")


@rules.as_read
def spot_settings(request: PoolRequest) -> AzureRefused | None:
    # AKS page spot-node-pool; texts UNCONFIRMED. For a regular pool only Delete and -1 are accepted (recording).
    price = request.wanted.get("spotMaxPrice", -1)
    if not request.spot:
        if request.wanted.get("scaleSetEvictionPolicy", "Delete") != "Delete" or price != -1:
            text = "scaleSetEvictionPolicy and spotMaxPrice can only be set when scaleSetPriority is Spot."
            return aks("InvalidParameter", text, f"{request.section}.scaleSetPriority")
        return None
    if price != -1 and (price <= 0 or round(price, 5) != price):
        text = "spotMaxPrice must be -1 or a positive number with up to five decimals."
        return aks("InvalidParameter", text, f"{request.section}.spotMaxPrice")
    if request.body["type"] != "VirtualMachineScaleSets":
        return aks("InvalidParameter", "Spot node pools must use VirtualMachineScaleSets.", f"{request.section}.type")
    if request.machine and request.machine.spot == "no":
        text = f"The VM size {request.machine.size} does not support Spot priority."
        return aks("InvalidParameter", text, "vmSize")
    return None
