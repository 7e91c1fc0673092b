"""Pools in an existing AKS cluster: the cluster is read, never declared.

A pool names no Kubernetes version: AKS uses the cluster's, and the cluster's owner upgrades its
pools. A version here would replace the nodes of running jobs in an unrelated update.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pulumi

from components import pools, references, refusal, removed_pools
from components.azure import azure_immutable_pools, azure_live, azure_pools, engine_change
from components.azure.azure_live import LiveCluster
from components.pools import STACK_TAG
from components.target import CloudCluster, Stack
from config.base.problems import Problem
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure, AzureExistingCluster
from config.model.fields import Reference

_WHERE = "cloud.existingCluster"


@dataclass(frozen=True)
class ExistingAks:
    """The cluster as it is now."""

    name: str
    resource_group: str
    live: LiveCluster
    entra: bool
    """Whether logins go through Microsoft Entra."""
    kubeconfig: str
    """Secret: wrap what is passed on."""

    @property
    def expander(self) -> str:
        """The autoscaler's expander; AKS' default is random (page cluster-autoscaler)."""
        profile = (self.live.answer or {}).get("autoScalerProfile") or {}
        return str(profile.get("expander") or "random")

    @property
    def on_demand_pools(self) -> tuple[str, ...]:
        """Names of the on-demand pools that the autoscaler may grow."""
        return tuple(
            name
            for name, profile in sorted(self.live.profiles.items())
            if profile.get("enableAutoScaling") and profile.get("scaleSetPriority") != "Spot"
        )


def read_existing(
    spec: AzureExistingCluster, reading: pulumi.InvokeOptions | None = None
) -> ExistingAks:
    """Read the cluster. Raise `pulumi.RunError` when it is missing or cannot take pools now."""
    cluster = azure_live.read_cluster(spec.resource_group, spec.name, reading)
    if cluster.answer is None:
        raise pulumi.RunError(
            f"{_WHERE}: there is no AKS cluster {spec.name!r} in resource group "
            f"{spec.resource_group!r} of this subscription"
            "\n  az aks list --output table   lists the existing ones"
        )
    if (cluster.answer.get("powerState") or {}).get("code") == "Stopped":
        raise pulumi.RunError(
            f"{_WHERE}: the cluster {spec.name!r} is stopped"
            f"\n  az aks start --resource-group {spec.resource_group} --name {spec.name}"
        )
    kubeconfig = azure_live.read_kubeconfig(spec.resource_group, spec.name, cluster.entra, reading)
    return ExistingAks(spec.name, spec.resource_group, cluster, cluster.entra, kubeconfig)


class AksPools(CloudCluster):
    """This stack's pools in the cluster: `AksPools("ml", stack, cluster, plan(stack, cluster))`.

    It deliberately declares nothing else of the cluster: its owner upgrades and deletes it.
    """

    def __init__(
        self,
        name: str,
        stack: Stack,
        cluster: ExistingAks,
        planned: Sequence[azure_pools.PlannedPool],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:AksPools", name, None, opts)
        home = azure_pools.ClusterOfPools(
            cluster.name,
            cluster.resource_group,
            {**stack.spec.cluster.tags, STACK_TAG: stack.instance},
            lambda subnet: _linked(subnet_id(subnet, cluster.live), subnet),
            # The cluster's owner upgrades its pools; do not undo that.
            ignore_changes=["orchestratorVersion"],
        )
        azure_pools.declare_all(name, planned, cluster.live, cluster=home, parent=self)
        self.outputs = azure_live.access_outputs(
            cluster.name, cluster.resource_group, cluster.entra
        )
        self.kubeconfig = pulumi.Output.secret(cluster.kubeconfig)
        self.register_outputs({})


def _linked(id: str | None, subnet: Reference | None) -> pulumi.Input[str] | None:
    """Return a subnet's id; the output where another resource makes the subnet."""
    return (
        pulumi.Output.concat(id.removesuffix(subnet.text), references.output(subnet))
        if id and subnet
        else id
    )


def _planned_pools(stack: Stack, cluster: ExistingAks) -> list[azure_pools.PlannedPool]:
    assert isinstance(stack.spec.cloud, Azure)
    at_host = stack.spec.cloud.encryption.at_host
    return [
        azure_pools.PlannedPool(
            pool,
            azure_pools.profile(pool, None, cluster.live, at_host=at_host),
            None if subnet and subnet.made_up else subnet_id(subnet, cluster.live),
        )
        for pool, subnet in ((pool, settings_of(pool.source).subnet) for pool in stack.node_pools)
    ]


def plan(stack: Stack, cluster: ExistingAks) -> list[azure_pools.PlannedPool]:
    """Return the stack's pools. Raise `pulumi.RunError` for pools that cannot be added."""
    refusal.refuse_settings(_problems(stack, cluster))
    planned = _planned_pools(stack, cluster)
    refusal.refuse_changes(
        [
            *removed_pools.problems(
                stack, cluster.live.user_pools, _WHERE, lambda: cluster.kubeconfig
            ),
            *(
                problem
                for pool in planned
                for problem in azure_immutable_pools.pool_problems(
                    stack, pool.pool, pool.request, cluster.live
                )
            ),
        ]
    )
    return planned


def _problems(stack: Stack, cluster: ExistingAks) -> Iterator[Problem]:
    if stack.node_pools and engine_change.mode(cluster.live) == "Auto":
        yield Problem(
            _WHERE,
            f"the cluster {cluster.name!r} has node auto-provisioning, beside which AKS takes no "
            "autoscaled pool (page node-auto-provisioning)",
            "write the pools into the stack file of the cluster itself, or name another cluster",
        )
    for pool in stack.node_pools:
        profile = cluster.live.profiles.get(pool.name)
        if profile:
            yield from pools.name_taken(
                stack,
                pool,
                cluster.name,
                labels=profile.get("nodeLabels"),
                tags=profile.get("tags"),
                names=cluster.live.profiles,
            )
        named = settings_of(pool.source).subnet
        if named and not named.text.startswith("/") and subnet_id(None, cluster.live) is None:
            yield Problem(
                f"{stack.path(pool)}.subnet",
                f"the cluster {cluster.name!r} is in a network that AKS made, which has no "
                "subnets to name",
                "leave it out",
            )


def subnet_id(subnet: Reference | None, cluster: LiveCluster) -> str | None:
    """Return the id of a pool's subnet; by default the system pool's. Return None for AKS' own
    network.

    All pools of a cluster must be in one network (page node-pool-unique-subnet).
    """
    if subnet and subnet.text.startswith("/"):
        return subnet.text
    system_pools = sorted(
        (profile for profile in cluster.profiles.values() if profile.get("mode") == "System"),
        key=lambda profile: str(profile["name"]),
    )
    default: str | None = system_pools[0].get("vnetSubnetID") if system_pools else None
    if subnet is None or default is None:
        return default
    return f"{default.rpartition('/subnets/')[0]}/subnets/{subnet.text}"
