"""The AKS cluster: resource group, network, identity, control plane, pools, kubeconfig."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial

import pulumi
from pulumi_azure_native import containerservice, resources

from components import past_exclusions, references, refusal, removed_pools
from components.azure import (
    azure_identity,
    azure_immutable_cluster,
    azure_immutable_pools,
    azure_live,
    azure_pools,
    azure_profiles,
    engine_change,
    karpenter_objects,
    provisioned_pools,
)
from components.azure.azure_checkpoints import Checkpoints
from components.azure.azure_identity import ControlPlaneIdentity, Grant
from components.azure.azure_live import LiveCluster, retries
from components.azure.azure_network import Network, subnet_path
from components.azure.maintenance_windows import declare_windows
from components.azure.monitoring import Monitoring
from components.azure.placed import Placed
from components.azure.system_pool import system_pool
from components.laid_over import laid_over
from components.last_update import Place
from components.resources import wire
from components.target import CloudCluster, Stack
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure
from config.model.fields import Reference
from config.model.spec import ClusterSpec

_REPLACED = ("apiServerAccessProfile.enablePrivateCluster", "apiServerAccessProfile.privateDNSZone")
"""Properties that AKS never changes (page private-clusters) and that azure-native would update."""

_UNENFORCED = (
    "cloud.network.policy: is unset: NetworkPolicy objects, including Kubeflow's 40, have no effect\n"
    "    write `policy: calico` for a new cluster; an existing one changes by `az aks update`. "
    "`policy: none` accepts that"
)
"""The API server accepts the objects and nothing enforces them (page use-network-policies)."""


def place(spec: ClusterSpec, cloud: Azure) -> Place:
    """Return the place of a new cluster."""
    return {"clusterName": Reference(spec.name), "resourceGroup": cloud.group(spec.name)}


@dataclass(frozen=True)
class ClusterPlan:
    """The wanted cluster beside the live one."""

    stack: Stack
    cloud: Azure
    live: LiveCluster
    system_pool: containerservice.ManagedClusterAgentPoolProfileArgs
    """Without its subnet."""
    pools: list[azure_pools.PlannedPool]
    """Agent pools beside the system pool."""
    engine: engine_change.Engine
    provisioned: provisioned_pools.Pools

    @property
    def group(self) -> Reference:
        """The name of its resource group."""
        return self.cloud.group(self.stack.spec.name)

    @property
    def lists_pools(self) -> bool:
        """Whether the request must list all pools: when it moves the version, and when an earlier
        program's state may list the system pool alone.
        """
        answer, version = self.live.answer, self.version
        listed = self.stack.last_update.get(azure_immutable_cluster.LISTED)
        return answer is not None and (
            not listed or answer.get("kubernetesVersion", version) != version
        )

    @property
    def version(self) -> str:
        """The cluster's Kubernetes version."""
        return self.live.version(self.stack.spec.kubernetes_version)


def plan(stack: Stack, reading: pulumi.InvokeOptions) -> ClusterPlan:
    """Read the cluster as it is, and plan its pools.

    Raise `pulumi.RunError` when it cannot be read, or for changes that AKS refuses.
    """
    spec, cloud, first = stack.spec, stack.spec.cloud, stack.system_pool
    # `config.rules` refuses every other spec.
    assert isinstance(cloud, Azure)
    assert first
    if cloud.network.policy is None:
        pulumi.log.warn(_UNENFORCED)
    past_exclusions.warn(cloud.upgrades.ends)
    group = cloud.group(spec.name)
    now = azure_live.read_cluster(group.text, spec.name, reading)
    if now.answer is None:
        stack.last_update.warn_of_missing(
            place(spec, cloud), "az account show   shows the subscription that is read"
        )
    kubeconfig = partial(azure_live.read_kubeconfig, group.text, spec.name, now.entra, reading)
    engine = engine_change.engine(stack, cloud, now, kubeconfig)
    provisioned = provisioned_pools.read_live(stack, kubeconfig)
    live = [*now.user_pools, *provisioned_pools.live_pools(provisioned)]
    profile = partial(
        azure_pools.profile,
        version=spec.kubernetes_version,
        live=now,
        at_host=cloud.encryption.at_host,
        scaled=engine.scaled,
    )
    path = partial(subnet_path, cloud.network, resource_group=group, name=spec.name)
    system, subnet = profile(first), {"vnetSubnetID": path(settings_of(first.source).subnet)}
    planned = [
        azure_pools.PlannedPool(pool, profile(pool), path(settings_of(pool.source).subnet))
        for pool in engine.agent_pools
    ]
    refusal.refuse_changes(
        [
            *azure_immutable_cluster.problems(cloud, now, stack.last_update),
            *azure_immutable_cluster.subnet_problems(
                cloud.network, group.text, spec.name, now, reading
            ),
            *azure_immutable_cluster.key_problems(cloud.encryption, now),
            *azure_immutable_cluster.upgrade_problems(spec, now),
            *azure_immutable_cluster.property_problems(cloud, now, stack.last_update),
            *engine_change.problems(cloud, now),
            *provisioned_pools.problems(stack, cloud, provisioned, kubeconfig),
            *azure_immutable_pools.system_problems(
                first, wire(system) | subnet, now, stack.last_update
            ),
            *(
                problem
                for pool in planned
                for problem in azure_immutable_pools.pool_problems(
                    stack, pool.pool, pool.request, now
                )
            ),
            *removed_pools.problems(stack, live, "cluster", kubeconfig),
        ]
    )
    return ClusterPlan(stack, cloud, now, system, planned, engine, provisioned)


