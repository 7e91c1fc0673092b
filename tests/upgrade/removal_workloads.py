"""Keys of `workloads`, taken out again: the stacks that have them, and the cases of both clouds (`tests.upgrade.removal`).

Data stays whatever the steps say: what holds some is left in the cloud when the engine forgets it (`test_workloads`).
"""

from __future__ import annotations

from sandbox.azure.azure_ids import SUBSCRIPTION

from tests.upgrade.case import Config
from tests.upgrade.removal import Removal

_PROFILES = [
    {"namespace": "team-a", "serviceAccounts": ["default-editor", "training"]},
    {"namespace": "vision", "prefix": "old/vision"},
]
SHARED = (
    "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/shared/providers/Microsoft.Storage/storageAccounts/"
    "shared"
)

_AKS: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab"},
    "cloud": {"provider": "azure", "location": "westeurope"},
    "systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 3},
}
_GKE: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab"},
    "cloud": {"provider": "gcp", "project": "example-lab", "location": "europe-west4"},
    "systemPool": {"machine": "e2-standard-4", "maxNodes": 3},
}


def _with(base: Config, **checkpoints: object) -> Config:
    return {**base, "workloads": {"checkpoints": checkpoints, "profiles": _PROFILES, "storageClass": "durable"}}


AKS_STACKS = {
    "made": _with(_AKS, name="labcheckpoints", expireAfterDays=90, softDeleteDays=30),
    "shared": _with(_AKS, existing=SHARED),
    "renamed": _with(_AKS, name="labcheckpoints", softDeleteDays=30),
}
GKE_STACKS = {
    "made": _with(_GKE, name="lab-checkpoints", expireAfterDays=90, softDeleteDays=30),
    "taken over": _with(_GKE, existing="shared"),
}

_ACCESS = [
    *("delete FederatedIdentityCredential lab-team-a/default-editor", "delete RoleAssignment lab-team-a-checkpoints"),
    *("delete FederatedIdentityCredential lab-team-a/training", "delete UserAssignedIdentity lab-team-a"),
    *("delete FederatedIdentityCredential lab-vision/default-editor", "delete RoleAssignment lab-vision-checkpoints"),
    "delete UserAssignedIdentity lab-vision",
]
_KEPT = [
    f"{type} lab-checkpoints" for type in ("BlobContainer", "BlobServiceProperties", "ResourceGroup", "StorageAccount")
]
_BLOB_DAYS = ["containerDeleteRetentionPolicy.days", "deleteRetentionPolicy.days"]

ON_AKS = [
    Removal("workloads.storageClass", "made", inside=True),
    Removal(
        "workloads.checkpoints.name", "made", refused=["workloads.checkpoints.name: is missing, and so is `existing`"]
    ),
    Removal(
        "workloads.checkpoints.existing",
        "shared",
        also={"workloads": {"checkpoints": {"name": "labcheckpoints"}}},
        shows=[
            *(f"create {kept}" for kept in _KEPT),
            # A role is one for an account, and an assignment is at one container. Of an account in another subscription both have
            # the cluster's in their names.
            *("create RoleDefinition lab-labcheckpoints", f"delete RoleDefinition lab-shared-{SUBSCRIPTION}"),
            *(f"create RoleAssignment lab-{profile}-checkpoints" for profile in ("team-a", "vision")),
            *(f"delete RoleAssignment lab-{profile}-checkpoints-{SUBSCRIPTION}" for profile in ("team-a", "vision")),
        ],
    ),
    Removal("workloads.checkpoints.expireAfterDays", "made", shows=["delete ManagementPolicy lab-checkpoints"]),
    Removal(
        "workloads.checkpoints.softDeleteDays",
        "made",
        shows=[f"update BlobServiceProperties lab-checkpoints [{', '.join(_BLOB_DAYS)}]"],
    ),
    Removal(
        "workloads.checkpoints.softDeleteDays",
        "renamed",
        also={"workloads": {"checkpoints": {"name": "another"}}},
        refused=["workloads.checkpoints.name: is labcheckpoints and cannot become another", "put it back"],
    ),
    Removal(
        "workloads.checkpoints",
        "made",
        also={"workloads": {"profiles": None}},
        shows=[
            *(
                f"delete {kept}"
                for kept in (*_KEPT, "ManagementPolicy lab-checkpoints", "RoleDefinition lab-labcheckpoints")
            ),
            *_ACCESS,
        ],
    ),
    Removal("workloads.profiles", "made", shows=_ACCESS),
    Removal(
        "workloads.profiles.0.serviceAccounts",
        "made",
        shows=["delete FederatedIdentityCredential lab-team-a/training"],
    ),
    Removal("workloads.profiles.1.prefix", "made", shows=["update RoleAssignment lab-vision-checkpoints [condition]"]),
]

_ACCOUNTS = ("lab-team-a/default-editor", "lab-team-a/training", "lab-vision/default-editor")
_FOLDERS = ("lab-team-a", "lab-vision")
_MEMBERS = [
    *(f"delete ManagedFolder {folder}" for folder in _FOLDERS),
    *(f"delete ManagedFolderIamMember {account}" for account in _ACCOUNTS),
    *(f"delete BucketIAMMember {account}/bucket" for account in _ACCOUNTS),
]
ON_GKE = [
    Removal("workloads.storageClass", "made", inside=True),
    Removal(
        "workloads.checkpoints.name", "made", refused=["workloads.checkpoints.name: is missing, and so is `existing`"]
    ),
    Removal(
        "workloads.checkpoints.existing",
        "taken over",
        also={"workloads": {"checkpoints": {"name": "lab-checkpoints"}}},
        shows=[
            "create Bucket lab-checkpoints",
            *(f"replace ManagedFolder {name} [bucket], deleted first" for name in _FOLDERS),
            *(f"replace BucketIAMMember {name}/bucket [bucket, condition.expression]" for name in _ACCOUNTS),
        ],
    ),
    Removal("workloads.checkpoints.expireAfterDays", "made", shows=["update Bucket lab-checkpoints [lifecycleRules]"]),
    Removal(
        "workloads.checkpoints.softDeleteDays",
        "made",
        shows=["update Bucket lab-checkpoints [softDeletePolicy.retentionDurationSeconds]"],
    ),
    Removal(
        "workloads.checkpoints",
        "made",
        also={"workloads": {"profiles": None}},
        shows=["delete Bucket lab-checkpoints", *_MEMBERS],
    ),
    Removal("workloads.profiles", "made", shows=_MEMBERS),
    Removal(
        "workloads.profiles.0.serviceAccounts",
        "made",
        shows=[
            "delete ManagedFolderIamMember lab-team-a/training",
            "delete BucketIAMMember lab-team-a/training/bucket",
        ],
    ),
    Removal(
        "workloads.profiles.1.prefix",
        "made",
        shows=[
            "replace ManagedFolder lab-vision [name], deleted first",
        ],
    ),
]
