"""Checks of the pools: names, machines, sizes, labels, taints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from spec import placement
from spec.catalog import Machine
from spec.clouds import Cloud
from spec.model import Capacity, Pool
from spec.problems import Problem
from spec.rules.draft import Draft, has_gpus


def _pool_names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    named = [("systemPool.name", draft.system_pool.name)] if draft.system_pool else []
    named += [(f"pools[{index}].name", pool.name) for index, pool in draft.pools.items()]
    for index, pool in draft.pools.items():
        twin = placement.twin_name(pool, cloud)
        step = next((i for i, step in enumerate(pool.fallback) if step.on_demand), 0)
        if twin:
            named.append((f"pools[{index}].fallback[{step}].onDemand.name", twin))
    count = Counter(name for _, name in named)
    seen: set[str] = set()
    for path, name in named:
        if not re.fullmatch(cloud.pool_name, name):
            yield Problem(
                path,
                f"{name!r} is no name for an {cloud.title} pool",
                f"at most {cloud.pool_name_length} lower-case letters and digits, a letter first",
            )
        if count[name] > 1 and name in seen:
            first = next(p for p, n in named if n == name)
            yield Problem(path, f"{name!r} is the name of {first} already", "give it another name")
        seen.add(name)


def _machines(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    used = [("systemPool.machine", draft.system_pool.machine)] if draft.system_pool else []
    used += [(f"pools[{index}].machine", pool.machine) for index, pool in draft.pools.items()]
    for path, size in used:
        machine = cloud.machine(size)
        if machine is None:
            yield Problem(
                path,
                f"{size!r} is not in the catalogue",
                "check the spelling; it is passed on as written",
                warning=True,
            )
        elif machine.status == "retired":
            yield Problem(
                path,
                f"{machine.size} was retired on {machine.retirement_date}",
                f"use {machine.replacement}" if machine.replacement else "choose another size",
            )
        elif machine.status == "retiring":
            yield Problem(
                path,
                f"{machine.size} is retired on {machine.retirement_date}; new subscriptions may not deploy it",
                f"use {machine.replacement}" if machine.replacement else "choose another size",
                warning=True,
            )


def _pool_bounds(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    sizes = [("systemPool.maxNodes", draft.system_pool.max_nodes)] if draft.system_pool else []
    for index, pool in draft.pools.items():
        sizes.append((f"pools[{index}].maxNodes", pool.max_nodes))
        for number, step in enumerate(pool.fallback):
            if step.on_demand:
                sizes.append((f"pools[{index}].fallback[{number}].onDemand.maxNodes", step.on_demand.max_nodes))
        if pool.min_nodes is not None and pool.min_nodes > pool.max_nodes:
            yield bounds(f"pools[{index}]", pool.min_nodes, pool.max_nodes)
    for path, size in sizes:
        if size > cloud.max_nodes:
            yield Problem(path, f"is {size}", f"{cloud.title} takes at most {cloud.max_nodes} nodes a pool")


def _zones(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    zoned = [("systemPool.zones", draft.system_pool.zones)] if draft.system_pool else []
    zoned += [(f"pools[{index}].zones", pool.zones) for index, pool in draft.pools.items()]
    for path, zones in zoned:
        if len(set(zones)) < len(zones):
            yield Problem(path, f"names a zone twice: {', '.join(zones)}", "name each zone once")


def bounds(path: str, least: int, most: int) -> Problem:
    return Problem(f"{path}.minNodes", f"is {least}, more than maxNodes, which is {most}", f"at most {most}")


def _accelerators(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        path = f"pools[{index}]"
        machine = cloud.machine(pool.machine)
        if machine is None:
            if pool.gpus is None:
                yield Problem(
                    f"{path}.gpus",
                    f"is missing: the catalogue does not know {pool.machine!r}",
                    "write the GPUs of one machine, 0 for none",
                )
        else:
            yield from _stated_accelerator(path, pool, machine)


def _stated_accelerator(path: str, pool: Pool, machine: Machine) -> Iterator[Problem]:
    if pool.gpus is not None and pool.gpus != machine.gpus:
        yield Problem(
            f"{path}.gpus",
            f"is {pool.gpus}, but {machine.size} has {machine.gpus}",
            f"write {machine.gpus} or leave it out",
        )
    if pool.gpu_model is not None and pool.gpu_model != machine.gpu_model:
        has = machine.gpu_model or "no GPU"
        yield Problem(f"{path}.gpuModel", f"is {pool.gpu_model!r}, but {machine.size} has {has}", "leave it out")
    if machine.gpu_model.startswith("amd-"):
        yield Problem(
            f"{path}.machine",
            f"{machine.size} has an AMD GPU; this program installs NVIDIA's device plugin only",
            "use a size with an NVIDIA GPU, such as Standard_NC4as_T4_v3",
        )


def _labels(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        for key in pool.labels:
            domain = key.rpartition("/")[0]
            path = f'pools[{index}].labels["{key}"]'
            if domain == placement.PREFIX:
                yield Problem(path, "is a label the program derives from the pool", "remove it")
            elif key in cloud.reserved_labels or any(
                domain == prefix or domain.endswith("." + prefix) for prefix in cloud.reserved_label_prefixes
            ):
                if cloud.spot_labels.get(key) == pool.labels[key] and pool.capacity == Capacity.SPOT:
                    continue
                yield Problem(
                    path, f"{cloud.title} keeps this key for itself", "use a domain of your own, such as example.com/"
                )


def _taints(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        count = Counter((taint.key, taint.effect) for taint in pool.taints)
        for number, taint in enumerate(pool.taints):
            path = f"pools[{index}].taints[{number}]"
            if count[taint.key, taint.effect] > 1 and (taint.key, taint.effect) in {
                (t.key, t.effect) for t in pool.taints[:number]
            }:
                yield Problem(path, f"{taint.key}:{taint.effect} stands in the list already", "remove one of them")
            if taint.key == placement.GPU_TAINT.key and has_gpus(pool, cloud):
                yield Problem(path, f"the program taints GPU pools {placement.GPU_TAINT} itself", "remove it")
            elif any(taint.key == own.key for own in cloud.spot_taints) and (
                taint not in cloud.spot_taints or pool.capacity != Capacity.SPOT
            ):
                yield Problem(path, f"{cloud.title} sets this key itself, on spot pools", "remove it")


RULES = (
    _pool_names,
    _machines,
    _pool_bounds,
    _zones,
    _accelerators,
    _labels,
    _taints,
)
