"""Stacks with checkpoints: the same rows as in `test_settings`.

Answers as learn.microsoft.com/rest/api/storagerp and docs.cloud.google.com/storage/docs/json_api/v1/buckets have them; none came
from a subscription or a project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.checks.preflight.live import Settings, nothing, up_on_aks, up_on_gke

NAME = "mlkeptcheckpoints"
ACCOUNT = (
    "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/shared/providers/Microsoft.Storage"
    "/storageAccounts/mlshared"
)
KEPT = f"/subscriptions/0/resourceGroups/ml-dev-checkpoints-{NAME}/providers/Microsoft.Storage/storageAccounts/{NAME}"

ALL = [{"actions": ["*"]}]
RIGHTS = {"permissions": ALL, "storageGroup": None, "storagePermissions": ALL}
FREE = {**RIGHTS, "accountName": {"nameAvailable": True}, "accounts": []}
TAKEN = {**RIGHTS, "accountName": {"nameAvailable": False, "reason": "AlreadyExists"}, "accounts": []}
OURS = {**TAKEN, "accounts": [{"name": NAME, "id": KEPT}]}
OTHERS = {
    "permissions": ALL,
    "accountPermissions": ALL,
    "accountGroupPermissions": ALL,
    "container": {"name": "checkpoints"},
}


def checkpoints(cloud: Settings | None = None, **settings: Any) -> Callable[[Settings], Any]:
    """A profile with checkpoints, by default in storage that the stack makes."""

    def change(file: Settings) -> None:
        file["workloads"] = {"checkpoints": settings or {"name": NAME}, "profiles": [{"namespace": "team-a"}]}
        file["cloud"].update(cloud or {})

    return change


def _but(*actions: str) -> list[dict[str, Any]]:
    return [{"actions": ["*"], "notActions": [f"Microsoft.{action}" for action in actions]}]


def _on_gke(parts: Settings, bucket: Settings | None = None) -> None:
    """The service, the rights to make a bucket and to give profiles theirs, and what there is under its name."""
    parts["services"]["services"].append({"name": "projects/1/services/storage.googleapis.com", "state": "ENABLED"})
    parts["granted"]["permissions"] += ["resourcemanager.projects.get", "storage.buckets.create"]
    parts.update(bucket=bucket, bucketGranted=bucket and {"permissions": [*_GRANTS]})


def _access(enabled: bool) -> Settings:
    # docs.cloud.google.com/storage/docs/json_api/v1/buckets, the resource's fields.
    return {"name": "shared", "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": enabled}}}


_GRANTS = ("storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy")
_SHARED = checkpoints(existing="shared")
_NETWORK = {"name": "vpc", "subnet": "nodes", "podRange": "pods", "serviceRange": "services"}
_KEY = "projects/{}/locations/europe-west4/keyRings/ml/cryptoKeys/etcd"
_MADE = f"on the subscription, where resource group ml-dev-checkpoints-{NAME} is to be made"

STORED: dict[str, tuple[str, Callable[[Settings], Any], Callable[[Settings], Any], str, str]] = {
    "checkpoints": ("azure", checkpoints(), lambda p: p.update(FREE), "", ""),
    "role-definitions": (
        "azure",
        checkpoints(),
        lambda p: p.update(FREE | {"storagePermissions": p["permissions"]}),
        "permissions",
        f"whoever deploys may not Microsoft.Authorization/roleDefinitions/write {_MADE}",
    ),
    "role-definitions-that-go": (
        "azure",
        checkpoints(),
        lambda p: p.update(FREE | {"storagePermissions": _but("Authorization/roleDefinitions/delete")}),
        "permissions",
        f"Microsoft.Authorization/roleDefinitions/delete {_MADE}",
    ),
    "owner-of-the-clusters-group-alone": (
        "azure",
        checkpoints(),
        lambda p: p.update(FREE | {"storagePermissions": [{"actions": ["*/read"]}]}),
        "permissions",
        f"Microsoft.Resources/subscriptions/resourceGroups/write {_MADE}",
    ),
    "reader-of-the-accounts-group": (
        "azure",
        checkpoints(),
        lambda p: (
            up_on_aks(p),
            p.update(OURS | {"storageGroup": {"name": "x"}, "storagePermissions": [{"actions": ["*/read"]}]}),
        ),
        "permissions",
        f"storageAccounts/write on resource group ml-dev-checkpoints-{NAME}",
    ),
    "no-policy-without-expiry": (
        "azure",
        checkpoints(),
        lambda p: p.update(FREE | {"storagePermissions": _but("Storage/storageAccounts/managementPolicies/write")}),
        "",
        "",
    ),
    "expiry": (
        "azure",
        checkpoints(name=NAME, expireAfterDays=90),
        lambda p: p.update(FREE | {"storagePermissions": _but("Storage/storageAccounts/managementPolicies/write")}),
        "permissions",
        f"managementPolicies/write {_MADE}",
    ),
    "an-existing-group-has-the-account-too": (
        "azure",
        checkpoints({"existingResourceGroup": "platform"}),
        lambda p: (
            p.update(FREE | {"resourceGroup": {"name": "platform"}, "permissions": _but("Storage/*")}),
            p.pop("storagePermissions"),
        ),
        "permissions",
        "Microsoft.Storage/storageAccounts/write on resource group platform",
    ),
    "existing-account": ("azure", checkpoints(existing=ACCOUNT), lambda p: p.update(OTHERS), "", ""),
    "existing-account-is-not-there": (
        "azure",
        checkpoints(existing=ACCOUNT),
        lambda p: p.update(dict.fromkeys(OTHERS), permissions=ALL),
        "bucket",
        "there is no container checkpoints in storage account mlshared, or no such account",
    ),
    "no-credentials-of-identities": (
        "azure",
        checkpoints(existing=ACCOUNT),
        lambda p: p.update(
            OTHERS | {"permissions": _but("ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write")}
        ),
        "permissions",
        "federatedIdentityCredentials/write on the subscription, where resource group ml-dev is to be made",
    ),
    "no-grants-at-the-existing-account": (
        "azure",
        checkpoints(existing=ACCOUNT),
        lambda p: p.update(OTHERS | {"accountPermissions": _but("Authorization/roleAssignments/write")}),
        "permissions",
        "Microsoft.Authorization/roleAssignments/write on storage account mlshared",
    ),
    "no-roles-in-the-group-of-the-existing-account": (
        "azure",
        checkpoints(existing=ACCOUNT),
        lambda p: p.update(OTHERS | {"accountGroupPermissions": _but("Authorization/roleDefinitions/*")}),
        "permissions",
        "Microsoft.Authorization/roleDefinitions/write on resource group shared",
    ),
    "account-that-a-destroy-left": (
        "azure",
        checkpoints(),
        lambda p: p.update(OURS),
        "bucket",
        "and nothing else of the stack: an `up` would end with 'already exists'",
    ),
    "group-without-its-account": (
        "azure",
        checkpoints(),
        lambda p: p.update(FREE | {"storageGroup": {"name": "x"}}),
        "bucket",
        f"there is a resource group ml-dev-checkpoints-{NAME} without the account, and nothing else of the stack",
    ),
    "account-of-a-cluster-that-is-up": (
        "azure",
        checkpoints(),
        lambda p: (up_on_aks(p), p.update(OURS)),
        "",
        f"there is a storage account {NAME} in this subscription",
    ),
    "no-storage-service": (
        "gcp",
        checkpoints(),
        lambda p: (_on_gke(p), p["services"]["services"].pop()),
        "registered",
        "storage.googleapis.com is not enabled",
    ),
    "no-storage-service-for-an-existing-bucket": (
        "gcp",
        _SHARED,
        lambda p: (_on_gke(p, _access(True)), p["services"]["services"].pop()),
        "registered",
        "storage.googleapis.com is not enabled",
    ),
    "no-right-to-make-a-bucket": (
        "gcp",
        checkpoints(),
        lambda p: (_on_gke(p), p["granted"]["permissions"].pop()),
        "permissions",
        "lacks storage.buckets.create",
    ),
    "no-right-to-the-projects-number": (
        "gcp",
        _SHARED,
        lambda p: (_on_gke(p, _access(True)), p["granted"]["permissions"].remove("resourcemanager.projects.get")),
        "permissions",
        "lacks resourcemanager.projects.get",
    ),
    "bucket-that-a-destroy-left": (
        "gcp",
        checkpoints(),
        lambda p: _on_gke(p, {"name": NAME}),
        "bucket",
        "and nothing else of the stack: an `up` would end",
    ),
    "bucket-of-a-cluster-that-is-up": (
        "gcp",
        checkpoints(),
        lambda p: (up_on_gke(p, "abc"), _on_gke(p, {"name": NAME})),
        "",
        f"there is a bucket {NAME}, which these credentials may read",
    ),
    "bucket-of-an-up-that-failed": (
        "gcp",
        checkpoints({"network": {"existing": _NETWORK}}),
        lambda p: _on_gke(p, {"name": NAME}),
        "",
        f"there is a bucket {NAME}, which these credentials may read",
    ),
    "existing-bucket": ("gcp", _SHARED, lambda p: _on_gke(p, _access(True)), "", ""),
    "existing-bucket-is-not-there": ("gcp", _SHARED, _on_gke, "bucket", "there is no bucket shared"),
    "existing-bucket-with-access-by-object": (
        "gcp",
        _SHARED,
        lambda p: _on_gke(p, _access(False)),
        "bucket",
        "bucket shared has no uniform bucket-level access",
    ),
    "no-grants-at-the-existing-bucket": (
        "gcp",
        _SHARED,
        lambda p: (_on_gke(p, _access(True)), p["bucketGranted"].update(permissions=[_GRANTS[0]])),
        "permissions",
        "lacks storage.buckets.setIamPolicy on bucket shared",
    ),
    "no-service-of-own-repositories": (
        "gcp",
        lambda f: f["cloud"].update(registries=[{"location": "europe-west4", "repository": "ml"}]),
        nothing,
        "registered",
        "artifactregistry.googleapis.com is not enabled",
    ),
    "no-service-of-own-keys": (
        "gcp",
        lambda f: f["cloud"].update(encryption={"secretsKey": _KEY.format("example-ml-staging")}),
        nothing,
        "registered",
        "cloudkms.googleapis.com is not enabled",
    ),
    "repositories-and-keys-of-another-project": (
        "gcp",
        lambda f: f["cloud"].update(
            registries=[{"project": "corp-images", "location": "europe-west4", "repository": "ml"}],
            encryption={"bootDiskKey": _KEY.format("corp-keys")},
        ),
        nothing,
        "",
        "",
    ),
}
