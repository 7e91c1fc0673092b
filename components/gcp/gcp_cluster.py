"""The GKE cluster: network, identity of nodes, control plane, pools, kubeconfig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_gcp import container

from components import past_exclusions, refusal, removed_pools
from components.gcp import (
    agents,
    gcp_addons,
    gcp_credentials,
    gcp_identity,
    gcp_immutable_cluster,
    gcp_immutable_pools,
    gcp_maintenance,
    gcp_nodes,
    gcp_pools,
    gcp_profiles,
    untainted,
)
from components.gcp.gcp_checkpoints import Checkpoints
from components.gcp.gcp_identity import NodeIdentity
from components.gcp.gcp_live import LiveCluster, read_cluster
from components.gcp.gcp_network import Network, refuse_existing
from components.laid_over import laid_over
from components.last_update import Place
from components.target import CloudCluster, Stack
from config.clouds.gcp.gcp_autoscaler import pinned_autoscaler
from config.clouds.gcp.gcp_settings import Gcp
from config.model.fields import Reference
from config.model.spec import ClusterSpec


@dataclass(frozen=True)
class ClusterPlan:
    """The wanted cluster beside the live one."""

    stack: Stack
    cloud: Gcp
    live: LiveCluster
    system_pool: gcp_pools.PlannedPool
    pools: list[gcp_pools.PlannedPool]


def place(spec: ClusterSpec, cloud: Gcp) -> Place:
    """Return the place of a new cluster."""
    parts = {"clusterName": spec.name, "project": cloud.project, "location": cloud.location or ""}
    return {part: Reference(text) for part, text in parts.items()}


def plan(stack: Stack, reading: pulumi.InvokeOptions) -> ClusterPlan:
    """Read the cluster as it is, and plan its pools.

    Raise `pulumi.RunError` when it, or an existing network, cannot be read, or for changes that GKE
    refuses.
    """
    spec, cloud = stack.spec, stack.spec.cloud
    # `config.rules` refuses every other spec.
    assert isinstance(cloud, Gcp)
    assert cloud.location
    assert stack.system_pool
    refuse_existing(cloud, reading)
    past_exclusions.warn(cloud.maintenance.ends if cloud.maintenance else ())
    now = read_cluster(cloud.project, cloud.location, spec.name, reading)
    account, tags = gcp_identity.node_account(cloud, spec.name), spec.cluster.tags
    system, *others = (
        gcp_pools.planned(pool, cloud, account, tags, now, cluster=spec.name)
        for pool in (stack.system_pool, *stack.node_pools)
    )
    if not now.answer:
        stack.last_update.warn_of_missing(
            place(spec, cloud), "gcloud config list   shows the login that reads"
        )
    refusal.refuse_changes(
        [
            *gcp_immutable_cluster.problems(cloud, spec.name, now, reading),
            *gcp_immutable_cluster.address_problems(
                spec, cloud, (pool.pool.name for pool in (system, *others)), now
            ),
            *gcp_immutable_pools.cluster_problems(spec.name, cloud, now),
            *gcp_immutable_pools.system_problems(
                cloud, system.pool, system.request, now, stack.last_update
            ),
            *gcp_immutable_cluster.property_problems(cloud, now, stack.last_update),
            *(
                problem
                for pool in others
                for problem in gcp_immutable_pools.pool_problems(
                    stack, pool.pool, pool.request, now
                )
            ),
            *removed_pools.problems(
                stack,
                now.live_pools,
                "cluster",
                lambda: gcp_credentials.kubeconfig_of_live(spec.name, now),
            ),
        ]
    )
    options = f"--cluster {spec.name} --location {cloud.location} --project {cloud.project}"
    untainted.warn_of_untainted(spec, "cluster", options, now)
    return ClusterPlan(stack, cloud, now, system, others)


class GkeCluster(CloudCluster):
    """A GKE cluster with all its pools, and the network and identity that it lacks.

    `GkeCluster("ml", plan(stack, reading), opts=ResourceOptions(parent=whole))`

    It deliberately declares nothing of an existing network, account or key but Google's own rights
    there, and nothing inside the cluster.
    """

    def __init__(
        self, name: str, plan: ClusterPlan, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("kubeflow-spot:gcp:GkeCluster", name, None, opts)
        spec, cloud = plan.stack.spec, plan.cloud
        self._name, self._plan = name, plan
        child = pulumi.ResourceOptions(parent=self)

        # Around the cluster NAT stays until the last private pool, of any owner, is gone: its nodes
        # would lose every registry but Google's.
        private = cloud.network.private_nodes or any(map(plan.live.private, plan.live.pools))
        network = Network(name, cloud, cluster=spec.name, private=private, opts=child)
        nodes = NodeIdentity(name, cloud, cluster=spec.name, opts=child)
        access = [*nodes.access, *agents.declare_rights(name, cloud, self)]

        # The cluster and its pools
        self.new_cluster = cluster = self._cluster(network, nodes.email, access)
        self._node_pools(cluster, nodes.email, [*access, *network.way_out])

        # Storage for users' work
        if spec.workloads.checkpoints:
            self.workloads = Checkpoints(name, spec, cloud, cluster=cluster, opts=child).published

        # Outputs
        dns = gcp_credentials.reached_by_dns(cloud.access)
        self.outputs = gcp_credentials.outputs(cloud.project, cloud.location or "", spec.name, dns)
        self.kubeconfig = pulumi.Output.secret(self._kubeconfig(cluster, dns))
        self.register_outputs({"name": cluster.name})

    def _cluster(
        self, network: Network, account: pulumi.Input[str], access: Sequence[pulumi.Resource]
    ) -> container.Cluster:
        spec, cloud, live = self._plan.stack.spec, self._plan.cloud, self._plan.live
        protect, reset = bool(spec.cluster.protect), self._plan.stack.last_update.reset
        args = container.ClusterArgs(
            project=cloud.project,
            location=cloud.location,
            name=spec.name,
            resource_labels=spec.cluster.tags,
            deletion_protection=protect,
            # The channel's default version may be older than the layer needs.
            release_channel=container.ClusterReleaseChannelArgs(channel=cloud.release_channel),
            min_master_version=spec.kubernetes_version,
            # Nodes: pools are resources of their own; GKE's initial pool is removed at once.
            remove_default_node_pool=True,
            initial_node_count=1,
            node_config=gcp_nodes.temporary_nodes(cloud, account),
            node_locations=gcp_profiles.node_locations(cloud),
            # The network
            network=network.network,
            subnetwork=network.subnet,
            networking_mode="VPC_NATIVE",
            ip_allocation_policy=container.ClusterIpAllocationPolicyArgs(
                cluster_secondary_range_name=network.pod_range,
                services_secondary_range_name=network.service_range,
            ),
            datapath_provider=gcp_profiles.dataplane(cloud.network),
            # Access
            private_cluster_config=gcp_profiles.privacy(cloud.network, cloud.access),
            control_plane_endpoints_config=gcp_profiles.endpoints(cloud.access),
            master_authorized_networks_config=gcp_profiles.authorized_networks(cloud.access, live),
            authenticator_groups_config=gcp_profiles.groups(cloud.access, live),
            rbac_binding_config=gcp_profiles.everybody(cloud.access, live),
            workload_identity_config=container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{cloud.project}.svc.id.goog"
            ),
            database_encryption=gcp_profiles.etcd(cloud.encryption),
            # Automatic changes, logs and metrics
            cluster_autoscaling=gcp_profiles.autoscaler(
                cloud.autoscaler, pinned_autoscaler(spec.release)
            ),
            logging_config=gcp_profiles.logging(cloud.logging),
            monitoring_config=gcp_profiles.monitoring(cloud.monitoring),
            maintenance_policy=gcp_maintenance.policy(cloud.maintenance, live, reset),
            addons_config=gcp_addons.storage_drivers(cloud.storage_drivers, reset),
        )
        return container.Cluster(
            self._name,
            laid_over(args, cloud.properties),
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=protect or None,
                depends_on=list(access),
                # After the initial pool is removed, GKE shows another pool's nodes here, and a
                # difference would replace the cluster (pulumi-gcp, `remove_default_node_pool`).
                ignore_changes=["nodeConfig", "initialNodeCount"],
                delete_before_replace=True,
            ),
        )

    def _node_pools(
        self,
        cluster: container.Cluster,
        account: pulumi.Input[str],
        ready: Sequence[pulumi.Resource],
    ) -> None:
        def declare(
            pool: gcp_pools.PlannedPool, after: Sequence[pulumi.Resource]
        ) -> container.NodePool:
            return gcp_pools.declare(
                self._name,
                pool,
                self._plan.cloud,
                account=account,
                cluster=cluster.name,
                parent=self,
                after=after,
                deleted_with=cluster,
            )

        # GKE taints GPU nodes only if a pool without GPUs exists, so GPU pools come after one (page
        # gpus).
        system = declare(self._plan.system_pool, ready)
        for pool in self._plan.pools:
            declare(pool, [*ready, system] if pool.pool.gpus else ready)

    def _kubeconfig(self, cluster: container.Cluster, dns: bool) -> pulumi.Output[str]:
        name = self._plan.stack.spec.name
        if dns:
            ways = cluster.control_plane_endpoints_config.dns_endpoint_config
            return ways.apply(
                lambda dns: gcp_credentials.kubeconfig(name, str(dns and dns.endpoint), None)
            )
        return pulumi.Output.all(
            cluster.endpoint, cluster.master_auth.cluster_ca_certificate
        ).apply(lambda values: gcp_credentials.kubeconfig(name, values[0], values[1]))
