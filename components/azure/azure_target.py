"""An AKS cluster as the target of a stack: a new one, or an existing one that was read."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import authorization

from components import property_edits, refusal
from components.azure import (
    azure_cluster,
    azure_existing_cluster,
    azure_immutable_cluster,
    azure_pools,
    provisioned_pools,
)
from components.azure.azure_cluster import AksCluster
from components.azure.azure_existing_cluster import AksPools
from components.azure.azure_profiles import ALERTS
from components.last_update import remember_reset
from components.resources import explain_refusal, reading
from components.target import CloudCluster, Stack, Target
from config.base.problems import Problem
from config.clouds.azure.azure_pool import nodes_of
from config.clouds.azure.azure_settings import Azure

SUBSCRIPTION = "subscription"
"""Key of the last update: the id of the subscription that the cluster is in."""


class AksTarget(Target):
    """The AKS cluster of a stack file: `AksTarget(stack, opts)`; `opts` has its provider."""

    node_labels = staticmethod(azure_pools.node_labels)
    _plan: azure_cluster.ClusterPlan
    _existing: azure_existing_cluster.ExistingAks

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        assert isinstance(stack.spec.cloud, Azure)
        self._stack, self._cloud, self._reading = (
            stack,
            stack.spec.cloud,
            reading(opts, "azure-native"),
        )
        if existing := self._cloud.existing_cluster:
            self.key, self.existing = (
                "cloud.existingCluster",
                f"{existing.resource_group}/{existing.name}",
            )
        else:
            self.key, self.place = "cloud", azure_cluster.place(stack.spec, self._cloud)

    def read_cluster(self) -> None:
        """Read the cluster. Raise `pulumi.RunError` if the subscription has changed."""
        subscription = self._subscription()
        if self._cloud.existing_cluster:
            self._existing = existing = azure_existing_cluster.read_existing(
                self._cloud.existing_cluster, self._reading
            )
            self._pools = azure_existing_cluster.plan(self._stack, existing)
            self.kubeconfig, self.on_demand_pools = existing.kubeconfig, existing.on_demand_pools
            self.pool_names = existing.live.profiles.keys()
            expander, remedy = (
                existing.expander,
                f"az aks update --resource-group {existing.resource_group} --name {existing.name}"
                " --cluster-autoscaler-profile expander=priority   makes it so",
            )
        else:
            self._plan = azure_cluster.plan(self._stack, self._reading)
            provisioned = self._plan.provisioned
            self.pool_names = self._plan.live.profiles.keys() | provisioned.keys()
            tenant = self._cloud.access.tenant_id
            self.remembered = {
                azure_immutable_cluster.LISTED: True,
                **({azure_immutable_cluster.TENANT: tenant} if tenant else {}),
                **provisioned_pools.remembered(self._stack, self._cloud, provisioned),
            }
            if self._cloud.node_provisioning:
                self.order_kept_by = "the weights of Karpenter's NodePools"
            expander, remedy = (
                self._cloud.autoscaler.expander,
                "cloud.autoscaler.expander: priority makes it so",
            )
        self.remembered = {
            **self.remembered,
            SUBSCRIPTION: subscription,
            **property_edits.remembered(
                self._cloud.properties,
                self._stack.pools,
                lambda source: nodes_of(source).properties,
            ),
            **remember_reset(
                self._cloud.storage_drivers,
                *((ALERTS,) if self._stack.spec.alerts_in_cloud else ()),
            ),
        }
        self.not_by_priority = (
            None if expander == "priority" else f"the cluster's expander is {expander}; {remedy}"
        )

    def _subscription(self) -> str:
        """Return the id of the subscription that is read. Raise `pulumi.RunError` if it has changed
        since the last update.

        In another subscription the stack's names may be free, so a running cluster would look
        missing.
        """
        with explain_refusal("cloud: the login's subscription", "a subscription"):
            now = authorization.get_client_config(self._reading).subscription_id
        before = str(self._stack.last_update.get(SUBSCRIPTION) or now)
        if before.lower() != now.lower():
            what = f"the stack is in subscription {before}, and the login reads subscription {now}"
            remedy = (
                f"`pulumi config set azure-native:subscriptionId {before}`, or `az account set "
                f"--subscription {before}`"
            )
            refusal.refuse_settings([Problem("cloud", what, remedy)])
        return now

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> CloudCluster:
        """Declare the cluster, or the stack's pools in it."""
        if self._cloud.existing_cluster:
            return AksPools(name, self._stack, self._existing, self._pools, opts=opts)
        return AksCluster(name, self._plan, opts=opts)