class AksCluster(CloudCluster):
    """An AKS cluster with all its pools, and the network, identity and monitoring that it lacks.

    `AksCluster("ml", plan(stack, reading), opts=ResourceOptions(parent=whole))`

    It deliberately declares nothing of an existing network, resource group, registry or key, and
    nothing inside the cluster.
    """

    def __init__(
        self, name: str, plan: ClusterPlan, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("kubeflow-spot:azure:AksCluster", name, None, opts)
        spec, cloud = plan.stack.spec, plan.cloud
        assert cloud.location
        self._name, self._plan, self._cloud = name, plan, cloud
        child = pulumi.ResourceOptions(parent=self)

        # Around the cluster
        group = self._resource_group()
        self._placed = placed = Placed(spec.name, group, cloud.location, spec.cluster.tags)
        self._network = Network(name, cloud.network, placed, opts=child)
        control_plane = ControlPlaneIdentity(name, self._grants(), placed, opts=child)
        monitoring = None
        if cloud.monitoring.logs or cloud.monitoring.metrics:
            monitoring = Monitoring(name, cloud.monitoring, placed, opts=child)

        # The cluster and its pools
        self.new_cluster = cluster = self._managed_cluster(control_plane, monitoring)
        group_name, profile = plan.group.text, self._system_profile()
        system = system_pool(
            name, group_name, profile, plan.live, cluster=cluster, placed=placed, parent=self
        )
        self._agent_pools(cluster, system, control_plane)
        if plan.engine.provisions:
            self.pool_objects = karpenter_objects.of_stack(plan.stack, self._network.subnet_id)

        # At the cluster
        declare_windows(name, cloud.upgrades, cluster, placed, self)
        self._image_pull(cluster)
        if monitoring:
            monitoring.watch(cluster, plan.stack)
        self._checkpoints(cluster)

        # Outputs
        self.outputs = azure_live.access_outputs(cluster.name, group, cloud.access.entra)
        self.kubeconfig = azure_live.kubeconfig(
            group, cluster.name, cloud.access.entra, pulumi.InvokeOptions(parent=self)
        )
        self.register_outputs({"name": cluster.name, "resourceGroup": group})

    def _resource_group(self) -> pulumi.Input[str]:
        spec, cloud = self._plan.stack.spec, self._cloud
        if cloud.existing_resource_group:
            return references.output(cloud.existing_resource_group)
        return resources.ResourceGroup(
            self._name,
            resource_group_name=self._plan.group.text,
            location=cloud.location,
            tags=spec.cluster.tags,
            opts=pulumi.ResourceOptions(parent=self, protect=spec.cluster.protect or None),
        ).name

    def _grants(self) -> list[Grant]:
        """Return the rights that the control plane's identity needs before the cluster exists."""
        stack = self._plan.stack
        assert stack.system_pool
        pools = (stack.system_pool, *stack.node_pools)
        reservations = [pool.reservation for pool in pools if pool.reservation]
        return [
            *azure_identity.control_plane_grants(self._cloud, self._network, pools),
            *azure_identity.reservation_grants(reservations),
        ]

    def _managed_cluster(
        self, control_plane: ControlPlaneIdentity, monitoring: Monitoring | None
    ) -> containerservice.ManagedCluster:
        plan, spec, cloud = self._plan, self._plan.stack.spec, self._cloud
        answer = plan.live.answer
        disks = cloud.encryption.disk_encryption_set
        reset = plan.stack.last_update.reset
        drivers = azure_profiles.storage_drivers(cloud.storage_drivers, answer, reset)
        labels = azure_profiles.alert_labels(spec, reset)
        # The list is for a new cluster: later requests repeat every pool as the refresh has read it.
        ignored = azure_profiles.left_alone(drivers, labels, cloud.properties)
        if answer and not plan.lists_pools:
            ignored.append("agentPoolProfiles")
        args = containerservice.ManagedClusterArgs(
            resource_group_name=self._placed.resource_group,
            location=cloud.location,
            tags=spec.cluster.tags | retries(answer),
            dns_prefix=spec.name,
            kubernetes_version=plan.version,
            sku=containerservice.ManagedClusterSKUArgs(name="Base", tier=cloud.tier),
            support_plan="AKSLongTermSupport" if cloud.long_term_support else "KubernetesOfficial",
            identity=containerservice.ManagedClusterIdentityArgs(
                type=containerservice.ResourceIdentityType.USER_ASSIGNED,
                user_assigned_identities=[control_plane.id],
            ),
            oidc_issuer_profile=containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
            security_profile=azure_profiles.security(cloud.encryption),
            disk_encryption_set_id=references.output(disks) if disks else None,
            # The resource takes plain data here, its class of arguments says otherwise.
            network_profile=azure_profiles.network(cloud.network),  # type: ignore[arg-type]
            api_server_access_profile=azure_profiles.api_server(cloud.access),
            aad_profile=azure_profiles.entra(cloud.access),
            disable_local_accounts=not cloud.access.local_accounts,
            auto_upgrade_profile=azure_profiles.upgrades(cloud.upgrades),
            linux_profile=azure_profiles.linux(cloud.ssh),
            addon_profiles=azure_profiles.addons(monitoring.log_workspace if monitoring else None),
            azure_monitor_profile=azure_profiles.azure_monitor(cloud.monitoring, labels),
            storage_profile=drivers,
            auto_scaler_profile=azure_profiles.autoscaler(spec, plan.stack.node_pools)
            if plan.engine.scaled
            else None,
            node_provisioning_profile=azure_profiles.node_provisioning(plan.engine.provisions),
            agent_pool_profiles=azure_pools.listed(plan.live)
            if plan.lists_pools
            else [self._system_profile()],
        )
        return containerservice.ManagedCluster(
            self._name,
            # The class of arguments calls it `resource_name`, like the resource's own name.
            resource_name_=spec.name,
            **vars(laid_over(args, cloud.properties)),
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=spec.cluster.protect or None,
                depends_on=control_plane.access,
                ignore_changes=ignored,
                replace_on_changes=list(_REPLACED),
                delete_before_replace=True,
            ),
        )

    def _system_profile(self) -> containerservice.ManagedClusterAgentPoolProfileArgs:
        system = self._plan.stack.system_pool
        assert system
        profile = copy(self._plan.system_pool)
        profile.vnet_subnet_id = self._network.subnet_id(settings_of(system.source).subnet)
        return profile

    def _agent_pools(
        self,
        cluster: containerservice.ManagedCluster,
        system: pulumi.Resource,
        control_plane: ControlPlaneIdentity,
    ) -> None:
        plan, placed, rights = self._plan, self._placed, control_plane.access
        home = azure_pools.ClusterOfPools(
            cluster.name, placed.resource_group, placed.tags, self._network.subnet_id, cluster
        )
        azure_pools.declare_all(
            self._name,
            plan.pools,
            plan.live,
            cluster=home,
            first=[system],
            rights=rights,
            parent=self,
        )

    def _image_pull(self, cluster: containerservice.ManagedCluster) -> None:
        if self._cloud.registry:
            pull = Grant(azure_identity.ACR_PULL, references.output(self._cloud.registry.id))
            pull.to(
                self._name,
                azure_identity.kubelet(cluster, self._plan.live),
                parent=self,
                replace_with=[cluster],
            )

    def _checkpoints(self, cluster: containerservice.ManagedCluster) -> None:
        workloads = self._plan.stack.spec.workloads
        if workloads.checkpoints:
            self.workloads = Checkpoints(
                self._name,
                workloads,
                self._placed,
                group=self._plan.group.text,
                keep_group=self._cloud.existing_resource_group is not None,
                issuer=azure_identity.token_issuer(cluster, self._plan.live),
                opts=pulumi.ResourceOptions(parent=self),
            ).published
