"""A profile's identity reads and writes its own prefix of the checkpoints, and nothing else: the emulated clouds decide.

The stack is `workloads.happy.yaml`, or its sister on GKE: team-a, team-ab, and vision with the prefix old/vision.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from components.azure import azure_checkpoints as azure_checkpoints
from sandbox.azure import azure_access as azure
from sandbox.azure import azure_ids
from sandbox.azure.resources.azure_identity import IDENTITY
from sandbox.cloud.provider import Resource
from sandbox.cloud.state import Resources, Store
from sandbox.gcp import gcp_access as gcp
from sandbox.gcp.gcp_ids import project_number
from sandbox.gcp.resources.bucket import BUCKET_MEMBER, FOLDER, FOLDER_MEMBER
from sandbox.gcp.resources.gcp_resource_type import Settings
from sandbox.gcp.resources.gcp_table import TYPES
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program

Up = Callable[[], Resources]

ACCOUNT = (
    f"/subscriptions/{azure_ids.SUBSCRIPTION}/resourceGroups/lab-checkpoints-labcheckpoints/providers/Microsoft.Storage/storageAccounts/"
    "labcheckpoints"
)
OTHER = ACCOUNT.replace("labcheckpoints", "another")


BUCKET = "lab-checkpoints"
GKE = PROJECT / "tests/configs/gke-workloads.happy.yaml"


def on_azure(operation: str, container: str = "checkpoints", blob: str = "", prefix: str = "") -> azure.Attempt:
    return azure.Attempt(operation, ACCOUNT, container, blob, prefix)


def on_google(operation: str, object: str = "", prefix: str = "", bucket: str = BUCKET) -> gcp.Attempt:
    return gcp.Attempt(operation, bucket, object, prefix)


AZURE = [
    # What is its own.
    (on_azure("Get Container Properties"), True),
    *((on_azure("List Blobs", prefix=prefix), True) for prefix in ("team-a/", "team-a/run/")),
    *(
        (on_azure(how, blob="team-a/run/1.ckpt"), True)
        for how in ("Get Blob", "Put Blob", "Append Block", "Delete Blob")
    ),
    # Objects of others, of which one has a name that begins with the same letters.
    *((on_azure("Get Blob", blob=blob), False) for blob in ("old/vision/1.ckpt", "Team-A/1.ckpt", "x/team-a/1.ckpt")),
    *((on_azure(how, blob="team-ab/1.ckpt"), False) for how in ("Get Blob", "Put Blob", "Delete Blob")),
    (on_azure("Put Blob", blob="team-a"), False),
    # Lists of others, and of all.
    *((on_azure("List Blobs", prefix=prefix), False) for prefix in ("", "team-a", "team-ab/")),
    # Container, account, keys and signatures, another container and another account.
    (on_azure("Delete Container"), False),
    *((on_azure(how, "more"), False) for how in ("Create Container", "Get Container Properties")),
    *(
        (on_azure(how, ""), False)
        for how in ("List Containers", "Get User Delegation Key", "List Keys", "Delete Account")
    ),
    (on_azure("Get Blob Tags", blob="team-a/run/1.ckpt"), False),
    (on_azure("Get Blob", "more", "team-a/1.ckpt"), False),
    (azure.Attempt("Get Blob", OTHER, "checkpoints", "team-a/1.ckpt"), False),
]
"""Attempts of the profile team-a, and whether each succeeds."""

GOOGLE = [
    # What is its own, and what clients ask of the bucket before they write.
    *((on_google(f"objects.{how}", "team-a/1"), True) for how in ("get", "insert", "overwrite", "delete")),
    *((on_google("objects.list", prefix=prefix), True) for prefix in ("team-a/", "team-a/run/")),
    (on_google("buckets.get"), True),
    # Objects of others, of which one has a name that begins with the same letters.
    *((on_google("objects.get", object), False) for object in ("old/vision/1.ckpt", "x/team-a/1.ckpt")),
    *((on_google(f"objects.{how}", "team-ab/1.ckpt"), False) for how in ("get", "insert", "delete")),
    (on_google("objects.insert", "team-a"), False),
    # Lists of others, and of all.
    *((on_google("objects.list", prefix=prefix), False) for prefix in ("", "team-a", "team-ab/")),
    # No more of the bucket, and of its policy and another bucket nothing.
    *((on_google(f"buckets.{how}"), False) for how in ("patch", "delete", "getIamPolicy", "setIamPolicy")),
    (on_google("objects.get", "team-a/1.ckpt", bucket="another-checkpoints"), False),
    (on_google("buckets.get", bucket="another-checkpoints"), False),
]


@pytest.fixture
def azure_after_up(tmp_path: Path) -> Up:
    def up() -> Resources:
        cloud = EmulatedAzure(tmp_path / "azure.json", "westeurope")
        declare(stack_config(PROJECT / "tests/configs/workloads.happy.yaml"), cloud=cloud)
        place, blobs = {"resourceGroupName": "lab-checkpoints-labcheckpoints"}, "azure-native:storage:BlobContainer"
        cloud.make(blobs, {**place, "accountName": "labcheckpoints", "containerName": "more"})
        another = {**place, "accountName": "another"}
        kind = {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "location": "westeurope"}
        cloud.make("azure-native:storage:StorageAccount", {**another, **kind})
        cloud.make(blobs, {**another, "containerName": "checkpoints"})
        return Store(tmp_path / "azure.json").read()

    return up


@pytest.fixture
def google_after_up(tmp_path: Path) -> Up:
    def up() -> Resources:
        cloud = EmulatedGoogle(tmp_path / "gcp.json")
        declare(stack_config(GKE), cloud=cloud)
        another = {"name": "another-checkpoints", "project": "example-lab", "location": "EUROPE-WEST4"}
        cloud.make("gcp:storage/bucket:Bucket", another)
        return Store(tmp_path / "gcp.json").read()

    return up


def principal(resources: Resources, namespace: str) -> str:
    """Return the object id of a profile's identity."""
    (identity,) = (r for r in resources.of_type(IDENTITY) if azure_ids.last(r.id) == f"lab-{namespace}")
    return str(identity.body["principalId"])


