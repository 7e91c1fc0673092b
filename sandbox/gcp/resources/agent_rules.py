"""Rules on the roles of Google's service agents: on keys and on a Shared VPC, before a cluster or pool can use them.

Only grants in the state count, also those in other projects: an owner who granted a role beforehand writes it into the cloud
file. Words UNCONFIRMED; the permissions are those of the roles.
"""

from sandbox.cloud import rules
from sandbox.cloud.state import Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused
from sandbox.gcp.resources.gcp_cluster_request import ClusterRequest
from sandbox.gcp.resources.gcp_pool_request import PoolRequest

_KEY_ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_HOST_ROLE = "roles/container.hostServiceAgentUser"
_NETWORK_ROLE = "roles/compute.networkUser"


def _agent(service: str, project: str) -> str:
    return f"service-{gcp_ids.project_number(project)}@{service}.iam.gserviceaccount.com"


def kubernetes(project: str) -> str:
    """Kubernetes Engine's agent of a project."""
    return _agent("container-engine-robot", project)


def compute(project: str) -> str:
    """Compute Engine's agent of a project."""
    return _agent("compute-system", project)


def google(project: str) -> str:
    """The account of Google's APIs in a project."""
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
    key, agent = encryption["keyName"], kubernetes(request.project)
    if _granted(request.resources, key, _KEY_ROLE, agent):
        return None
    return _denied("cloudkms.cryptoKeyVersions.useToEncrypt", key, agent)


@rules.as_read
def boot_disk_key(request: PoolRequest) -> GcpRefused | None:
    # Page using-cmek: Compute Engine's agent; terraform-provider-google, TestAccContainerNodePool_withBootDiskKmsKey.
    key, agent = request.config.get("bootDiskKmsKey"), compute(gcp_ids.project_of(request.id))
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
    agent = kubernetes(request.project)
    if not _granted(request.resources, host, _HOST_ROLE, agent):
        return _denied("container.hostServiceAgent.use", f"projects/{host}", agent)
    for account in (agent, google(request.project)):
        if not any(_granted(request.resources, on, _NETWORK_ROLE, account) for on in (subnet, host)):
            return _denied("compute.subnetworks.use", subnet, account)
    return None
