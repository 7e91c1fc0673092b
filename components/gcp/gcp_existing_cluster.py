"""Pools in an existing GKE cluster: the cluster is read, never declared.

A pool names no Kubernetes version: GKE uses the cluster's and upgrades the pool with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pulumi

from components import pools, refusal, removed_pools
from components.gcp import (
    agents,
    gcp_credentials,
    gcp_identity,
    gcp_immutable_pools,
    gcp_live,
    gcp_pools,
    untainted,
)
from components.gcp.gcp_identity import NodeIdentity
from components.gcp.gcp_live import LiveCluster, block, config
from components.pools import STACK_TAG
from components.target import CloudCluster, Stack
from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp, GcpExistingCluster

_WHERE = "cloud.existingCluster"


@dataclass(frozen=True)
class ExistingGke:
    """The cluster as it is now."""

    project: str
    location: str
    name: str
    live: LiveCluster
    kubeconfig: str
    dns: bool
    """Whether it is reached by its DNS name."""

    @property
    def workload_identity(self) -> bool:
        """Whether pods can have identities of their own."""
        return bool(block(self.live.answer, "workloadIdentityConfigs").get("workloadPool"))


def read_existing(
    project: str, spec: GcpExistingCluster, reading: pulumi.InvokeOptions | None = None
) -> ExistingGke:
    """Read the cluster. Raise `pulumi.RunError` when it is missing or takes no pools."""
    cluster = gcp_live.read_cluster(project, spec.location, spec.name, reading)
    if not cluster.answer:
        raise pulumi.RunError(
            f"{_WHERE}: there is no GKE cluster {spec.name!r} in {spec.location} of project "
            f"{project}"
            f"\n  gcloud container clusters list --project {project}   lists the existing ones"
        )
    if cluster.answer.get("enableAutopilot"):
        raise pulumi.RunError(
            f"{_WHERE}: the cluster {spec.name!r} is an Autopilot cluster, which takes no node "
            "pools"
            "\n  name a Standard cluster, or reach this one by `provider: existing`, which adds "
            "the layer alone"
        )
    kubeconfig = gcp_credentials.kubeconfig_of_live(spec.name, cluster)
    return ExistingGke(
        project, spec.location, spec.name, cluster, kubeconfig, bool(cluster.dns_name)
    )


class GkePools(CloudCluster):
    """This stack's pools in the cluster and their identity: `GkePools("ml", stack, cluster,
    plan(stack, cluster))`.

    It deliberately declares nothing else of the cluster: its owner upgrades and deletes it.
    """

    def __init__(
        self,
        name: str,
        stack: Stack,
        cluster: ExistingGke,
        planned: Sequence[gcp_pools.PlannedPool],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:gcp:GkePools", name, None, opts)
        cloud = _gcp(stack)
        child = pulumi.ResourceOptions(parent=self)
        nodes = NodeIdentity(name, cloud, cluster=cluster.name, instance=stack.instance, opts=child)
        access = [*nodes.access, *agents.declare_rights(name, cloud, self)]
        for pool in planned:
            gcp_pools.declare(
                name,
                pool,
                cloud,
                account=nodes.email,
                cluster=cluster.name,
                parent=self,
                after=access,
            )
        self.outputs = gcp_credentials.outputs(
            cluster.project, cluster.location, cluster.name, cluster.dns
        )
        self.kubeconfig = pulumi.Output.secret(cluster.kubeconfig)
        self.register_outputs({})


def _gcp(stack: Stack) -> Gcp:
    assert isinstance(stack.spec.cloud, Gcp)
    return stack.spec.cloud


def _planned_pools(stack: Stack, cluster: ExistingGke) -> list[gcp_pools.PlannedPool]:
    labels = {**stack.spec.cluster.tags, STACK_TAG: stack.instance}
    return [
        gcp_pools.planned(
            pool,
            _gcp(stack),
            gcp_identity.node_account(_gcp(stack), cluster.name, stack.instance),
            labels,
            cluster.live,
            cluster=cluster.name,
            # GKE refuses pools with a metadata server if the cluster has no workload identity.
            workload_identity=cluster.workload_identity,
        )
        for pool in stack.node_pools
    ]


def plan(stack: Stack, cluster: ExistingGke) -> list[gcp_pools.PlannedPool]:
    """Return the stack's pools. Raise `pulumi.RunError` for pools that cannot be added."""
    refusal.refuse_settings(_problems(stack, cluster))
    planned = _planned_pools(stack, cluster)
    refusal.refuse_changes(
        [
            *removed_pools.problems(
                stack, cluster.live.live_pools, _WHERE, lambda: cluster.kubeconfig
            ),
            *(
                problem
                for pool in planned
                for problem in gcp_immutable_pools.pool_problems(
                    stack, pool.pool, pool.request, cluster.live
                )
            ),
        ]
    )
    options = f"--cluster {cluster.name} --location {cluster.location} --project {cluster.project}"
    untainted.warn_of_untainted(stack.spec, _WHERE, options, cluster.live)
    account = gcp_identity.node_account(_gcp(stack), cluster.name, stack.instance)
    if not cluster.workload_identity:
        pulumi.log.warn(
            f"{_WHERE}: the cluster {cluster.name!r} has no Workload Identity Federation: pods on "
            "its nodes act as the nodes'"
            f" service account, {account}\n"
            f"  gcloud container clusters update {cluster.name} --location {cluster.location} "
            f"--project {cluster.project}"
            f" --workload-pool {cluster.project}.svc.id.goog   gives pods identities of their own"
        )
    return planned


def _problems(stack: Stack, cluster: ExistingGke) -> Iterator[Problem]:
    for pool in stack.node_pools:
        nodes = config(cluster.live.pools.get(pool.name, {}))
        if pool.name in cluster.live.pools:
            labels, tags = nodes.get("labels"), nodes.get("resourceLabels")
            names = cluster.live.pools
            yield from pools.name_taken(
                stack, pool, cluster.name, labels=labels, tags=tags, names=names
            )
