"""Objects of other tools whose values say what to write here: GPUs, such as `guestAccelerators`,
and the `requirements` of Karpenter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from config.base.near import bare
from config.clouds import registry
from config.clouds.traits import Cloud
from config.rules.machine_rules import machine_with
from config.stack_file.written_out import flow, inside

_KEYS = ("gpu", "gpus", "accelerator", "accelerators", "guestaccelerator", "guestaccelerators")
"""Such keys of a pool, in lower case without _ and -."""

_COUNTS = ("count", "gpus", "number", "acceleratorcount", "nvidia.com/gpu", "gpucount", "num")
_TYPES = ("type", "model", "acceleratortype", "gputype", "product", "name", "kind")
_REQUIREMENTS = {
    "karpenter.sh/capacity-type": "capacity",
    "node.kubernetes.io/instance-type": "machine",
    "topology.kubernetes.io/zone": "zones",
    "kubernetes.azure.com/zone": "zones",
}
"""Labels of nodes that Karpenter chooses machines by (karpenter.sh/docs/concepts/nodepools), and
the keys of a pool."""

_OF_SLICES = {"mig", "partition", "partitionsize", "gpupartitionsize", "profile", "migprofile"}
_DRIVER = "gpudriverversion"
"""What Google's tools call the driver that GKE installs."""
_SHARES = ("maxsharedclientspergpu", "replicas", "clients", "timeslices", "shares")


def of_a_pool(key: str, item: Any, pool: Mapping[str, Any], cloud: Cloud | None) -> str | None:
    """Return the remedy for a key of another tool in a `pool` whose object or list says what to
    write; None for others, and without a known cloud.
    """
    if cloud and asks_for_gpus(key, item):
        return gpu_object(item, pool.get("machine"), cloud)
    if cloud and key == "requirements":
        return requirements(item, pool, cloud)
    if key == "limits" and "maxNodes" not in pool:
        return limits(pool)
    sizes = [each for each in item if isinstance(each, str)] if isinstance(item, list) else []
    return machines(sizes, pool) if bare(key) in _LISTS_OF_MACHINES and sizes else None


_LISTS_OF_MACHINES = ("instancetypes", "vmsizes", "machinetypes", "machines")


def asks_for_gpus(key: str, item: Any) -> bool:
    """Return whether a key asks for GPUs in the form of another tool: by an object or their name."""
    named = isinstance(item, str) and not item.strip().isdigit()
    return bare(key) in _KEYS and (named or isinstance(item, dict | list))


def gpu_object(item: Any, size: object, cloud: Cloud) -> str:
    """Return the remedy for an object of GPUs in a pool with a machine of this `size`."""
    values = {bare(key): value for key, value in _plain(item)}
    count = next((int(values[key]) for key in _COUNTS if str(values.get(key)).isdigit()), 1)
    written = next((str(values[key]) for key in _TYPES if key in values), "")
    model = _model(written)
    remedy = _of_machine(count, model, size, cloud)
    if str(values.get(_DRIVER)).lower() == "latest" and cloud.provider == "gcp":
        latest = "`gcp: {driverVersion: latest}`"
        remedy = re.sub(r"^remove it", f"write {latest} in its place", remedy)
        return re.sub(
            r"^(write `gpus: \d+`) and (`gpuModel: [\w-]+`)", rf"\1, \2 and {latest}", remedy
        )
    shares = next((values[key] for key in _SHARES if str(values.get(key)).isdigit()), None)
    if shares:
        sharing = f"`gpuSharing: {{strategy: time-slicing, replicas: {shares}}}`"
        if remedy.startswith("remove it"):
            remedy = f"write {sharing} in its place{remedy.removeprefix('remove it')}"
        else:
            remedy += f"; pods that share a GPU: {sharing}"
    elif _OF_SLICES & {*values, *map(bare, map(str, values.values()))}:
        remedy = (
            "write `gpuSharing: {strategy: time-slicing, replicas: 4}` in its place, for pods that "
            "share a GPU; an A100, H100 or H200 also has slices: `mig: 1g`"
        )
    return remedy


def machines(sizes: list[str], pool: Mapping[str, Any]) -> str:
    """Return the remedy for a list of machines in a `pool`."""
    first, *others = sizes
    if not others:
        return f"write `machine: {first}` in its place"
    steps, added = _further_pools(others, pool, _most(pool))
    then = (
        f", and {' and '.join(f'`- {step}`' for step in steps)} first under this pool's `fallback`"
    )
    return f"write `machine: {first}` in its place; a pool has one machine: {added}" + then * bool(
        steps
    )


