"""Cloud Routers and their NAT (terraform-provider-google-beta services/compute/resource_compute_router{,_nat}.go)."""

from sandbox.cloud import rules
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_errors, gcp_ids
from sandbox.gcp.resources import gcp_network as networks
from sandbox.gcp.resources import nat_rules
from sandbox.gcp.resources.gcp_resource_type import GcpType
from sandbox.gcp.resources.gcp_subnet_rules import region_exists
from sandbox.gcp.resources.nat_rules import NAT, NatRequest

ROUTER = "gcp:compute/router:Router"


class Router(GcpType):
    """A router of a network, in one region."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        region_exists(gcp_ids.region_of(id))
        network = networks.require_network(resources, gcp_ids.project_of(id), wanted.get("network", "default"))
        return super().create(resources, id, wanted) | {"network": gcp_ids.self_link(network.id)}

    def removed(self, resources: Resources, record: Record) -> None:
        # A NAT is a part of its router; the provider's id for it is not below the router's.
        for nat in nats_of(resources, record):
            resources.remove(nat.id)


class RouterNat(GcpType):
    """The NAT of a router. The provider's id for it has no `projects/` and `regions/` in it."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        project, region, router_name, name = id.split("/")
        router = nat_rules.router_of(resources, id)
        if router is None:
            raise gcp_errors.no_resource(gcp_ids.regional(project, region, "routers", router_name))
        body = {
            **super().create(resources, id, wanted),
            "name": name,
            "router": router_name,
            "project": project,
            "region": region,
        }
        rules.check(nat_rules.RULES, NatRequest(id, body, router, resources))
        return body

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        router = nat_rules.router_of(resources, record.id)
        if router is None:
            raise gcp_errors.no_resource(record.id)
        rules.check(nat_rules.RULES, NatRequest(record.id, planned, router, resources))
        return planned


def nats_of(resources: Resources, router: Record) -> list[Record]:
    _, project, _, region, _, name = router.id.split("/")
    return resources.of(NAT, below=f"{project}/{region}/{name}")


def existing_nat(nat: Body) -> Refused:
    """The provider's own refusal of a NAT that exists."""
    return Refused(f"Unable to create RouterNat, existing object already found: map[name:{nat['name']}]")
