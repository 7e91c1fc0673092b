"""Checkpoints on Google Cloud: a bucket, and the right of each profile's pods to their own prefix.

A pod's Kubernetes service account is a principal of the project's workload identity pool; no service account of Google's stands
between (page workload-identity). Clusters of one project share the pool: the same namespace and account in another cluster are
the same principal (same page, "identity sameness").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pulumi
from pulumi_gcp import storage

from components.gcp import agents
from components.workloads import Access, published
from config.clouds.gcp.settings import Gcp
from config.model.spec import ClusterSpec
from config.model.workloads import Checkpoints as Settings
from config.model.workloads import ProfileAccess

ROLE = "roles/storage.objectUser"
"""Objects: read, write, list, delete. Nothing at the bucket (docs.cloud.google.com/storage/docs/access-control/iam-roles)."""

LIST_ROLE = "roles/storage.objectViewer"
"""The least role that lists; its condition holds for nothing else."""

BUCKET_ROLE = "roles/storage.bucketViewer"
"""The bucket's own properties, and no names of objects (docs.cloud.google.com/iam/docs/roles-permissions/storage; beta).

Clients ask whether the bucket is there before they write, such as `makedirs` of gcsfs. legacyBucketReader would list as well."""

_DAY = 86400

_DESCRIPTION = 256
"""Characters of a condition's description that are sent: it is for people."""


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


def bucket_condition(bucket: str) -> str:
    """The condition of a binding: this bucket. It always holds there, and gives the binding a name (`bindings`)."""
    return f'resource.name.startsWith("projects/_/buckets/{bucket}")'


class Binding(NamedTuple):
    """A role with its condition, for a member."""

    name: str
    """The end of the resource's name."""
    role: str
    condition: storage.BucketIAMMemberConditionArgs


def bindings(bucket: str, profile: ProfileAccess, cluster: str) -> Iterator[Binding]:
    """The rights of each account of a profile. That to list comes last: if Google refuses it, the others are there.

    A binding is known by role, member and its whole condition (terraform-provider-google, package tpgiamresource, conditionKey).
    The same namespace in another cluster of the project is the same member. `cluster`, its name and place, keeps the bindings of
    two clusters apart: what one stack takes back must not be the other's.
    """

    def named(title: str, what: str, expression: str) -> storage.BucketIAMMemberConditionArgs:
        description = f"{cluster}: {what}"[:_DESCRIPTION]
        return storage.BucketIAMMemberConditionArgs(title=title, description=description, expression=expression)

    of, path = profile.namespace, profile.path
    yield Binding("", ROLE, named(f"checkpoints of {of}", f"objects below {path}", condition(bucket, path)))
    # Equal for all profiles, who are members of one binding of the policy.
    yield Binding("/bucket", BUCKET_ROLE, named("bucket of checkpoints", "properties", bucket_condition(bucket)))
    yield Binding(
        "/lists", LIST_ROLE, named(f"lists of checkpoints of {of}", f"lists below {path}", list_condition(path))
    )


class Checkpoints(pulumi.ComponentResource):
    """The bucket, unless it exists, and the rights of the profiles."""

    published: Mapping[str, Any]
    """As outputs and contract show it."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        cloud: Gcp,
        *,
        cluster: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`cluster`: a project has its workload identity pool from its first cluster on."""
        super().__init__("kubeflow-spot:gcp:Checkpoints", name, None, opts)
        workloads, wanted = spec.workloads, spec.workloads.checkpoints
        assert wanted
        bucket = wanted.existing or wanted.name
        assert bucket
        declared: pulumi.Input[str] = bucket
        if not wanted.existing:
            declared = self._bucket(name, wanted, cloud, spec.cluster.tags)
        number = (
            agents.number(cloud.project, self, "the members of its workload identity pool")
            if workloads.profiles
            else ""
        )
        for profile in workloads.profiles:
            rights = list(bindings(bucket, profile, f"{spec.name} in {cloud.place}"))
            for account in profile.service_accounts:
                member = principal(number, cloud.project, profile.namespace, account)
                # Neither namespaces nor accounts have a `/`, while both may have hyphens.
                self._access(f"{name}-{profile.namespace}/{account}", rights, member, declared, cluster)
        self.published = published(f"gs://{bucket}/", [Access(profile) for profile in workloads.profiles])
        self.register_outputs({})

    def _bucket(self, name: str, wanted: Settings, cloud: Gcp, tags: Mapping[str, str]) -> pulumi.Output[str]:
        rules = None
        if wanted.expire_after_days:
            # An object that is written again is a new one, whose age begins anew (page lifecycle).
            delete = storage.BucketLifecycleRuleActionArgs(type="Delete")
            age = storage.BucketLifecycleRuleConditionArgs(age=wanted.expire_after_days)
            rules = [storage.BucketLifecycleRuleArgs(action=delete, condition=age)]
        return storage.Bucket(
            f"{name}-checkpoints",
            name=wanted.name,
            project=cloud.project,
            # The provider keeps it in capitals (terraform-provider-google, resource_storage_bucket.go).
            location=(cloud.region or "").upper(),
            labels=dict(tags),
            # Conditions need it (docs.cloud.google.com/storage/docs/access-control/iam, "Conditions").
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            soft_delete_policy=storage.BucketSoftDeletePolicyArgs(
                retention_duration_seconds=wanted.soft_delete_days * _DAY
            ),
            force_destroy=False,
            lifecycle_rules=rules,
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
        ).name

    def _access(
        self, name: str, rights: list[Binding], member: str, bucket: pulumi.Input[str], cluster: pulumi.Resource
    ) -> None:
        before: list[pulumi.Resource] = [cluster]
        for binding in rights:
            declared = storage.BucketIAMMember(
                f"{name}{binding.name}",
                bucket=bucket,
                role=binding.role,
                member=member,
                condition=binding.condition,
                # One that changes is another binding: the old one goes when the new one is there.
                opts=pulumi.ResourceOptions(parent=self, depends_on=before),
            )
            before = [*before, declared]
