"""Pools in an AKS cluster that somebody else made: the cluster is read, never declared.

A pool names no Kubernetes version: AKS makes it in the cluster's own, and from then on it is upgraded by whoever upgrades the
cluster. To name one would exchange the nodes of running jobs in an update about something else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.azure import credentials, immutable_pools, pools
from components.azure import live as counts
from components.azure.live import LiveCluster
from components.azure.types import USER_CREDENTIALS
from components.resources import call
from components.target import Outputs
from config.clouds.azure.settings import Azure, AzureExistingCluster
from config.model.spec import ClusterSpec
from config.placement.node_pools import POOL_LABEL, NodePool
from config.problems import Problem, report

_WHERE = "cloud.existingCluster"

STACK_TAG = "kubeflow-spot-stack"
"""On every pool: two stacks may want one of the same name. No slash, which Azure refuses in a tag's name."""


@dataclass(frozen=True)
class FoundCluster:
    """The cluster as it is now."""

    name: str
    resource_group: str
    live: LiveCluster
    kubeconfig: str
    """Secret: wrap what is passed on."""

    @property
    def expander(self) -> str:
        """How its autoscaler chooses among pools; AKS' default is random (page cluster-autoscaler)."""
        profile = (self.live.found or {}).get("autoScalerProfile") or {}
        return str(profile.get("expander") or "random")

    @property
    def entra(self) -> bool:
        """Whether logins go through Microsoft Entra."""
        return _entra(self.live)

    def on_demand_beside(self, own: Collection[str]) -> tuple[str, ...]:
        """Names of on-demand pools that the autoscaler may grow and that are not among a stack's own."""
        return tuple(
            name
            for name, profile in sorted(self.live.profiles.items())
            if profile.get("enableAutoScaling") and profile.get("scaleSetPriority") != "Spot" and name not in own
        )


def find(spec: AzureExistingCluster, reading: pulumi.InvokeOptions | None = None) -> FoundCluster:
    """Read the cluster. Raises `pulumi.RunError` when it is not there or cannot take pools now."""
    live = counts.read(spec.resource_group, spec.name, reading)
    if live.found is None:
        raise pulumi.RunError(
            f"{_WHERE}: there is no AKS cluster {spec.name!r} in resource group {spec.resource_group!r} of this subscription"
            "\n  az aks list --output table   shows those there are"
        )
    if (live.found.get("powerState") or {}).get("code") == "Stopped":
        raise pulumi.RunError(
            f"{_WHERE}: the cluster {spec.name!r} is stopped"
            f"\n  az aks start --resource-group {spec.resource_group} --name {spec.name}"
        )
    try:
        question = credentials.question(spec.resource_group, spec.name, _entra(live))
        found = call(USER_CREDENTIALS, question, reading)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        raise pulumi.RunError(f"{_WHERE}: AKS hands out no credentials for {spec.name!r}: {failed}") from None
    return FoundCluster(spec.name, spec.resource_group, live, credentials.kubeconfig(found))


def _entra(live: LiveCluster) -> bool:
    return bool(((live.found or {}).get("aadProfile") or {}).get("managed"))


def _is_ours(profile: Mapping[str, Any], instance: str) -> bool:
    """A pool with the program's label; who made one without the tag is not known, and it may be this stack."""
    labels, tags = profile.get("nodeLabels") or {}, profile.get("tags") or {}
    return POOL_LABEL in labels and tags.get(STACK_TAG, instance) == instance


