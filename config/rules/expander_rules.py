"""Checks of the priority expander's ConfigMap: its owner, and the lines that are not the program's own."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.growth import ExpanderOptions, ExpanderTier
from config.model.reading import of_each
from config.placement import expressions, object_names
from config.rules.draft import Draft
from config.rules.items import each


def _options(draft: Draft, cloud: Cloud) -> ExpanderOptions | None:
    return draft.expander if cloud.priority_expander else None


def _none(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.expander and not cloud.priority_expander:
        for name in sorted(draft.expander.model_fields_set):
            yield Problem(
                f"expander.{ExpanderOptions.model_fields[name].alias}",
                f"is set for {cloud.title}, which has no priority expander",
                f"remove it: {cloud.order_key} says in which order pools grow"
                if cloud.order_key
                else "remove it",
            )


def _ownership(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = _options(draft, cloud)
    if draft.makes_cluster and options and options.take_ownership:
        yield Problem(
            "expander.takeOwnership",
            "is true for a cluster this stack makes, which has no other ConfigMap",
            "remove it",
        )


def _tiers(draft: Draft) -> Iterator[tuple[str, tuple[int, ExpanderTier]]]:
    for number, tier in enumerate(draft.expander.other_groups if draft.expander else ()):
        yield f"expander.otherGroups[{number}]", (number, tier)


@each(_tiers)
def _numbers(
    path: str, numbered: tuple[int, ExpanderTier], draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    number, tier = numbered
    options = _options(draft, cloud)
    if not options:
        return
    twins = draft.of_pools(lambda pool: object_names.twin_name(pool, cloud))
    # As `components.layer.autoscaler.priorities` gives them: one line a pool, the system pool's too,
    # in steps of ten, above `.*` at 1.
    top = 10 * (len(draft.pools) + len([twin for twin in twins if twin]) + draft.makes_cluster)
    if tier.priority in of_each(options.other_groups[:number], lambda other: other.priority):
        yield Problem(
            f"{path}.priority",
            f"{tier.priority} stands in the list already: the autoscaler keeps the last of them only",
            "write all its groups in one entry",
        )
    elif tier.priority == 1 or (tier.priority % 10 == 0 and tier.priority <= top):
        yield Problem(
            f"{path}.priority",
            f"{tier.priority} is a number of the program's own lines: between equals the autoscaler chooses at random",
            f"a number that is no multiple of ten, or one above {top}",
        )


@each(_tiers)
def _expressions(
    path: str, numbered: tuple[int, ExpanderTier], draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    _, tier = numbered
    for number, expression in enumerate(tier.groups if _options(draft, cloud) else ()):
        if wrong := expressions.fault(expression):
            # Known from the autoscaler's code (expander/priority/priority.go), hence no warning.
            yield Problem(
                f"{path}.groups[{number}]",
                f"{expression!r} is not a regular expression of RE2 ({wrong}): the autoscaler would drop the whole list and "
                "choose at random",
                "write for example ^aks-spotpool-[0-9]+-vmss$",
            )


RULES = (_none, _ownership, _numbers, _expressions)
