"""Rules of a pool's GPUs on any cloud: number and model, MIG, driver, sharing, taint."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.tables import Machine
from config.clouds.traits import Cloud
from config.model.pool import Effect, Pool
from config.model.reading import of_each, part, written
from config.placement import node_pools
from config.placement.node_pools import GPU_TAINT
from config.rules.draft import Draft, has_gpus, own_machine


def _number(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = own_machine(pool, cloud)
    if not cloud.makes_pools and pool.gpus is None:
        what = "is missing: the GPUs of existing nodes are unknown"
        yield Problem(f"{path}.gpus", what, "write the GPUs of one machine, 0 for none")
    elif machine and not machine.attachable and pool.gpus is not None and pool.gpus != machine.gpus:
        yield Problem(
            f"{path}.gpus",
            f"is {pool.gpus}, but {machine.size} has {machine.gpus}",
            _right_number(pool, machine, cloud),
        )


def _right_number(pool: Pool, machine: Machine, cloud: Cloud) -> str:
    if machine.gpus:
        wanted = cloud.sold(gpus=pool.gpus, gpu_model=machine.gpu_model)
        more = f"; {wanted[0].size} has {pool.gpus}" if wanted else ""
        return f"write {machine.gpus} or leave it out{more}"
    remedy = f"use a size with GPUs, such as {cloud.gpu_machine}; or leave `gpus` out"
    model = part(pool, "gpu_model") or ""
    # The machine of the same size to which the GPU can be attached.
    attachable = [each.size for each in cloud.sold(vcpus=machine.vcpus) if each.attachable]
    named = {cloud.model(model), f"nvidia-{model.lower()}"}
    if not named & cloud.attachable.keys() or not attachable:
        return remedy
    catalogued = next(name for name in named if name in cloud.attachable)
    own = {ours: theirs for theirs, ours in cloud.accelerators.items()}.get(catalogued, catalogued)
    renamed = "" if model == own else f", and write `gpuModel: {own}`"
    return (
        f"use the machine {attachable[0]}, to which {model} can be attached{renamed}, or a size with "
        f"GPUs, such as {cloud.gpu_machine}, without `gpus` and `gpuModel`"
    )


def _model(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = own_machine(pool, cloud)
    if pool.gpu_model is None:
        return
    model = cloud.model(pool.gpu_model)
    known = cloud.attachable.get(model)
    # A machine without GPUs is `_number`'s problem, a retired model the cloud's.
    reported = (machine and pool.gpus and not machine.gpus) or (known and known.status == "retired")
    if machine and not machine.attachable and model != machine.gpu_model and not reported:
        has = machine.gpu_model or "no GPU"
        yield Problem(
            f"{path}.gpuModel",
            f"is {pool.gpu_model!r}, but {machine.size} has {has}",
            "leave it out",
        )
    if machine is None and pool.gpus == 0 and pool.gpu_model:
        yield Problem(
            f"{path}.gpuModel",
            f"is {pool.gpu_model!r}, but gpus is 0",
            "leave it out, or write the GPUs",
        )


def _as_many(machine: Machine, cloud: Cloud) -> str:
    """Return the size with as many NVIDIA GPUs that is next in CPUs."""
    sold = cloud.sold(gpus=machine.gpus)
    nvidia = [each for each in sold if each.gpu_model.startswith("nvidia")]
    near = min(nvidia, key=lambda each: abs(each.vcpus - machine.vcpus), default=None)
    return near.size if near else cloud.gpu_machine


def _vendor(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if machine and machine.gpu_model.startswith("amd-"):
        yield Problem(
            f"{path}.machine",
            f"{machine.size} has an AMD GPU; this program installs NVIDIA's device plugin only",
            f"use a size with an NVIDIA GPU, such as {_as_many(machine, cloud)}",
        )


def _mig(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not written(pool, "mig") or not cloud.makes_pools:
        return
    machine, (_, model) = own_machine(pool, cloud), cloud.gpus(pool)
    sizes = cloud.mig.get(model, ())
    # The catalogue says nothing about an unknown machine.
    if machine and not sizes:
        has = f"{model}, which has no MIG profile" if model else "no GPU"
        yield Problem(
            f"{path}.mig",
            f"is set, but {machine.size} has {has}",
            "remove it, or use a size with A100, H100 or H200; any GPU is shared by `gpuSharing: "
            "{strategy: time-slicing, replicas: 4}`",
        )
    elif machine and pool.mig not in sizes:
        yield Problem(
            f"{path}.mig",
            f"{cloud.title} has no {pool.mig} MIG profile for {model}",
            f"one of: {', '.join(sizes)}",
        )


def _driver(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.install_driver and cloud.makes_pools and not has_gpus(pool, cloud):
        yield Problem(
            f"{path}.installDriver",
            "is false for machines without GPUs, which get none anyway",
            "remove it",
        )


def _shared_gpus(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    known = own_machine(pool, cloud) or pool.gpus is not None
    if written(pool, "gpu_sharing") and known and not has_gpus(pool, cloud):
        names = of_each(
            draft.written_pools(),
            lambda pair: (
                pair[1].name if isinstance(pair[1], Pool) and has_gpus(pair[1], cloud) else ""
            ),
        )
        names = [name for name in names if name]
        where = f"move it to a pool with GPUs, such as {names[0]}" if names else "remove it"
        yield Problem(f"{path}.gpuSharing", f"is set, but {pool.machine} has no GPU", where)


def _shared_without_plugin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Another device plugin has its own configuration."""
    if not written(pool, "gpu_sharing") or cloud.brings_device_plugin(pool):
        return
    if not pool.install_driver:
        remedy = (
            "remove it and configure the GPU operator (devicePlugin.config of its "
            "ClusterPolicy), or remove installDriver"
        )
        yield Problem(
            f"{path}.gpuSharing",
            "is for this program's device plugin, and installDriver is false",
            remedy,
        )
    elif _never_installed(draft):
        remedy = "remove it and configure the existing plugin, or remove devicePlugin.install"
        yield Problem(
            f"{path}.gpuSharing",
            "is for this program's device plugin, and devicePlugin.install is never",
            remedy,
        )