def _further_pools(
    sizes: list[str], pool: Mapping[str, Any], most: object
) -> tuple[list[str], str]:
    """Return steps of a `fallback` to spot pools like this one with other machines, and the remedy
    that adds those pools.
    """
    named, own = str(pool.get("name", "")), pool.get("labels")
    plain = isinstance(own, dict) and all(_PLAIN.fullmatch(f"{key}{own[key]}") for key in own)
    labels = f", labels: {flow(own)}" if plain and own else ""
    names = [f"{named if _PLAIN.fullmatch(named) else 'pool'}{letter}" for letter in "bcdefgh"]
    several = [*zip(names, filter(_PLAIN.fullmatch, sizes), strict=False)]
    pools = [
        f"`- {{name: {name}, machine: {size}, capacity: spot, maxNodes: {most}{labels}}}`"
        for name, size in several
    ]
    added = f"add {' and '.join(pools)} below" if pools else "each other one is a pool of its own"
    return [f"pool: {name}" for name, _ in several], added


_PLAIN = re.compile(r"[\w./-]+")
"""A text that needs no quotes, and no escape in a message."""


def _most(pool: Mapping[str, Any]) -> object:
    """Return the most nodes of a pool, which may have another tool's key for them."""
    limit, parts = _limit(pool)
    most = max(1, limit // parts) if limit else 2
    written = (each for name, each in pool.items() if "max" in str(name).lower())
    return next((each for each in written if type(each) is int), most)


def _limit(pool: Mapping[str, Any]) -> tuple[int, int]:
    """Return Karpenter's bound of a pool's GPUs, 0 without one, and the parts that it is divided
    among: a pool for each machine, and nodes on demand.
    """
    gpus = inside(pool.get("limits"), "gpu") or inside(pool.get("limits"), "nodes")
    kinds, sizes = pool.get("capacity"), 1
    asked = pool.get("requirements")
    for each in asked if isinstance(asked, list) else ():
        values = each.get("values") if isinstance(each, dict) else None
        if isinstance(values, list) and each.get("key") == "karpenter.sh/capacity-type":
            kinds = values
        if isinstance(values, list) and each.get("key") == "node.kubernetes.io/instance-type":
            sizes = len(values)
    both = (isinstance(kinds, list) and len(kinds) > 1) or bool(pool.get("fallback"))
    return (int(gpus) if str(gpus).isdigit() else 0), sizes + both


def limits(pool: Mapping[str, Any]) -> str:
    """Return the remedy for Karpenter's `limits` of a pool."""
    limit, parts = _limit(pool)
    if limit and parts > 1:
        return (
            f"write `maxNodes: {_most(pool)}` in its place: no key bounds several pools and their "
            f"nodes on demand together, so the {limit} are divided among {parts}"
        )
    return f"write `maxNodes: {_most(pool) if limit else 8}` in its place, the most nodes"


def machine_named(name: object, cloud: Cloud) -> str | None:
    """Return a machine with the GPU that a pool's name says, such as `l4-spot`; None for others."""
    parts = re.split(r"[-_]", bare(str(name)) if str(name).isalnum() else str(name))
    begins = [each for each in _models() if len(each) > 1 and bare(parts[0]).startswith(each)]
    found = [*map(_model, parts), *map(_model, sorted(begins, key=len, reverse=True))]
    model = next(filter(None, found), "")
    size = re.search(r"use ([\w-]+)", machine_with(model, cloud)) if model else None
    return size[1] if size else None


def requirements(item: Any, pool: Mapping[str, Any], cloud: Cloud) -> str:
    """Return the remedy for a list of Karpenter's requirements in a `pool`."""
    meant: dict[str, list[str]] = {}
    for each in item if isinstance(item, list) else []:
        if isinstance(each, dict) and isinstance(each.get("values"), list):
            meant[str(each.get("key"))] = [str(value) for value in each["values"]]
    texts: list[str] = []
    spot = "spot" in meant.get("karpenter.sh/capacity-type", [])
    others = meant.get("node.kubernetes.io/instance-type", [])[1:]
    steps, added = _further_pools(others, pool, _most(pool))
    if spot and len(meant["karpenter.sh/capacity-type"]) > 1:
        steps.append(f"onDemand: {{maxNodes: {_most(pool)}}}")
    for label, key in _REQUIREMENTS.items():
        values = meant.get(label, [])
        if key == "capacity" and spot:
            texts.append("`capacity: spot`")
            if steps:
                texts.append(f"`fallback: [{', '.join(f'{{{step}}}' for step in steps)}]`")
        elif key == "zones" and values:
            texts.append(f"`zones: [{', '.join(values)}]`")
        elif values:
            texts.append(f"`{key}: {values[0]}`")
    unknown = [label for label in meant if label not in _REQUIREMENTS]
    size = f"; `machine` is one size by its name, such as {cloud.gpu_machine}"
    rest = size if unknown or not texts else ""
    if others:
        rest = f"; a pool has one machine: {added}"
    return f"write {', '.join(texts) or '`machine` and `capacity`'} in its place{rest}"


def of_a_count(item: Any, beside: Collection[str], spot: bool) -> str:
    """Return the remedy for a number of nodes in a pool that has its bounds."""
    if spot:
        return "remove it: the autoscaler counts between 0 and `maxNodes`; no spot node can be kept"
    pairs = beside.items() if isinstance(beside, Mapping) else ()
    least = next((each for key, each in pairs if bare(str(key)).startswith("min")), 0)
    more = isinstance(item, int) and isinstance(least, int) and item > least
    keep = f"; to keep {item} at least, write {item} there" * more
    return f"remove it: the autoscaler counts itself, from `minNodes` up to `maxNodes`{keep}"


def _of_machine(count: int, model: str, size: object, cloud: Cloud) -> str:
    machine = cloud.machine(str(size))
    own = {ours: theirs for theirs, ours in cloud.accelerators.items()}
    takes = {own.get(each, each): each for each in (machine.attachable if machine else ())}
    if machine and machine.gpus:
        brings = f"{machine.size} brings its {machine.gpus} {machine.gpu_model}"
        return f"remove it: {brings}"
    instead = machine_with(model, cloud, count) or f"use {cloud.gpu_machine}, which has a GPU"
    if machine and takes:
        if own.get(model, model) not in takes and model not in takes.values():
            return f"{machine.size} takes {', '.join(takes)}: {instead}"
        name = own.get(model, model)
        sold = next(
            (each for ours, each in machine.attachable.items() if model == cloud.model(ours)), ()
        )
        if sold and count not in sold:
            right = min(sold, key=lambda each: abs(each - count))
            numbers = ", ".join(map(str, sold))
            return f"write `gpus: {right}` and `gpuModel: {name}` in its place: {numbers} are sold"
        return f"write `gpus: {count}` and `gpuModel: {name}` in its place"
    if machine is None:
        return re.sub(r"use ([\w-]+)", r"write `machine: \1` in its place", instead, count=1)
    return f"remove it: {machine.size} takes no GPU; {instead}"


def _model(written: str) -> str:
    """Return the catalogue's name of a GPU that a text names; empty if unknown."""
    return _models().get(bare(written.rpartition("/")[2]), "")


@cache
def _models() -> dict[str, str]:
    """Return the catalogue's names of GPUs by what people call them: `t4`, `nvidia-tesla-t4`."""
    clouds = [each.traits for each in registry.registrations()]
    known = {name: model for each in clouds for name, model in each.accelerators.items()}
    known |= {each.gpu_model: each.gpu_model for one in clouds for each in one.sold()}
    found: dict[str, str] = {}
    for name, model in known.items():
        short = bare(name)
        for each in (short, short.removeprefix("nvidia"), short.removeprefix("nvidiatesla")):
            if each and model:
                found.setdefault(each, model)
    return found


def _plain(item: Any) -> Iterator[tuple[str, Any]]:
    """Yield the plain values of an object, and of those inside, with their keys."""
    entries = item if isinstance(item, list) else [item]
    for text in (each for each in entries if isinstance(each, str)):
        for number, part in enumerate(re.split(r"[,:]", text)):
            key, equals, value = part.partition("=")
            yield (key.strip(), value.strip()) if equals else (("type", "count")[number > 0], part)
    for key, value in (pair for each in entries if isinstance(each, dict) for pair in each.items()):
        if isinstance(value, dict | list):
            yield from _plain(value)
        else:
            yield str(key), value
