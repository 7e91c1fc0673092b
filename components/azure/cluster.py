"""The AKS cluster: resource group, network, identity, control plane with its system pool, user pools, kubeconfig."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pulumi

from components import last_update
from components.azure import credentials, identity, immutable_cluster, immutable_pools, pools, profiles, system_pool
from components.azure import live as counts
from components.azure.identity import ControlPlaneIdentity, Grant
from components.azure.live import LiveCluster
from components.azure.monitoring import Monitoring
from components.azure.network import Network, subnet_path
from components.azure.types import CLUSTER, MAINTENANCE, RESOURCE_GROUP, USER_CREDENTIALS
from components.resources import Declared, call_later
from components.target import Outputs
from config.clouds.azure.settings import Azure
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

_REPLACED = ("apiServerAccessProfile.enablePrivateCluster", "apiServerAccessProfile.privateDNSZone")
"""Fixed for a cluster's life (page private-clusters), which azure-native does not know."""


_UNENFORCED = """cloud.network.policy: is unset, so that nobody enforces NetworkPolicy objects, such as the 40 of kubeflow/manifests
    write `policy: calico` for a new cluster; an existing one changes by `az aks update`. `policy: none` says that you know"""
"""Whether one enforces them cannot be seen in the objects: they are taken and do nothing (page use-network-policies)."""


def group_name(spec: ClusterSpec, cloud: Azure) -> str:
    """The resource group of a cluster that is made here."""
    return cloud.existing_resource_group or cloud.resource_group or spec.name


