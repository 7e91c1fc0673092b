"""Checks of the priority expander's ConfigMap: who has it, and the lines that are not the program's own."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.growth import ExpanderOptions
from config.placement import expressions, node_pools
from config.problems import Problem


def _options(draft: Draft, cloud: Cloud) -> ExpanderOptions | None:
    return draft.expander if cloud.priority_expander else None


def _none(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.expander and not cloud.priority_expander:
        for name in sorted(draft.expander.model_fields_set):
            yield Problem(
                f"expander.{ExpanderOptions.model_fields[name].alias}",
                f"is set for {cloud.title}, which has no priority expander",
                f"remove it: {cloud.order_key} says in which order pools grow" if cloud.order_key else "remove it",
            )


def _ownership(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = _options(draft, cloud)
    if draft.made_here and options and options.take_ownership:
        yield Problem(
            "expander.takeOwnership",
            "is true for a cluster this stack makes, where nobody else has the ConfigMap",
            "remove it",
        )


def _numbers(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = _options(draft, cloud)
    groups = options.other_groups if options else ()
    twins = draft.of_pools(lambda pool: node_pools.twin_name(pool, cloud))
    # As `components.addons.autoscaler.priorities` gives them: one line a pool, the system pool's too,
    # in steps of ten, above `.*` at 1.
    top = 10 * (len(draft.pools) + len([twin for twin in twins if twin]) + draft.made_here)
    for index, tier in enumerate(groups):
        path = f"expander.otherGroups[{index}].priority"
        if tier.priority in [other.priority for other in groups[:index]]:
            yield Problem(
                path,
                f"{tier.priority} stands in the list already: the autoscaler keeps the last of them only",
                "write all its groups in one entry",
            )
        elif tier.priority == 1 or (tier.priority % 10 == 0 and tier.priority <= top):
            yield Problem(
                path,
                f"{tier.priority} is a number of the program's own lines: between equals the autoscaler chooses at random",
                f"a number that is no multiple of ten, or one above {top}",
            )


def _expressions(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = _options(draft, cloud)
    groups = options.other_groups if options else ()
    for index, tier in enumerate(groups):
        for number, expression in enumerate(tier.groups):
            if wrong := expressions.fault(expression):
                # Known from the autoscaler's code (expander/priority/priority.go), hence no warning.
                yield Problem(
                    f"expander.otherGroups[{index}].groups[{number}]",
                    f"{expression!r} is no regular expression of RE2 ({wrong}): the autoscaler would drop the whole list and "
                    "choose at random",
                    "write for example ^aks-spotpool-[0-9]+-vmss$",
                )


RULES = (_none, _ownership, _numbers, _expressions)
