"""Rules of GPUs: attached models, driver, device plugin, sharing, MIG, zones that offer them."""

from __future__ import annotations

from collections.abc import Iterator

from config.base import near
from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import options_of
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import accelerator, gpu_zones, machines, zones
from config.clouds.tables import Machine
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.model.reading import known, written
from config.rules.draft import Draft, has_gpus, own_machine

_MOST_CLIENTS = 48
"""Most clients of a GPU, by time-sharing and by MPS (page timesharing-gpus; GKE's autoscaler)."""


def _ends(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    gpu = cloud.attachable.get(cloud.model(pool.gpu_model)) if pool.gpu_model else None
    if not gpu or gpu.status == "current":
        return
    retired, machine = gpu.status == "retired", own_machine(pool, cloud)
    if machine and not machine.attachable and not retired:
        return  # `rules.gpus` reports a GPU that the machine cannot have
    yield Problem(
        f"{path}.gpuModel",
        f"is {pool.gpu_model}, which Google {'retired' if retired else 'ends'} on {gpu.end}",
        f"use the machine {gpu.replacement}, and leave out `gpus` and `gpuModel`",
        warning=not retired,
    )


def _attached(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = own_machine(pool, cloud)
    model = cloud.model(pool.gpu_model) if pool.gpu_model else None
    gpu = cloud.attachable.get(model) if model else None
    if gpu and gpu.status == "retired":
        return
    if machine is None:
        if pool.gpus and not model:
            yield Problem(
                f"{path}.gpuModel",
                "is missing: GKE attaches the GPUs that it names",
                "add `gpuModel`",
            )
    elif machine.attachable and (model or pool.gpus):
        yield from _of_the_machine(path, pool, machine, model)


def _of_the_machine(
    path: str, pool: Pool, machine: Machine, model: str | None
) -> Iterator[Problem]:
    takes = ", ".join(
        f"{accelerator(name)} ({_or(counts)})" for name, counts in machine.attachable.items()
    )
    meant = f"nvidia-{near.bare(pool.gpu_model or '')}"
    if model is None:
        yield Problem(
            f"{path}.gpuModel", f"is missing: {machine.size} takes several", f"one of: {takes}"
        )
    elif model not in machine.attachable and meant in machine.attachable:
        what = f"is {pool.gpu_model}, and Google calls it {accelerator(meant)}"
        yield Problem(f"{path}.gpuModel", what, f"write `gpuModel: {accelerator(meant)}`")
        if pool.gpus:
            yield from _of_the_machine(
                path, pool.model_copy(update={"gpu_model": accelerator(meant)}), machine, meant
            )
    elif model not in machine.attachable:
        what = f"is {pool.gpu_model}, which cannot be attached to {machine.size}"
        with_it = [each for each in machines().values() if each.gpu_model == model]
        # The machine with one of them that is next in CPUs.
        built_in = min(
            with_it,
            key=lambda each: (each.gpus, abs(each.vcpus - machine.vcpus)),
            default=None,
        )
        other = (
            f"use the machine {built_in.size} and leave out `gpus` and `gpuModel`; or "
            if built_in
            else ""
        )
        yield Problem(f"{path}.gpuModel", what, f"{other}one of: {takes}")
    elif not pool.gpus:
        what = "is missing" if pool.gpus is None else "is 0, but gpuModel is set"
        yield Problem(f"{path}.gpus", what, f"write how many: {_or(machine.attachable[model])}")
    elif pool.gpus not in machine.attachable[model]:
        counts = _or(machine.attachable[model])
        yield Problem(
            f"{path}.gpus",
            f"is {pool.gpus}, but {machine.size} takes {counts} {model}",
            f"write {counts}",
        )


def _or(counts: tuple[int, ...]) -> str:
    *first, last = map(str, counts)
    return f"{', '.join(first)} or {last}" if first else last


def _clients(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if (
        pool.gpu_sharing
        and cloud.brings_device_plugin(pool)
        and pool.gpu_sharing.replicas > _MOST_CLIENTS
    ):
        yield Problem(
            f"{path}.gpuSharing.replicas",
            f"is {pool.gpu_sharing.replicas}, but GKE takes {_MOST_CLIENTS} clients a GPU",
            f"write `replicas: {_MOST_CLIENTS}` or fewer",
        )


def _driver(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if not options or "driver_version" not in options.model_fields_set:
        return
    where = f"{path}.gcp.driverVersion"
    if not known(lambda: has_gpus(pool, cloud), True):
        yield Problem(where, "is set for machines without GPUs, which get no driver", "remove it")
    elif not pool.install_driver:
        yield Problem(where, "has no use: installDriver is false", "remove one of them")
    elif options.driver_version == "latest" and options.image_type != "COS_CONTAINERD":
        # Page gpus: on Container-Optimized OS only.
        yield Problem(
            where, f"is latest, which GKE does not install on {options.image_type}", "write default"
        )


def _unsigned_driver(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if options and options.secure_boot and not pool.install_driver and has_gpus(pool, cloud):
        # NVIDIA/gpu-operator issue 1726, on GKE: "Loading of unsigned module is rejected". For
        # Google's drivers cos-gpu-installer downloads the signature
        # (cos.googlesource.com/cos/tools, a19a377).
        yield Problem(
            f"{path}.gcp.secureBoot",
            "is true, but installDriver is false: the kernel refuses an unsigned driver",
            "remove one of them, unless your driver is signed by Google",
            warning=True,
        )


def _device_plugin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if not options or options.device_plugin != "nvidia":
        return
    if not has_gpus(pool, cloud):
        yield Problem(
            f"{path}.gcp.devicePlugin", "is nvidia for machines without GPUs", "remove it"
        )
    elif not draft.device_plugin or draft.device_plugin.install != "never":
        # docs.nvidia.com/datacenter/cloud-native/gpu-operator, page google-gke; prerequisites of
        # NVIDIA/k8s-device-plugin, and its issue 741; NVIDIA/nvidia-container-toolkit issue 209.
        yield Problem(
            f"{path}.gcp.devicePlugin",
            "is nvidia, but NVIDIA's plugin alone gives no GPU on GKE, whose nodes lack NVIDIA's "
            "runtime; the GPU Operator brings both",
            "remove it; or install the GPU Operator as its page on GKE says, and write "
            "`devicePlugin: {install: never}` beside `pools`",
        )


def _cut_without_plugin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Page gpus-multi: GKE's device plugin cuts the GPUs.
    if written(pool, "mig") and not cloud.brings_device_plugin(pool):
        yield Problem(
            f"{path}.mig",
            "is set, but GKE's own device plugin cuts GPUs, and gcp.devicePlugin keeps it off",
            "remove one of them",
        )


def _label_for_gpus(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse a machine that gets its GPUs by a label: page gpus, a label attaches none."""
    label = pool.labels.get("cloud.google.com/gke-accelerator")
    if label and not has_gpus(pool, cloud):
        machine = cloud.machine(pool.machine)
        remedy = f"write `machine: {cloud.gpu_machine}`, or another with GPUs"
        if machine and cloud.model(label) in machine.attachable:
            remedy = f"write `gpus: 1` and `gpuModel: {label}`, without the label"
        what = f"is missing: no label brings a GPU to {pool.machine}"
        yield Problem(f"{path}.gpus", what, remedy)


def _label_for_spot(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse a pool that asks for spot by GKE's own label: page spot-vms, a label buys nothing."""
    asked = {"cloud.google.com/gke-spot", "cloud.google.com/gke-provisioning"} & pool.labels.keys()
    if asked and not pool.reclaimable:
        what = f"is on-demand: the label {min(asked)} buys no spot machine"
        yield Problem(f"{path}.capacity", what, "write `capacity: spot`, without the label")


_SHOWN = 4
"""Regions named in a message."""


def _offered(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    gcp = draft.settings(Gcp)
    if not gcp or not gcp.region or not has_gpus(pool, cloud):
        return
    model, region = cloud.gpus(pool)[1], gcp.region
    everywhere, of_the_region = gpu_zones().get(accelerator(model)), zones().get(region)
    # `gpus` reports a GPU that no zone offers any more.
    if not everywhere or of_the_region is None:
        return
    here = [zone for zone in of_the_region if zone in everywhere]
    named = sorted(pool.zones or gcp.zones) or ([gcp.place or ""] if gcp.zonal else [])
    remedy = (
        f"write `zones: [{', '.join(here)}]` in this pool"
        if here
        else f"{_others(of_the_region)}move the stack: {_regions(everywhere, region)} have it"
    )
    without = [zone for zone in named if zone in of_the_region and zone not in everywhere]
    if without:
        where, what = f"{path}.zones", f"have no {model} in {', '.join(without)}"
        if not pool.zones:
            where, what = f"{path}.machine", f"has {model}, and {', '.join(without)} none"
        what += ": GKE refuses the pool half way through an `up`"
        yield Problem(where, what, remedy, warning=True)
    elif not named and len(here) < len(of_the_region) and (draft.makes_cluster or not here):
        # Page regional-clusters: three zones of GKE's choice.
        what = (
            f"is unset: GKE chooses zones of {region}, and {model} is in "
            f"{', '.join(here) or 'none of them'} only"
        )
        yield Problem(
            f"{path}.zones", what if here else what.removesuffix(" only"), remedy, warning=True
        )


def _others(zones_here: tuple[str, ...]) -> str:
    """Return the GPUs that the zones of a region have, as the beginning of a remedy."""
    here = [gpu for gpu, zones_of in gpu_zones().items() if zones_of & {*zones_here}][:3]
    return f"take a machine with {' or '.join(here)}, or " if here else ""


def _regions(zones: frozenset[str], near: str) -> str:
    """Return the regions of zones, those of the continent of the region `near` first."""
    found = {zone.rpartition("-")[0] for zone in zones}
    regions = sorted(found, key=lambda each: (each.split("-")[0] != near.split("-")[0], each))
    return ", ".join(regions[:_SHOWN]) + (", ..." if len(regions) > _SHOWN else "")


POOL_RULES = (
    _ends,
    _attached,
    _clients,
    _driver,
    _unsigned_driver,
    _device_plugin,
    _cut_without_plugin,
    _offered,
    _label_for_gpus,
    _label_for_spot,
)
