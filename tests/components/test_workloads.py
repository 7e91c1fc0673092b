"""Checkpoints: what is declared for them on both clouds, what stays, and what users' tools read."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.last_update import LastUpdate
from components.workloads import refuse_rename
from config.clouds import registry
from sandbox.azure import azure_ids
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.features import with_
from tests.components.gpu_agents import spec_of
from tests.components.program import PROJECT, Declared, declare, stack_config

pytestmark = pytest.mark.program

AKS = stack_config(PROJECT / "tests/configs/workloads.happy.yaml")
GKE = stack_config(PROJECT / "tests/configs/gke-workloads.happy.yaml")
KEPT_GROUP = "lab-checkpoints-labcheckpoints"
FEDERATED = "azure-native:managedidentity:FederatedIdentityCredential"
ACCOUNT = "azure-native:storage:StorageAccount"
MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
GROUP = "azure-native:resources:ResourceGroup"
KEPT = {
    "azure-native:resources:ResourceGroup lab-checkpoints",
    f"{ACCOUNT} lab-checkpoints",
    "azure-native:storage:BlobServiceProperties lab-checkpoints",
    "azure-native:storage:BlobContainer lab-checkpoints",
    "gcp:storage/bucket:Bucket lab-checkpoints",
}


@pytest.fixture
def aks(tmp_path: Path) -> Declared:
    return declare(AKS, cloud=EmulatedAzure(tmp_path / "azure.json", "westeurope"))


@pytest.fixture
def gke(tmp_path: Path) -> Declared:
    return declare(GKE, cloud=EmulatedGoogle(tmp_path / "gcp.json"))


@pytest.mark.parametrize("cloud", ["aks", "gke"])
def test_what_holds_data_stays_when_the_engine_forgets_it_and_rights_go(
    cloud: str, request: pytest.FixtureRequest
) -> None:
    declared: Declared = request.getfixturevalue(cloud)
    kept = {f"{r.type} {r.name}": r for r in declared.resources if r.options.get("retainOnDelete")}
    assert kept.keys() == {name for name in KEPT if name.startswith("gcp:") == (cloud == "gke")}
    # What deletes by age goes where it is a resource of its own (docs/adr/0024).
    assert bool(declared.of("azure-native:storage:ManagementPolicy")) == (cloud == "aks")
    assert any("lifecycleRules" in resource.inputs for resource in kept.values()) == (cloud == "gke")


def test_nobody_reads_the_account_without_a_role_and_its_group_is_not_the_clusters(aks: Declared) -> None:
    account = aks.of(ACCOUNT)["lab-checkpoints"].inputs
    assert (account["allowSharedKeyAccess"], account["allowBlobPublicAccess"]) == (False, False)
    assert (account["resourceGroupName"], account["sku"]) == (KEPT_GROUP, {"name": "Standard_ZRS"})
    assert aks.outputs["resourceGroup"] == "lab"


def test_what_somebody_deletes_can_be_had_back_for_thirty_days(aks: Declared) -> None:
    service = aks.of("azure-native:storage:BlobServiceProperties")["lab-checkpoints"].inputs
    kept = {"enabled": True, "days": 30}
    assert (service["deleteRetentionPolicy"], service["containerDeleteRetentionPolicy"]) == (kept, kept)


def test_the_bucket_takes_no_lists_of_access_and_no_public(gke: Declared) -> None:
    bucket = gke.of("gcp:storage/bucket:Bucket")["lab-checkpoints"].inputs
    assert (bucket["uniformBucketLevelAccess"], bucket["publicAccessPrevention"]) == (True, "enforced")
    assert bucket["softDeletePolicy"] == {"retentionDurationSeconds": 30 * 86400}


def dependencies(declared: Declared, type: str, name: str) -> set[str]:
    return {urn.rpartition("$")[2] for urn in declared.of(type)[name].options["dependencies"]}


def test_credentials_of_one_identity_and_parts_of_one_account_are_written_one_after_the_other(aks: Declared) -> None:
    first, second = (aks.of(FEDERATED)[f"lab-team-ab/{account}"] for account in ("default-editor", "training"))
    assert any(urn.endswith(f"::{first.name}") for urn in second.options["dependencies"])
    assert second.inputs["subject"] == "system:serviceaccount:team-ab:training"
    service, container = (f"azure-native:storage:{part}" for part in ("BlobServiceProperties", "BlobContainer"))
    assert f"{service}::lab-checkpoints" in dependencies(aks, container, "lab-checkpoints")
    policy = dependencies(aks, "azure-native:storage:ManagementPolicy", "lab-checkpoints")
    assert f"{container}::lab-checkpoints" in policy


def test_any_two_credentials_of_one_identity_are_written_one_after_the_other(tmp_path: Path) -> None:
    """Also where those between them stay: of two that are removed, the engine looks at their own dependencies only."""
    profiles = [{"namespace": "team-a", "serviceAccounts": ["one", "two", "three"]}]
    workloads = {**AKS["kubeflow-spot:workloads"], "profiles": profiles}
    cloud = EmulatedAzure(tmp_path / "azure.json", "westeurope")
    declared = declare(with_(AKS, workloads=workloads), cloud=cloud)
    before = dependencies(declared, FEDERATED, "lab-team-a/three")
    assert {f"{FEDERATED}::lab-team-a/{account}" for account in ("one", "two")} <= before


def test_profiles_and_accounts_with_hyphens_are_resources_of_their_own(tmp_path: Path) -> None:
    """`team` with `a-editor` and `team-a` with `editor`: the same letters in the same order."""
    profiles = [
        {"namespace": "team", "serviceAccounts": ["a-editor"]},
        {"namespace": "team-a", "serviceAccounts": ["editor"]},
    ]
    for settings, cloud, type in (
        (AKS, EmulatedAzure(tmp_path / "azure.json", "westeurope"), FEDERATED),
        (GKE, EmulatedGoogle(tmp_path / "gcp.json"), MEMBER),
    ):
        workloads = {**settings["kubeflow-spot:workloads"], "profiles": profiles}
        declared = declare(with_(settings, workloads=workloads), cloud=cloud)
        names = [
            resource.name for resource in declared.resources if resource.type == type and "editor" in resource.name
        ]
        assert len(set(names)) == len(names) == 2


def test_the_remedy_of_another_name_ends_with_new_storage(tmp_path: Path) -> None:
    """After an `up` without checkpoints the old group and account are still there."""
    azure = EmulatedAzure(tmp_path / "azure.json", "westeurope")
    place = {"resourceGroupName": KEPT_GROUP, "location": "westeurope"}
    azure.make(GROUP, place)
    azure.make(
        ACCOUNT, {**place, "accountName": "labcheckpoints", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    )
    workloads = {**AKS["kubeflow-spot:workloads"], "checkpoints": {"name": "labsecond"}}
    declared = declare(with_(AKS, workloads=workloads), cloud=azure)
    account = declared.of(ACCOUNT)["lab-checkpoints"].inputs
    assert (account["accountName"], account["resourceGroupName"]) == ("labsecond", "lab-checkpoints-labsecond")


@pytest.mark.parametrize(
    ("cloud", "sku", "group"),
    [
        ({"location": "northcentralus", "existingResourceGroup": "platform"}, "Standard_LRS", "platform"),
        pytest.param({"resourceGroup": "ml"}, "Standard_ZRS", "ml-checkpoints-labcheckpoints", marks=pytest.mark.slow),
    ],
    ids=["existing group in a region without zones", "another group"],
)
def test_the_account_is_in_all_zones_of_its_region_and_in_a_group_that_stays(
    cloud: dict[str, Any], sku: str, group: str, tmp_path: Path
) -> None:
    settings = {**AKS, "kubeflow-spot:cloud": {"provider": "azure", "location": "westeurope", **cloud}}
    azure = EmulatedAzure(tmp_path / "azure.json", settings["kubeflow-spot:cloud"]["location"])
    azure.seed(settings)
    account = declare(settings, cloud=azure).of(ACCOUNT)["lab-checkpoints"].inputs
    assert (account["sku"]["name"], account["resourceGroupName"]) == (sku, group)


def test_clusters_of_one_name_in_two_subscriptions_have_roles_of_their_own_at_one_account(tmp_path: Path) -> None:
    """The account's owner is in one of them, and keeps the name that the account had when the stack made it."""
    end = "resourceGroups/shared/providers/Microsoft.Storage/storageAccounts/shared"
    roles: dict[str, dict[str, Any]] = {}
    for subscription in (azure_ids.SUBSCRIPTION, "11111111-1111-4111-8111-111111111111"):
        existing = {
            "checkpoints": {"existing": f"/subscriptions/{subscription}/{end}"},
            "profiles": [{"namespace": "team-a"}],
        }
        settings = {**AKS, "kubeflow-spot:workloads": existing}
        cloud = EmulatedAzure(tmp_path / subscription, "westeurope")
        cloud.seed(settings)
        declared = declare(settings, cloud=cloud)
        (role,) = declared.of("azure-native:authorization:RoleDefinition").values()
        (right,) = declared.of("azure-native:authorization:RoleAssignment", subscription_end(subscription)).values()
        assert right.inputs["roleDefinitionId"].endswith(role.inputs["roleDefinitionId"])
        roles[subscription] = role.inputs
    own, other = roles.values()
    assert own["roleName"] == "kubeflow-spot checkpoints of lab/lab in shared"
    assert other["roleName"] == f"kubeflow-spot checkpoints of {azure_ids.SUBSCRIPTION}/lab/lab in shared"
    assert own["roleDefinitionId"] != other["roleDefinitionId"]


