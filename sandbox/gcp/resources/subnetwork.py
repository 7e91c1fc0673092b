"""Subnets and their secondary ranges (terraform-provider-google-beta services/compute/resource_compute_subnetwork.go)."""

from typing import Any

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_errors, gcp_ids
from sandbox.gcp.resources import gcp_network as networks
from sandbox.gcp.resources import gcp_subnet_rules
from sandbox.gcp.resources.gcp_resource_type import GcpType
from sandbox.gcp.resources.gcp_subnet_rules import SubnetRequest


class Subnetwork(GcpType):
    """A subnet of a network, in one region."""

    def replaced_by(self, path: str, old: Any, new: Any) -> bool:
        # IsShrinkageIpCidr: a range can only grow in place
        if path != "ipCidrRange" or not isinstance(old, str) or not isinstance(new, str):
            return False
        try:
            return not gcp_subnet_rules.network(old).subnet_of(gcp_subnet_rules.network(new))  # type: ignore[arg-type]
        except (ValueError, TypeError):
            return False

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        gcp_subnet_rules.region_exists(gcp_ids.region_of(id))
        network = networks.require_network(resources, gcp_ids.project_of(id), wanted["network"])
        body = super().create(resources, id, wanted)
        body |= {"network": gcp_ids.self_link(network.id), "subnetworkId": int(gcp_ids.digits(9, id))}
        return _checked(resources, id, body, None)

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        return _checked(resources, record.id, planned, record.body)

    def check_delete(self, resources: Resources, id: str) -> None:
        for cluster in gcp_subnet_rules.clusters_in(resources, id):
            # What of a cluster is in its subnet even without nodes is the endpoint of its control plane; the name is ours.
            project, region = gcp_ids.project_of(id), gcp_ids.region_of(id)
            name = f"gke-{cluster.body['name']}-{gcp_ids.hexadecimal(8, cluster.id)}-pe"
            raise gcp_errors.in_use("subnetwork", id, f"projects/{project}/regions/{region}/forwardingRules/{name}")


def _checked(resources: Resources, id: str, body: Body, current: Body | None) -> Body:
    rules.check(gcp_subnet_rules.RULES, SubnetRequest(id, body, current, resources))
    body["gatewayAddress"] = str(gcp_subnet_rules.network(body["ipCidrRange"])[1])
    return body
