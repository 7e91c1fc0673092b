"""Figures of GKE's autoscaler that the emulated one uses, each documented by Google or assumed.

GKE's autoscaler is not published as a program that can be run: where no page gives a figure, cluster-autoscaler's own stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_AUTOSCALER = "page about-cluster-autoscaler"
_CLASSES = "page about-custom-compute-classes"
_UPSTREAM = "cluster-autoscaler 1.36.1"


@dataclass(frozen=True)
class Figure:
    """One figure, for a report."""

    what: str
    value: str
    status: Literal["documented", "assumed"]
    source: str


SENTENCE = (
    "GKE's autoscaler is emulated: each of its figures is documented by Google, or assumed to be cluster-autoscaler's own"
    " default."
)
"""The sentence with which a report about GKE begins."""

FIGURES = (
    Figure(
        "pool without a ComputeClass", "the cheapest that fits; of several spot pools any", "documented", _AUTOSCALER
    ),
    Figure("pool of a ComputeClass", "the order of its rules, any pool of one rule", "documented", _CLASSES),
    Figure("pool that no rule names", "never, with ScaleUpAnyway last", "documented", _CLASSES),
    Figure(
        "zone by location policy ANY", "the default of spot pools; a zone that has machines", "documented", _AUTOSCALER
    ),
    Figure(
        "zone by location policy BALANCED",
        "the default of other pools; the zone with fewest",
        "documented",
        _AUTOSCALER,
    ),
    Figure("smallest cluster", "1 node, a pool 0", "documented", _AUTOSCALER),
    Figure("longest graceful termination at scale-down", "1 h", "documented", _AUTOSCALER),
    Figure(
        "active migration", "to pools of an earlier rule; honours budgets and safe-to-evict", "documented", _CLASSES
    ),
    Figure("pace of active migration", "one node at a time, looked at in each scan", "assumed", "no page gives one"),
    Figure("age of pending pods at scale-up", "2 s, with GPUs 30 s", "assumed", _UPSTREAM),
    Figure("time between scans", "10 s, at once after a scale-up", "assumed", _UPSTREAM),
    Figure("time for a machine to register and be ready", "15 min", "assumed", _UPSTREAM),
    Figure("back-off of a pool that failed to grow", "5 min, doubling to 30 min", "assumed", _UPSTREAM),
    Figure("unready nodes at which scaling stops", "more than 3 and more than 45 %", "assumed", _UPSTREAM),
    Figure("time until an unneeded node goes", "10 min; not ready 20 min", "assumed", _UPSTREAM),
    Figure("the same in a ComputeClass", "its consolidationDelayMinutes", "documented", _CLASSES),
    Figure("pause of scale-down after a scale-up", "10 min", "assumed", _UPSTREAM),
    Figure("utilisation below which a node may go", "0.5 of CPU and memory, or of GPUs", "assumed", _UPSTREAM),
    Figure("pods with local storage", "do not keep their node", "assumed", "AKS' default; no page was found"),
)

DEFAULTS: Mapping[str, str] = {"maxGracefulTerminationSec": "3600"}
"""The settings of GKE, with AKS' keys, that differ from AKS' defaults."""
