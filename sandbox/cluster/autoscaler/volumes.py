"""Which volumes a cloud's storage drivers make and take away: pure functions of claims, classes, nodes and volumes.

As kubernetes-csi/external-provisioner does with the clouds' drivers: a claim gets a volume of its own, named after its uid. It
comes at once, or when the scheduler has chosen a node for the claim's first pod, as its class says (kubernetes.io, page
storage-classes, "Volume Binding Mode"); and it goes with the claim where the reclaim policy is Delete.

Plain: volumes do not grow with their claims, and are of whole GiB. `allowedTopologies` and regional disks are not looked at.
Quotas of disks and the most disks of a machine are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from sandbox.cluster.autoscaler.resources import quantity

Object = Mapping[str, Any]

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The scheduler's word on where the first pod of a claim goes."""

_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_GIB = Decimal(1 << 30)


@dataclass(frozen=True)
class Driver:
    """One of a cloud's storage drivers. A disk is reachable from its zone alone, which nodes tell by the label `zone`."""

    name: str
    zone: str = ""
    """Empty for a file share, which any node and any number of nodes may mount."""


_AZURE_DISK = Driver("disk.csi.azure.com", "topology.disk.csi.azure.com/zone")
_GCE_DISK = Driver("pd.csi.storage.gke.io", "topology.gke.io/zone")

DRIVERS: Mapping[str, Mapping[str, Driver]] = {
    "azure": {_AZURE_DISK.name: _AZURE_DISK, "file.csi.azure.com": Driver("file.csi.azure.com")},
    # The old name is one for the same driver (kubernetes.io, page persistent-volumes, "CSI migration").
    "gcp": {_GCE_DISK.name: _GCE_DISK, "kubernetes.io/gce-pd": _GCE_DISK},
}
"""By cloud and by the provisioner that a class names."""


@dataclass(frozen=True)
class Wish:
    """A claim that is to have a volume now."""

    claim: Object
    storage_class: Object
    driver: Driver
    node: str
    """The node from which it must be reachable; empty for any."""

    @property
    def name(self) -> str:
        return volume_name(self.claim)


def wishes(
    claims: Iterable[Object], classes: Iterable[Object], volumes: Iterable[Object], drivers: Mapping[str, Driver]
) -> list[Wish]:
    """The claims whose time has come, oldest first."""
    by_name = {body["metadata"]["name"]: body for body in classes}
    there = {volume["metadata"]["name"] for volume in volumes}
    found = []
    for claim in sorted(claims, key=lambda claim: str(claim["metadata"].get("creationTimestamp", ""))):
        metadata, spec = claim["metadata"], claim["spec"]
        kind = by_name.get(spec.get("storageClassName") or "")
        if kind is None or kind["provisioner"] not in drivers:
            continue
        if spec.get("volumeName") or metadata.get("deletionTimestamp") or volume_name(claim) in there:
            continue
        node = (metadata.get("annotations") or {}).get(SELECTED_NODE, "")
        if node or kind.get("volumeBindingMode") != "WaitForFirstConsumer":
            found.append(Wish(claim, kind, drivers[kind["provisioner"]], node))
    return found


def problem(wish: Wish) -> str:
    """Why a driver makes no volume for a claim, whatever happens; empty when it can."""
    spec = wish.claim["spec"]
    if spec.get("selector"):
        return "claim Selector is not supported"
    if wish.driver.zone and "ReadWriteMany" in spec["accessModes"]:
        # azuredisk-csi-driver and gcp-compute-persistent-disk-csi-driver refuse it in words of their own; these are ours.
        return f"rpc error: code = InvalidArgument desc = {wish.driver.name} has no volumes for ReadWriteMany"
    return ""


def zone_of(node: Object, driver: Driver) -> str | None:
    """Where a driver sees a node; None where it is not there. Azure has "" for a machine without a zone."""
    found = (node["metadata"].get("labels") or {}).get(driver.zone)
    return None if found is None else str(found)


def volume(wish: Wish, zone: str) -> dict[str, Any]:
    """The volume for a claim; a disk's is in the zone."""
    claim, kind, driver = wish.claim, wish.storage_class, wish.driver
    metadata, spec = claim["metadata"], claim["spec"]
    size = quantity(str(spec["resources"]["requests"]["storage"])) / _GIB
    where = {"matchExpressions": [{"key": driver.zone, "operator": "In", "values": [zone]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": wish.name, "annotations": {_PROVISIONED_BY: driver.name}},
        "spec": {
            "capacity": {"storage": f"{int(size.to_integral_value(ROUND_CEILING))}Gi"},
            "accessModes": spec["accessModes"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "storageClassName": kind["metadata"]["name"],
            "persistentVolumeReclaimPolicy": kind.get("reclaimPolicy", "Delete"),
            "mountOptions": kind.get("mountOptions") or [],
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                **{key: metadata[key] for key in ("namespace", "name", "uid")},
            },
            "csi": {"driver": driver.name, "volumeHandle": wish.name},
            **({"nodeAffinity": {"required": {"nodeSelectorTerms": [where]}}} if driver.zone else {}),
        },
    }


def volume_name(claim: Object) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def left(volumes: Iterable[Object], drivers: Mapping[str, Driver]) -> list[str]:
    """The volumes, by name, that go because their claims have gone."""
    ours = {driver.name for driver in drivers.values()}
    return [
        found["metadata"]["name"]
        for found in volumes
        if (found["metadata"].get("annotations") or {}).get(_PROVISIONED_BY) in ours
        and not found["metadata"].get("deletionTimestamp")
        and found["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        and (found.get("status") or {}).get("phase") == "Released"
    ]
