"""Cloud Routers and their NAT (terraform-provider-google-beta services/compute/resource_compute_router{,_nat}.go)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import errors, ids
from sandbox.gcp.resources import nat_rules
from sandbox.gcp.resources import network as networks
from sandbox.gcp.resources.nat_rules import NAT, NatRequest
from sandbox.gcp.resources.resource_type import Kind, Settings, region_parameters
from sandbox.gcp.resources.subnet_rules import region_exists
from sandbox.gcp.resources.validation import GCE_NAME, NAT_NAME, one_of

ROUTER = "gcp:compute/router:Router"


class Router(Kind):
    """A router of a network, in one region."""

    token = ROUTER
    path = "projects/{project}/regions/{region}/routers/{name}"
    creating = "Error creating Router: "
    updating = 'Error updating Router "{id}": '
    deleting = "Error when reading or editing Router: "
    links = frozenset({"network", "region"})
    defaults: ClassVar[Any] = MappingProxyType({"bgp.advertiseMode": "DEFAULT", "bgp.keepaliveInterval": 20})
    checks: ClassVar[Any] = MappingProxyType({"name": GCE_NAME, "bgp.advertiseMode": one_of("DEFAULT", "CUSTOM", "")})

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        return region_parameters(self, inputs, settings)

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        region_exists(ids.region_of(id))
        network = networks.require_network(resources, ids.project_of(id), wanted.get("network", "default"))
        return {
            **wanted,
            "name": ids.last(id),
            "project": ids.project_of(id),
            "region": ids.region_of(id),
            "network": ids.self_link(network.id),
            "creationTimestamp": "2026-11-21T00:00:00.000-08:00",
            "selfLink": ids.self_link(id),
        }

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        return planned

    def removed(self, resources: Resources, record: Record) -> None:
        # A NAT is a part of its router; the provider's id for it is not below the router's.
        for nat in nats_of(resources, record):
            resources.remove(nat.id)


class RouterNat(Kind):
    """The NAT of a router. The provider's id for it has no `projects/` and `regions/` in it."""

    token = NAT
    path = "{project}/{region}/{router}/{name}"
    creating = "Error creating RouterNat: "
    updating = 'Error updating RouterNat "{id}": '
    deleting = "Error when reading or editing RouterNat: "
    sets = frozenset({"natIps", "drainNatIps"})
    links = frozenset({"router", "region"})
    defaults: ClassVar[Any] = MappingProxyType(
        {
            "icmpIdleTimeoutSec": 30,
            "tcpEstablishedIdleTimeoutSec": 1200,
            "tcpTimeWaitTimeoutSec": 120,
            "tcpTransitoryIdleTimeoutSec": 30,
            "udpIdleTimeoutSec": 30,
            "type": "PUBLIC",
        }
    )
    checks: ClassVar[Any] = MappingProxyType(
        {
            "name": NAT_NAME,
            "natIpAllocateOption": one_of("MANUAL_ONLY", "AUTO_ONLY", ""),
            "sourceSubnetworkIpRangesToNat": one_of(*nat_rules.ALL, "LIST_OF_SUBNETWORKS"),
            "logConfig.filter": one_of("ERRORS_ONLY", "TRANSLATIONS_ONLY", "ALL"),
        }
    )

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        values = region_parameters(self, inputs, settings)
        return {**values, "router": ids.last(values["router"])}

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        project, region, router_name, name = id.split("/")
        router = nat_rules.router_of(resources, id)
        if router is None:
            raise errors.no_resource(ids.regional(project, region, "routers", router_name))
        body = {
            "autoNetworkTier": "PREMIUM",
            "enableDynamicPortAllocation": False,
            "enableEndpointIndependentMapping": False,
            "endpointTypes": ["ENDPOINT_TYPE_VM"],
            "minPortsPerVm": 0,
            **wanted,
            "name": name,
            "router": router_name,
            "project": project,
            "region": region,
        }
        nat_rules.check(NatRequest(id, body, router, resources))
        return body

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        router = nat_rules.router_of(resources, record.id)
        if router is None:
            raise errors.no_resource(record.id)
        nat_rules.check(NatRequest(record.id, planned, router, resources))
        return planned


def nats_of(resources: Resources, router: Record) -> list[Record]:
    _, project, _, region, _, name = router.id.split("/")
    return resources.of(NAT, below=f"{project}/{region}/{name}")


def existing_nat(found: Body) -> Refused:
    """What the provider itself says of a NAT that is there already."""
    return Refused(f"Unable to create RouterNat, existing object already found: map[name:{found['name']}]")
