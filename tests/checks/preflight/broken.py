"""Subscriptions and projects with one defect each: how the good answers are broken, and the one finding that names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Parts = dict[str, Any]
Break = Callable[[Parts], Any]


def _sku(parts: Parts, name: str) -> Any:
    return next(item for item in parts["skus"] if item["name"] == name)


def _usage(parts: Parts, name: str, limit: int) -> None:
    next(item for item in parts["usages"] if item["name"]["value"] == name)["limit"] = limit


def _restricted(kind: str, **info: Any) -> dict[str, Any]:
    return {"type": kind, "restrictionInfo": info, "reasonCode": "NotAvailableForSubscription"}


def _provider(parts: Parts, name: str) -> None:
    next(item for item in parts["providers"] if item["namespace"] == name)["registrationState"] = "NotRegistered"


def _quota(parts: Parts, where: str, metric: str, limit: float) -> None:
    next(item for item in parts[where]["quotas"] if item["metric"] == metric)["limit"] = limit


def _nowhere(parts: Parts, kind: str, name: str) -> None:
    for key in parts[kind]:
        if key.endswith(f"/{name}"):
            parts[kind][key] = None


def _channel(parts: Parts, name: str) -> Any:
    return next(item for item in parts["serverConfig"]["channels"] if item["channel"] == name)


T4 = "Standard_NC4as_T4_v3"

AZURE: dict[str, tuple[Break, str, tuple[str, ...]]] = {
    "size-missing": (
        lambda p: p["skus"].remove(_sku(p, "Standard_D8ds_v5")),
        "machines",
        ("no Standard_D8ds_v5", "pool general"),
    ),
    "size-closed": (
        lambda p: _sku(p, "Standard_D4ds_v5")["restrictions"].append(_restricted("Location", locations=["westeurope"])),
        "machines",
        ("Standard_D4ds_v5", "pool system", "NotAvailableForSubscription"),
    ),
    "no-spot": (
        lambda p: _sku(p, T4)["capabilities"].__setitem__(1, {"name": "LowPriorityCapable", "value": "False"}),
        "machines",
        ("no Standard_NC4as_T4_v3 as spot", "pool t4 "),
    ),
    "spot-quota": (lambda p: _usage(p, "lowPriorityCores", 3), "quota", ("lowPriorityCores", "3 of 3", "t4 need 4")),
    "family-quota": (
        lambda p: _usage(p, "Standard NCASv3_T4 Family", 0),
        "quota",
        ("NCASv3_T4", "0 of 0", "t4od need 4"),
    ),
    "regional-quota": (
        lambda p: _usage(p, "cores", 19),
        "quota",
        ("cores", "15 of 19", "general, system, t4od", "need 16"),
    ),
    "version": (lambda p: p["versions"]["values"].pop(0), "version", ("no Kubernetes 1.36", "westeurope")),
    "long-term-support-alone": (
        lambda p: p["versions"]["values"][0]["capabilities"].update(supportPlan=["AKSLongTermSupport"]),
        "version",
        ("1.36 has long-term support alone in westeurope",),
    ),
    "preview-version": (lambda p: p["versions"]["values"][0].update(isPreview=True), "version", ("1.36 is a preview",)),
    "provider": (lambda p: _provider(p, "Microsoft.ContainerService"), "registered", ("Microsoft.ContainerService",)),
    "no-role-assignments": (
        lambda p: p["permissions"].pop(1),
        "permissions",
        ("Microsoft.Authorization/roleAssignments/write",),
    ),
    "reader": (
        lambda p: p["permissions"][0].update(
            actions=["*/read", "Microsoft.ContainerService/*", "Microsoft.Network/*", "Microsoft.ManagedIdentity/*"]
        ),
        "permissions",
        ("Microsoft.Resources/subscriptions/resourceGroups/write",),
    ),
    "group-taken": (
        lambda p: p.update(resourceGroup={"name": "ml-dev", "location": "westeurope"}),
        "names",
        ("resource group ml-dev already",),
    ),
    "cluster-taken": (
        lambda p: p.update(resourceGroup={"name": "ml-dev"}, cluster={"name": "ml-dev"}),
        "names",
        ("has a cluster ml-dev already",),
    ),
}

GCP: dict[str, tuple[Break, str, tuple[str, ...]]] = {
    "no-region": (lambda p: p.update(region=None), "machines", ("no region europe-west4",)),
    "no-zone": (lambda p: p["region"]["zones"].pop(), "machines", ("no zone europe-west4-c",)),
    "machine-missing": (
        lambda p: _nowhere(p, "machineTypes", "g2-standard-16"),
        "machines",
        ("g2-standard-16", "pool l4big"),
    ),
    "gpu-not-in-a-zone": (
        lambda p: [p["acceleratorTypes"].__setitem__("europe-west4-c/nvidia-l4", None)],
        "machines",
        ("nvidia-l4", "europe-west4-c"),
    ),
    "spot-gpus": (
        lambda p: _quota(p, "region", "PREEMPTIBLE_NVIDIA_L4_GPUS", 0.5),
        "quota",
        ("PREEMPTIBLE_NVIDIA_L4_GPUS", "has 0 of"),
    ),
    "on-demand-gpus": (lambda p: _quota(p, "region", "NVIDIA_L4_GPUS", 0), "quota", ("NVIDIA_L4_GPUS has 0", "l4od")),
    "all-gpus": (lambda p: _quota(p, "project", "GPUS_ALL_REGIONS", 0), "quota", ("GPUS_ALL_REGIONS has 0",)),
    "all-vcpus": (
        lambda p: _quota(p, "project", "CPUS_ALL_REGIONS", 6),
        "quota",
        ("CPUS_ALL_REGIONS has 6 of 6 vCPUs left", "system"),
    ),
    "boot-disks": (
        lambda p: _quota(p, "region", "SSD_TOTAL_GB", 150),
        "quota",
        ("SSD_TOTAL_GB has 150 of 150 GB of SSD left",),
    ),
    "family-quota": (lambda p: _quota(p, "region", "N2_CPUS", 0), "quota", ("N2_CPUS has 0", "general")),
    "regional-quota": (lambda p: _quota(p, "region", "CPUS", 6), "quota", ("CPUS has 2 of 6", "system")),
    "channel": (
        lambda p: p["serverConfig"]["channels"].remove(_channel(p, "REGULAR")),
        "version",
        ("no release channel REGULAR",),
    ),
    "version-elsewhere": (
        lambda p: _channel(p, "REGULAR")["validVersions"].pop(0),
        "version",
        ("REGULAR has no Kubernetes 1.36", "RAPID has it"),
    ),
    "service": (
        lambda p: p["services"]["services"][0].update(state="DISABLED"),
        "registered",
        ("container.googleapis.com",),
    ),
    "permission": (
        lambda p: p["granted"]["permissions"].remove("container.clusters.create"),
        "permissions",
        ("container.clusters.create",),
    ),
    "no-roles-in-the-cluster": (
        lambda p: p["granted"]["permissions"].remove("container.roles.create"),
        "permissions",
        ("container.roles.create on the project",),
    ),
    "cluster-taken": (
        lambda p: p.update(cluster={"name": "ml-staging"}),
        "names",
        ("has a cluster ml-staging already",),
    ),
    "network-taken": (
        lambda p: p.update(network={"name": "ml-staging"}),
        "names",
        ("has a network ml-staging already",),
    ),
}

BROKEN = [("azure", name, *row) for name, row in AZURE.items()] + [("gcp", name, *row) for name, row in GCP.items()]
