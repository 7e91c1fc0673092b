"""Volumes that the clouds' storage drivers create and delete."""

from typing import Any

import pytest

from sandbox.autoscaler import volumes
from sandbox.autoscaler.volumes import VolumeRequest
from sandbox.cluster.plugins import plugin

Object = dict[str, Any]
BY_CLOUD = {
    name: [body for body in plugin(name).objects("1.36") if body["kind"] == "StorageClass"] for name in ("azure", "gcp")
}
DISK = "disk.csi.azure.com"


def claim(kind: str | None, node: str = "", **spec: Any) -> Object:
    annotations = {"volume.kubernetes.io/selected-node": node} if node else {}
    fields = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, **spec}
    return {
        "metadata": {"namespace": "ml", "name": "data", "uid": "1-2-3", "annotations": annotations},
        "spec": {**fields, **({"storageClassName": kind} if kind is not None else {})},
    }


def requested(cloud: str, *claims: Object, existing: tuple[Object, ...] = ()) -> list[VolumeRequest]:
    return volumes.requests(claims, BY_CLOUD[cloud], existing, plugin(cloud).drivers)


def node(**labels: str) -> Object:
    return {"metadata": {"name": "n", "labels": labels}}


@pytest.mark.parametrize(
    ("cloud", "default", "disks", "files", "at_once"),
    [
        (
            "azure",
            "default",
            {"default", "managed", "managed-csi", "managed-csi-premium", "managed-premium"},
            {"azurefile", "azurefile-csi", "azurefile-csi-premium", "azurefile-premium"},
            {"azurefile", "azurefile-csi", "azurefile-csi-premium", "azurefile-premium"},
        ),
        ("gcp", "standard-rwo", {"premium-rwo", "standard", "standard-rwo"}, set(), {"standard"}),
    ],
)
def test_a_cloud_brings_its_classes(
    cloud: str, default: str, disks: set[str], files: set[str], at_once: set[str]
) -> None:
    names = {body["metadata"]["name"] for body in BY_CLOUD[cloud]}
    assert names == disks | files
    marked = [body["metadata"]["name"] for body in BY_CLOUD[cloud] if "annotations" in body["metadata"]]
    assert marked == [default]
    # Nobody waits in vain: each has a driver, and each disk is somewhere.
    chosen = {name: requested(cloud, claim(name, "n")) for name in names}
    assert {name for name, (wish,) in chosen.items() if wish.driver.zone} == disks
    assert {name for name in names if requested(cloud, claim(name))} == at_once


def test_a_claim_has_one_volume_and_others_have_their_own_ways() -> None:
    wish = requested("azure", claim("default", "n"))[0]
    assert requested("azure", claim("default", "n"), existing=(volumes.volume(wish, ""),)) == []
    assert requested("azure", claim("default", "n", volumeName="by-hand")) == []
    for other in (None, "", "local", "premium-rwo"):
        assert requested("azure", claim(other, "n")) == []
    going = claim("default", "n")
    going["metadata"]["deletionTimestamp"] = "2026-11-22T12:00:00Z"
    assert requested("azure", going) == []


@pytest.mark.parametrize(
    ("cloud", "kind", "spec", "why"),
    [
        ("azure", "default", {}, ""),
        ("azure", "default", {"accessModes": ["ReadWriteMany"]}, "no volumes for ReadWriteMany"),
        ("azure", "azurefile-csi", {"accessModes": ["ReadWriteMany"]}, ""),
        ("gcp", "standard-rwo", {"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, "no volumes for ReadWriteMany"),
        ("gcp", "standard", {"accessModes": ["ReadWriteOncePod"]}, ""),
        ("azure", "default", {"selector": {"matchLabels": {"a": "b"}}}, "claim Selector is not supported"),
    ],
)
def test_what_no_driver_makes_is_refused(cloud: str, kind: str, spec: Object, why: str) -> None:
    (wish,) = requested(cloud, claim(kind, "n", **spec))
    problem = volumes.problem(wish)
    assert why in problem
    assert bool(problem) == bool(why)


@pytest.mark.parametrize(
    ("cloud", "kind", "labels", "zone"),
    [
        ("azure", "default", {"topology.disk.csi.azure.com/zone": "westeurope-2"}, "westeurope-2"),
        ("azure", "default", {"topology.disk.csi.azure.com/zone": ""}, ""),
        ("azure", "default", {"topology.kubernetes.io/zone": "westeurope-2"}, None),
        ("gcp", "standard", {"topology.gke.io/zone": "europe-west4-b"}, "europe-west4-b"),
    ],
)
def test_a_disk_is_where_its_node_is_and_stays_there(
    cloud: str, kind: str, labels: dict[str, str], zone: str | None
) -> None:
    (wish,) = requested(cloud, claim(kind, "n"))
    assert volumes.zone_of(node(**labels), wish.driver) == zone
    if zone is not None:
        (term,) = volumes.volume(wish, zone)["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        ((key, value),) = labels.items()
        assert term == {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}


def test_a_share_has_no_zone_and_a_volume_has_the_claims_properties() -> None:
    (wish,) = requested(
        "azure", claim("azurefile", resources={"requests": {"storage": "1500M"}}, volumeMode="Filesystem")
    )
    volume = volumes.volume(wish, "")
    assert "nodeAffinity" not in volume["spec"]
    assert (volume["metadata"]["name"], volume["spec"]["capacity"]) == ("pvc-1-2-3", {"storage": "2Gi"})
    assert volume["spec"]["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "ml",
        "name": "data",
        "uid": "1-2-3",
    }


@pytest.mark.parametrize(
    ("phase", "policy", "by", "goes"),
    [
        ("Released", "Delete", DISK, True),
        ("Bound", "Delete", DISK, False),
        ("Available", "Delete", DISK, False),
        ("Released", "Retain", DISK, False),
        ("Released", "Delete", "nfs.csi.k8s.io", False),
        ("Released", "Delete", None, False),
    ],
)
def test_a_volume_goes_when_its_claim_has_gone(phase: str, policy: str, by: str | None, goes: bool) -> None:
    metadata = {"name": "pvc-1", "annotations": {"pv.kubernetes.io/provisioned-by": by} if by else None}
    volume = {"metadata": metadata, "spec": {"persistentVolumeReclaimPolicy": policy}, "status": {"phase": phase}}
    assert volumes.released([volume], plugin("azure").drivers) == (["pvc-1"] if goes else [])
    metadata["deletionTimestamp"] = "2026-11-22T12:00:00Z"
    assert volumes.released([volume], plugin("azure").drivers) == []
