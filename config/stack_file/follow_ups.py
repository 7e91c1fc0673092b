"""Problems that belong together: those that follow from others, and several at one place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from config.base.hiding import hidden
from config.base.problems import Problem
from config.clouds.registry import Registration
from config.model.wording import NOT_A_KEY, OF_AN_EXAMPLE
from config.stack_file.foreign_objects import machine_named, machines
from config.stack_file.objects import Reading
from config.stack_file.places import value_at
from config.stack_file.written_out import says_value, with_right_value

_OF_A_CHAIN = re.compile(
    r"pools(\[\d+\])?(\.(gcp\.)?(name|fallback|machine|gpus|gpuModel|capacity|maxNodes)\b.*)?$"
)
_FROM_CHAINS = re.compile(
    r"(pools\[\d+\]\.fallback$|growth|cloud\.fallback|cloud\.autoscaler\.maxNodeProvisionTime"
    r"|scheduling\.profiles)"
)
"""Warnings that follow from all pools: false while one of them cannot be read."""
_OF_WHAT_IS_MISSING = ("says nothing", "must name one thing", "leaves no way")
"""What an object lacks, perhaps because its keys are misspelt."""
_IN_A_REGION = "the cluster's region"
_NO_STEP = "a step is a spot pool, or one with"
_NO_GPUS = "for machines without GPUs"
"""What another machine ends, which a problem of the pool's GPUs asks for."""
_FROM_PRICES = "for a useful GPU hour"
_VERSION = "cluster.kubernetesVersion"


def independent(of_rules: Sequence[Problem], reading: Reading) -> Iterator[Problem]:
    """Yield the problems of rules that do not follow from those of reading."""
    read = reading.problems()
    unknown = " ".join(each.path for each in read if each.what == NOT_A_KEY)
    errors = [*read, *(each for each in of_rules if not each.warning)]
    wrong = {each.path for each in errors}
    user = reading.mended.as_written
    old_version = any(each.path in (_VERSION, user(_VERSION)) for each in [*of_rules, *read])
    unknown_place = any(each.path == "cloud.location" and each.warning for each in of_rules)
    chains_unclear = any(
        _OF_A_CHAIN.match(each.path) or (each.what == NOT_A_KEY and each.path.startswith("pools"))
        for each in errors
    )
    for each in of_rules:
        path, warning = each.path, each.warning
        of_chains = _FROM_CHAINS.match(path) or _FROM_PRICES in each.what
        if not (
            reading.follows_a_guess(each)
            or (each.what.startswith(_OF_WHAT_IS_MISSING) and f"{user(path)}." in unknown)
            or (path.endswith(".zones") and _IN_A_REGION in each.what and unknown_place)
            or (_NO_STEP in each.what and reading.tells(".reservation"))
            or (_NO_GPUS in each.what and wrong & {path.partition(".")[0] + ".gpus"})
            or (warning and path.endswith(".machine") and wrong & _of_the_machine(path))
            or (warning and path.startswith("cloud.fallback") and old_version)
            or (warning and path == "cloud.tier" and any(one.endswith("Nodes") for one in wrong))
            or (warning and of_chains and chains_unclear)
        ):
            yield each


def _of_the_machine(path: str) -> set[str]:
    """Return the paths of problems that another machine ends."""
    return {path, path.removesuffix("machine") + "capacity"}


_OF_PROVIDERS = {
    "cloud.location": ("azure-native:location", "gcp:region", "gcp:zone"),
    "cloud.project": ("gcp:project",),
}
"""Settings of Pulumi's providers that mean the same as one of ours."""


def with_other_setting(problem: Problem, others: Collection[str]) -> Problem:
    """Return the problem of a missing key, with the setting of another namespace that has it."""
    if problem.what != "is missing":
        return problem
    same = _OF_PROVIDERS.get(problem.path, ())
    other = next(
        (key for key in others if key in same or key.rpartition(":")[2] == problem.path), None
    )
    if other is None:
        return problem
    why = f"`{other}` is another program's setting, and is not read for it"
    return replace(problem, remedy=f"{problem.remedy}; {why}")


def joined(of_reading: list[Problem], of_rules: list[Problem], reading: Reading) -> list[Problem]:
    """Return all problems; a rule's error joins a reading problem of the same path."""
    known = {problem.path: problem for problem in of_reading}
    others: list[Problem] = []
    for problem in of_rules:
        if re.match("remove it(?!, or)", problem.remedy) and not problem.warning:
            inside = (f"{problem.path}.", f"{problem.path}[")
            known = {path: each for path, each in known.items() if not path.startswith(inside)}
        first, place = known.get(problem.path), reading.mended.places.get(problem.path)
        if first is None or (problem.warning and not (place and says_value(problem.remedy))):
            others.append(problem)
            continue
        what, remedy = f"{first.what}, and {problem.what}", f"{first.remedy}; {problem.remedy}"
        if problem.remedy in first.remedy:
            remedy = first.remedy
            both = OF_AN_EXAMPLE in first.what and re.match(r"has (\S+) in it", problem.what)
            what = first.what.replace(" in it", f" and {both[1]} in it", 1) if both else what
        if first.remedy.startswith("remove it"):
            what, remedy = first.what, first.remedy
        if problem.remedy.startswith("remove it"):
            what, remedy = problem.what, problem.remedy  # its value does not matter
        elif place and problem.remedy not in first.remedy:
            remedy = with_right_value(first.remedy, *place, problem.remedy)
        elif problem.path in reading.meant and OF_AN_EXAMPLE not in problem.what:
            remedy = problem.remedy  # the value as it was meant would be refused
        known[problem.path] = Problem(problem.path, what, remedy)
    return [*known.values(), *others]


