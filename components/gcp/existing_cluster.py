"""Pools in a GKE cluster that somebody else made: the cluster is read, never declared.

A pool names no Kubernetes version: GKE makes it in the cluster's own and upgrades it with the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.gcp import agents, credentials, identity, immutable_pools, live, pools
from components.gcp.identity import NodeIdentity
from components.gcp.live import LiveCluster, block, config
from components.target import Outputs
from config.clouds.gcp.machines import accelerator
from config.clouds.gcp.settings import Gcp, GcpExistingCluster, options_of
from config.clouds.gcp.traits import NO_DEFAULT_PLUGIN
from config.model.spec import ClusterSpec
from config.placement.node_pools import POOL_LABEL, NodePool
from config.problems import Problem, report

_WHERE = "cloud.existingCluster"

STACK_LABEL = "kubeflow-spot-stack"
"""Resource label of every pool: two stacks may want one of the same name."""


@dataclass(frozen=True)
class FoundCluster:
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
        return bool(block(self.live.found, "workloadIdentityConfigs").get("workloadPool"))


def find(project: str, spec: GcpExistingCluster, reading: pulumi.InvokeOptions | None = None) -> FoundCluster:
    """Read the cluster. Raises `pulumi.RunError` when it is not there or takes no pools."""
    there = live.read(project, spec.location, spec.name, reading)
    if not there.found:
        raise pulumi.RunError(
            f"{_WHERE}: there is no GKE cluster {spec.name!r} in {spec.location} of project {project}"
            f"\n  gcloud container clusters list --project {project}   shows those there are"
        )
    if there.found.get("enableAutopilot"):
        raise pulumi.RunError(
            f"{_WHERE}: the cluster {spec.name!r} is an Autopilot cluster, which takes no node pools"
            "\n  name a Standard cluster, or reach this one by `provider: existing`, which adds the layer alone"
        )
    dns = _dns_name(there.found)
    if dns:
        kubeconfig = credentials.kubeconfig(spec.name, dns, None)
    else:
        authority = block(there.found, "masterAuths").get("clusterCaCertificate")
        kubeconfig = credentials.kubeconfig(spec.name, str(there.found.get("endpoint")), authority)
    return FoundCluster(project, spec.location, spec.name, there, kubeconfig, bool(dns))


def _dns_name(found: Mapping[str, Any]) -> str | None:
    """The DNS name, where that is the way in from everywhere: see `credentials.by_name`."""
    ways = block(found, "controlPlaneEndpointsConfigs")
    dns = block(ways, "dnsEndpointConfigs")
    open_to_all = (
        block(ways, "ipEndpointsConfigs").get("enabled", True)
        and not block(found, "privateClusterConfigs").get("enablePrivateEndpoint")
        and not LiveCluster(found).closed
    )
    usable = dns.get("allowExternalTraffic") and not open_to_all
    return str(dns["endpoint"]) if usable else None


class GkePools(pulumi.ComponentResource):
    """This stack's pools in the cluster and their identity, and nothing else of it."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    cluster = None

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        node_pools: Sequence[NodePool],
        found: FoundCluster,
        *,
        instance: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:gcp:GkePools", name, None, opts)
        cloud = _gcp(spec)
        child = pulumi.ResourceOptions(parent=self)
        nodes = NodeIdentity(name, cloud, cluster=found.name, instance=instance, opts=child)
        access = [*nodes.access, *agents.declare(name, cloud, self)]
        for pool in node_pools:
            pools.declare(
                name,
                _arguments(spec, pool, found, nodes.email, instance),
                cluster=found.name,
                parent=self,
                after=access,
            )
        self.outputs = credentials.outputs(found.project, found.location, found.name, found.dns)
        self.kubeconfig = pulumi.Output.secret(found.kubeconfig)
        self.register_outputs({})


def _gcp(spec: ClusterSpec) -> Gcp:
    assert isinstance(spec.cloud, Gcp)
    return spec.cloud


def _arguments(
    spec: ClusterSpec, pool: NodePool, found: FoundCluster, account: pulumi.Input[str], instance: str
) -> dict[str, Any]:
    labels = {**spec.cluster.tags, STACK_LABEL: instance}
    # GKE refuses pools that ask for what the cluster does not have.
    with_identity = found.workload_identity
    return pools.node_pool(pool, _gcp(spec), account, labels, found.live, workload_identity=with_identity)


def refuse(spec: ClusterSpec, node_pools: Sequence[NodePool], found: FoundCluster, instance: str) -> None:
    """Raises `pulumi.RunError` for pools that this cluster cannot take, before anything is declared."""
    problems = sorted(_problems(spec, node_pools, found, instance))
    if problems:
        raise pulumi.RunError(report(problems))
    account = identity.wanted(_gcp(spec), found.name, instance)
    immutable_pools.refuse(
        problem
        for pool in node_pools
        for problem in immutable_pools.pool_problems(
            spec, pool, _arguments(spec, pool, found, account, instance), found.live
        )
    )
    if not found.workload_identity:
        pulumi.log.warn(
            f"{_WHERE}: the cluster {found.name!r} has no Workload Identity Federation: pods on its nodes act as the nodes'"
            f" service account, {account}\n"
            f"  gcloud container clusters update {found.name} --location {found.location} --project {found.project}"
            f" --workload-pool {found.project}.svc.id.goog   gives pods identities of their own"
        )


def _problems(
    spec: ClusterSpec, node_pools: Sequence[NodePool], found: FoundCluster, instance: str
) -> Iterator[Problem]:
    for pool in node_pools:
        there = found.live.pools.get(pool.name)
        if there is None or _is_ours(there, instance):
            continue
        owner = (config(there).get("resourceLabels") or {}).get(STACK_LABEL)
        whose = f"stack {owner!r}" if owner and owner != instance else "somebody else"
        yield Problem(
            f"pools[{spec.pools.index(pool.source)}].name",
            f"the cluster {found.name!r} has a pool {pool.name!r} already, made by {whose}",
            f"choose a name that is free; taken are: {', '.join(sorted(found.live.pools))}",
        )


def _is_ours(pool: Mapping[str, Any], instance: str) -> bool:
    """A pool with the program's label; who made one without the resource label is not known, and it may be this stack."""
    nodes = config(pool)
    owner = (nodes.get("resourceLabels") or {}).get(STACK_LABEL, instance)
    return POOL_LABEL in (nodes.get("labels") or {}) and owner == instance


def node_labels(pool: NodePool) -> dict[str, str]:
    """What is known of the labels GKE itself puts on a pool's nodes (a dump of v1.36.3-gke; page gpus)."""
    labels = {
        "cloud.google.com/gke-nodepool": pool.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.machine,
    }
    if pool.gpus:
        labels |= {
            "cloud.google.com/gke-accelerator": accelerator(pool.gpu_model),
            "cloud.google.com/gke-accelerator-count": str(pool.gpus),
            "cloud.google.com/gke-gpu": "true",
        }
        options = options_of(pool.source)
        if options and options.device_plugin == "nvidia":
            labels[NO_DEFAULT_PLUGIN] = "true"
    return labels
