"""Pools that pods must ask for: GPU machines, and machines that may be evicted."""

from __future__ import annotations

from collections.abc import Iterator

from policy.clouds import pools
from policy.declared import Declared
from policy.rule import Finding, Rule, Settings

_GPU = "nvidia.com/gpu"


def _gpus(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for pool in pools(declared):
        if pool.nvidia_at and pool.taints.lack(_GPU):
            yield Finding(
                pool.taints.path,
                f"no taint {_GPU}:NoSchedule, though {pool.nvidia_at} means NVIDIA GPUs",
                f"add {pool.taints.written(_GPU, 'present')}",
            )


def _spot(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for pool in pools(declared):
        if pool.spot and pool.taints.lack(*pool.spot.kept_off_by):
            yield Finding(
                pool.taints.path,
                f"no taint of the cloud's, though {pool.spot.path} makes it a spot pool",
                f"add {pool.taints.written(*pool.spot.taint)}",
            )


GPU_POOL = Rule(
    name="gpu-pool-untainted",
    refuses="A pool of NVIDIA machines that every pod may use",
    reason=(
        "Pods without GPUs fill it and keep it from going to zero. With the resource's own name as the taint's key, both clouds let"
        " on those pods that ask for a GPU, and no others"
    ),
    sources=(
        "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration",
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus",
    ),
    check=_gpus,
)

SPOT_POOL = Rule(
    name="spot-pool-untainted",
    refuses="A spot or preemptible pool that every pod may use",
    reason=(
        "Its machines are evicted within seconds, with everything that runs on them. AKS sets the taint by itself, and shows"
        " an undeclared one as drift; GKE sets none on such a pool"
    ),
    sources=(
        "https://learn.microsoft.com/azure/aks/spot-node-pool",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",
    ),
    check=_spot,
)
