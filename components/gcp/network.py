"""The VPC-native network of the nodes: a new one, or an existing one."""

from __future__ import annotations

import pulumi

from components import links
from components.gcp.types import GET_SUBNETWORK, NETWORK, ROUTER, ROUTER_NAT, SUBNETWORK
from components.resources import Declared, call
from config.clouds.gcp.settings import Gcp, GcpExistingNetwork
from config.problems import Problem, report

PODS, SERVICES = "pods", "services"
"""Names of the secondary ranges of a new subnet."""

_WHERE = "cloud.network.existing"


def refuse(cloud: Gcp, reading: pulumi.InvokeOptions | None = None) -> None:
    """Raises `pulumi.RunError` when the network that the stack file names lacks a range or a subnet, or cannot be read."""
    existing = cloud.network.existing
    if existing is None or cloud.region is None:
        return
    if links.is_placeholder(existing.name, existing.subnet, existing.pod_range, existing.service_range):
        return  # made with the cluster
    project = existing.project or cloud.project
    place = f"subnet {existing.subnet!r} in {cloud.region} of project {project}"
    try:
        answer = call(GET_SUBNETWORK, {"project": project, "region": cloud.region, "name": existing.subnet}, reading)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        if "not found" not in str(failed).lower():
            raise pulumi.RunError(f"{_WHERE}: {place} cannot be read\n  {' '.join(str(failed).split())}") from None
        remedy = f"gcloud compute networks subnets list --project {project} --regions {cloud.region}   lists the existing ones"
        raise pulumi.RunError(report([Problem(f"{_WHERE}.subnet", f"there is no {place}", remedy)])) from None
    problems = []
    network = str(answer.get("network") or "").rpartition("/")[2]
    if network != existing.name:
        what = f"{place} is of network {network!r}, not of {existing.name!r}"
        problems.append(Problem(f"{_WHERE}.name", what, f"write `name: {network}`, or the name of another subnet"))
    ranges = [range["rangeName"] for range in answer.get("secondaryIpRanges") or ()]
    for key, name in (("podRange", existing.pod_range), ("serviceRange", existing.service_range)):
        if name not in ranges:
            what = f"{place} has no secondary range {name!r}"
            remedy = (
                f"write one of those it has: {', '.join(ranges)}" if ranges else "it has none; add both ranges to it"
            )
            problems.append(Problem(f"{_WHERE}.{key}", what, remedy))
    if problems:
        raise pulumi.RunError(report(problems))


class Network(pulumi.ComponentResource):
    """Network, subnet and ranges of a cluster. Nothing is declared of an existing network: its ids follow from its names."""

    network: pulumi.Output[str]
    """The id, with the network's project, which may be another one than the cluster's."""
    subnet: pulumi.Output[str]
    pod_range: str
    service_range: str
    way_out: list[pulumi.Resource]
    """Resources of the nodes' way to the internet."""

    def __init__(self, name: str, cloud: Gcp, *, cluster: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("kubeflow-spot:gcp:Network", name, None, opts)
        self.way_out = []
        if cloud.network.existing:
            self._refer(cloud, cloud.network.existing)
        else:
            self._declare(name, cloud, cluster)
        self.register_outputs({"subnet": self.subnet})

    def _refer(self, cloud: Gcp, existing: GcpExistingNetwork) -> None:
        project = existing.project or cloud.project
        self.network = pulumi.Output.concat("projects/", project, "/global/networks/", links.output(existing.name))
        path = f"projects/{project}/regions/{cloud.region}/subnetworks/"
        self.subnet = pulumi.Output.concat(path, links.output(existing.subnet))
        self.pod_range, self.service_range = existing.pod_range, existing.service_range

    def _declare(self, name: str, cloud: Gcp, cluster: str) -> None:
        child = pulumi.ResourceOptions(parent=self)
        spec = cloud.network
        network = Declared(
            NETWORK, name, {"project": cloud.project, "name": cluster, "autoCreateSubnetworks": False}, child
        )
        placed = {"project": cloud.project, "region": cloud.region}
        subnet = Declared(
            SUBNETWORK,
            name,
            {
                **placed,
                "name": cluster,
                "network": network.id,
                "ipCidrRange": spec.node_subnet,
                "secondaryIpRanges": [
                    {"rangeName": PODS, "ipCidrRange": spec.pod_cidr},
                    {"rangeName": SERVICES, "ipCidrRange": spec.service_cidr},
                ],
                # Nodes without a way to the internet reach Google's services, registries among them.
                "privateIpGoogleAccess": True,
                # Left out, the provider switches them off (resource_compute_subnetwork.go, expandComputeSubnetworkLogConfig).
                **({"logConfig": {"flowSampling": spec.flow_log_sampling}} if spec.flow_log_sampling else {}),
            },
            child,
        )
        self.network, self.subnet = network.id, subnet.id
        self.pod_range, self.service_range = PODS, SERVICES
        if spec.private_nodes and spec.outbound_type == "cloudNat":
            router = Declared(ROUTER, name, {**placed, "name": cluster, "network": network.id}, child)
            nat = Declared(
                ROUTER_NAT,
                name,
                {
                    **placed,
                    "name": cluster,
                    "router": router.name,
                    "natIpAllocateOption": "AUTO_ONLY",
                    "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
                },
                child,
            )
            self.way_out = [nat]
