"""The AKS cluster: resource group, network, identity, control plane with its system pool, user pools, kubeconfig."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pulumi

from components import immutable, links
from components.azure import credentials, identity, immutable_cluster, immutable_pools, pools, profiles, system_pool
from components.azure.checkpoints import Checkpoints
from components.azure.identity import ControlPlaneIdentity, Grant
from components.azure.live import LiveCluster, read, retries
from components.azure.monitoring import Monitoring
from components.azure.network import Network, subnet_path
from components.azure.placed import Placed
from components.azure.types import CLUSTER, MAINTENANCE, RESOURCE_GROUP, USER_CREDENTIALS
from components.last_update import LastUpdate
from components.resources import Declared, call_later
from components.target import CloudCluster, Stack
from config.clouds.azure.pool import settings_of
from config.clouds.azure.settings import Azure
from config.model.spec import ClusterSpec

_REPLACED = ("apiServerAccessProfile.enablePrivateCluster", "apiServerAccessProfile.privateDNSZone")
"""Immutable for a cluster's life (page private-clusters), which azure-native does not know."""

_UNENFORCED = """cloud.network.policy: is unset, so that NetworkPolicy objects have no effect, such as the 40 of kubeflow/manifests
    write `policy: calico` for a new cluster; an existing one changes by `az aks update`. `policy: none` accepts that"""
"""The objects do not show it: the API server accepts them, and they do nothing (page use-network-policies)."""


def group_name(spec: ClusterSpec, cloud: Azure) -> str:
    """The resource group of a new cluster."""
    return cloud.existing_resource_group or cloud.resource_group or spec.name


def place(spec: ClusterSpec, cloud: Azure) -> dict[str, str]:
    """The place of a new cluster, by the stack's outputs."""
    return {"clusterName": spec.name, "resourceGroup": group_name(spec, cloud)}


class AksCluster(CloudCluster):
    """An AKS cluster with all its pools, and the network, identity and monitoring that it lacks."""

    def __init__(self, name: str, stack: Stack, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("kubeflow-spot:azure:AksCluster", name, None, opts)
        spec = stack.spec
        cloud, first = spec.cloud, stack.system_pool
        # `config.rules` lets no other spec come here.
        assert isinstance(cloud, Azure)
        assert cloud.location
        assert first
        child = pulumi.ResourceOptions(parent=self)
        in_group = group_name(spec, cloud)
        if cloud.network.policy is None:
            pulumi.log.warn(_UNENFORCED)

        # The cluster as it is, and the pools as they are wanted
        reading = pulumi.InvokeOptions(parent=self)
        live = read(in_group, spec.name, reading)
        if live.answer is None:
            look = "az account show   shows the subscription that is read"
            stack.last_update.warn_of_missing(place(spec, cloud), look)
        at_host = cloud.encryption.at_host
        system = pools.system_profile(first, spec.kubernetes_version, live, at_host=at_host)
        path = partial(subnet_path, cloud.network, resource_group=in_group, name=spec.name)
        planned = [
            pools.PlannedPool(
                pool,
                pools.agent_pool(pool, spec.kubernetes_version, live, at_host=at_host),
                path(settings_of(pool.source).subnet),
            )
            for pool in stack.node_pools
        ]
        immutable.refuse(
            [
                *immutable_cluster.problems(cloud, live, stack.last_update),
                *immutable_cluster.subnet_problems(cloud.network, in_group, spec.name, live, reading),
                *immutable_pools.key_problems(cloud.encryption, live),
                *immutable_pools.upgrade_problems(spec, live),
                *immutable_pools.system_problems(
                    first, system | {"vnetSubnetID": path(settings_of(first.source).subnet)}, live, stack.last_update
                ),
                *(
                    problem
                    for pool in planned
                    for problem in immutable_pools.pool_problems(stack, pool.pool, pool.request, live)
                ),
            ],
            "AKS",
        )

        # Around the cluster
        group = self._resource_group(name, spec, cloud, in_group)
        placed = Placed(spec.name, group, cloud.location, spec.cluster.tags)
        network = Network(name, cloud.network, placed, opts=child)
        subnets = [settings_of(pool.source).subnet for pool in (first, *stack.node_pools)]
        reservations = [pool.reservation for pool in stack.node_pools if pool.reservation]
        grants = [*control_plane_grants(cloud, network, subnets), *reservation_grants(reservations)]
        control_plane = ControlPlaneIdentity(name, grants, placed, opts=child)
        monitoring = None
        if cloud.monitoring.logs or cloud.monitoring.metrics:
            monitoring = Monitoring(name, cloud.monitoring, placed, opts=child)

        # The control plane
        listed = pools.listed(live) if self._lists(spec.kubernetes_version, live, stack.last_update) else []
        self.new_cluster = cluster = Declared(
            CLUSTER,
            name,
            {
                "resourceName": spec.name,
                "resourceGroupName": group,
                "location": cloud.location,
                "tags": spec.cluster.tags | retries(live.answer),
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
                "autoScalerProfile": profiles.autoscaler(spec, stack.node_pools),
                "agentPoolProfiles": listed
                or [system | {"vnetSubnetID": network.subnet_id(settings_of(first.source).subnet)}],
            },
            pulumi.ResourceOptions(
                parent=self,
                protect=spec.cluster.protect or None,
                depends_on=control_plane.access,
                # The list is for a new cluster. Later requests send what the refresh has read: every pool, as it is.
                ignore_changes=["agentPoolProfiles"] if live.answer and not listed else [],
                replace_on_changes=list(_REPLACED),
                delete_before_replace=True,
            ),
            outputs=("name", "identityProfile", "oidcIssuerProfile"),
        )

        # In and at the cluster
        kept = system_pool.declare(
            name,
            system,
            live,
            cluster=cluster,
            cluster_name=spec.name,
            group_name=in_group,
            resource_group=group,
            subnet_id=network.subnet_id(settings_of(first.source).subnet),
            parent=self,
        )
        pools.declare_all(
            name,
            planned,
            live,
            subnet_id=network.subnet_id,
            first=[kept],
            rights=control_plane.access,
            resource_group=group,
            cluster=cluster.name,
            tags=spec.cluster.tags,
            parent=self,
            deleted_with=cluster,
        )
        self._maintenance(name, group, cloud, cluster)
        if cloud.registry:
            pull = Grant(identity.ACR_PULL, cloud.registry.id)
            pull.to(name, _kubelet(cluster, live), parent=self, replace_with=[cluster])
        if monitoring:
            monitoring.watch(cluster)
        if spec.workloads.checkpoints:
            keep = cloud.existing_resource_group is not None
            issuer = _issuer(cluster, live)
            self.workloads = Checkpoints(
                name, spec.workloads, placed, group=in_group, keep_group=keep, issuer=issuer, opts=child
            ).published

        # The outputs
        self.outputs = credentials.outputs(cluster.name, group, cloud.access.entra)
        question = credentials.question(group, cluster.name, cloud.access.entra)
        answer = call_later(USER_CREDENTIALS, question, self)
        self.kubeconfig = pulumi.Output.secret(answer.apply(credentials.kubeconfig))
        self.register_outputs({"name": cluster.name, "resourceGroup": group})

    @staticmethod
    def _lists(version: str, live: LiveCluster, last_update: LastUpdate) -> bool:
        """Whether the cluster's request is to list its pools itself: when it moves the version, and once in a stack of an earlier
        program, whose state may list the system pool alone. A refresh adds no pool to that.
        """
        return live.answer is not None and (
            not last_update.get(immutable_cluster.LISTED) or live.answer.get("kubernetesVersion", version) != version
        )

    def _resource_group(self, name: str, spec: ClusterSpec, cloud: Azure, group: str) -> pulumi.Input[str]:
        if cloud.existing_resource_group:
            return links.output(group)
        return Declared(
            RESOURCE_GROUP,
            name,
            {"resourceGroupName": group, "location": cloud.location, "tags": spec.cluster.tags},
            pulumi.ResourceOptions(parent=self, protect=spec.cluster.protect or None),
        ).name

    def _maintenance(self, name: str, group: pulumi.Input[str], cloud: Azure, cluster: Declared) -> None:
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
                        "resourceName": cluster.name,
                        "maintenanceWindow": profiles.maintenance_window(window),
                    },
                    pulumi.ResourceOptions(parent=self, deleted_with=cluster),
                    outputs=(),
                )