def place(spec: ClusterSpec, cloud: Azure) -> dict[str, str]:
    """Where a cluster that is made here is, by the stack's outputs."""
    return {"clusterName": spec.name, "resourceGroup": group_name(spec, cloud)}


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster with all its pools, and what it needs around it that is not there yet."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    """Secret. The user's credentials as Azure hands them out."""
    cluster: Declared

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        node_pools: Sequence[NodePool],
        was: Mapping[str, Any],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:AksCluster", name, None, opts)
        cloud = spec.cloud
        first = spec.system_pool
        # `config.rules` lets no other spec come here.
        assert isinstance(cloud, Azure)
        assert cloud.location
        assert first
        tags = spec.cluster.tags
        child = pulumi.ResourceOptions(parent=self)
        in_group = group_name(spec, cloud)

        if cloud.network.policy is None:
            pulumi.log.warn(_UNENFORCED)

        # What the pools are to be, beside what they are
        asked = pulumi.InvokeOptions(parent=self)
        live = counts.read(in_group, spec.name, asked)
        if live.found is None:
            last_update.warn_of_missing(was, place(spec, cloud), "az account show   tells which subscription is read")
        at_host = cloud.encryption.at_host
        pool_args = {p.name: pools.agent_pool(p, spec.kubernetes_version, live, at_host=at_host) for p in node_pools}
        system = pools.system_profile(first, spec.kubernetes_version, live, at_host=at_host)
        path = partial(subnet_path, cloud.network, resource_group=in_group, name=spec.name)
        wanted = {p.name: pool_args[p.name] | {"vnetSubnetID": path(p.source.subnet)} for p in node_pools}
        immutable_pools.refuse(
            [
                *immutable_cluster.problems(cloud, live, was),
                *immutable_cluster.subnet_problems(cloud.network, in_group, spec.name, live, asked),
                *immutable_pools.key_problems(cloud.encryption, live),
                *immutable_pools.upgrade_problems(
                    "cluster.kubernetesVersion" if spec.cluster.kubernetes_version else "release",
                    spec.kubernetes_version,
                    live,
                ),
                *immutable_pools.system_problems(first, system | {"vnetSubnetID": path(first.subnet)}, live, was),
                *(
                    problem
                    for pool in node_pools
                    for problem in immutable_pools.pool_problems(spec, pool, wanted[pool.name], live, was)
                ),
            ]
        )

        # Around the cluster
        group = self._resource_group(name, spec, cloud, in_group)
        network = Network(
            name,
            cloud.network,
            cluster=spec.name,
            resource_group=group,
            location=cloud.location,
            tags=tags,
            opts=child,
        )
        used = [first.subnet, *(pool.source.subnet for pool in node_pools)]
        control_plane = ControlPlaneIdentity(
            name,
            cluster=spec.name,
            resource_group=group,
            location=cloud.location,
            grants=control_plane_grants(cloud, network, used),
            tags=tags,
            opts=child,
        )
        monitoring = None
        if cloud.monitoring.logs or cloud.monitoring.metrics:
            monitoring = Monitoring(
                name,
                cloud.monitoring,
                cluster=spec.name,
                resource_group=group,
                location=cloud.location,
                tags=tags,
                opts=child,
            )

        # The control plane
        listed = pools.listed(live) if self._lists(spec.kubernetes_version, live, was) else []
        self.cluster = Declared(
            CLUSTER,
            name,
            {
                "resourceName": spec.name,
                "resourceGroupName": group,
                "location": cloud.location,
                "tags": tags | counts.retries(live.found),
                "dnsPrefix": spec.name,
                "kubernetesVersion": spec.kubernetes_version,
                "sku": {"name": "Base", "tier": cloud.tier},
                "supportPlan": "AKSLongTermSupport" if cloud.long_term_support else "KubernetesOfficial",
                "identity": {"type": "UserAssigned", "userAssignedIdentities": [control_plane.id]},
                "oidcIssuerProfile": {"enabled": True},
                "securityProfile": profiles.security(cloud.encryption),
                "diskEncryptionSetID": cloud.encryption.disk_encryption_set,
                "networkProfile": profiles.network(cloud.network),
                "apiServerAccessProfile": profiles.api_server(cloud.access),
                "aadProfile": profiles.entra(cloud.access),
                "disableLocalAccounts": not cloud.access.local_accounts,
                "autoUpgradeProfile": profiles.upgrades(cloud.upgrades),
                "linuxProfile": profiles.linux(cloud.ssh),
                "addonProfiles": profiles.addons(monitoring.log_workspace if monitoring else None),
                "azureMonitorProfile": {"metrics": {"enabled": cloud.monitoring.metrics is not None}},
                "autoScalerProfile": profiles.autoscaler(spec, node_pools),
                "agentPoolProfiles": listed or [system | {"vnetSubnetID": network.subnet_id(first.subnet)}],
            },
            pulumi.ResourceOptions(
                parent=self,
                protect=spec.cluster.protect,
                depends_on=control_plane.access,
                # The list is for a cluster that is made. What is sent later is what the refresh has read: every pool, as it is.
                ignore_changes=["agentPoolProfiles"] if live.found and not listed else [],
                replace_on_changes=list(_REPLACED),
                delete_before_replace=True,
            ),
            outputs=("name", "identityProfile"),
        )

        # In and at the cluster
        kept = system_pool.declare(
            name,
            system,
            live,
            cluster=self.cluster,
            cluster_name=spec.name,
            group_name=in_group,
            resource_group=group,
            subnet_id=network.subnet_id(first.subnet),
            parent=self,
        )
        turns = pools.Turns(live, [kept])
        for pool in pools.in_order(node_pools):
            declared = pools.declare(
                name,
                pool,
                pool_args[pool.name],
                resource_group=group,
                cluster=self.cluster.name,
                subnet_id=network.subnet_id(pool.source.subnet),
                tags=tags,
                parent=self,
                deleted_with=self.cluster,
                after=turns.before(wanted[pool.name]),
            )
            turns.took(wanted[pool.name], declared)
        self._maintenance(name, group, cloud)
        if cloud.registry:
            Grant(identity.ACR_PULL, cloud.registry.id).to(
                name, self._kubelet(live), parent=self, replace_with=[self.cluster]
            )
        if monitoring:
            monitoring.watch(self.cluster)

        # The outputs
        self.outputs = credentials.outputs(self.cluster.name, group, cloud.access.entra)
        question = credentials.question(group, self.cluster.name, cloud.access.entra)
        found = call_later(USER_CREDENTIALS, question, self)
        self.kubeconfig = pulumi.Output.secret(found.apply(credentials.kubeconfig))
        self.register_outputs({"name": self.cluster.name, "resourceGroup": group})

    @staticmethod
    def _lists(version: str, live: LiveCluster, was: Mapping[str, Any]) -> bool:
        """Whether the cluster's request is to list its pools itself: when it moves the version, and once in a stack of an earlier
        program, whose state may list the system pool alone. A refresh adds no pool to that.
        """
        return live.found is not None and (
            not was.get(immutable_cluster.LISTED) or live.found.get("kubernetesVersion", version) != version
        )

    def _resource_group(self, name: str, spec: ClusterSpec, cloud: Azure, group: str) -> pulumi.Input[str]:
        if cloud.existing_resource_group:
            return group
        made = Declared(
            RESOURCE_GROUP,
            name,
            {"resourceGroupName": group, "location": cloud.location, "tags": spec.cluster.tags},
            pulumi.ResourceOptions(parent=self, protect=spec.cluster.protect),
        )
        return made.name

    def _kubelet(self, live: LiveCluster) -> pulumi.Input[str]:
        """The object id of the identity that the nodes pull images as; AKS makes it with the cluster."""
        there = (live.found or {}).get("identityProfile")
        if there and pulumi.runtime.is_dry_run():
            # A preview knows no output of a cluster that is updated: each would show the right to pull as replaced.
            return str(there["kubeletidentity"]["objectId"])
        made = self.cluster.output("identityProfile")
        return made.apply(lambda found: str(found["kubeletidentity"]["objectId"]))

    def _maintenance(self, name: str, group: pulumi.Input[str], cloud: Azure) -> None:
        windows = {
            "aksManagedAutoUpgradeSchedule": cloud.upgrades.cluster_window,
            "aksManagedNodeOSUpgradeSchedule": cloud.upgrades.node_os_window,
        }
        for config, window in windows.items():
            if window:
                Declared(
                    MAINTENANCE,
                    f"{name}-{config}",
                    {
                        "configName": config,
                        "resourceGroupName": group,
                        "resourceName": self.cluster.name,
                        "maintenanceWindow": profiles.maintenance_window(window),
                    },
                    pulumi.ResourceOptions(parent=self, deleted_with=self.cluster),
                    outputs=(),
                )


