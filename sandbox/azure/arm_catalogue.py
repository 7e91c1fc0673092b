"""What Karpenter's provider reads of Azure beside machines: sizes, prices, quotas in use, node images and subnets."""

from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.azure_catalogue import Machine, machines, zones_of_region
from sandbox.azure.azure_errors import resource_not_found
from sandbox.azure.azure_quotas import CORES, LOW_PRIORITY, Quotas
from sandbox.azure.resources import azure_network
from sandbox.azure.resources.azure_requests import CLUSTER, machines_of
from sandbox.cloud import prices
from sandbox.cloud.state import Resources

Object = dict[str, Any]

_IMAGE_VERSION = "202605.20.0"
_IMAGES = {
    "AKSUbuntu": (
        *("2404gen2containerd", "2404containerd", "2404gen2arm64containerd"),
        *("2204gen2containerd", "2204containerd", "2204gen2arm64containerd"),
    ),
    "AKSAzureLinux": ("V3gen2", "V3", "V3gen2arm64", "V2gen2", "V2", "V2gen2arm64"),
}
"""Galleries and image definitions (karpenter-provider-azure v1.14.0, pkg/providers/imagefamily)."""


def sizes(region: str) -> list[Object]:
    """Return the machine sizes of a region (Microsoft.Compute/skus, 2021-07-01)."""
    return [_size(region, machine) for machine in machines().values() if machine.status != "retired"]


def _size(region: str, machine: Machine) -> Object:
    zones = list(zones_of_region(region))
    local = machine.temp_disk_gb
    capabilities = {
        "vCPUs": machine.vcpus,
        "vCPUsAvailable": machine.vcpus,
        "MemoryGB": f"{machine.memory_gib:g}",
        "GPUs": machine.nvidia_gpus,
        # As for pools (azure_machine_rules): only a size that is known not to be sold so is refused.
        "LowPriorityCapable": machine.spot != "no",
        "PremiumIO": machine.premium_disks,
        "CpuArchitectureType": "Arm64" if machine.architecture == "arm64" else "x64",
        "HyperVGenerations": "V2" if machine.architecture == "arm64" else "V1,V2",
        "AcceleratedNetworkingEnabled": True,
        "EncryptionAtHostSupported": True,
        # Without a known disk there is no ephemeral OS disk.
        "EphemeralOSDiskSupported": bool(local),
        **({"MaxResourceVolumeMB": int(local * 1024)} if local else {}),
    }
    return {
        "resourceType": "virtualMachines",
        "name": machine.size,
        "tier": "Standard",
        "size": machine.size.removeprefix("Standard_"),
        "family": machine.family,
        "locations": [region],
        "locationInfo": [{"location": region, "zones": zones, "zoneDetails": []}],
        "capabilities": [{"name": name, "value": str(value)} for name, value in capabilities.items()],
        "restrictions": [],
    }


_ASSUMED_SPOT = 0.5
"""The share of the on-demand price that spot is taken to cost where its price is unknown [inferred]. Without one Karpenter would
take 999 USD and never go back to spot; Azure has a price for each size that it sells as spot."""


def retail_prices(region: str) -> list[Object]:
    """Return the prices of a region (https://prices.azure.com/api/retail/prices): one item a size, and one more for spot.

    In a region without known prices those of eastus hold, as in the provider (v1.14.0, pkg/providers/pricing/pricing.go).
    """
    items = []
    for size, machine in machines().items():
        known = prices.price("azure", region, size) or prices.price("azure", "eastus", size)
        if known is None or known.on_demand is None:
            continue
        items.append(_price(region, size, known.on_demand, ""))
        if machine.spot != "no":
            items.append(_price(region, size, known.spot or _ASSUMED_SPOT * known.on_demand, " Spot"))
    return items


def _price(region: str, size: str, price: float, suffix: str) -> Object:
    name = size.removeprefix("Standard_").replace("_", " ") + suffix
    return {
        "currencyCode": prices.CURRENCY,
        "retailPrice": price,
        "unitPrice": price,
        "armRegionName": region,
        "armSkuName": size,
        "skuName": name,
        "meterName": name,
        "productName": "Virtual Machines",
        "serviceName": "Virtual Machines",
        "serviceFamily": "Compute",
        "type": "Consumption",
    }


def usages(resources: Resources, quotas: Quotas, region: str) -> list[Object]:
    """Return the quotas that are limited, and their use (Microsoft.Compute/locations/usages)."""
    used: dict[str, int] = {}
    for cluster in resources.of_type(CLUSTER):
        if cluster.body["location"] != region:
            continue
        for pool in machines_of(resources, cluster.id):
            machine = machines()[pool.body["vmSize"]]
            spot = pool.body.get("scaleSetPriority") == "Spot"
            for name in (LOW_PRIORITY,) if spot else (machine.family, CORES):
                used[name] = used.get(name, 0) + pool.body["count"] * machine.vcpus
    names = {CORES, LOW_PRIORITY, *(machine.family for machine in machines().values())}
    limits = {name: quotas.limit(region, name) for name in sorted(names)}
    return [
        {
            "unit": "Count",
            "currentValue": used.get(name, 0),
            "limit": limit,
            "name": {"value": name, "localizedValue": name},
        }
        for name, limit in limits.items()
        if limit is not None
    ]


def images() -> list[Object]:
    """Return the node images (Microsoft.ContainerService/locations/nodeImageVersions)."""
    return [
        {"fullName": f"{os}-{sku}-{_IMAGE_VERSION}", "os": os, "sku": sku, "version": _IMAGE_VERSION}
        for os, skus in _IMAGES.items()
        for sku in skus
    ]


def subnet(resources: Resources, id: str) -> Object:
    """Return a subnet; that of a network which AKS manages is always there. Raises `Refused`."""
    record = resources.get(id)
    groups = {cluster.body["nodeResourceGroup"].lower() for cluster in resources.of_type(CLUSTER)}
    if record is None and azure_ids.group_name(id).lower() not in groups:
        raise resource_not_found(id)
    prefixes = azure_network.prefixes(record.body) if record else ["10.224.0.0/16"]
    return {"id": id, "name": azure_ids.last(id), "properties": {"addressPrefixes": prefixes}}
