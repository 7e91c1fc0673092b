"""What the stack file no longer sets goes back to the cloud's default; what was set by hand stays."""

from typing import Any

from components.azure.azure_profiles import storage_drivers as on_aks
from components.gcp.gcp_addons import storage_drivers as on_gke
from components.gcp.gcp_live import LiveCluster
from components.gcp.gcp_maintenance import policy
from components.last_update import LastUpdate, remember_reset
from components.resources import wire
from config.clouds.azure.azure_storage_drivers import AzureStorageDrivers
from config.clouds.gcp.gcp_storage_drivers import GcpStorageDrivers

FREEZE = {"maintenancePolicies": [{"maintenanceExclusions": [{"exclusionName": "freeze"}], "recurringWindows": []}]}


def switches(args: Any) -> dict[str, bool]:
    return {name: part["enabled"] for name, part in wire(args).items()} if args else {}


def test_the_last_update_remembers_what_it_set() -> None:
    set_here = remember_reset(AzureStorageDrivers.model_validate({"blob": True, "file": False}))
    assert sorted(LastUpdate(set_here).reset) == ["storageDrivers.blob", "storageDrivers.file"]
    assert LastUpdate(remember_reset(GcpStorageDrivers(), "maintenance")).reset == ["maintenance"]
    assert remember_reset(GcpStorageDrivers()) == {}


def test_a_driver_of_aks_switched_by_hand_stays_and_one_of_the_last_update_goes() -> None:
    by_hand = {"storageProfile": {"blobCSIDriver": {"enabled": True}, "fileCSIDriver": {"enabled": False}}}
    assert on_aks(AzureStorageDrivers(), by_hand, ()) is None
    snapshots = AzureStorageDrivers.model_validate({"snapshots": False})
    kept = {"blobCSIDriver": True, "diskCSIDriver": True, "fileCSIDriver": False, "snapshotController": False}
    assert switches(on_aks(snapshots, by_hand, ())) == kept
    assert switches(on_aks(snapshots, by_hand, ["storageDrivers.blob"])) == {**kept, "blobCSIDriver": False}
    gone = switches(on_aks(AzureStorageDrivers(), by_hand, ["storageDrivers.file"]))
    assert gone == {**kept, "fileCSIDriver": True, "snapshotController": True}


def test_a_driver_of_gke_likewise() -> None:
    assert on_gke(GcpStorageDrivers(), ()) is None
    assert switches(on_gke(GcpStorageDrivers(), ["storageDrivers.filestore"])) == {"gcpFilestoreCsiDriverConfig": False}
    assert switches(on_gke(GcpStorageDrivers.model_validate({"gcsFuse": True}), ())) == {"gcsFuseCsiDriverConfig": True}


def test_a_freeze_made_by_hand_stays_and_exclusions_of_the_last_update_go() -> None:
    live = LiveCluster(FREEZE)
    assert policy(None, live, ()) is None
    assert wire(policy(None, live, ["maintenance"]))["recurringWindow"]["recurrence"] == "FREQ=DAILY"