def control_plane_grants(cloud: Azure, network: Network, subnets: Iterable[str | None]) -> list[Grant]:
    """What the control plane's identity must be allowed before the cluster comes, and no more."""
    grants: list[Grant] = []
    access, encryption = cloud.access, cloud.encryption
    if access.private and access.private_dns_zone != "none":
        # AKS links the zone of the API server's name to the network itself (page private-clusters).
        grants.append(Grant(identity.NETWORK_CONTRIBUTOR, network.id))
    else:
        grants += [
            Grant(
                identity.NETWORK_CONTRIBUTOR, network.subnet_id(subnet), at="" if subnet == network.default else subnet
            )
            for subnet in sorted({subnet or network.default for subnet in subnets})
        ]
    if access.private_dns_zone and access.private_dns_zone.startswith("/"):
        grants.append(Grant(identity.PRIVATE_DNS_ZONE_CONTRIBUTOR, access.private_dns_zone))
    if encryption.disk_encryption_set:
        # Page azure-disk-customer-managed-keys
        grants.append(Grant(identity.DISK_ENCRYPTION_READER, encryption.disk_encryption_set))
    if encryption.kms and encryption.kms.vault_id:
        # Page use-kms-etcd-encryption
        grants.append(Grant(identity.KEY_VAULT_CRYPTO_USER, encryption.kms.vault_id))
    return grants