def _never_installed(draft: Draft) -> bool:
    return draft.device_plugin is not None and draft.device_plugin.install == "never"


def _more_shares_than_pods(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn of more shares than pods: a pod takes at least one."""
    pods = pool.max_pods or _MOST_PODS
    if pool.gpu_sharing and pool.gpu_sharing.replicas > pods:
        yield Problem(
            f"{path}.gpuSharing.replicas",
            f"is {pool.gpu_sharing.replicas}, and a node takes {pods} pods at most",
            f"{pods} or fewer",
            warning=True,
        )


def _mps_and_mig(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # cmd/mps-control-daemon/mps/manager.go: "MPS sharing is not supported for MIG devices"
    ours = not cloud.brings_device_plugin(pool)
    if ours and pool.mig and pool.gpu_sharing and pool.gpu_sharing.strategy == "mps":
        yield Problem(
            f"{path}.gpuSharing.strategy",
            "is mps, which cannot share MIG instances",
            "time-slicing, or no mig",
        )


_MOST_PODS = 256
"""Of a node: 250 on AKS (page quotas-skus-regions), 256 on GKE (page quotas)."""

_BEFORE_TURING = (
    "nvidia-k80",
    "nvidia-m60",
    "nvidia-p40",
    "nvidia-p100",
    "nvidia-v100",
    "nvidia-v100-32gb",
)


def _mps_clients(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if (
        pool.gpu_sharing
        and pool.gpu_sharing.strategy == "mps"
        and not cloud.brings_device_plugin(pool)
    ):
        _, model = cloud.gpus(pool)
        # cmd/mps-control-daemon/mps/device.go: 48, and 16 where the compute capability is below 7.5
        most = 16 if model in _BEFORE_TURING else 48
        if pool.gpu_sharing.replicas > most:
            yield Problem(
                f"{path}.gpuSharing.replicas",
                f"is {pool.gpu_sharing.replicas}, but MPS takes {most} clients a GPU",
                f"{most} or fewer",
            )


def _config_label(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse a label that names no configuration (cmd/config-manager/main.go: no start)."""
    if (
        node_pools.PLUGIN_CONFIG_LABEL not in pool.labels
        or not pool.install_driver
        or _never_installed(draft)
    ):
        return
    if draft.pools_where(
        lambda other: node_pools.has_plugin_config(other) and not cloud.brings_device_plugin(other)
    ):
        yield Problem(
            f'{path}.labels["{node_pools.PLUGIN_CONFIG_LABEL}"]',
            "names a configuration of this program's device plugin, which has one a pool",
            "remove it and say mig or gpuSharing",
        )


def _some_whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn if one resource name means a share on one node and a whole GPU on another."""
    if not (pool.gpu_sharing and has_gpus(pool, cloud)) or any(
        taint.effect != Effect.PREFER_NO_SCHEDULE and taint not in cloud.spot_taints
        for taint in pool.taints
    ):
        return
    whole = draft.pools_where(
        lambda other: other.name and not other.gpu_sharing and has_gpus(other, cloud)
    )
    if whole:
        names = ", ".join(other.name for other in whole)
        yield Problem(
            f"{path}.gpuSharing",
            f"a pod that asks for one nvidia.com/gpu gets a share here and a whole GPU in {names}",
            f"let pods choose by a nodeSelector on {node_pools.POOL_LABEL}, or taint this pool",
            warning=True,
        )


def _without_gpus(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse the GPU taint without GPUs: only pods that request GPUs tolerate it."""
    # Whether an unknown machine has GPUs is `rules.gpus`' question.
    known = own_machine(pool, cloud) or pool.gpus is not None
    if not cloud.makes_pools or not known or has_gpus(pool, cloud):
        return
    taints = of_each(
        enumerate(pool.taints), lambda numbered: (numbered[0], numbered[1].key, numbered[1].effect)
    )
    for number, key, effect in taints:
        if key == GPU_TAINT.key and effect != Effect.PREFER_NO_SCHEDULE:
            yield Problem(
                f"{path}.taints[{number}]",
                f"has the key {key} on machines without GPUs: only pods that ask for a GPU "
                "tolerate it, and they fit no such machine",
                "remove it, use a machine with GPUs, or your own key, such as example.com/team",
            )


POOL_RULES = (
    _number,
    _model,
    _vendor,
    _mig,
    _driver,
    _shared_gpus,
    _shared_without_plugin,
    _more_shares_than_pods,
    _mps_and_mig,
    _mps_clients,
    _config_label,
    _some_whole,
    _without_gpus,
)
