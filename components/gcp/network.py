"""The VPC-native network of the nodes: made here, or somebody else's."""

from __future__ import annotations

import pulumi

from components import links
from components.gcp.types import GET_SUBNETWORK, NETWORK, ROUTER, ROUTER_NAT, SUBNETWORK
from components.resources import Declared, call
from config.clouds.gcp.settings import Gcp, GcpExistingNetwork
from config.problems import Problem, report

PODS, SERVICES = "pods", "services"
"""Names of the secondary ranges made here."""

_WHERE = "cloud.network.existing"


def refuse(cloud: Gcp, reading: pulumi.InvokeOptions | None = None) -> None:
    """Raises `pulumi.RunError` when the network that the stack file names lacks what the cluster needs, or cannot be read."""
    there = cloud.network.existing
    if there is None or cloud.region is None:
        return
    if links.is_placeholder(there.name, there.subnet, there.pod_range, there.service_range):
        return  # made with the cluster
    project = there.project or cloud.project
    place = f"subnet {there.subnet!r} in {cloud.region} of project {project}"
    try:
        found = call(GET_SUBNETWORK, {"project": project, "region": cloud.region, "name": there.subnet}, reading)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        if "not found" not in str(failed).lower():
            raise pulumi.RunError(f"{_WHERE}: {place} cannot be read\n  {' '.join(str(failed).split())}") from None
        remedy = (
            f"gcloud compute networks subnets list --project {project} --regions {cloud.region}   shows those there are"
        )
        raise pulumi.RunError(report([Problem(f"{_WHERE}.subnet", f"there is no {place}", remedy)])) from None
    problems = []
    network = str(found.get("network") or "").rpartition("/")[2]
    if network != there.name:
        what = f"{place} is of network {network!r}, not of {there.name!r}"
        problems.append(Problem(f"{_WHERE}.name", what, f"write `name: {network}`, or the name of another subnet"))
    ranges = [one["rangeName"] for one in found.get("secondaryIpRanges") or ()]
    for key, name in (("podRange", there.pod_range), ("serviceRange", there.service_range)):
        if name not in ranges:
            what = f"{place} has no secondary range {name!r}"
            remedy = (
                f"write one of those it has: {', '.join(ranges)}" if ranges else "it has none; add both ranges to it"
            )
            problems.append(Problem(f"{_WHERE}.{key}", what, remedy))
    if problems:
        raise pulumi.RunError(report(problems))


class Network(pulumi.ComponentResource):
    """Network, subnet and ranges of a cluster. Of somebody else's nothing is declared: its ids follow from its names."""

    network: pulumi.Output[str]
    """The id, which names the project: that may be another than the cluster's."""
    subnet: pulumi.Output[str]
    pod_range: str
    service_range: str
    way_out: list[pulumi.Resource]
    """What the nodes' way to the internet consists of."""

    def __init__(self, name: str, cloud: Gcp, *, cluster: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("kubeflow-spot:gcp:Network", name, None, opts)
        self.way_out = []
        if cloud.network.existing:
            self._refer(cloud, cloud.network.existing)
        else:
            self._declare(name, cloud, cluster)
        self.register_outputs({"subnet": self.subnet})

    def _refer(self, cloud: Gcp, there: GcpExistingNetwork) -> None:
        project = there.project or cloud.project
        self.network = pulumi.Output.concat("projects/", project, "/global/networks/", links.output(there.name))
        path = f"projects/{project}/regions/{cloud.region}/subnetworks/"
        self.subnet = pulumi.Output.concat(path, links.output(there.subnet))
        self.pod_range, self.service_range = there.pod_range, there.service_range

    def _declare(self, name: str, cloud: Gcp, cluster: str) -> None:
        child = pulumi.ResourceOptions(parent=self)
        spec = cloud.network
        network = Declared(
            NETWORK, name, {"project": cloud.project, "name": cluster, "autoCreateSubnetworks": False}, child
        )
        there = {"project": cloud.project, "region": cloud.region}
        subnet = Declared(
            SUBNETWORK,
            name,
            {
                **there,
                "name": cluster,
                "network": network.id,
                "ipCidrRange": spec.node_subnet,
                "secondaryIpRanges": [
                    {"rangeName": PODS, "ipCidrRange": spec.pod_cidr},
                    {"rangeName": SERVICES, "ipCidrRange": spec.service_cidr},
                ],
                # Google's own services, registries among them, without a way to the internet.
                "privateIpGoogleAccess": True,
            },
            child,
        )
        self.network, self.subnet = network.id, subnet.id
        self.pod_range, self.service_range = PODS, SERVICES
        if spec.private_nodes and spec.outbound_type == "cloudNat":
            router = Declared(ROUTER, name, {**there, "name": cluster, "network": network.id}, child)
            nat = Declared(
                ROUTER_NAT,
                name,
                {
                    **there,
                    "name": cluster,
                    "router": router.name,
                    "natIpAllocateOption": "AUTO_ONLY",
                    "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
                },
                child,
            )
            self.way_out = [nat]
