"""Checkpoints on Google Cloud: a bucket, and the right of each profile's pods to their own managed
folder.

A pod's Kubernetes service account is a principal of the project's workload identity pool, without a
Google service account (page workload-identity). Clusters of one project share the pool: the same
namespace and account in another cluster are the same principal (same page, "identity sameness").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_gcp import storage

from components.gcp import agents
from components.workloads import Access, published
from config.clouds.gcp.gcp_settings import Gcp
from config.model.spec import ClusterSpec
from config.model.workloads import Checkpoints as Settings
from config.model.workloads import ProfileAccess

ROLE = "roles/storage.objectUser"
"""Objects of a managed folder: read, write, list, delete
(docs.cloud.google.com/storage/docs/access-control/iam-roles)."""

BUCKET_ROLE = "roles/storage.bucketViewer"
"""The bucket's own properties, and no names of objects
(docs.cloud.google.com/iam/docs/roles-permissions/storage; beta).

Clients such as gcsfs (`makedirs`) check that the bucket exists before they write.
legacyBucketReader could also list."""

_DAY = 86400

_DESCRIPTION = 256
"""Most characters of a condition's description."""


def principal(number: str, project: str, namespace: str, account: str) -> str:
    """Return a Kubernetes service account as a member of a policy
    (docs.cloud.google.com/iam/docs/principal-identifiers).
    """
    pool = f"projects/{number}/locations/global/workloadIdentityPools/{project}.svc.id.goog"
    return f"principal://iam.googleapis.com/{pool}/subject/ns/{namespace}/sa/{account}"


def bucket_condition(bucket: str, cluster: str) -> storage.BucketIAMMemberConditionArgs:
    """Return a condition that always holds at the bucket and names the cluster. `cluster`: its name
    and place.

    Role, member and condition identify a binding (terraform-provider-google, package
    tpgiamresource, conditionKey). The same namespace in another cluster of the project is the same
    member, so without the cluster's name two stacks would share a binding and one would delete the
    other's.
    """
    return storage.BucketIAMMemberConditionArgs(
        title="bucket of checkpoints",
        description=f"{cluster}: properties"[:_DESCRIPTION],
        expression=f'resource.name.startsWith("projects/_/buckets/{bucket}")',
    )


class Checkpoints(pulumi.ComponentResource):
    """The bucket, unless it exists, and the rights of the profiles.

    It deliberately deletes no objects: the bucket outlives the stack (docs/adr/0024).
    """

    published: Mapping[str, Any]
    """The storage and its profiles for outputs and contract."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        cloud: Gcp,
        *,
        cluster: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`cluster`: rights wait for it, because the first cluster creates the project's workload
        identity pool.
        """
        super().__init__("kubeflow-spot:gcp:Checkpoints", name, None, opts)
        workloads, wanted = spec.workloads, spec.workloads.checkpoints
        assert wanted
        bucket = wanted.existing or wanted.name
        assert bucket
        declared: pulumi.Input[str] = bucket
        if not wanted.existing:
            declared = self._bucket(name, wanted, cloud, spec.cluster.tags)
        number = (
            agents.project_number(cloud.project, self, "the members of its workload identity pool")
            if workloads.profiles
            else ""
        )
        condition = bucket_condition(bucket, f"{spec.name} in {cloud.place}")
        for profile in workloads.profiles:
            folder = self._folder(f"{name}-{profile.namespace}", declared, profile)
            for account in profile.service_accounts:
                member = principal(number, cloud.project, profile.namespace, account)
                # Neither namespaces nor accounts have a `/`, while both may have hyphens.
                self._access(
                    f"{name}-{profile.namespace}/{account}",
                    folder,
                    member,
                    declared,
                    condition,
                    cluster,
                )
        self.published = published(
            f"gs://{bucket}/", [Access(profile) for profile in workloads.profiles]
        )
        self.register_outputs({})

    def _bucket(
        self, name: str, wanted: Settings, cloud: Gcp, tags: Mapping[str, str]
    ) -> pulumi.Output[str]:
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
            # The provider keeps it in capitals (terraform-provider-google,
            # resource_storage_bucket.go).
            location=(cloud.region or "").upper(),
            labels=dict(tags),
            # Conditions need it (docs.cloud.google.com/storage/docs/access-control/iam,
            # "Conditions").
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            soft_delete_policy=storage.BucketSoftDeletePolicyArgs(
                retention_duration_seconds=wanted.soft_delete_days * _DAY
            ),
            force_destroy=False,
            lifecycle_rules=rules,
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
        ).name

    def _folder(
        self, name: str, bucket: pulumi.Input[str], profile: ProfileAccess
    ) -> storage.ManagedFolder:
        """Declare the folder of a profile's objects, which has a policy of its own.

        A condition on names would not cover lists: a list names the bucket alone (page
        managed-folders).
        """
        return storage.ManagedFolder(
            name,
            bucket=bucket,
            name=profile.path,
            # The folder's policy goes, its objects stay.
            force_destroy=True,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _access(
        self,
        name: str,
        folder: storage.ManagedFolder,
        member: str,
        bucket: pulumi.Input[str],
        condition: storage.BucketIAMMemberConditionArgs,
        cluster: pulumi.Resource,
    ) -> None:
        ready = pulumi.ResourceOptions(parent=self, depends_on=[cluster])
        storage.ManagedFolderIamMember(
            name,
            bucket=folder.bucket,
            managed_folder=folder.name,
            role=ROLE,
            member=member,
            opts=ready,
        )
        storage.BucketIAMMember(
            f"{name}/bucket",
            bucket=bucket,
            role=BUCKET_ROLE,
            member=member,
            condition=condition,
            opts=ready,
        )
