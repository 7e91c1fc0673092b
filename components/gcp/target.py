"""A GKE cluster as the target of a stack: a new one, or an existing one that was read."""

from __future__ import annotations

import pulumi

from components import immutable
from components.gcp import identity, immutable_cluster, immutable_pools, live, network, pools, untainted
from components.gcp.cluster import GkeCluster
from components.gcp.existing_cluster import GkePools, read, refuse
from components.gcp.live import LiveCluster
from components.resources import reading
from components.target import ExistingCluster, NewCluster, Stack, Target
from config.clouds.gcp.settings import Gcp

_BY_PRICE = "GKE takes what is cheapest among pools that fit, and has no priority expander"
"""Page cluster-autoscaler."""

_DEVICE_PLUGIN = ("kube-system", "nvidia-gpu-device-plugin")
"""On every GPU node that is not labelled otherwise (page gpus)."""


def target(stack: Stack, opts: pulumi.ResourceOptions | None) -> Target:
    """The cluster of this stack file, read by the provider that `opts` of the component name.

    Raises `pulumi.RunError` for a cluster that cannot be read or cannot take the pools, and for an existing one that is missing.
    """
    cloud = stack.spec.cloud
    assert isinstance(cloud, Gcp)
    provider = reading(opts, "gcp")
    return _existing(stack, cloud, provider) if cloud.existing_cluster else _new(stack, cloud, provider)


def _new(stack: Stack, cloud: Gcp, provider: pulumi.InvokeOptions) -> Target:
    assert cloud.location
    network.refuse(cloud, provider)
    cluster = live.read(cloud.project, cloud.location, stack.spec.name, provider)
    place = {"clusterName": stack.spec.name, "project": cloud.project, "location": cloud.location}
    if not cluster.answer:
        stack.last_update.warn_of_missing(place, "gcloud config list   shows the login that reads")
    _refuse_changes(stack, cloud, cluster, provider)
    options = f"--cluster {stack.spec.name} --location {cloud.location} --project {cloud.project}"
    untainted.warn(stack.spec, "cluster", options, cluster)
    return NewCluster(
        declare=lambda name, child: GkeCluster(name, stack, cluster, opts=child),
        node_labels=pools.node_labels,
        device_plugin=_DEVICE_PLUGIN,
        not_by_priority=f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives it an order",
        place=place,
        # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/dcgm-metrics
        exporter="GKE's own DCGM exporter (cloud.monitoring.components: DCGM)"
        if "DCGM" in cloud.monitoring.components
        else None,
    )


def _existing(stack: Stack, cloud: Gcp, provider: pulumi.InvokeOptions) -> Target:
    assert cloud.existing_cluster
    cluster = read(cloud.project, cloud.existing_cluster, provider)
    refuse(stack, cluster)
    options = f"--cluster {cluster.name} --location {cluster.location} --project {cluster.project}"
    untainted.warn(stack.spec, "cloud.existingCluster", options, cluster.live)
    # On-demand pools beside the stack's do not matter: GKE keeps no order among them.
    return ExistingCluster(
        declare=lambda name, child: GkePools(name, stack, cluster, opts=child),
        node_labels=pools.node_labels,
        device_plugin=_DEVICE_PLUGIN,
        not_by_priority=f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives pods that ask for it an order",
        kubeconfig=cluster.kubeconfig,
    )


def _refuse_changes(stack: Stack, cloud: Gcp, cluster: LiveCluster, provider: pulumi.InvokeOptions) -> None:
    spec = stack.spec
    assert stack.system_pool
    account, tags = identity.node_account(cloud, spec.name), spec.cluster.tags
    system = pools.node_pool(stack.system_pool, cloud, account, tags, cluster)
    immutable.refuse(
        [
            *immutable_cluster.problems(cloud, spec.name, cluster, provider),
            *immutable_pools.cluster_problems(spec.name, cloud, cluster),
            *immutable_pools.system_problems(system, cluster),
            *(
                problem
                for pool in stack.node_pools
                for problem in immutable_pools.pool_problems(
                    stack, pool, pools.node_pool(pool, cloud, account, tags, cluster), cluster
                )
            ),
        ],
        "GKE",
    )
