"""Rules of GKE on the address ranges of a cluster: one function a rule, each with its source.

GKE refuses ranges that are taken only at the end of the operation; here the refusal comes at once.
"""

import ipaddress
from collections.abc import Iterator

from sandbox.cloud import rules
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Record
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_network import SUBNETWORK, conflict, ranges
from sandbox.gcp.resources.gcp_requests import CLUSTER, ClusterRequest


def secondary_ranges(request: ClusterRequest) -> GcpRefused | None:
    # fabianlee #2 (2024) for pods; for Services by analogy, UNCONFIRMED.
    subnet = request.resources.get(request.body["subnetwork"])
    known = ranges(subnet.body) if subnet else {}
    policy = request.body["ipAllocationPolicy"]
    for field, what in (("clusterSecondaryRangeName", "Pod"), ("servicesSecondaryRangeName", "Services")):
        name = policy.get(field)
        if name and name not in known:
            refused = bad_request(
                f'{what} secondary range "{name}" not found in network "{gcp_ids.last(request.body["network"])}", '
                f'subnetwork "{gcp_ids.last(request.body["subnetwork"])}".'
            )
            return refused if what == "Pod" else refused.as_read()
    return None


@rules.as_read
def services_of_one_cluster(request: ClusterRequest) -> GcpRefused | None:
    # Page alias-ips: clusters can share a pod range, but not a Services range. Words UNCONFIRMED.
    range_name = request.body["ipAllocationPolicy"].get("servicesSecondaryRangeName")
    for other in request.resources.of_type(CLUSTER):
        if gcp_ids.key(other.id) == gcp_ids.key(request.id) or other.body["subnetwork"] != request.body["subnetwork"]:
            continue
        if range_name and other.body["ipAllocationPolicy"].get("servicesSecondaryRangeName") == range_name:
            return bad_request(
                f'Services secondary range "{range_name}" is already in use by cluster "{gcp_ids.last(other.id)}".'
            )
    return None


@rules.as_read
def range_overlap(request: ClusterRequest) -> GcpRefused | None:
    # Pages alias-ips and private-clusters: the ranges of a cluster do not overlap. Words UNCONFIRMED.
    subnet = request.resources.get(request.body["subnetwork"])
    texts = {
        "node range": subnet.body["ipCidrRange"] if subnet else None,
        "pod range": request.body["clusterIpv4Cidr"],
        "Services range": request.body["servicesIpv4Cidr"],
        "control plane range": request.body["privateClusterConfig"].get("masterIpv4CidrBlock"),
    }
    blocks = [(name, ipaddress.ip_network(text, strict=False)) for name, text in texts.items() if text and "/" in text]
    for index, (name, block) in enumerate(blocks):
        for other_name, other in blocks[:index]:
            if block.version == other.version and block.overlaps(other):
                return bad_request(f"The {name} {block} overlaps the {other_name} {other}.")
    return None


@rules.as_read
def service_range_size(request: ClusterRequest) -> GcpRefused | None:
    # Page alias-ips, "Cluster sizing secondary range for services": /27 is the smallest, /16 the largest. Words UNCONFIRMED.
    size = ipaddress.ip_network(request.body["servicesIpv4Cidr"], strict=False).prefixlen
    if not 16 <= size <= 27:
        return bad_request(f"Services range {request.body['servicesIpv4Cidr']} must be between /16 and /27.")
    return None


@rules.as_read
def pod_range_size(request: ClusterRequest) -> GcpRefused | None:
    # Page alias-ips: a node takes twice as many addresses as it has pods; the range holds at least one node. Words UNCONFIRMED.
    pods: int = request.body["defaultMaxPodsPerNode"]
    needed = 32 - max(1, (2 * pods - 1).bit_length())
    text = request.body["clusterIpv4Cidr"]
    if ipaddress.ip_network(text, strict=False).prefixlen > needed:
        return bad_request(f"Pod range {text} has no room for a node with {pods} pods, which takes a /{needed}.")
    return None


def whole_ranges(request: ClusterRequest) -> Refused | None:
    # The sandbox's own refusal: GKE also accepts a size such as /14 and chooses the range.
    for field, text in _blocks(request):
        try:
            ipaddress.ip_network(text)
        except ValueError:
            return Refused(f"the sandbox emulates {field} only as ADDRESS/SIZE, not as '{text}'")
    return None


def pods_and_services(request: ClusterRequest) -> Refused | None:
    # terraform-google-gke-gitlab PR 17
    for index, (_, text) in enumerate(_blocks(request)):
        for _, _, taken in _taken(request):
            if ipaddress.ip_network(text).overlaps(ipaddress.ip_network(taken)):
                return Refused(
                    "Error waiting for creating GKE cluster: Retry budget exhausted (10 attempts): Google Compute Engine: Invalid "
                    f"value for field 'resource.secondaryIpRanges[{index}].ipCidrRange': '{text}'. Invalid IPCidrRange: {text} "
                    f"conflicts with reserved IP range '{taken}'."
                )
    return None


def _blocks(request: ClusterRequest) -> list[tuple[str, str]]:
    """Return the ranges that GKE adds to the subnet for a new cluster, by field."""
    policy = request.wanted.get("ipAllocationPolicy") or {}
    if request.current is not None:
        return []
    return [(field, policy[field]) for field in ("clusterIpv4CidrBlock", "servicesIpv4CidrBlock") if policy.get(field)]


def control_plane_range(request: ClusterRequest) -> Refused | None:
    # Page private-clusters, and a log of two clusters of one VPC in two regions.
    text = request.body["privateClusterConfig"].get("masterIpv4CidrBlock")
    if not text:
        return None
    for name, record, taken in _taken(request):
        if ipaddress.ip_network(text).overlaps(ipaddress.ip_network(taken)):
            where = conflict(text, name, _subnet_id(record))
            return Refused(f"Error waiting for creating GKE cluster: Conflicting IP cidr range: {where}")
    return None


def _taken(request: ClusterRequest) -> Iterator[tuple[str, Record, str]]:
    """Yield the IPv4 ranges in the cluster's network: name of the subnet, its owner, and the range."""
    mine = gcp_ids.key(request.body["network"])
    for subnet in request.resources.of_type(SUBNETWORK):
        if gcp_ids.key(gcp_ids.network(gcp_ids.project_of(subnet.id), subnet.body["network"])) == mine:
            for text in (subnet.body["ipCidrRange"], *ranges(subnet.body).values()):
                yield gcp_ids.last(subnet.id), subnet, text
    for other in request.resources.of_type(CLUSTER):
        text = other.body["privateClusterConfig"].get("masterIpv4CidrBlock")
        if text and gcp_ids.key(other.id) != gcp_ids.key(request.id) and gcp_ids.key(other.body["network"]) == mine:
            yield f"gke-{gcp_ids.last(other.id)}-{gcp_ids.hexadecimal(8, other.id)}-pe-subnet", other, text


def _subnet_id(record: Record) -> str:
    """Return the id of a subnet itself, or of the subnet of a cluster's nodes, which is in the cluster's region."""
    return str(record.body["subnetwork"]) if record.token == CLUSTER else record.id