def member(namespace: str, account: str = "default-editor") -> str:
    """Return a profile's service account in a policy, as Google's page on principal identifiers has it."""
    pool = f"projects/{project_number('example-lab')}/locations/global/workloadIdentityPools/example-lab.svc.id.goog"
    return f"principal://iam.googleapis.com/{pool}/subject/ns/{namespace}/sa/{account}"


def wrong_on_azure(resources: Resources) -> list[azure.Attempt]:
    own = principal(resources, "team-a")
    return [attempt for attempt, may in AZURE if azure.allowed(resources, own, attempt) is not may]


def test_a_profile_on_aks_reaches_its_own_blobs_and_nothing_else(azure_after_up: Up) -> None:
    resources = azure_after_up()
    assert wrong_on_azure(resources) == []
    # Another profile's identity is no other way in, and its own prefix is where its line says.
    vision = principal(resources, "vision")
    assert azure.allowed(resources, vision, on_azure("Get Blob", blob="old/vision/1.ckpt"))
    assert not azure.allowed(resources, vision, on_azure("Get Blob", blob="vision/1.ckpt"))
    assert not azure.allowed(resources, vision, on_azure("Get Blob", blob="team-a/run/1.ckpt"))
    assert not azure.allowed(resources, azure_ids.USER_OBJECT, on_azure("Get Blob", blob="team-a/run/1.ckpt"))


def test_a_profile_on_gke_reaches_its_own_objects_and_nothing_else(google_after_up: Up) -> None:
    resources = google_after_up()
    assert [attempt for attempt, may in GOOGLE if gcp.allowed(resources, member("team-a"), attempt) is not may] == []
    own = on_google("objects.get", "team-ab/1.ckpt")
    assert gcp.allowed(resources, member("team-ab"), own)
    assert gcp.allowed(resources, member("team-ab", "training"), own)
    assert not gcp.allowed(resources, member("team-ab", "default-viewer"), own)
    assert not gcp.allowed(resources, member("team-a", "training"), on_google("objects.get", "team-a/run/1.ckpt"))


def test_a_cluster_that_goes_takes_nothing_from_another_one_of_the_project(tmp_path: Path) -> None:
    """The same namespace and account in both clusters are the same member, at the same bucket."""
    cloud, settings = EmulatedGoogle(tmp_path / "gcp.json"), stack_config(GKE)
    rights = (BUCKET_MEMBER, FOLDER_MEMBER, FOLDER)
    first = [r for r in declare(settings, cloud=cloud).resources if r.type in rights]
    second = settings | {"kubeflow-spot:cluster": {"name": "second"}}
    workloads = {"checkpoints": {"existing": BUCKET}, "profiles": [{"namespace": "team-a", "prefix": "second/team-a"}]}
    declare({**second, "kubeflow-spot:workloads": workloads}, cloud=cloud)
    for gone in first:
        cloud.provider.delete(Resource(gone.type, gone.name, "", TYPES[gone.type].id(gone.inputs, Settings())))
    resources = Store(tmp_path / "gcp.json").read()
    for operation in ("objects.get", "objects.list"):
        assert gcp.allowed(resources, member("team-a"), on_google(operation, "second/team-a/1", "second/team-a/"))
        assert not gcp.allowed(resources, member("team-a"), on_google(operation, "team-a/1", "team-a/"))
    assert gcp.allowed(resources, member("team-a"), on_google("buckets.get"))
    assert not gcp.allowed(resources, member("team-ab"), on_google("objects.get", "team-ab/1.ckpt"))
    assert not gcp.allowed(resources, member("team-ab"), on_google("buckets.get"))


def test_the_built_in_role_would_let_a_profile_delete_the_container(azure_after_up: Up) -> None:
    """Why there is a role of the program's own: a condition holds for data actions only."""
    resources = azure_after_up()
    own = principal(resources, "team-a")
    for record in resources.records.values():
        if record.body.get("principalId") == own and "roleDefinitionId" in record.body:
            guid = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
            record.body["roleDefinitionId"] = f"/providers/Microsoft.Authorization/roleDefinitions/{guid}"
    assert [attempt.operation for attempt in wrong_on_azure(resources)] == ["Delete Container"]