def _kubelet(cluster: Declared, live: LiveCluster) -> pulumi.Input[str]:
    """The object id of the identity that the nodes pull images as; AKS makes it with the cluster."""
    profile = (live.answer or {}).get("identityProfile")
    if profile and pulumi.runtime.is_dry_run():
        # A preview knows no output of a cluster that is updated: each would show the right to pull as replaced.
        return str(profile["kubeletidentity"]["objectId"])
    return cluster.output("identityProfile").apply(lambda profile: str(profile["kubeletidentity"]["objectId"]))


def _issuer(cluster: Declared, live: LiveCluster) -> pulumi.Input[str]:
    """The URL of the issuer of the cluster's tokens."""
    profile = (live.answer or {}).get("oidcIssuerProfile")
    if profile and pulumi.runtime.is_dry_run():
        # A preview knows no output of a cluster that is updated (`_kubelet`).
        return str(profile["issuerURL"])
    return cluster.output("oidcIssuerProfile").apply(lambda profile: str(profile["issuerURL"]))


def control_plane_grants(cloud: Azure, network: Network, subnets: Iterable[str | None]) -> list[Grant]:
    """Rights that the control plane's identity needs before the cluster is made, and no more."""
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
            for subnet in each_once(subnet or network.default for subnet in subnets)
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


def reservation_grants(groups: Iterable[str]) -> list[Grant]:
    """The right to use capacity reservation groups, which the identity needs before a pool names one.

    At the group alone: its actions are what a pool needs (Azure/karpenter-provider-azure pull request 1839). The page grants it at
    the group's resource group.
    """
    return [
        # /subscriptions/S/resourceGroups/GROUP/providers/P/T/NAME: names are unique in their resource group only.
        Grant(identity.CONTRIBUTOR, group, at="-".join(group.lower().split("/")[4::4]))
        for group in each_once(groups)
    ]


def each_once(names: Iterable[str]) -> list[str]:
    """Names or ids of Azure, sorted, of those that differ in case only one: Azure takes one assignment of a role at a scope."""
    return sorted({name.lower(): name for name in sorted(names, reverse=True)}.values())
