"""VPC networks (terraform-provider-google-beta services/compute/resource_compute_network.go)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import errors, ids
from sandbox.gcp.resources.resource_type import Kind
from sandbox.gcp.resources.validation import GCE_NAME, one_of

NETWORK = "gcp:compute/network:Network"


class Network(Kind):
    """A network. Deliberately makes no subnets and routes of its own where it is in auto mode: no type shows them."""

    token = NETWORK
    path = "projects/{project}/global/networks/{name}"
    creating = "Error creating Network: "
    updating = 'Error updating Network "{id}": '
    deleting = "Error when reading or editing Network: "
    virtual = Kind.virtual | {"deleteDefaultRoutesOnCreate", "deleteBgpAlwaysCompareMed"}
    defaults: ClassVar[Any] = MappingProxyType(
        {"autoCreateSubnetworks": True, "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL"}
    )
    checks: ClassVar[Any] = MappingProxyType(
        {
            "name": GCE_NAME,
            "routingMode": one_of("REGIONAL", "GLOBAL", ""),
            "networkFirewallPolicyEnforcementOrder": one_of("BEFORE_CLASSIC_FIREWALL", "AFTER_CLASSIC_FIREWALL", ""),
        }
    )

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        return {
            "mtu": 1460,
            "routingMode": "REGIONAL",
            "deleteDefaultRoutesOnCreate": False,
            **wanted,
            "name": ids.last(id),
            "project": ids.project_of(id),
            "gatewayIpv4": "",
            "networkId": ids.digits(19, id),
            "numericId": ids.digits(19, id),
            "selfLink": ids.self_link(id),
        }

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        return planned

    def check_delete(self, resources: Resources, id: str) -> None:
        users = [r.id for r in resources.records.values() if _network_of(r) == ids.key(id)]
        if users:
            raise errors.in_use("network", id, users[0])


def _network_of(record: Record) -> str:
    """The id of the network a resource is in; empty for none."""
    reference = record.body.get("network")
    if not isinstance(reference, str) or record.token == NETWORK:
        return ""
    return ids.key(ids.network(record.body.get("project", ""), reference))


def require_network(resources: Resources, project: str, reference: str) -> Record:
    """The network that a Compute Engine resource names. Raises Compute Engine's 404."""
    id = ids.network(project, reference)
    found = resources.get(id)
    if found is None or found.token != NETWORK:
        raise errors.no_resource(id)
    return found
