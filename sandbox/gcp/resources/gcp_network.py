"""VPC networks, subnets and their secondary ranges (terraform-provider-google-beta services/compute/resource_compute_network.go,
resource_compute_subnetwork.go); rules of Compute Engine on a subnet: one function a rule.
"""

import ipaddress
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.cloud import rules
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_catalogue, gcp_errors, gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, invalid
from sandbox.gcp.resources.gcp_requests import CLUSTER
from sandbox.gcp.resources.gcp_resource_type import GcpType

NETWORK = "gcp:compute/network:Network"


class Network(GcpType):
    """A network."""

    def check_delete(self, resources: Resources, id: str) -> None:
        users = [r.id for r in resources.records.values() if _network_of(r) == gcp_ids.key(id)]
        if users:
            raise gcp_errors.in_use("network", id, users[0])


def _network_of(record: Record) -> str:
    """Return the id of the network a resource is in; empty for none."""
    reference = record.body.get("network")
    if not isinstance(reference, str) or record.token == NETWORK:
        return ""
    return gcp_ids.key(gcp_ids.network(record.body.get("project", ""), reference))


def require_network(resources: Resources, project: str, reference: str) -> Record:
    """Return the network that a Compute Engine resource names. Raises Compute Engine's 404."""
    id = gcp_ids.network(project, reference)
    record = resources.get(id)
    if record is None or record.token != NETWORK:
        raise gcp_errors.no_resource(id)
    return record


SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"

Range = ipaddress.IPv4Network | ipaddress.IPv6Network

# https://cloud.google.com/vpc/docs/subnets: ranges have at least eight addresses. Public addresses may be used privately, those of
# documentation too; these are prohibited, and Google's own (of https://www.gstatic.com/ipranges/goog.txt, two).
_SMALLEST = 29
_PROHIBITED = tuple(
    ipaddress.ip_network(block)
    for block in (
        "0.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "255.255.255.255/32",
        "199.36.153.4/30",
        "199.36.153.8/30",
        "8.8.4.0/24",
        "8.8.8.0/24",
    )
)


def region_exists(region: str) -> None:
    """Raise Compute Engine's refusal of an unknown region; its text is UNCONFIRMED."""
    if not gcp_catalogue.zones_of_region(region):
        raise invalid(f"Invalid value for field 'region': '{region}'. Unknown region.").as_read()


def parsed_range(text: str) -> Range:
    return ipaddress.ip_network(text, strict=False)


def ranges(body: Body) -> dict[str, str]:
    """Return the secondary ranges of a subnet by name."""
    return {range["rangeName"]: range["ipCidrRange"] for range in body.get("secondaryIpRanges", [])}


def clusters_in(resources: Resources, subnet_id: str) -> list[Record]:
    """Return the clusters whose nodes are in a subnet."""
    return [
        c for c in resources.of_type(CLUSTER) if gcp_ids.key(c.body.get("subnetwork", "")) == gcp_ids.key(subnet_id)
    ]


def _fields(body: Body) -> Iterator[tuple[str, str]]:
    """Yield every range of a subnet, with its field."""
    yield "resource.ipCidrRange", body["ipCidrRange"]
    for index, range in enumerate(body.get("secondaryIpRanges", [])):
        yield f"resource.secondaryIpRanges[{index}].ipCidrRange", range["ipCidrRange"]


def _overlap(first: Range, second: Range) -> bool:
    return first.version == second.version and first.overlaps(second)


@rules.as_read
def range_given(request: ResourceRequest) -> GcpRefused | None:
    # Ranges reserved elsewhere (reservedInternalRange) are not emulated. Words UNCONFIRMED.
    secondary = [range.get("ipCidrRange") for range in request.body.get("secondaryIpRanges", [])]
    if not request.body.get("ipCidrRange") or not all(secondary):
        return invalid("Invalid value for field 'resource.ipCidrRange': ''. Must be specified.")
    return None


@rules.as_read
def own_names(request: ResourceRequest) -> GcpRefused | None:
    # REST reference subnetworks: unique within the subnetwork. Words UNCONFIRMED.
    names = [range["rangeName"] for range in request.body.get("secondaryIpRanges", [])]
    for name in names:
        if names.count(name) > 1:
            return invalid(f"Invalid value for field 'resource.secondaryIpRanges': duplicate range name {name}.")
    return None


