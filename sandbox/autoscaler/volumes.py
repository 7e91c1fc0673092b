"""Volumes that a cloud's storage drivers make and remove: pure functions of claims, classes, nodes and volumes.

As kubernetes-csi/external-provisioner does with the clouds' drivers: a claim gets a volume of its own, named after its uid. It
comes at once, or when the scheduler has chosen a node for the claim's first pod, as its class says (kubernetes.io, page
storage-classes, "Volume Binding Mode"); and it goes with the claim where the reclaim policy is Delete.

Simplified: volumes do not grow with their claims, and have whole GiB. `allowedTopologies`, regional disks, quotas of disks and
the maximum of disks of a machine are ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from sandbox.autoscaler.resources import quantity
from sandbox.cloud.plugin import Driver

Object = Mapping[str, Any]

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The annotation with the node that the scheduler chose for the first pod of a claim."""

_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_GIB = Decimal(1 << 30)


@dataclass(frozen=True)
class VolumeRequest:
    """A claim that must get a volume now."""

    claim: Object
    storage_class: Object
    driver: Driver
    node: str
    """The node from which it must be reachable; empty for any."""

    @property
    def name(self) -> str:
        return volume_name(self.claim)


def requests(
    claims: Iterable[Object], classes: Iterable[Object], volumes: Iterable[Object], drivers: Mapping[str, Driver]
) -> list[VolumeRequest]:
    """Return the claims that must get a volume now, oldest first."""
    by_name = {body["metadata"]["name"]: body for body in classes}
    existing = {volume["metadata"]["name"] for volume in volumes}
    waiting = []
    for claim in sorted(claims, key=lambda claim: str(claim["metadata"].get("creationTimestamp", ""))):
        metadata, spec = claim["metadata"], claim["spec"]
        storage_class = by_name.get(spec.get("storageClassName") or "")
        if storage_class is None or storage_class["provisioner"] not in drivers:
            continue
        if spec.get("volumeName") or metadata.get("deletionTimestamp") or volume_name(claim) in existing:
            continue
        node = (metadata.get("annotations") or {}).get(SELECTED_NODE, "")
        if node or storage_class.get("volumeBindingMode") != "WaitForFirstConsumer":
            waiting.append(VolumeRequest(claim, storage_class, drivers[storage_class["provisioner"]], node))
    return waiting


def problem(request: VolumeRequest) -> str:
    """Return the reason why a driver can never make a volume for a claim; empty when it can."""
    spec = request.claim["spec"]
    if spec.get("selector"):
        return "claim Selector is not supported"
    if request.driver.zone and "ReadWriteMany" in spec["accessModes"]:
        # azuredisk-csi-driver and gcp-compute-persistent-disk-csi-driver refuse it in other words.
        return f"rpc error: code = InvalidArgument desc = {request.driver.name} has no volumes for ReadWriteMany"
    return ""


def zone_of(node: Object, driver: Driver) -> str | None:
    """Return a node's zone as a driver sees it; None without the driver. Azure has "" for a machine without a zone."""
    zone = (node["metadata"].get("labels") or {}).get(driver.zone)
    return None if zone is None else str(zone)


def volume(request: VolumeRequest, zone: str) -> dict[str, Any]:
    """Return the volume for a claim, in the zone if it is a disk."""
    claim, storage_class, driver = request.claim, request.storage_class, request.driver
    metadata, spec = claim["metadata"], claim["spec"]
    size = quantity(str(spec["resources"]["requests"]["storage"])) / _GIB
    in_zone = {"matchExpressions": [{"key": driver.zone, "operator": "In", "values": [zone]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": request.name, "annotations": {_PROVISIONED_BY: driver.name}},
        "spec": {
            "capacity": {"storage": f"{int(size.to_integral_value(ROUND_CEILING))}Gi"},
            "accessModes": spec["accessModes"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "storageClassName": storage_class["metadata"]["name"],
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "mountOptions": storage_class.get("mountOptions") or [],
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                **{key: metadata[key] for key in ("namespace", "name", "uid")},
            },
            "csi": {"driver": driver.name, "volumeHandle": request.name},
            **({"nodeAffinity": {"required": {"nodeSelectorTerms": [in_zone]}}} if driver.zone else {}),
        },
    }


def volume_name(claim: Object) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def released(volumes: Iterable[Object], drivers: Mapping[str, Driver]) -> list[str]:
    """Return the volumes, by name, that are deleted because their claims are gone."""
    ours = {driver.name for driver in drivers.values()}
    return [
        volume["metadata"]["name"]
        for volume in volumes
        if (volume["metadata"].get("annotations") or {}).get(_PROVISIONED_BY) in ours
        and not volume["metadata"].get("deletionTimestamp")
        and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        and (volume.get("status") or {}).get("phase") == "Released"
    ]
