"""The AKS cluster: resource group, network, identity, control plane with its system pool, user pools, kubeconfig."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Any

import pulumi
from pulumi_azure_native import containerservice, resources

from components.azure import counts, pools
from components.azure.identity import ControlPlaneIdentity
from components.azure.network import Network
from spec.azure import Azure, AzureAutoscaler
from spec.model import ClusterSpec
from spec.placement import NodePool


def autoscaler_profile(spec: AzureAutoscaler, release: AzureAutoscaler) -> dict[str, Any]:
    """The cluster-wide autoscaler settings: the stack's, else the release's. AKS takes strings."""
    chosen = {**release.model_dump(exclude_none=True), **spec.model_dump(exclude_none=True)}
    return {key: value if key in _BOOLEANS else _text(value) for key, value in sorted(chosen.items())}


_BOOLEANS = (
    "daemonset_eviction_for_empty_nodes",
    "daemonset_eviction_for_occupied_nodes",
    "ignore_daemonsets_utilization",
)
"""The only fields that AKS does not want as text."""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster in a resource group and network of its own, with all its pools."""

    name: pulumi.Output[str]
    resource_group: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    """Secret. The user's credentials as Azure hands them out."""
    cluster: containerservice.ManagedCluster

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        node_pools: Sequence[NodePool],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:AksCluster", name, None, opts)
        cloud = spec.cloud
        system_pool = spec.system_pool
        # `spec.rules` lets no other spec come here.
        assert isinstance(cloud, Azure)
        assert cloud.location
        assert system_pool
        tags = spec.cluster.tags
        child = pulumi.ResourceOptions(parent=self)
        guarded = pulumi.ResourceOptions(parent=self, protect=spec.cluster.protect)
        group = resources.ResourceGroup(
            name,
            resource_group_name=cloud.resource_group or spec.name,
            location=cloud.location,
            tags=tags,
            opts=guarded,
        )
        network = Network(
            name, cloud.network, resource_group=group.name, location=cloud.location, tags=tags, opts=child
        )
        identity = ControlPlaneIdentity(
            name,
            resource_group=group.name,
            location=cloud.location,
            subnet_id=network.subnet_id,
            tags=tags,
            opts=child,
        )
        live = counts.read(cloud.resource_group or spec.name, spec.name)
        system = pools.system_profile(system_pool, spec.kubernetes_version, live, network.subnet_id)
        self.cluster = containerservice.ManagedCluster(
            name,
            resource_name_=spec.name,
            resource_group_name=group.name,
            location=cloud.location,
            tags=tags,
            dns_prefix=spec.name,
            kubernetes_version=spec.kubernetes_version,
            sku={"name": "Base", "tier": cloud.tier},
            identity={"type": "UserAssigned", "user_assigned_identities": [identity.id]},
            oidc_issuer_profile={"enabled": True},
            security_profile={"workload_identity": {"enabled": True}},
            network_profile={
                "network_plugin": "azure",
                "network_plugin_mode": "overlay",
                "pod_cidr": cloud.network.pod_cidr,
                "service_cidr": cloud.network.service_cidr,
                "dns_service_ip": dns_service_ip(cloud.network.service_cidr),
            },
            auto_scaler_profile=autoscaler_profile(cloud.autoscaler, spec.release.azure_autoscaler),
            agent_pool_profiles=[system],
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=spec.cluster.protect,
                depends_on=[identity.network_access],
                # A refreshed cluster lists every pool, also those declared beside it. That is no change to undo.
                ignore_changes=["agentPoolProfiles"] if live.is_as(system) else [],
            ),
        )
        for pool in node_pools:
            pools.declare(
                name,
                pool,
                version=spec.kubernetes_version,
                live=live,
                resource_group=group.name,
                cluster=self.cluster,
                subnet_id=network.subnet_id,
                tags=tags,
                parent=self,
            )
        self.name = self.cluster.name
        self.resource_group = group.name
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group.name, resource_name=self.cluster.name
        )
        self.kubeconfig = pulumi.Output.secret(
            credentials.apply(lambda found: base64.b64decode(found.kubeconfigs[0].value).decode())
        )
        self.register_outputs({"name": self.name, "resourceGroup": self.resource_group})


def dns_service_ip(service_cidr: str) -> str:
    """The tenth address of the service range, as AKS itself chooses for its default range."""
    return str(IPv4Network(service_cidr)[10])
