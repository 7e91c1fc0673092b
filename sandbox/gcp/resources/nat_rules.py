"""What Compute Engine refuses about the NAT of a router: one function a rule.

Rules are those of the REST reference, routers#nats; the words of all are UNCONFIRMED.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import ids
from sandbox.gcp.errors import GcpRefused, invalid, no_resource

NAT = "gcp:compute/routerNat:RouterNat"
ALL = ("ALL_SUBNETWORKS_ALL_IP_RANGES", "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES")

_FIELD = "Invalid value for field 'resource.nats[0]"


@dataclass
class NatRequest:
    """`body` is what would result on `router`."""

    id: str
    body: Body
    router: Record
    resources: Resources

    @property
    def ranges(self) -> str:
        found: str = self.body["sourceSubnetworkIpRangesToNat"]
        return found


def router_of(resources: Resources, nat_id: str) -> Record | None:
    project, region, router, _ = nat_id.split("/")
    return resources.get(ids.regional(project, region, "routers", router))


def addresses(request: NatRequest) -> GcpRefused | None:
    option = request.body.get("natIpAllocateOption")
    if not option and request.body.get("type") == "PUBLIC":
        return invalid(f"{_FIELD}.natIpAllocateOption': ''. Must be specified.")
    if (option == "MANUAL_ONLY") != bool(request.body.get("natIps")):
        return invalid(f"{_FIELD}.natIps': they go with MANUAL_ONLY.")
    return None


def listed_subnetworks(request: NatRequest) -> GcpRefused | None:
    if (request.ranges == "LIST_OF_SUBNETWORKS") != bool(request.body.get("subnetworks")):
        return invalid(f"{_FIELD}.subnetworks': they go with LIST_OF_SUBNETWORKS.")
    return None


def subnetworks_exist(request: NatRequest) -> GcpRefused | None:
    project, region = ids.project_of(request.router.id), ids.region_of(request.router.id)
    for subnet in request.body.get("subnetworks", []):
        id = ids.regional(project, region, "subnetworks", subnet["name"])
        if request.resources.get(id) is None:
            return no_resource(id)
    return None


def alone(request: NatRequest) -> GcpRefused | None:
    # The provider's text on source_subnetwork_ip_ranges_to_nat: one for all subnetworks has no other beside it.
    for other in request.resources.of(NAT):
        beside = router_of(request.resources, other.id)
        if ids.key(other.id) == ids.key(request.id) or beside is None:
            continue
        same_network = beside.body["network"] == request.router.body["network"]
        same_region = ids.region_of(beside.id) == ids.region_of(request.router.id)
        if same_network and same_region and {request.ranges, other.body["sourceSubnetworkIpRangesToNat"]} & set(ALL):
            return invalid(
                f"{_FIELD}.sourceSubnetworkIpRangesToNat': '{request.ranges}'. Only one NAT of a network and region can be for "
                f"all subnetworks; there is {ids.last(other.id)}."
            )
    return None


RULES: tuple[Callable[[NatRequest], GcpRefused | None], ...] = (
    addresses,
    listed_subnetworks,
    subnetworks_exist,
    alone,
)