_FEW = 2
"""Further entries of a list from which problems with one remedy are told once."""


def once_an_object(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield of the keys of one object that all are to be removed for one reason the first, with the
    names of the others.
    """
    alike: dict[tuple[str, str], list[Problem]] = {}
    for each in problems:
        around, dot, _ = each.path.rpartition(".")
        removed = each.what == NOT_A_KEY and dot and each.remedy.startswith("remove it")
        alike.setdefault((around if removed else f"={each.path}", each.remedy), []).append(each)
    for first, *others in alike.values():
        names = ", ".join(each.path.rpartition(".")[2] for each in others)
        if not others or first.what != NOT_A_KEY:
            yield from (first, *others)
            continue
        remedy = first.remedy.replace("remove it", "remove them", 1)
        yield replace(
            first,
            what=f"{first.what}, nor {'are' if len(others) > 1 else 'is'} {names}",
            remedy=remedy,
        )


_SHORT = 60
"""Characters of a list of words that may stand several times."""


def once_a_list(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield of items of one list that have the same remedy the first; of a list of all words that
    are allowed, only the first item's.
    """
    alike: dict[tuple[str, str], list[Problem]] = {}
    told: set[tuple[str, str]] = set()
    for each in problems:
        place, words = each.path.rpartition("[")[0], each.remedy.partition("one of: ")[2]
        if words and place and len(words) > _SHORT:
            if (place, words) in told:
                near = each.remedy.partition(" one of: ")[0]
                each = replace(each, remedy=near if near != each.remedy else "one of those")
            told.add((place, words))
        of_a_list = re.fullmatch(r"(.*)\[\d+\]", each.path)
        alike.setdefault((of_a_list[1] if of_a_list else f"={each.path}", each.remedy), []).append(
            each
        )
    for (place, _), (first, *others) in alike.items():
        if len(others) < _FEW or place.startswith("="):
            yield from (first, *others)
            continue
        yield replace(first, what=f"{first.what} (as {len(others)} more entries of the list)")


_OF_SPOT = {"capacity", "fallback", "spot", "gpus", "mig", "gpuSharing"}
"""Keys of a pool with GPUs."""


_TWO = "onDemand: {maxNodes: 2}"


def with_machines(
    problems: list[Problem], settings: Mapping[str, Any], registration: Registration | None
) -> list[Problem]:
    """Return the problems with a machine of the cloud for each that is missing, told once for a
    pool without `maxNodes` as well.
    """
    found, told = [], set()
    for each in problems:
        around = each.path.rpartition(".")[0]
        whole = value_at(settings, each.path.partition(".")[0])
        most = whole.get("maxNodes") if isinstance(whole, dict) else None
        if type(most) is int and _TWO in each.remedy and "`capacity: spot` and" in each.remedy:
            each = replace(each, remedy=each.remedy.replace("maxNodes: 2", f"maxNodes: {most}"))
        if each.remedy.endswith("is a pool of its own, named under `fallback`"):
            pool, several = value_at(settings, around), value_at(settings, each.path)
            if isinstance(pool, dict) and isinstance(several, list):
                each = replace(each, remedy=machines([*map(str, several)], pool))
        if each.remedy == "add `machine`" and registration:
            pool, cloud = value_at(settings, around) or {}, registration.traits
            size = cloud.gpu_machine if _OF_SPOT & pool.keys() else cloud.cpu_machine
            remedy = f"add `machine: {machine_named(pool.get('name'), cloud) or size}`, for example"
            listed = around.startswith("pools")
            lacks = [key for key in ("name", "maxNodes") if key not in pool]
            if "maxNodes" in lacks or (listed and lacks):
                name = f"`name: {'gpu' if _OF_SPOT & pool.keys() else 'general'}`, "
                first = name * (listed and "name" in lacks)
                last = ", and `maxNodes: 4`" * ("maxNodes" in lacks)
                remedy = (
                    f"remove the whole entry, or add {first}{remedy.removeprefix('add ')}{last}"
                )
                told |= {f"{around}.{key}" for key in (*lacks, "fallback")}
            each = replace(each, remedy=remedy)
        found.append(each)
    return [
        each
        for each in found
        if each.path not in told
        or not (each.what == "is missing" or each.what.startswith("is set on an on-demand pool"))
    ]


def shown(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems sorted, without secrets; a misplaced secret may even be a key."""
    problems = [*problems]
    # A warning of a key that has no place here, or of a template, repeats or contradicts the error.
    wrong = {each.path: each.what for each in problems if not each.warning}
    problems = [
        each
        for each in problems
        if not (
            each.warning
            and each.path in wrong
            and (NOT_A_KEY in wrong[each.path] or "nobody replaces" in each.what)
        )
    ]
    return sorted(
        {Problem(hidden(p.path), hidden(p.what), hidden(p.remedy), p.warning) for p in problems}
    )
