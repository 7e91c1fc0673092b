"""The order in which AKS' autoscaler grows pools: the priority expander's ConfigMap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.autoscaler import priorities
from components.layer.autoscaler.priorities import Tiers, Wanted
from components.layer.part import Inside, Part, metadata
from components.output_types import ExpanderTierOutput
from config.model.cluster import ExpanderOptions

NAMESPACE = "kube-system"
NAME = "cluster-autoscaler-priority-expander"
"""The autoscaler expects this name."""

_MAP = f"the ConfigMap {NAMESPACE}/{NAME}"


@dataclass(frozen=True)
class ExpanderPlan:
    """The ConfigMap to write, and its description in the stack's outputs."""

    declared: Tiers | None
    """The tiers that this stack writes; None if it does not declare the ConfigMap."""
    shown: list[ExpanderTierOutput]
    """The tiers that the autoscaler follows, in order; empty if it ignores the ConfigMap."""
    fallback_order: str
    warnings: tuple[str, ...] = ()


def plan(
    wanted: Wanted,
    options: ExpanderOptions,
    instance: str,
    existing: Mapping[str, Any] | None,
    cluster: str,
) -> ExpanderPlan:
    """Return the plan for an autoscaler with the expander `priority`. `existing`: the cluster's
    ConfigMap, None without one.

    Raise `pulumi.RunError` with the lines to add if another owner's ConfigMap must change first.
    """
    own = priorities.tiers(wanted, {tier.priority: tier.groups for tier in options.other_groups})
    ours = ExpanderPlan(own, _view(own, wanted), f"guaranteed by {_MAP}")
    # The user may rank pools of other owners freely.
    wrong = list(priorities.faults(own, replace(wanted, others=())))
    if wrong:
        raise pulumi.RunError(
            "expander.otherGroups: with these lines pools would not grow in the wanted order: "
            f"{'; '.join(wrong)}\n"
            "  give them other numbers, or expressions that match no pool of this stack"
        )
    labels = names.labels_of(existing or {})
    if existing is None or names.is_ours(labels, instance):
        return ours
    tiers, unread = _read(existing)
    if options.take_ownership:
        dropped = _dropped(tiers or {}, own)
        return replace(ours, warnings=_warning(dropped))
    wrong = list(priorities.faults(tiers or {}, wanted))
    if tiers and not wrong:
        return ExpanderPlan(
            None, _view(tiers, wanted), f"guaranteed by {_MAP}, which is not this stack's"
        )
    if unread:
        wrong = [f"the autoscaler refuses it and chooses at random, as {unread}"]
    raise pulumi.RunError(_refusal(tiers, wanted, wrong, cluster, labels))


def _read(existing: Mapping[str, Any]) -> tuple[Tiers | None, str]:
    """Return the ConfigMap's tiers, or the reason why it has none."""
    try:
        return priorities.read_tiers((existing.get("data") or {}).get("priorities")), ""
    except ValueError as wrong:
        return None, str(wrong)


def kept_by(what: str) -> ExpanderPlan:
    """Return the plan for an order that `what` keeps."""
    return ExpanderPlan(None, [], f"guaranteed by {what}")


def not_kept(why: str) -> ExpanderPlan:
    """Return the plan for an autoscaler that ignores the ConfigMap, or may ignore it."""
    return ExpanderPlan(None, [], f"not guaranteed: {why}")


def _view(tiers: Tiers, wanted: Wanted) -> list[ExpanderTierOutput]:
    ranks = {pool: priorities.rank(tiers, pool) for pool in wanted.order}
    return [
        {
            "priority": number,
            "pools": [pool for pool, rank in ranks.items() if rank == number],
            "groups": list(tiers[number]),
        }
        for number in sorted(tiers, reverse=True)
    ]


def _dropped(tiers: Tiers, own: Tiers) -> dict[int, list[str]]:
    kept = {line for lines in own.values() for line in lines}
    dropped = {
        number: [line for line in lines if line not in kept] for number, lines in tiers.items()
    }
    return {number: lines for number, lines in dropped.items() if lines}


def _warning(dropped: Tiers) -> tuple[str, ...]:
    if not dropped:
        return ()
    return (
        f"{_MAP} becomes this stack's (expander.takeOwnership); these lines of it are dropped:\n"
        f"{_indented(priorities.written(dropped))}\n  `expander.otherGroups` keeps lines that "
        "are still wanted",
    )


def _refusal(
    tiers: Tiers | None, wanted: Wanted, wrong: list[str], cluster: str, labels: Mapping[str, str]
) -> str:
    another = names.stack(labels)
    # The other stack's own lines move by tens when its pools change.
    lines = priorities.additions(tiers or {}, wanted, last_digit=5 if another else 0)
    if tiers is None:
        lines = priorities.tiers(wanted, {})
    return "\n".join(
        [
            f"expander: {_MAP} of cluster {cluster} belongs to {names.owner(labels)}, and pools "
            "would not grow in the wanted"
            f" order: {'; '.join(wrong)}",
            *(_for_a_stack(lines, another) if another else _for_the_map(lines, tiers is None)),
            "  or set `expander.takeOwnership: true` here: this stack then replaces its "
            "content, and",
            "  `expander.otherGroups` lists further lines that it keeps",
        ]
    )


def _for_the_map(lines: Tiers, whole: bool) -> list[str]:
    head = "  make this its `priorities`:" if whole else "  add these lines to its `priorities`:"
    return [head, _indented(priorities.written(lines))]


def _for_a_stack(lines: Tiers, instance: str) -> list[str]:
    head = f"  add this to the stack file of {instance}:"
    groups = [
        f"      - {{priority: {number}, groups: {priorities.listed(some)}}}"
        for number, some in lines.items()
    ]
    return [head, "    kubeflow-spot:expander:", "      otherGroups:", *groups]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


class PriorityExpander(Part):
    """The ConfigMap that the autoscaler reads."""

    def __init__(
        self, name: str, tiers: Tiers, inside: Inside, *, take_ownership: bool = False
    ) -> None:
        super().__init__("kubeflow-spot:addons:PriorityExpander", name, inside)
        called = metadata(NAME, self.instance, NAMESPACE)
        if take_ownership:
            # Its fields have another manager, and the API server would keep them
            # (pulumi-kubernetes, patchForce).
            called.annotations = {"pulumi.com/patchForce": "true"}
        k8s.core.v1.ConfigMap(
            name, metadata=called, data={"priorities": priorities.written(tiers)}, opts=self.child
        )
        self.register_outputs({})
