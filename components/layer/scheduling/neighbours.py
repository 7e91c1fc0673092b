"""Guards of other stacks in the same cluster.

A pod must pass the guard of every stack whose profiles or platform namespaces contain it. An
exception of one stack has an effect only if no other stack's guard forbids the pod. Each stack
publishes its settings beside its contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from components import refusal
from components.layer import names
from config.base.problems import Problem
from config.model.scheduling import GuardException, Scheduling

KEY = "guard.json"
"""Key of the contract's ConfigMap; missing if a stack has the default guard without exceptions."""

_FIELDS: Mapping[str, Any] = {
    "profile_labels": True,
    "guard": True,
}
_ONE_LIST: Mapping[str, Any] = {"guard": {"additional_platform_namespaces"}}


def published(scheduling: Scheduling) -> dict[str, str]:
    """Return the settings that decide with which other guards this one agrees, for the contract's
    ConfigMap.

    Both lists of namespaces are published as one, for programs that do not know the second.
    """
    guard = scheduling.guard.model_copy(
        update={"platform_namespaces": scheduling.guard.guarded_namespaces}
    )
    ours, default = (
        each.model_dump_json(include=_FIELDS, exclude=_ONE_LIST, by_alias=True)
        for each in (scheduling.model_copy(update={"guard": guard}), Scheduling())
    )
    return {} if ours == default else {KEY: ours}


def check_neighbours(
    scheduling: Scheduling, instance: str, contracts: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return warnings of exceptions without an effect. `contracts`: the ConfigMaps of all stacks in
    the cluster.

    Raise `pulumi.RunError` if this update would newly forbid pods that another stack excepts.
    """
    settings = {names.stack(names.labels_of(one)) or "": _read(one) for one in contracts}
    before = settings.pop(instance, None)
    warnings: list[str] = []
    problems: list[Problem] = []
    for stack, other in sorted(settings.items()):
        if other is None:
            warnings.append(
                f"scheduling.guard: this program cannot read what the guard of stack {stack!r} "
                "excepts"
            )
            continue
        lost = set(_forbidden(scheduling, other))
        known = set(_forbidden(before, other)) if before else set()
        if lost - known:
            problems.append(_refusal(stack, sorted(lost - known)))
        for pods in sorted(lost & known):
            warnings.append(
                f"scheduling.guard forbids {pods}, which stack {stack!r} excepts in the same "
                "cluster"
            )
        for pods in sorted(_forbidden(other, scheduling)):
            warnings.append(
                f"scheduling.guard: {pods} stay forbidden by the guard of stack {stack!r} in the "
                "same cluster"
            )
    refusal.refuse_settings(problems)
    return tuple(warnings)


def _refusal(stack: str, pods: Sequence[str]) -> Problem:
    return Problem(
        "scheduling.guard",
        f"would forbid {', '.join(pods)}, which stack {stack!r} excepts in the same cluster",
        "write the same exceptions here, or give each of the two stacks profiles of its own by "
        "scheduling.profileLabels",
    )


def _read(contract: Mapping[str, Any]) -> Scheduling | None:
    """Return the settings; None for those of a newer program, which this one cannot read."""
    try:
        return Scheduling.model_validate_json((contract.get("data") or {}).get(KEY) or "{}")
    except ValidationError:
        return None


def _forbidden(ours: Scheduling, theirs: Scheduling) -> Iterator[str]:
    """Yield the pods, in words, that `theirs` lets in and `ours` refuses."""
    if ours.guard.mode != "enforce":
        return
    platform, of_both = set(ours.guard.guarded_namespaces), _may_share(ours, theirs)
    if theirs.guard.mode != "enforce" and (
        of_both or platform & set(theirs.guard.guarded_namespaces)
    ):
        yield f"pods that break a rule (mode {theirs.guard.mode})"
    if of_both and theirs.guard.device_classes and not ours.guard.device_classes:
        yield "pods with claims of devices"
    for namespace in platform & set(theirs.guard.pipeline_namespaces) - set(
        ours.guard.pipeline_namespaces
    ):
        yield f"steps of pipelines in {namespace}"
    for entry in theirs.guard.exceptions:
        of_a_profile = entry.namespace not in theirs.guard.guarded_namespaces
        judged = entry.namespace in platform or (of_a_profile and of_both)
        if judged and not any(_covers(own, entry) for own in ours.guard.exceptions):
            labels = ",".join(f"{key}={value}" for key, value in sorted(entry.selector.items()))
            yield f"pods {labels} in {entry.namespace} ({', '.join(sorted(entry.rules))})"


def _may_share(one: Scheduling, other: Scheduling) -> bool:
    """Return whether a namespace can be a profile of both."""
    theirs = other.profile_labels
    return all(theirs.get(key, value) == value for key, value in one.profile_labels.items())


def _covers(own: GuardException, entry: GuardException) -> bool:
    return (
        own.namespace == entry.namespace
        and own.selector.items() <= entry.selector.items()
        and set(own.rules) >= set(entry.rules)
    )
