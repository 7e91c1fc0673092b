"""The way of a live cluster from the cluster autoscaler to node auto-provisioning, and back.

AKS takes node auto-provisioning beside agent pools of fixed size, and refuses it beside autoscaled
ones (page migrate-from-autoscaler-to-node-auto-provisioning, path 1). So the first update fixes the
pools, the second one switches, and each later one removes the old pools on which nothing runs. Back
AKS goes only without a machine of Karpenter's (page use-node-auto-provisioning), which is left to
the cluster's owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pulumi

from components import running
from components.azure.azure_live import LiveCluster
from components.target import Stack
from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.placement.node_pools import NodePool

KEY = "cloud.nodeProvisioning"

_AGENT_POOL = "kubernetes.azure.com/agentpool"
"""AKS' own label of an agent pool's nodes (page use-labels)."""

_NEXT = f"{KEY}: the cluster's pools are fixed in size first, since AKS refuses "
_NEXT += "node auto-provisioning beside the autoscaler; run `pulumi up` again at once: until then "
_NEXT += "no pool grows"


@dataclass(frozen=True)
class Engine:
    """What an update declares."""

    provisions: bool
    """Whether node auto-provisioning is on after this update."""
    agent_pools: tuple[NodePool, ...]
    """Agent pools beside the system pool."""
    scaled: bool
    """Whether the cluster autoscaler scales them."""


def mode(live: LiveCluster) -> str:
    """Return AKS' mode of node provisioning."""
    return str(((live.answer or {}).get("nodeProvisioningProfile") or {}).get("mode") or "Manual")


def problems(cloud: Azure, live: LiveCluster) -> Iterator[Problem]:
    """Yield a problem for the way back, while Karpenter may have machines."""
    if cloud.node_provisioning is None and mode(live) == "Auto":
        yield Problem(
            KEY,
            "is gone while the cluster has node auto-provisioning: AKS switches it off only when "
            "no NodePool may grow and no node of Karpenter's is left, and its nodes go with their "
            "work",
            "put it back; or set `limits: {cpu: 0}` in each (kubectl edit nodepools), wait until "
            "`kubectl get nodes -l karpenter.sh/nodepool` shows none, run `az aks update "
            "--node-provisioning-mode Manual`, then `pulumi up`",
        )


def engine(stack: Stack, cloud: Azure, live: LiveCluster, kubeconfig: Callable[[], str]) -> Engine:
    """Return what this update declares; log the next step of a switch.

    `kubeconfig` returns the cluster's; it is asked only while old pools are left. Raise
    `pulumi.RunError` if they cannot be judged.
    """
    if cloud.node_provisioning is None:
        return Engine(provisions=False, agent_pools=stack.node_pools, scaled=True)
    old = tuple(pool for pool in stack.node_pools if pool.name in live.profiles)
    if any(profile.get("enableAutoScaling") for profile in live.profiles.values()):
        pulumi.log.warn(_NEXT)
        return Engine(provisions=False, agent_pools=old, scaled=False)
    if not old or mode(live) != "Auto":
        return Engine(provisions=True, agent_pools=old, scaled=False)
    names = {pool.name for pool in old}
    work = running.read_running(kubeconfig(), KEY, names, _AGENT_POOL)
    used = tuple(pool for pool in old if work[pool.name].pods)
    if used:
        shown = ", ".join(pool.name for pool in used)
        pulumi.log.warn(
            f"{KEY}: pools of before still have work: {shown}; `kubectl cordon -l "
            f"{_AGENT_POOL}=POOL` sends new work to Karpenter, and an `up` after its end removes "
            "them"
        )
    return Engine(provisions=True, agent_pools=used, scaled=False)
