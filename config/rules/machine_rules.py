"""Rules of a pool's machine: whether its cloud has it, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base import near
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.tables import Machine
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Pool
from config.model.reading import known
from config.model.repairs import DASHES, is_placeholder
from config.rules.draft import Draft

_AWS = re.compile(r"([a-z]+\d[a-z\d-]*)\.(\d*x?large|medium|small|micro|nano|metal[-\w]*)")
_GPUS_OF_AWS = {
    "g4dn": "nvidia-t4",
    "g5": "nvidia-a10",
    "g6": "nvidia-l4",
    "g6e": "nvidia-l40s",
    "p3": "nvidia-v100",
    "p3dn": "nvidia-v100",
    "p4d": "nvidia-a100",
    "p4de": "nvidia-a100-80gb",
    "p5": "nvidia-h100",
    "p5e": "nvidia-h200",
    "p5en": "nvidia-h200",
}
"""GPUs of AWS' families (aws.amazon.com/ec2/instance-types, read 2026-11-27)."""

_NEAREST = {
    "nvidia-l4": ("nvidia-a10",),
    "nvidia-a10": ("nvidia-l4",),
    "nvidia-l40s": ("nvidia-h100-nvl", "nvidia-h100"),
    "nvidia-h100": ("nvidia-h100-nvl",),
    "nvidia-a100": ("nvidia-a100-80gb",),
    **dict.fromkeys(
        ("nvidia-t4", "nvidia-v100", "nvidia-k80", "nvidia-p4", "nvidia-p100", "nvidia-m60"),
        ("nvidia-t4", "nvidia-l4"),
    ),
}
"""The GPUs to take where a cloud does not have one in such a number, the nearest first."""

_ARM = re.compile(r"(?i)standard_[a-z]+\d+[a-z-]*p[a-z]*_v\d+|(t2a|c4a|n4a)-.+")
"""Machines with Arm CPUs: the letter p (learn.microsoft.com/azure/virtual-machines/
vm-naming-conventions); docs.cloud.google.com/compute/docs/instances/arm-on-compute."""


_SHARES_A_CORE = re.compile(r"e2-(micro|small|medium)|[fg]1-(micro|small)")
"""docs.cloud.google.com/compute/docs/general-purpose-machines: a share of a core, 4 GB at most."""


