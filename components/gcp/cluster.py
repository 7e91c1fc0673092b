"""The GKE cluster: network, the nodes' identity, control plane, system pool, other pools, kubeconfig."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from components.gcp import agents, credentials, pools, profiles
from components.gcp.checkpoints import Checkpoints
from components.gcp.identity import NodeIdentity
from components.gcp.live import LiveCluster
from components.gcp.network import Network
from components.gcp.types import CLUSTER
from components.resources import Declared
from components.target import CloudCluster, Stack
from config.clouds.gcp.autoscaler import pinned_autoscaler
from config.clouds.gcp.settings import Gcp
from config.model.spec import ClusterSpec


class GkeCluster(CloudCluster):
    """A GKE cluster with all its pools, and the network and identity that it lacks."""

    def __init__(
        self, name: str, stack: Stack, live: LiveCluster, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("kubeflow-spot:gcp:GkeCluster", name, None, opts)
        spec = stack.spec
        cloud = spec.cloud
        # `config.rules` lets no other spec come here.
        assert isinstance(cloud, Gcp)
        assert cloud.location
        assert stack.system_pool
        child = pulumi.ResourceOptions(parent=self)
        tags = spec.cluster.tags

        # Around the cluster
        network = Network(name, cloud, cluster=spec.name, opts=child)
        identity = NodeIdentity(name, cloud, cluster=spec.name, opts=child)
        access = [*identity.access, *agents.declare(name, cloud, self)]

        # The control plane
        self.new_cluster = cluster = self._control_plane(name, spec, cloud, network, identity.email, access, live)

        # The pools. GKE taints GPU nodes by itself when a pool without GPUs exists, so GPU pools come after it (page gpus).
        ready = [*access, *network.way_out]
        system = pools.declare(
            name,
            pools.node_pool(stack.system_pool, cloud, identity.email, tags, live),
            cluster=cluster.name,
            parent=self,
            after=ready,
            deleted_with=cluster,
        )
        for pool in stack.node_pools:
            pools.declare(
                name,
                pools.node_pool(pool, cloud, identity.email, tags, live),
                cluster=cluster.name,
                parent=self,
                after=[*ready, *([system] if pool.gpus else [])],
                deleted_with=cluster,
            )

        # Storage for users' work
        if spec.workloads.checkpoints:
            self.workloads = Checkpoints(name, spec, cloud, cluster=cluster, opts=child).published

        # The outputs
        dns = credentials.by_name(cloud.access)
        self.outputs = credentials.outputs(cloud.project, cloud.location, spec.name, dns)
        self.kubeconfig = pulumi.Output.secret(self._kubeconfig(cluster, spec.name, dns))
        self.register_outputs({"name": cluster.name})

    def _control_plane(
        self,
        name: str,
        spec: ClusterSpec,
        cloud: Gcp,
        network: Network,
        account: pulumi.Input[str],
        access: Sequence[pulumi.Resource],
        live: LiveCluster,
    ) -> Declared:
        protect = bool(spec.cluster.protect)
        inputs = {
            "project": cloud.project,
            "location": cloud.location,
            "name": spec.name,
            "resourceLabels": spec.cluster.tags,
            "deletionProtection": protect,
            # A channel without a version gives GKE's default, which may be older than the layer needs.
            "releaseChannel": {"channel": cloud.release_channel},
            "minMasterVersion": spec.kubernetes_version,
            # The nodes: pools are declared beside the cluster; the pool that GKE begins with is removed at once.
            "removeDefaultNodePool": True,
            "initialNodeCount": 1,
            "nodeConfig": pools.temporary_nodes(cloud, account),
            "nodeLocations": profiles.node_locations(cloud),
            # The network
            "network": network.network,
            "subnetwork": network.subnet,
            "networkingMode": "VPC_NATIVE",
            "ipAllocationPolicy": {
                "clusterSecondaryRangeName": network.pod_range,
                "servicesSecondaryRangeName": network.service_range,
            },
            "datapathProvider": profiles.dataplane(cloud.network),
            # Who gets in
            "privateClusterConfig": profiles.privacy(cloud.network, cloud.access),
            "controlPlaneEndpointsConfig": profiles.endpoints(cloud.access),
            "masterAuthorizedNetworksConfig": profiles.authorized_networks(cloud.access, live),
            "authenticatorGroupsConfig": profiles.groups(cloud.access, live),
            "rbacBindingConfig": profiles.everybody(cloud.access, live),
            "workloadIdentityConfig": {"workloadPool": f"{cloud.project}.svc.id.goog"},
            "databaseEncryption": profiles.etcd(cloud.encryption),
            # What it does by itself
            "clusterAutoscaling": profiles.autoscaler(cloud.autoscaler, pinned_autoscaler(spec.release)),
            "loggingConfig": profiles.logging(cloud.logging),
            "monitoringConfig": profiles.monitoring(cloud.monitoring),
            "maintenancePolicy": profiles.maintenance(cloud.maintenance),
        }
        return Declared(
            CLUSTER,
            name,
            {key: value for key, value in inputs.items() if value is not None},
            pulumi.ResourceOptions(
                parent=self,
                protect=protect or None,
                depends_on=list(access),
                # Once the pool it described is gone, GKE shows another pool's nodes here, and every difference would replace the
                # cluster (pulumi-gcp, `remove_default_node_pool`).
                ignore_changes=["nodeConfig", "initialNodeCount"],
                delete_before_replace=True,
                additional_secret_outputs=["effectiveLabels", "pulumiLabels"],
            ),
            outputs=("name", "endpoint", "masterAuth", "controlPlaneEndpointsConfig"),
        )

    @staticmethod
    def _kubeconfig(cluster: Declared, name: str, dns: bool) -> pulumi.Output[str]:
        if dns:
            ways: pulumi.Output[Any] = cluster.output("controlPlaneEndpointsConfig")
            return ways.apply(lambda ways: credentials.kubeconfig(name, ways["dnsEndpointConfig"]["endpoint"], None))
        return pulumi.Output.all(cluster.output("endpoint"), cluster.output("masterAuth")).apply(
            lambda values: credentials.kubeconfig(name, values[0], values[1]["clusterCaCertificate"])
        )