class AksPools(pulumi.ComponentResource):
    """This stack's pools in the cluster, and nothing else of it."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    """Secret."""
    cluster = None

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        node_pools: Sequence[NodePool],
        cluster: FoundCluster,
        *,
        instance: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:AksPools", name, None, opts)
        turns = pools.Turns(cluster.live)
        for pool in pools.in_order(node_pools):
            args = _arguments(spec, pool, cluster)
            wanted = args | {"vnetSubnetID": subnet_id(pool.source.subnet, cluster.live)}
            declared = pools.declare(
                name,
                pool,
                args,
                resource_group=cluster.resource_group,
                cluster=cluster.name,
                subnet_id=subnet_id(pool.source.subnet, cluster.live),
                tags={**spec.cluster.tags, STACK_TAG: instance},
                parent=self,
                # Whoever upgrades the cluster upgrades its pools: nothing to undo.
                ignore_changes=["orchestratorVersion"],
                after=turns.before(wanted),
            )
            turns.took(wanted, declared)
        self.outputs = credentials.outputs(cluster.name, cluster.resource_group, cluster.entra)
        self.kubeconfig = pulumi.Output.secret(cluster.kubeconfig)
        self.register_outputs({})


def _arguments(spec: ClusterSpec, pool: NodePool, cluster: FoundCluster) -> dict[str, Any]:
    assert isinstance(spec.cloud, Azure)
    return pools.agent_pool(pool, None, cluster.live, at_host=spec.cloud.encryption.at_host)


def refuse(
    spec: ClusterSpec,
    node_pools: Sequence[NodePool],
    cluster: FoundCluster,
    instance: str,
    was: Mapping[str, Any],
) -> None:
    """Raises `pulumi.RunError` for pools that this cluster cannot take, before anything is declared."""
    problems = sorted(_problems(spec, node_pools, cluster, instance))
    if problems:
        raise pulumi.RunError(report(problems))
    immutable_pools.refuse(
        problem
        for pool in node_pools
        for problem in immutable_pools.pool_problems(
            spec,
            pool,
            _arguments(spec, pool, cluster) | {"vnetSubnetID": subnet_id(pool.source.subnet, cluster.live)},
            cluster.live,
            was,
        )
    )


def _problems(
    spec: ClusterSpec, node_pools: Sequence[NodePool], cluster: FoundCluster, instance: str
) -> Iterator[Problem]:
    for pool in node_pools:
        path = f"pools[{spec.pools.index(pool.source)}]"
        there = cluster.live.profiles.get(pool.name)
        if there and not _is_ours(there, instance):
            owner = (there.get("tags") or {}).get(STACK_TAG)
            whose = f"stack {owner!r}" if owner and owner != instance else "somebody else"
            yield Problem(
                f"{path}.name",
                f"the cluster {cluster.name!r} has a pool {pool.name!r} already, made by {whose}",
                f"choose a name that is free; taken are: {', '.join(sorted(cluster.live.profiles))}",
            )
        named = pool.source.subnet
        if named and not named.startswith("/") and subnet_id(None, cluster.live) is None:
            yield Problem(
                f"{path}.subnet",
                f"the cluster {cluster.name!r} is in a network that AKS made for it, which has no subnets to name",
                "leave it out",
            )


def subnet_id(name: str | None, live: LiveCluster) -> str | None:
    """Where a pool's nodes go: the named subnet of the cluster's network, or its system pool's; None: AKS' own network.

    All pools of a cluster must be in one network (page node-pool-unique-subnet).
    """
    if name and name.startswith("/"):
        return name
    systems = sorted(
        (one for one in live.profiles.values() if one.get("mode") == "System"), key=lambda one: str(one["name"])
    )
    default: str | None = systems[0].get("vnetSubnetID") if systems else None
    if name is None or default is None:
        return default
    return f"{default.rpartition('/subnets/')[0]}/subnets/{name}"


def node_labels(pool: NodePool) -> dict[str, str]:
    """What is known of the labels AKS itself puts on a pool's nodes (a dump of v1.34.7; page use-labels)."""
    labels = {
        "agentpool": pool.name,
        "kubernetes.azure.com/agentpool": pool.name,
        "kubernetes.azure.com/mode": "user",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.machine,
    }
    if pool.gpus:
        labels |= {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}
    return labels
