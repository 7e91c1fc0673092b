"""VPC networks (terraform-provider-google-beta services/compute/resource_compute_network.go)."""

from sandbox.cloud.state import Record, Resources
from sandbox.gcp import gcp_errors, gcp_ids
from sandbox.gcp.resources.gcp_resource_type import GcpType

NETWORK = "gcp:compute/network:Network"


class Network(GcpType):
    """A network."""

    def check_delete(self, resources: Resources, id: str) -> None:
        users = [r.id for r in resources.records.values() if _network_of(r) == gcp_ids.key(id)]
        if users:
            raise gcp_errors.in_use("network", id, users[0])


def _network_of(record: Record) -> str:
    """The id of the network a resource is in; empty for none."""
    reference = record.body.get("network")
    if not isinstance(reference, str) or record.token == NETWORK:
        return ""
    return gcp_ids.key(gcp_ids.network(record.body.get("project", ""), reference))


def require_network(resources: Resources, project: str, reference: str) -> Record:
    """The network that a Compute Engine resource names. Raises Compute Engine's 404."""
    id = gcp_ids.network(project, reference)
    record = resources.get(id)
    if record is None or record.token != NETWORK:
        raise gcp_errors.no_resource(id)
    return record
