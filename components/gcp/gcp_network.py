"""The VPC-native network of the nodes: a new one, or an existing one."""

from __future__ import annotations

import pulumi
from pulumi_gcp import compute

from components import references, refusal
from components.resources import explain_refusal
from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp, GcpExistingNetwork

PODS, SERVICES = "pods", "services"
"""Names of the secondary ranges of a new subnet."""

_WHERE = "cloud.network.existing"


def refuse_existing(cloud: Gcp, reading: pulumi.InvokeOptions | None = None) -> None:
    """Raise `pulumi.RunError` if the existing network is incomplete or unreadable."""
    existing = cloud.network.existing
    if existing is None or cloud.region is None:
        return
    pods, services = existing.pod_range, existing.service_range
    if any(reference.made_up for reference in (existing.name, existing.subnet, pods, services)):
        return  # made with the cluster
    project, subnet = existing.project or cloud.project, existing.subnet.text
    place = f"subnet {subnet!r} in {cloud.region} of project {project}"
    with explain_refusal(f"{_WHERE}: {place}", "compute.subnetworks.get"):
        try:
            answer = compute.get_subnetwork(
                project=project, region=cloud.region, name=subnet, opts=reading
            )
        except Exception as failed:
            if "not found" not in str(failed).lower():
                raise
            remedy = (
                f"gcloud compute networks subnets list --project {project} --regions "
                f"{cloud.region}   lists the existing ones"
            )
            refusal.refuse_settings([Problem(f"{_WHERE}.subnet", f"there is no {place}", remedy)])
    problems = []
    network = (answer.network or "").rpartition("/")[2]
    if network != existing.name.text:
        what = f"{place} is of network {network!r}, not of {existing.name.text!r}"
        problems.append(
            Problem(
                f"{_WHERE}.name", what, f"write `name: {network}`, or the name of another subnet"
            )
        )
    ranges = [range.range_name for range in answer.secondary_ip_ranges or ()]
    for key, name in (("podRange", pods.text), ("serviceRange", services.text)):
        if name not in ranges:
            what = f"{place} has no secondary range {name!r}"
            remedy = (
                f"write one of those it has: {', '.join(ranges)}"
                if ranges
                else "it has none; add both ranges to it"
            )
            problems.append(Problem(f"{_WHERE}.{key}", what, remedy))
    refusal.refuse_settings(problems)


class Network(pulumi.ComponentResource):
    """Network, subnet and ranges of a cluster.

    It deliberately declares nothing of an existing network: its ids follow from its names.
    """

    network: pulumi.Output[str]
    """The id, with the network's project, which may differ from the cluster's."""
    subnet: pulumi.Output[str]
    pod_range: pulumi.Input[str]
    service_range: pulumi.Input[str]
    way_out: list[pulumi.Resource]
    """Resources of the nodes' way to the internet."""

    def __init__(
        self,
        name: str,
        cloud: Gcp,
        *,
        cluster: str,
        private: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`private`: whether any nodes have private addresses only, and need NAT."""
        super().__init__("kubeflow-spot:gcp:Network", name, None, opts)
        self.way_out = []
        if cloud.network.existing:
            self._refer(cloud, cloud.network.existing)
        else:
            self._declare(name, cloud, cluster, private)
        self.register_outputs({"subnet": self.subnet})

    def _refer(self, cloud: Gcp, existing: GcpExistingNetwork) -> None:
        project = existing.project or cloud.project
        self.network = pulumi.Output.concat(
            "projects/", project, "/global/networks/", references.output(existing.name)
        )
        path = f"projects/{project}/regions/{cloud.region}/subnetworks/"
        self.subnet = pulumi.Output.concat(path, references.output(existing.subnet))
        self.pod_range, self.service_range = (
            references.output(existing.pod_range),
            references.output(existing.service_range),
        )

    def _declare(self, name: str, cloud: Gcp, cluster: str, private: bool) -> None:
        child = pulumi.ResourceOptions(parent=self)
        spec = cloud.network
        network = compute.Network(
            name, project=cloud.project, name=cluster, auto_create_subnetworks=False, opts=child
        )
        # The provider switches omitted logs off (resource_compute_subnetwork.go,
        # expandComputeSubnetworkLogConfig).
        logs = (
            compute.SubnetworkLogConfigArgs(flow_sampling=spec.flow_log_sampling)
            if spec.flow_log_sampling
            else None
        )
        subnet = compute.Subnetwork(
            name,
            project=cloud.project,
            region=cloud.region,
            name=cluster,
            network=network.id,
            ip_cidr_range=spec.node_subnet,
            secondary_ip_ranges=[
                compute.SubnetworkSecondaryIpRangeArgs(
                    range_name=PODS, ip_cidr_range=spec.pod_cidr
                ),
                compute.SubnetworkSecondaryIpRangeArgs(
                    range_name=SERVICES, ip_cidr_range=spec.service_cidr
                ),
            ],
            # Nodes without a way to the internet reach Google's services, registries among them.
            private_ip_google_access=True,
            log_config=logs,
            opts=child,
        )
        self.network, self.subnet = network.id, subnet.id
        self.pod_range, self.service_range = PODS, SERVICES
        if private and spec.outbound_type == "cloudNat":
            router = compute.Router(
                name,
                project=cloud.project,
                region=cloud.region,
                name=cluster,
                network=network.id,
                opts=child,
            )
            nat = compute.RouterNat(
                name,
                project=cloud.project,
                region=cloud.region,
                name=cluster,
                router=router.name,
                nat_ip_allocate_option="AUTO_ONLY",
                source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
                opts=child,
            )
            self.way_out = [nat]
