"""Cloud Routers and their NAT (terraform-provider-google-beta services/compute/resource_compute_router{,_nat}.go)."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_errors, gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, invalid, no_resource
from sandbox.gcp.resources import gcp_network as networks
from sandbox.gcp.resources.gcp_network import region_exists
from sandbox.gcp.resources.gcp_resource_type import GcpType

# Rules of Compute Engine on the NAT of a router: one function a rule.
#
# The rules are those of the REST reference, routers#nats; all words are UNCONFIRMED.

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
    for other in request.resources.of_type(NAT):
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


NAT_RULES: tuple[Callable[[NatRequest], GcpRefused | None], ...] = (
    addresses,
    listed_subnetworks,
    subnetworks_exist,
    alone,
)


ROUTER = "gcp:compute/router:Router"


class Router(GcpType):
    """A router of a network, in one region."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        region_exists(gcp_ids.region_of(id))
        network = networks.require_network(resources, gcp_ids.project_of(id), wanted.get("network", "default"))
        return super().create(resources, id, wanted) | {"network": gcp_ids.self_link(network.id)}

    def removed(self, resources: Resources, record: Record) -> None:
        # A NAT is a part of its router; the provider's id for it is not below the router's.
        _, project, _, region, _, name = record.id.split("/")
        for nat in resources.of_type(NAT, below=f"{project}/{region}/{name}"):
            resources.remove(nat.id)


class RouterNat(GcpType):
    """The NAT of a router. The provider's id for it has no `projects/` and `regions/` in it."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        project, region, router_name, name = id.split("/")
        router = router_of(resources, id)
        if router is None:
            raise gcp_errors.no_resource(gcp_ids.regional(project, region, "routers", router_name))
        body = {
            **super().create(resources, id, wanted),
            "name": name,
            "router": router_name,
            "project": project,
            "region": region,
        }
        rules.raise_first(NAT_RULES, NatRequest(id, body, router, resources))
        return body

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        router = router_of(resources, record.id)
        if router is None:
            raise gcp_errors.no_resource(record.id)
        rules.raise_first(NAT_RULES, NatRequest(record.id, planned, router, resources))
        return planned
