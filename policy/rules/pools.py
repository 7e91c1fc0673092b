"""Node pools: taints of GPU and spot pools, system pools on spot, maximum sizes."""

from __future__ import annotations

from collections.abc import Iterator

from policy.clouds import pools
from policy.declared import Declared
from policy.rule import Finding, Rule, Setting, Settings

_GPU = "nvidia.com/gpu"


def _gpu_taint(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for pool in pools(declared):
        if pool.nvidia_at and pool.taints.lack(_GPU):
            yield Finding(
                pool.taints.path,
                f"no taint {_GPU}:NoSchedule, and {pool.nvidia_at} means NVIDIA GPUs",
                f"add {pool.taints.spell(_GPU, 'present')}",
            )


def _spot_taint(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for pool in pools(declared):
        if pool.spot and pool.taints.lack(*pool.spot.kept_off_by):
            yield Finding(
                pool.taints.path,
                f"no taint of the cloud's, and {pool.spot.path} makes it a spot pool",
                f"add {pool.taints.spell(*pool.spot.taint)}",
            )


def _system_pool(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for pool in pools(declared):
        if pool.spot and pool.system_at:
            yield Finding(
                pool.spot.path,
                f"machines may be evicted, and {pool.system_at} makes it a system pool",
                "make it on-demand, and add a spot pool for work that can be lost",
            )


def _bounds(declared: Declared, settings: Settings) -> Iterator[Finding]:
    limit = settings["maxNodes"]
    for bounds in (pool.bounds for pool in pools(declared) if pool.bounds):
        if bounds.maximum is None:
            yield Finding(bounds.path, "no maximum", f"set one of at most {limit:.0f} nodes")
        elif isinstance(bounds.maximum, int | float) and bounds.maximum > limit:
            yield Finding(
                bounds.path,
                f"more than {limit:.0f} nodes",
                f"lower it, or raise `maxNodes` of {BOUNDS.name} in the pack's configuration",
            )


GPU_TAINT = Rule(
    name="gpu-pool-untainted",
    refuses="A pool of NVIDIA machines that every pod may use",
    reason=(
        "Pods without GPUs fill it and keep it from scaling to zero. With the resource's name as"
        " the taint's key both clouds admit exactly the pods that ask for a GPU"
    ),
    sources=(
        "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers"
        "/#extendedresourcetoleration",
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus",
    ),
    check=_gpu_taint,
)

SPOT_TAINT = Rule(
    name="spot-pool-untainted",
    refuses="A spot or preemptible pool that every pod may use",
    reason=(
        "Its machines are evicted within seconds, with everything that runs on them. AKS sets the"
        " taint itself, and shows an undeclared one as drift; GKE sets none on such a pool"
    ),
    sources=(
        "https://learn.microsoft.com/azure/aks/spot-node-pool",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",
    ),
    check=_spot_taint,
)

SYSTEM_POOL = Rule(
    name="system-pool-on-spot",
    refuses="A system pool of spot or preemptible machines",
    reason=(
        "An eviction takes the cluster's DNS, metrics and webhooks, and nothing is scheduled until"
        " they are back. AKS refuses it"
    ),
    sources=(
        "https://learn.microsoft.com/azure/aks/use-system-pools",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",
    ),
    check=_system_pool,
)

BOUNDS = Rule(
    name="pool-unbounded",
    refuses="A pool without a sensible maximum size",
    reason="One wrong loop in a pipeline buys machines all night",
    sources=(
        "https://learn.microsoft.com/azure/aks/cluster-autoscaler",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler",
    ),
    check=_bounds,
    settings={
        "maxNodes": Setting(
            {
                "type": "integer",
                "minimum": 1,
                "default": 100,
                "description": "The most nodes that one pool may have.",
            }
        )
    },
)