def _machine(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    placeholder = is_placeholder(pool.machine)  # another rule's problem, as white space is
    if not cloud.makes_pools or placeholder or pool.machine != pool.machine.strip():
        return
    where, size = f"{path}.machine", pool.machine
    machine = cloud.machine(size)
    if machine is None:
        if isinstance(pool, Pool) or not _SHARES_A_CORE.fullmatch(size):
            yield _unknown(where, pool, cloud)
    elif machine.gpu_model.startswith("amd-"):
        return  # its replacement has an AMD GPU too, which `gpu_rules` refuses
    elif machine.status == "retired":
        what = f"{machine.size} was retired on {machine.retirement_date}"
        yield Problem(where, what, _instead(machine))
    elif machine.status == "retiring":
        what = (
            f"{machine.size} is retired on {machine.retirement_date}; new subscriptions may lack it"
        )
        yield Problem(where, what, _instead(machine), warning=True)


def _named_like(pool: AnyPool, theirs: Machine, cloud: Cloud) -> str:
    """Return the machine of a cloud with the GPU that a pool's name says, and about as many CPUs;
    empty if another cloud's machine, `theirs`, has the GPU of the name too.
    """
    name = known(lambda: pool.name, "") or ""
    models = {each.gpu_model: each.short_gpu for each in cloud.sold() if each.short_gpu}
    said = {model for model, short in models.items() if name.lower().startswith(short)}
    found = [each for each in cloud.sold() if each.gpu_model in said and each.gpus]
    if not found or theirs.gpu_model in said:
        return ""
    return min(found, key=lambda each: abs(each.vcpus - theirs.vcpus)).size


def _unknown(where: str, pool: AnyPool, cloud: Cloud) -> Problem:
    """Return the problem of a machine that the catalogue of the cloud does not have."""
    size, maker = pool.machine, registry.with_machine(pool.machine)
    sizes = [machine.size for machine in cloud.sold()]
    meant = _did_you_mean(size, sizes)
    example = f"use one of {cloud.title}, such as {cloud.cpu_machine} or {cloud.gpu_machine}"
    with_gpu = f"use one of {cloud.title} with a GPU, such as {cloud.gpu_machine}"
    if aws := _AWS.fullmatch(size):
        gpu = _GPUS_OF_AWS.get(aws[1], "")
        what = f"{size!r} is a machine of AWS" + (f" with {gpu}" if gpu else "")
        if gpu:
            return Problem(where, what, machine_with(gpu, cloud) or with_gpu)
        alike = _alike(_of_aws(aws[1], aws[2]), cloud)
        other = f"use one of {cloud.title}, such as {alike or cloud.cpu_machine}"
        return Problem(where, what, other)
    if maker not in (None, cloud):
        assert maker is not None
        what = f"{size!r} is a machine of {maker.title}, not of {cloud.title}"
        theirs = maker.machine(size)
        if theirs and theirs.gpu_model:
            gpus = machine_with(theirs.gpu_model, cloud, theirs.gpus)
            named = _named_like(pool, theirs, cloud)
            other = f"; or {named}, which has the GPU of the pool's name" * bool(named)
            return Problem(where, what, (gpus or with_gpu) + other)
        alike = _alike(theirs, cloud)
        return Problem(
            where, what, f"use one of {cloud.title}, such as {alike}" if alike else example
        )
    if "tpu" in size:
        what = f"{size!r} has TPUs, and this program makes pools of GPUs and CPUs"
        return Problem(where, what, with_gpu)
    if _ARM.fullmatch(size):
        cpus = re.search(r"\d+", size.rpartition("-")[2] or size)
        plain = cloud.sold(gpus=0, vcpus=int(cpus[0])) if cpus else []
        usual = cloud.machine(cloud.cpu_machine)
        like = [each.size for each in plain if usual and each.family == usual.family]
        meant = f"use {like[0]}" if like else _did_you_mean(size, [each.size for each in plain])
        # github.com/kubeflow/pipelines/issues/12705: "exec format error".
        what = f"{size!r} is an Arm machine, and images of Kubeflow are for amd64"
        return Problem(where, what, meant.strip() or example)
    several = [each for each in re.split(r"[\s|,/]+", size) if cloud.machine(each)]
    if len(several) > 1:
        what = f"{size!r} is {len(several)} machines, and a pool has one"
        remedy = f"write {several[0]}; {several[1]} is a pool of its own, named under `fallback`"
        return Problem(where, what, remedy)
    glued = size.partition("#")[0].strip()
    if glued != size and cloud.machine(glued):
        remedy = f"write `{glued}`, and a space before the `#` of a comment"
        return Problem(where, f"{size!r} is not in the catalogue", remedy)
    first = re.split(r"[\s,;(]", size.strip().translate(DASHES), maxsplit=1)[0]
    known = {near.bare(other): other for other in sizes}.get(near.bare(first))
    if known:
        dash = ", with a long dash," if size.translate(DASHES) != size else ""
        return Problem(where, f"{size!r}{dash} is not in the catalogue", f"write {known}")
    if maker is None:
        return Problem(
            where, f"{size!r} is not a machine of {cloud.title}", meant.strip() or example
        )
    siblings = [each for each in sizes if _series(each) == _series(size) != each]
    if len(siblings) > 1:
        whole = ", ".join(sorted(siblings, key=lambda each: (len(each), each)))
        return Problem(where, f"{size!r} is not a machine of {cloud.title}", f"one of: {whole}")
    if not isinstance(pool, Pool) or "gpus" in pool.model_fields_set:
        remedy = f"{meant}check the spelling; it is passed on as written"
        return Problem(where, f"{size!r} is not in the catalogue", remedy, warning=True)
    remedy = f"{meant}if {cloud.title} has it, write `gpus`: the GPUs of one machine, 0 for none"
    return Problem(where, f"{size!r} is not in the catalogue", remedy)


def _series(size: str) -> str:
    """Return a size without its number of CPUs: `g2-standard-#`, `Standard_NC#ads_A100_v4`."""
    return re.sub(
        r"(?<=-)\d+$|(?<=^Standard_[A-Z])\d+|"
        r"(?<=^Standard_[A-Z]{2})\d+",
        "#",
        size,
    )


def _did_you_mean(size: str, sizes: list[str]) -> str:
    # The names of Azure's sizes begin with one of two words, which people leave out.
    heads = {known.partition("_")[0] + "_" for known in sizes if "_" in known}
    tries = (size, *(head + size for head in sorted(heads)))
    return next(filter(None, (near.did_you_mean(each, sizes) for each in tries)), "")


def _alike(other: Machine | None, cloud: Cloud) -> str | None:
    """Return the cloud's machine that is most like another cloud's; None if it has none."""
    if other is None:
        return None
    family = cloud.machine(cloud.cpu_machine)
    for machine in cloud.sold(gpus=0, vcpus=other.vcpus, family=family.family if family else None):
        if round(machine.memory_gib) == round(other.memory_gib):
            return machine.size
    return None


def _of_aws(family: str, size: str) -> Machine | None:
    """Return CPUs and memory of a machine of AWS without GPUs; None if unknown.

    aws.amazon.com/ec2/instance-types: c, m and r have 2, 4 and 8 GiB a CPU; xlarge has four CPUs.
    """
    each = {"c": 2, "m": 4, "r": 8}.get(family[0]) if re.match(r"[cmr]\d", family) else None
    many = re.fullmatch(r"(\d*)(x?)large", size)
    if each is None or many is None:
        return None
    vcpus = 4 * int(many[1] or 1) if many[2] else 2
    return Machine("", vcpus, each * vcpus, 0, "")


def _with_gpu(model: str, cloud: Cloud, gpus: float) -> str | None:
    """Return the cloud's smallest machine with about so many GPUs of a model; None without one."""
    found = cloud.sold(gpu_model=model, whole_gpus=True) if model else []
    # Sizes that are known to be sold as spot have a page of their cloud.
    first = min(
        found,
        key=lambda each: (abs(each.gpus - gpus), each.spot != "yes", each.vcpus),
        default=None,
    )
    return first.size if first else None


def machine_with(model: str, cloud: Cloud, gpus: float = 1) -> str:
    """Return the remedy for another cloud's machine: one of this cloud with as many such GPUs, or
    with those next to them, or one that takes them; empty if the cloud has none.
    """
    found = [
        (abs(machine.gpus - gpus), order, machine.size, each)
        for order, each in enumerate((model, *_NEAREST.get(model, ())))
        if (machine := cloud.machine(_with_gpu(each, cloud, gpus) or ""))
    ]
    *_, near, its = min(found, default=(0, 0, "", ""))
    remedy = f"use {near}, with {its or model}"
    known = cloud.attachable.get(model)
    if known is None or known.status == "retired":
        has = any(other == 0 for _, other, *_ in found)
        lacks = "" if has else f"{cloud.title} has no {model}: "
        return f"{lacks}{remedy}" if near else ""
    takes = next((each.size for each in cloud.sold(vcpus=4) if model in each.attachable), "")
    own = {ours: theirs for theirs, ours in cloud.accelerators.items()}.get(model, model)
    return f"use {takes} with `gpus: 1` and `gpuModel: {own}`" + f"; or {remedy}" * bool(near)


def _instead(machine: Machine) -> str:
    if not machine.replacement:
        return "choose another size"
    cheaper = next(iter(machine.cheaper), "")
    return f"use {machine.replacement}" + (
        f"; {cheaper} has as many GPUs and costs less" if cheaper else ""
    )


def _system_machine(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.makes_cluster or not draft.system_pool:
        return
    if _SHARES_A_CORE.fullmatch(draft.system_pool.machine):
        yield Problem(
            "systemPool.machine",
            f"{draft.system_pool.machine} has a share of a core: the cluster's own pods do not fit",
            f"use {cloud.cpu_machine}",
            warning=True,
        )
    machine = cloud.machine(draft.system_pool.machine)
    if machine and machine.gpus:
        yield Problem(
            "systemPool.machine",
            f"{machine.size} has GPUs, which nothing in this pool uses",
            f"use a size without GPUs, such as {cloud.cpu_machine}",
        )


RULES = (_system_machine,)
ANY_POOL_RULES = (_machine,)