@rules.as_read
def network_address(request: ResourceRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    for field, text in _fields(request.body):
        if str(parsed_range(text)) != text:
            return invalid(
                f"Invalid value for field '{field}': '{text}'. Invalid IPCidrRange: {text} has host bits set."
            )
    return None


@rules.as_read
def usable_range(request: ResourceRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    for field, text in _fields(request.body):
        range = parsed_range(text)
        if range.prefixlen > _SMALLEST or any(_overlap(range, block) for block in _PROHIBITED):
            return invalid(f"Invalid value for field '{field}': '{text}'. Invalid IPCidrRange: {text} is not allowed.")
    return None


def own_overlap(request: ResourceRequest) -> GcpRefused | None:
    seen: list[Range] = []
    for field, text in _fields(request.body):
        if any(_overlap(parsed_range(text), other) for other in seen):
            return _conflict(field, text, request.id)
        seen.append(parsed_range(text))
    return None


def overlap(request: ResourceRequest) -> GcpRefused | None:
    for other in request.resources.of_type(SUBNETWORK):
        if other.body["network"] != request.body["network"] or gcp_ids.key(other.id) == gcp_ids.key(request.id):
            continue
        for _, taken in _fields(other.body):
            for field, text in _fields(request.body):
                if _overlap(parsed_range(text), parsed_range(taken)):
                    return _conflict(field, text, other.id)
    return None


def _conflict(field: str, text: str, other_id: str) -> GcpRefused:
    # A log in terraform-google-modules/terraform-google-kubernetes-engine, 2018-12.
    return invalid(f"Invalid value for field '{field}': '{text}'. {conflict(text, gcp_ids.last(other_id), other_id)}")


def conflict(text: str, name: str, id: str) -> str:
    """Return Compute Engine's words for a range that the subnet `name` has, in the region of the resource `id`."""
    return (
        f"Invalid IPCidrRange: {text} conflicts with existing subnetwork '{name}' in region '{gcp_ids.region_of(id)}'."
    )


@rules.as_read
def sampling(request: ResourceRequest) -> GcpRefused | None:
    # REST reference subnetworks, logConfig.flowSampling: in [0, 1]. Words UNCONFIRMED.
    share = (request.body.get("logConfig") or {}).get("flowSampling", 0)
    if not 0 <= share <= 1:
        return invalid(f"Invalid value for field 'resource.logConfig.flowSampling': '{share}'. Must be in [0, 1].")
    return None


@rules.as_read
def range_in_use(request: ResourceRequest) -> GcpRefused | None:
    # Page alias-ips: a range that a cluster uses cannot be removed. Words UNCONFIRMED.
    removed = ranges(request.current or {}).keys() - ranges(request.body).keys()
    for cluster in clusters_in(request.resources, request.id):
        policy = cluster.body["ipAllocationPolicy"]
        for field in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
            if policy.get(field) in removed:
                return invalid(f"Cannot remove secondary range {policy[field]} which is in use by {cluster.id}.")
    return None


SUBNET_RULES: tuple[Callable[[ResourceRequest], GcpRefused | None], ...] = (
    *(range_given, own_names, network_address, usable_range, own_overlap, overlap, sampling, range_in_use),
)


class Subnetwork(GcpType):
    """A subnet of a network, in one region."""

    def replaced_by(self, path: str, old: Any, new: Any) -> bool:
        # IsShrinkageIpCidr: a range can only grow in place
        if path != "ipCidrRange" or not isinstance(old, str) or not isinstance(new, str):
            return False
        try:
            return not parsed_range(old).subnet_of(parsed_range(new))  # type: ignore[arg-type]
        except (ValueError, TypeError):
            return False

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        region_exists(gcp_ids.region_of(id))
        network = require_network(resources, gcp_ids.project_of(id), wanted["network"])
        body = super().create(resources, id, wanted)
        body |= {"network": gcp_ids.self_link(network.id), "subnetworkId": int(gcp_ids.digits(9, id))}
        return _checked(resources, id, body, None)

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        return _checked(resources, record.id, planned, record.body)

    def check_delete(self, resources: Resources, id: str) -> None:
        for cluster in clusters_in(resources, id):
            # What of a cluster is in its subnet even without nodes is the endpoint of its control plane; the name is ours.
            project, region = gcp_ids.project_of(id), gcp_ids.region_of(id)
            name = f"gke-{cluster.body['name']}-{gcp_ids.hexadecimal(8, cluster.id)}-pe"
            raise gcp_errors.in_use("subnetwork", id, f"projects/{project}/regions/{region}/forwardingRules/{name}")


def _checked(resources: Resources, id: str, body: Body, current: Body | None) -> Body:
    rules.raise_first(SUBNET_RULES, ResourceRequest(id, body, body, current, resources))
    body["gatewayAddress"] = str(parsed_range(body["ipCidrRange"])[1])
    return body
