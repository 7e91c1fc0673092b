"""Service accounts and grants (terraform-provider-google-beta services/resourcemanager, package tpgiamresource)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_requests import ClusterRequest, PoolRequest
from sandbox.gcp.resources.gcp_resource_type import ROLE, GcpType

ACCOUNT = "gcp:serviceaccount/account:Account"

_MEMBER = re.compile(
    r"(user|serviceAccount|group|domain|principal|principalSet|deleted):.+|allUsers|allAuthenticatedUsers"
)
_OWN = re.compile(r"([^@]+)@([^@.]+)\.iam\.gserviceaccount\.com")


def missing_account(resources: Resources, project: str, address: str) -> bool:
    """Return whether a service account's address is one of the project and does not exist.

    Those of other projects, and the ones Google makes, are taken as existing.
    """
    match = _OWN.fullmatch(address)
    return bool(
        match and match[2] == project and resources.get(f"projects/{project}/serviceAccounts/{address}") is None
    )


@dataclass
class GrantRequest:
    """A member that a role is to get."""

    wanted: Body
    resources: Resources


@rules.as_read
def member_form(request: GrantRequest) -> GcpRefused | None:
    # https://cloud.google.com/iam/docs/reference/rest/v1/Policy; the words are UNCONFIRMED
    member = request.wanted["member"]
    return None if _MEMBER.fullmatch(member) else bad_request(f"Invalid argument: '{member}' is not a member.")


def role_form(request: GrantRequest) -> GcpRefused | None:
    # Logs of many projects
    role = request.wanted["role"]
    return None if re.fullmatch(ROLE, role) else bad_request(f"Role {role} is not supported for this resource.")


def account_exists(request: GrantRequest) -> GcpRefused | None:
    # terraform-provider-google #11463 and others
    kind, _, address = request.wanted["member"].partition(":")
    if kind == "serviceAccount" and missing_account(request.resources, request.wanted.get("project", ""), address):
        return bad_request(f"Service account {address} does not exist.")
    return None


GRANT_RULES: tuple[Callable[[GrantRequest], GcpRefused | None], ...] = (member_form, role_form, account_exists)


class Member(GcpType):
    """A member of a role in some resource's policy."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        rules.raise_first(GRANT_RULES, GrantRequest(wanted, resources))
        return {**wanted, "etag": gcp_ids.hexadecimal(12, id)}


# Rules on the roles of Google's service agents: on keys and on a Shared VPC, before a cluster or pool can use them.
#
# Only grants in the state count, also those in other projects: an owner who granted a role beforehand writes it into the cloud
# file. Words UNCONFIRMED; the permissions are those of the roles.

_KEY_ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_HOST_ROLE = "roles/container.hostServiceAgentUser"
_NETWORK_ROLE = "roles/compute.networkUser"


def _agent(service: str, project: str) -> str:
    return f"service-{gcp_ids.project_number(project)}@{service}.iam.gserviceaccount.com"


def kubernetes_agent(project: str) -> str:
    """Return Kubernetes Engine's agent of a project."""
    return _agent("container-engine-robot", project)


def compute_agent(project: str) -> str:
    """Return Compute Engine's agent of a project."""
    return _agent("compute-system", project)


def google_apis_account(project: str) -> str:
    """Return the account of Google's APIs in a project."""
    return f"{gcp_ids.project_number(project)}@cloudservices.gserviceaccount.com"


def _granted(resources: Resources, on: str, role: str, agent: str) -> bool:
    return resources.get(f"{on}/{role}/serviceAccount:{agent}") is not None


def _denied(permission: str, on: str, agent: str) -> GcpRefused:
    return GcpRefused(
        403, f"Permission '{permission}' denied on resource '{on}' (or it may not exist) for {agent}.", "forbidden"
    )


@rules.as_read
def secrets_key(request: ClusterRequest) -> GcpRefused | None:
    # Page encrypting-secrets: "Grant permission to use the key"; terraform-provider-google, tests of database_encryption.
    encryption = request.body["databaseEncryption"]
    if encryption["state"] != "ENCRYPTED" or (request.current or {}).get("databaseEncryption") == encryption:
        return None
    key, agent = encryption["keyName"], kubernetes_agent(request.project)
    if _granted(request.resources, key, _KEY_ROLE, agent):
        return None
    return _denied("cloudkms.cryptoKeyVersions.useToEncrypt", key, agent)


@rules.as_read
def boot_disk_key(request: PoolRequest) -> GcpRefused | None:
    # Page using-cmek: Compute Engine's agent; terraform-provider-google, TestAccContainerNodePool_withBootDiskKmsKey.
    key, agent = request.config.get("bootDiskKmsKey"), compute_agent(gcp_ids.project_of(request.id))
    if request.current is not None or not key or _granted(request.resources, key, _KEY_ROLE, agent):
        return None
    return _denied("cloudkms.cryptoKeyVersions.useToEncrypt", key, agent)


@rules.as_read
def shared_vpc(request: ClusterRequest) -> GcpRefused | None:
    # Page cluster-shared-vpc; terraform-provider-google, TestAccContainerCluster_sharedVpc.
    subnet = gcp_ids.path(request.body["subnetwork"])
    host = gcp_ids.project_of(subnet)
    if request.current is not None or host == request.project:
        return None
    agent = kubernetes_agent(request.project)
    if not _granted(request.resources, host, _HOST_ROLE, agent):
        return _denied("container.hostServiceAgent.use", f"projects/{host}", agent)
    for account in (agent, google_apis_account(request.project)):
        if not any(_granted(request.resources, on, _NETWORK_ROLE, account) for on in (subnet, host)):
            return _denied("compute.subnetworks.use", subnet, account)
    return None
