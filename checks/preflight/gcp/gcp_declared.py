"""The resources that a stack declares on Google Cloud, each with its project; and the permissions
that each type takes.

A test compares them with what the program declares for every happy stack file: a type without a
line here fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.preflight.demand import Demand
from config.clouds.gcp.gcp_settings import Gcp

BUCKET = "bucket"
"""The place of what is at an existing bucket, which may be any project's."""

BUCKET_GRANTS = ("storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy")
"""Rights on a bucket, by which the stack gives profiles theirs
(docs.cloud.google.com/storage/docs/access-control/iam-json)."""

PERMISSIONS: dict[str, tuple[str, ...]] = {
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": (
        "artifactregistry.repositories.getIamPolicy",
        "artifactregistry.repositories.setIamPolicy",
    ),
    "gcp:compute/network:Network": ("compute.networks.create",),
    "gcp:compute/router:Router": ("compute.routers.create",),
    "gcp:compute/routerNat:RouterNat": ("compute.routers.update",),
    "gcp:compute/subnetwork:Subnetwork": ("compute.subnetworks.create",),
    "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember": (
        "compute.subnetworks.getIamPolicy",
        "compute.subnetworks.setIamPolicy",
    ),
    "gcp:container/cluster:Cluster": ("container.clusters.create",),
    "gcp:container/nodePool:NodePool": (
        "container.clusters.get",
        "container.clusters.getCredentials",
        "container.clusters.update",
        "iam.serviceAccounts.actAs",
    ),
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": (
        "cloudkms.cryptoKeys.getIamPolicy",
        "cloudkms.cryptoKeys.setIamPolicy",
    ),
    "gcp:projects/iAMMember:IAMMember": (
        "resourcemanager.projects.getIamPolicy",
        "resourcemanager.projects.setIamPolicy",
    ),
    "gcp:serviceaccount/account:Account": ("iam.serviceAccounts.create",),
    "gcp:storage/bucket:Bucket": ("storage.buckets.create",),
    "gcp:storage/bucketIAMMember:BucketIAMMember": BUCKET_GRANTS,
    "gcp:storage/managedFolder:ManagedFolder": ("storage.managedFolders.create",),
    "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": (
        "storage.managedFolders.getIamPolicy",
        "storage.managedFolders.setIamPolicy",
    ),
}
"""What a create of each type asks for (docs.cloud.google.com/iam/docs/permissions-reference)."""


def resources(demand: Demand) -> Iterator[tuple[str, str]]:
    """Yield the type of each declared resource, without its package, and its project, or
    `BUCKET`."""
    cloud = demand.spec.cloud
    assert isinstance(cloud, Gcp)
    if demand.needs:
        yield "container/nodePool:NodePool", cloud.project
    if not cloud.service_account:
        yield "serviceaccount/account:Account", cloud.project
        yield "projects/iAMMember:IAMMember", cloud.project
    for registry in cloud.registries:
        yield (
            "artifactregistry/repositoryIamMember:RepositoryIamMember",
            registry.project or cloud.project,
        )
    yield from _agents(cloud)
    if not demand.new:
        return
    yield "container/cluster:Cluster", cloud.project
    if not cloud.network.existing:
        yield "compute/network:Network", cloud.project
        yield "compute/subnetwork:Subnetwork", cloud.project
        if cloud.network.private_nodes and cloud.network.outbound_type == "cloudNat":
            yield "compute/router:Router", cloud.project
            yield "compute/routerNat:RouterNat", cloud.project
    if demand.spec.workloads.checkpoints:
        place = BUCKET if demand.existing_bucket else cloud.project
        if not demand.existing_bucket:
            yield "storage/bucket:Bucket", place
        if demand.spec.workloads.profiles:
            for type in ("bucketIAMMember:BucketIAMMember", "managedFolder:ManagedFolder"):
                yield f"storage/{type}", place
            yield "storage/managedFolderIamMember:ManagedFolderIamMember", place


def _agents(cloud: Gcp) -> Iterator[tuple[str, str]]:
    """Yield the rights of Google's agents at keys, and at the network of another project."""
    if cloud.encryption.grant_access:
        for key in (cloud.encryption.secrets_key, cloud.encryption.boot_disk_key):
            if key:
                yield "kms/cryptoKeyIAMMember:CryptoKeyIAMMember", key.text.split("/")[1]
    network = cloud.network.existing
    if network and network.grant_access and network.project not in (None, cloud.project):
        yield "compute/subnetworkIAMMember:SubnetworkIAMMember", str(network.project)
        yield "projects/iAMMember:IAMMember", str(network.project)
