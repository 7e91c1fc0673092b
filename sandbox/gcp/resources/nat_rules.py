"""Rules of Compute Engine on the NAT of a router: one function a rule.

The rules are those of the REST reference, routers#nats; all words are UNCONFIRMED.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, invalid, no_resource

NAT = "gcp:compute/routerNat:RouterNat"
ALL = ("ALL_SUBNETWORKS_ALL_IP_RANGES", "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES")

_FIELD = "Invalid value for field 'resource.nats[0]"


@dataclass
class NatRequest:
    """A NAT in a request: `body` is the resulting NAT on `router`."""

    id: str
    body: Body
    router: Record
    resources: Resources

    @property
    def ranges(self) -> str:
        return str(self.body["sourceSubnetworkIpRangesToNat"])


def router_of(resources: Resources, nat_id: str) -> Record | None:
    project, region, router, _ = nat_id.split("/")
    return resources.get(gcp_ids.regional(project, region, "routers", router))


@rules.as_read
def addresses(request: NatRequest) -> GcpRefused | None:
    option = request.body.get("natIpAllocateOption")
    if not option and request.body.get("type") == "PUBLIC":
        return invalid(f"{_FIELD}.natIpAllocateOption': ''. Must be specified.")
    if (option == "MANUAL_ONLY") != bool(request.body.get("natIps")):
        return invalid(f"{_FIELD}.natIps': natIps need MANUAL_ONLY, and MANUAL_ONLY needs natIps.")
    return None


@rules.as_read
def listed_subnetworks(request: NatRequest) -> GcpRefused | None:
    if (request.ranges == "LIST_OF_SUBNETWORKS") != bool(request.body.get("subnetworks")):
        return invalid(
            f"{_FIELD}.subnetworks': subnetworks need LIST_OF_SUBNETWORKS, and LIST_OF_SUBNETWORKS needs subnetworks."
        )
    return None


@rules.as_read
def subnetworks_exist(request: NatRequest) -> GcpRefused | None:
    project, region = gcp_ids.project_of(request.router.id), gcp_ids.region_of(request.router.id)
    for subnet in request.body.get("subnetworks", []):
        id = gcp_ids.regional(project, region, "subnetworks", subnet["name"])
        if request.resources.get(id) is None:
            return no_resource(id)
    return None


@rules.as_read
def alone(request: NatRequest) -> GcpRefused | None:
    # The provider's text on source_subnetwork_ip_ranges_to_nat: a NAT for all subnetworks is the only one of a network and region.
    for other in request.resources.of(NAT):
        beside = router_of(request.resources, other.id)
        if gcp_ids.key(other.id) == gcp_ids.key(request.id) or beside is None:
            continue
        same_network = beside.body["network"] == request.router.body["network"]
        same_region = gcp_ids.region_of(beside.id) == gcp_ids.region_of(request.router.id)
        if same_network and same_region and {request.ranges, other.body["sourceSubnetworkIpRangesToNat"]} & set(ALL):
            return invalid(
                f"{_FIELD}.sourceSubnetworkIpRangesToNat': '{request.ranges}'. Only one NAT of a network and region can be for "
                f"all subnetworks; {gcp_ids.last(other.id)} exists."
            )
    return None


RULES: tuple[Callable[[NatRequest], GcpRefused | None], ...] = (addresses, listed_subnetworks, subnetworks_exist, alone)
