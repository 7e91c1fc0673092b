"""Checks of what is said of a pool's GPUs: number and model, MIG, driver."""

from __future__ import annotations

from collections.abc import Iterator

from spec.clouds import Cloud
from spec.model import Pool
from spec.problems import Problem
from spec.rules.draft import Draft, has_gpus

_MIG = ("nvidia-a100", "nvidia-a100-80gb", "nvidia-h100", "nvidia-h100-nvl", "nvidia-h200")
"""learn.microsoft.com/azure/aks/gpu-multi-instance: A100, H100 and H200."""


def _number(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if machine is None and pool.gpus is None:
        why = (
            f"the catalogue does not know {pool.machine!r}" if cloud.makes_pools else "nothing else says what is there"
        )
        yield Problem(f"{path}.gpus", f"is missing: {why}", "write the GPUs of one machine, 0 for none")
    elif machine and pool.gpus is not None and pool.gpus != machine.gpus:
        yield Problem(
            f"{path}.gpus",
            f"is {pool.gpus}, but {machine.size} has {machine.gpus}",
            f"write {machine.gpus} or leave it out",
        )


def _model(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if machine and pool.gpu_model is not None and pool.gpu_model != machine.gpu_model:
        has = machine.gpu_model or "no GPU"
        yield Problem(f"{path}.gpuModel", f"is {pool.gpu_model!r}, but {machine.size} has {has}", "leave it out")
    if machine is None and pool.gpus == 0 and pool.gpu_model:
        yield Problem(f"{path}.gpuModel", f"is {pool.gpu_model!r}, but gpus is 0", "leave it out, or write the GPUs")


def _vendor(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if machine and machine.gpu_model.startswith("amd-"):
        yield Problem(
            f"{path}.machine",
            f"{machine.size} has an AMD GPU; this program installs NVIDIA's device plugin only",
            "use a size with an NVIDIA GPU, such as Standard_NC4as_T4_v3",
        )


def _mig(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.mig or not cloud.makes_pools:
        return
    machine = cloud.machine(pool.machine)
    # Of a machine that the catalogue does not know nothing is known.
    if machine and machine.gpu_model not in _MIG:
        has = machine.gpu_model or "no GPU"
        yield Problem(
            f"{path}.mig",
            f"is {pool.mig}, but {machine.size} has {has}, which cannot be cut",
            "remove it, or use a size with A100, H100 or H200",
        )


def _driver(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.install_driver and cloud.makes_pools and not has_gpus(pool, cloud):
        yield Problem(f"{path}.installDriver", "is false for machines without GPUs, which get none anyway", "remove it")


POOL_RULES = (_number, _model, _vendor, _mig, _driver)