def subscription_end(of_account: str) -> str:
    """Return the end of a right's name: another role's is another resource, which is there before the old one goes."""
    return "-checkpoints" if of_account == azure_ids.SUBSCRIPTION else f"-checkpoints-{azure_ids.SUBSCRIPTION}"


def contract(declared: Declared) -> dict[str, Any]:
    (config_map,) = (r for r in declared.of("kubernetes:core/v1:ConfigMap").values() if "contract" in r.name)
    content: dict[str, Any] = json.loads(config_map.inputs["data"]["workloads.json"])
    return content


@pytest.mark.parametrize(
    ("cloud", "url"),
    [("aks", "abfs://checkpoints@labcheckpoints.dfs.core.windows.net/"), ("gke", "gs://lab-checkpoints/")],
)
def test_users_tools_read_where_their_objects_are(cloud: str, url: str, request: pytest.FixtureRequest) -> None:
    declared: Declared = request.getfixturevalue(cloud)
    content = contract(declared)
    assert content == declared.outputs["workloads"]
    assert content["checkpoints"] == {"url": url}
    paths = [profile["url"].removeprefix(url) for profile in content["profiles"]]
    assert paths == ["team-a/", "team-ab/", "old/vision/"]
    name = "labcheckpoints" if cloud == "aks" else "lab-checkpoints"
    assert declared.outputs["remembered"]["checkpoints"] == name


