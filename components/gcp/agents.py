"""Google's service agents: the accounts of its services in a project, and their rights at keys and
networks.

Their owners, or this program, grant the agents access to existing keys and to a Shared VPC.
"""

from __future__ import annotations

import pulumi
from pulumi_gcp import compute, kms, organizations, projects

from components import references
from config.clouds.gcp.gcp_settings import Gcp
from config.model.fields import Reference

KEY_ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
"""Pages encrypting-secrets (Kubernetes Engine's agent) and using-cmek (Compute Engine's)."""

HOST_ROLE, NETWORK_ROLE = "roles/container.hostServiceAgentUser", "roles/compute.networkUser"
"""Page cluster-shared-vpc; terraform-provider-google, TestAccContainerCluster_sharedVpc."""


def declare_rights(name: str, cloud: Gcp, parent: pulumi.Resource) -> list[pulumi.Resource]:
    """Declare the rights of the agents at the keys and the network of a stack file; cluster and
    pools wait for them.

    The rights outlive the stack: agents belong to the project, and another cluster's disks may use
    the same key. Raise `pulumi.RunError` if the project cannot be read.
    """
    kept = pulumi.ResourceOptions(parent=parent, retain_on_delete=True)
    encryption, network = cloud.encryption, cloud.network.existing
    keys = (
        (encryption.secrets_key, encryption.boot_disk_key)
        if encryption.grant_access
        else (None, None)
    )
    host = (
        network.project
        if network and network.grant_access and network.project != cloud.project
        else None
    )
    if not (any(keys) or host):
        return []
    agents = _agents_number(cloud.project, parent)
    kubernetes = f"serviceAccount:service-{agents}@container-engine-robot.iam.gserviceaccount.com"

    def key(ending: str, key: Reference, member: str) -> pulumi.Resource:
        return kms.CryptoKeyIAMMember(
            f"{name}-{ending}",
            crypto_key_id=references.output(key),
            role=KEY_ROLE,
            member=member,
            opts=kept,
        )

    def subnet(ending: str, subnet: Reference, member: str) -> pulumi.Resource:
        return compute.SubnetworkIAMMember(
            f"{name}-{ending}",
            project=host,
            region=cloud.region or "",
            subnetwork=references.output(subnet),
            role=NETWORK_ROLE,
            member=member,
            opts=kept,
        )

    declared: list[pulumi.Resource] = []
    secrets, disks = keys
    if secrets:
        declared.append(key("secrets-key", secrets, kubernetes))
    if disks:
        compute_engine = f"serviceAccount:service-{agents}@compute-system.iam.gserviceaccount.com"
        declared.append(key("disks-key", disks, compute_engine))
    if host and network:
        google = f"serviceAccount:{agents}@cloudservices.gserviceaccount.com"
        member = projects.IAMMember(
            f"{name}-host", project=host, role=HOST_ROLE, member=kubernetes, opts=kept
        )
        declared += [
            member,
            subnet("subnet-kubernetes", network.subnet, kubernetes),
            subnet("subnet-google", network.subnet, google),
        ]
    return declared


def _agents_number(project: str, parent: pulumi.Resource) -> str:
    remedy = (
        "write `grantAccess: false` under cloud.encryption and cloud.network.existing, and have "
        "the owners grant it"
    )
    return project_number(project, parent, "the service agents' names", f"\n  or {remedy}")


def project_number(project: str, parent: pulumi.Resource, needed: str, otherwise: str = "") -> str:
    """Return a project's number. Raise `pulumi.RunError` if it is unreadable; `needed`: why."""
    try:
        return organizations.get_project(
            project_id=project, opts=pulumi.InvokeOptions(parent=parent)
        ).number
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        reason = " ".join(str(failed).split())
        raise pulumi.RunError(
            f"cloud.project: {project} cannot be read; {needed} contain its number\n  "
            f"{reason}{otherwise}"
        ) from None
