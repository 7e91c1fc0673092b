"""Checkpoints on Google Cloud: a bucket, and the right of each profile's pods to their own prefix.

A pod's Kubernetes service account is a principal of the project's workload identity pool; no service account of Google's stands
between (page workload-identity). Clusters of one project share the pool: the same namespace and account in another cluster are
the same principal (same page, "identity sameness").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components.gcp import agents
from components.gcp.types import BUCKET, BUCKET_MEMBER
from components.resources import Declared
from components.workloads import Access, published
from config.clouds.gcp.settings import Gcp
from config.model.workloads import Checkpoints as Settings
from config.model.workloads import ProfileAccess, Workloads

ROLE = "roles/storage.objectUser"
"""Objects: read, write, list, delete. Nothing at the bucket (docs.cloud.google.com/storage/docs/access-control/iam-roles)."""

LIST_ROLE = "roles/storage.objectViewer"
"""The least role that lists; its condition holds for nothing else."""

_DAY = 86400


def principal(number: str, project: str, namespace: str, account: str) -> str:
    """A Kubernetes service account as a member of a policy (docs.cloud.google.com/iam/docs/principal-identifiers)."""
    pool = f"projects/{number}/locations/global/workloadIdentityPools/{project}.svc.id.goog"
    return f"principal://iam.googleapis.com/{pool}/subject/ns/{namespace}/sa/{account}"


def condition(bucket: str, path: str) -> str:
    """The condition of a binding: objects whose names begin with `path`."""
    return f'resource.name.startsWith("projects/_/buckets/{bucket}/objects/{path}")'


def list_condition(path: str) -> str:
    """The condition of a binding: lists of objects whose names begin with `path`.

    A list names the bucket and no object, so its prefix counts. Google's pages show that attribute in access boundaries
    (docs.cloud.google.com/iam/docs/downscoping-short-lived-credentials), not in bindings. Where bindings do not know it, a list
    is refused, or the binding itself is: it is one of its own, so that objects are read and written all the same.
    """
    return f'api.getAttribute("storage.googleapis.com/objectListPrefix", "").startsWith("{path}")'


class Checkpoints(pulumi.ComponentResource):
    """The bucket, unless it exists, and the rights of the profiles."""

    published: Mapping[str, Any]
    """As outputs and contract show it."""

    def __init__(
        self,
        name: str,
        workloads: Workloads,
        cloud: Gcp,
        tags: Mapping[str, str],
        *,
        cluster: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`cluster`: a project has its workload identity pool from its first cluster on."""
        super().__init__("kubeflow-spot:gcp:Checkpoints", name, None, opts)
        wanted = workloads.checkpoints
        assert wanted
        bucket = wanted.existing or wanted.name
        assert bucket
        declared: pulumi.Input[str] = bucket
        if not wanted.existing:
            declared = self._bucket(name, wanted, cloud, tags)
        number = (
            agents.number(cloud.project, self, "the members of its workload identity pool")
            if workloads.profiles
            else ""
        )
        for profile in workloads.profiles:
            self._access(name, profile, number, cloud, bucket, declared, cluster)
        self.published = published(f"gs://{bucket}/", [Access(profile) for profile in workloads.profiles])
        self.register_outputs({})

    def _bucket(self, name: str, wanted: Settings, cloud: Gcp, tags: Mapping[str, str]) -> pulumi.Output[str]:
        inputs: dict[str, Any] = {
            "name": wanted.name,
            "project": cloud.project,
            # The provider keeps it in capitals (terraform-provider-google, resource_storage_bucket.go).
            "location": (cloud.region or "").upper(),
            "labels": dict(tags),
            # Conditions need it (docs.cloud.google.com/storage/docs/access-control/iam, "Conditions").
            "uniformBucketLevelAccess": True,
            "publicAccessPrevention": "enforced",
            "softDeletePolicy": {"retentionDurationSeconds": wanted.soft_delete_days * _DAY},
            "forceDestroy": False,
        }
        if wanted.expire_after_days:
            # An object that is written again is a new one, whose age begins anew (page lifecycle).
            inputs["lifecycleRules"] = [
                {"action": {"type": "Delete"}, "condition": {"age": wanted.expire_after_days}},
            ]
        kept = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
        return Declared(BUCKET, f"{name}-checkpoints", inputs, kept).name

    def _access(
        self,
        name: str,
        profile: ProfileAccess,
        number: str,
        cloud: Gcp,
        bucket: str,
        declared: pulumi.Input[str],
        cluster: pulumi.Resource,
    ) -> None:
        bindings = (
            ("", ROLE, "checkpoints", "Objects", condition(bucket, profile.path)),
            ("/lists", LIST_ROLE, "lists of checkpoints", "Lists", list_condition(profile.path)),
        )
        for account in profile.service_accounts:
            # The list's binding comes last: if Google refuses it, the other one is there.
            before: list[pulumi.Resource] = [cluster]
            for end, role, title, what, expression in bindings:
                binding = Declared(
                    BUCKET_MEMBER,
                    # Neither namespaces nor accounts have a `/`, while both may have hyphens.
                    f"{name}-{profile.namespace}/{account}{end}",
                    {
                        "bucket": declared,
                        "role": role,
                        "member": principal(number, cloud.project, profile.namespace, account),
                        "condition": {
                            "title": f"{title} of {profile.namespace}",
                            "description": f"{what} below {profile.path}",
                            "expression": expression,
                        },
                    },
                    # A binding is known by role, member and the condition's title, which an old one would share.
                    pulumi.ResourceOptions(parent=self, depends_on=before, delete_before_replace=True),
                    outputs=(),
                )
                before = [binding]
