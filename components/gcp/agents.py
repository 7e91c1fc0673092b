"""Google's service agents: the accounts by which its services act in a project, and the rights they need elsewhere.

Keys and a Shared VPC exist beside the cluster, so their owners, or this program, grant the agents access.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pulumi

from components.gcp.types import GET_PROJECT, KEY_MEMBER, PROJECT_MEMBER, SUBNETWORK_MEMBER
from components.resources import Declared, call
from config.clouds.gcp.settings import Gcp

KEY_ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
"""Pages encrypting-secrets (Kubernetes Engine's agent) and using-cmek (Compute Engine's)."""

HOST_ROLE, NETWORK_ROLE = "roles/container.hostServiceAgentUser", "roles/compute.networkUser"
"""Page cluster-shared-vpc; terraform-provider-google, TestAccContainerCluster_sharedVpc."""


@dataclass(frozen=True)
class Grant:
    """One role of one agent at a resource beside the cluster."""

    name: str
    """The end of the resource's name, after the cluster's."""
    type: str
    inputs: dict[str, str]


def grants(cloud: Gcp, number: str) -> Iterator[Grant]:
    """Rights of the agents of the project with this number at the keys and the network of a stack file."""
    kubernetes = f"serviceAccount:service-{number}@container-engine-robot.iam.gserviceaccount.com"
    compute = f"serviceAccount:service-{number}@compute-system.iam.gserviceaccount.com"
    google = f"serviceAccount:{number}@cloudservices.gserviceaccount.com"
    if cloud.encryption.grant_access:
        keys = (
            ("secrets", cloud.encryption.secrets_key, kubernetes),
            ("disks", cloud.encryption.boot_disk_key, compute),
        )
        for name, key, member in keys:
            if key:
                yield Grant(f"{name}-key", KEY_MEMBER, {"cryptoKeyId": key, "role": KEY_ROLE, "member": member})
    network = cloud.network.existing
    if network and network.grant_access and network.project and network.project != cloud.project:
        yield Grant("host", PROJECT_MEMBER, {"project": network.project, "role": HOST_ROLE, "member": kubernetes})
        subnet = {
            "project": network.project,
            "region": cloud.region or "",
            "subnetwork": network.subnet,
            "role": NETWORK_ROLE,
        }
        yield Grant("subnet-kubernetes", SUBNETWORK_MEMBER, {**subnet, "member": kubernetes})
        yield Grant("subnet-google", SUBNETWORK_MEMBER, {**subnet, "member": google})


def declare(name: str, cloud: Gcp, parent: pulumi.Resource) -> list[pulumi.Resource]:
    """The grants that the stack file needs; cluster and pools wait for them.

    They stay when the stack goes: agents are the project's, and another cluster's disks may be encrypted with the same key.
    Raises `pulumi.RunError` when the project cannot be read.
    """
    if not list(grants(cloud, "")):
        return []
    return [
        Declared(
            grant.type,
            f"{name}-{grant.name}",
            grant.inputs,
            pulumi.ResourceOptions(parent=parent, retain_on_delete=True),
            outputs=(),
        )
        for grant in grants(cloud, _agents_number(cloud.project, parent))
    ]


def _agents_number(project: str, parent: pulumi.Resource) -> str:
    remedy = (
        "write `grantAccess: false` under cloud.encryption and cloud.network.existing, and have the owners grant it"
    )
    return number(project, parent, "the service agents' names", f"\n  or {remedy}")


def number(project: str, parent: pulumi.Resource, needed: str, otherwise: str = "") -> str:
    """The number of a project. Raises `pulumi.RunError` when it cannot be read; `needed` says what contains it."""
    try:
        return str(call(GET_PROJECT, {"projectId": project}, pulumi.InvokeOptions(parent=parent))["number"])
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        reason = " ".join(str(failed).split())
        raise pulumi.RunError(
            f"cloud.project: {project} cannot be read; {needed} contain its number\n  {reason}{otherwise}"
        ) from None
