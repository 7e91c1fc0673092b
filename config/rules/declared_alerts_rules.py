"""Rules of the declared alerts: keys that the chosen place does not read."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.near import nearest
from config.base.problems import Problem, as_path
from config.clouds.tables import price
from config.clouds.traits import Cloud
from config.model.alerts import NAMES
from config.model.fields import given
from config.model.pool import Capacity
from config.model.reading import part
from config.rules.draft import Draft, has_gpus

_OWN = ("app.kubernetes.io/instance", "app.kubernetes.io/part-of")
"""Labels by which a stack recognizes its objects (`components.layer.names`)."""


def declared_by(draft: Draft) -> str:
    """Return `alerts.declare`. Raise `Unreadable` if it cannot be read."""
    return draft.alerts.declare if draft.alerts else "none"


def _of_the_operator(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.alerts is None or declared_by(draft) == "operator":
        return
    for name in given(draft.alerts, "namespace", "labels"):
        yield Problem(
            f"alerts.{name}",
            "is a setting of a PrometheusRule, which this stack does not declare",
            "remove it, or write `declare: operator`",
        )


def _labels(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key in (part(draft.alerts, "labels") if draft.alerts else None) or {}:
        if key in _OWN:
            yield Problem(
                f"alerts.labels{as_path(key)}",
                "is a label by which this program recognizes its objects",
                "remove it: select the PrometheusRule by another label",
            )


def _no_cloud(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.cloud and declared_by(draft) == "cloud" and not cloud.makes_pools:
        yield Problem(
            "alerts.declare",
            "is cloud, and a cluster known only by its kubeconfig has no known cloud",
            "write `operator`, or `none` and read the output `alerts`",
        )


def _without(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, name in enumerate((part(draft.alerts, "without") if draft.alerts else None) or ()):
        if name not in NAMES:
            near = nearest(name, NAMES)
            yield Problem(
                f"alerts.without[{index}]",
                f"no alert is called {name}",
                f"write `{near}`" if near else f"remove it; alerts are {', '.join(NAMES)}",
                warning=True,
            )


_HOURS = 730
"""Hours of a month."""


def _budget(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn of a budget that all GPU nodes together cannot exceed."""
    budget = part(draft.alerts, "hourly_budget") if draft.alerts else None
    if budget is None or not draft.cloud or not cloud.makes_pools or not draft.names_are_known():
        return
    usual = twins = 0.0
    for pool in draft.pools_where(lambda pool: has_gpus(pool, cloud)):
        nodes = sum(step.on_demand.max_nodes for step in pool.fallback if step.on_demand)
        paid, on_demand = (
            price(cloud.provider, draft.cloud.place or "", pool.machine, capacity)
            for capacity in (pool.capacity, Capacity.ON_DEMAND)
        )
        if paid is None or on_demand is None:
            return  # nobody knows what all of them cost
        usual, twins = usual + paid * pool.most_nodes(draft.cloud), twins + on_demand * nodes
    most = usual + twins
    if 0 < most <= budget:
        hour = budget / _HOURS
        month = f"; {budget:g} a month is {hour:.2f} an hour" if usual / 20 < hour < most else ""
        yield Problem(
            "alerts.hourlyBudget",
            f"is {budget:g} USD an hour, and all GPU nodes cost at most {most:.2f}: the alert never "
            "fires",
            f"leave it out for {usual:.2f}, or write less{month}",
            warning=True,
        )


RULES = (_of_the_operator, _labels, _no_cloud, _without, _budget)