def test_users_tools_read_what_a_pod_needs(aks: Declared) -> None:
    of_a, of_ab, _ = contract(aks)["profiles"]
    assert of_a["labels"] == {"azure.workload.identity/use": "true"}
    # Each profile is somebody else to the cloud.
    assert of_a["env"].keys() == of_ab["env"].keys() == {"AZURE_CLIENT_ID", "AZURE_STORAGE_ANON"}
    assert of_a["env"]["AZURE_CLIENT_ID"] != of_ab["env"]["AZURE_CLIENT_ID"]
    # Older drivers of fsspec log in as nobody unless they read this.
    assert of_a["env"]["AZURE_STORAGE_ANON"] == "false"


@pytest.mark.parametrize(
    ("settings", "place", "parameters"),
    [
        (AKS, {}, {"skuName": "StandardSSD_ZRS"}),
        (AKS, {"location": "northcentralus"}, {"skuName": "StandardSSD_LRS"}),
        (GKE, {}, {"type": "pd-balanced", "replication-type": "regional-pd"}),
        (GKE, {"location": "europe-west4-a"}, {"type": "pd-balanced"}),
    ],
    ids=["aks", "aks-without-zones", "gke", "gke-zonal"],
)
def test_volumes_stay_and_are_in_more_than_one_zone_where_there_are_some(
    settings: dict[str, Any], place: dict[str, str], parameters: dict[str, str]
) -> None:
    spec = spec_of(with_(settings, cloud={**settings["kubeflow-spot:cloud"], **place}))
    disks = registry.cloud_of(spec.cloud).durable_disks(spec.cloud)
    assert disks
    assert disks[1] == parameters


def test_the_class_keeps_volumes_and_waits_for_the_first_pod(gke: Declared) -> None:
    (declared,) = gke.of("kubernetes:storage.k8s.io/v1:StorageClass").values()
    named = {"name": "durable", "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"}
    assert {**declared.inputs, "name": declared.inputs["metadata"]["name"]}.items() >= named.items()
    assert contract(gke)["storageClass"] == gke.outputs["workloads"]["storageClass"] == "durable"


def renamed(before: str | None, **checkpoints: Any) -> None:
    spec = spec_of(with_(GKE, workloads={"checkpoints": checkpoints} if checkpoints else {}))
    refuse_rename(spec, LastUpdate({"checkpoints": before} if before else {}))


def test_another_name_is_refused_and_a_dropped_one_is_told(warnings: list[str]) -> None:
    with pytest.raises(pulumi.RunError, match=r"(?s)is lab-1 and cannot become lab-2: .*in an `up` of its own first"):
        renamed("lab-1", name="lab-2")
    renamed("lab-1", name="lab-1")
    renamed(None, name="lab-1")
    assert warnings == []
    renamed("lab-1", existing="lab-1")
    renamed("lab-1")
    assert [text.partition(";")[0] for text in warnings] == [
        "workloads.checkpoints: lab-1 is no longer this stack's"
    ] * 2
