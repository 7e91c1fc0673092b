"""The log of the real cluster-autoscaler, read into decisions.

The lines are those of 1.36.1 at `--v=1`, where klog puts a header before each (kubernetes/autoscaler, cluster-autoscaler/core and
clusterstate).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from sandbox.autoscaler.world import Decision
from sandbox.cloud.node_groups import NodeGroup

_LINE = re.compile(r"[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+) +\d+ \S+\] (.*)")
_VERSION = re.compile(r"Cluster Autoscaler (\S+)")
_READY = "Registered cleanup signal handler"
_PLAN = re.compile(r"\{(\S+) (\d+)->(\d+) \(max: \d+\)\}")
_TIMEOUT = re.compile(r"Scale-up timed out for node group (\S+) after (\S+)")
_BACKOFF = re.compile(
    r"Disabling scale-up for node group (\S+) until (\S+ \S+) \S+ UTC.*?; errorClass=(\w*); errorCode=(\w*)"
)
_REFUSED = re.compile(r"Failed to scale up: (.*)")
_UNHEALTHY = re.compile(r"Node group (\S+) is not ready for scaleup - unhealthy")
_STOPPED = re.compile(r"Cluster is not ready for autoscaling")
_REMOVED = re.compile(
    r'Scale-down: removing (?:empty node "(?P<empty>\S+)"|node (?P<drained>\S+), utilization)'
)
_KEPT = re.compile(r"Scale-down: couldn't delete (?:empty )?node \"(\S+)\".*status error: (.*)")
_SUFFIX = re.compile(r"-[a-z0-9]{5}$")
"""What the provider adds to a group's name (cloudprovider/kwok/kwok_nodegroups.go, IncreaseSize)."""

_SPELL = 60.0  # seconds after which a state that each scan repeats is reported anew


class Log:
    """Reads line by line. Times are seconds since 1970; the log is in UTC and has no year.

    A group's size before a scale-down is counted from the log: of a node that others deleted it knows from the next plan on.
    """

    def __init__(self, groups: Iterable[NodeGroup], year: int) -> None:
        self._year = year
        self._groups = {group.name: group for group in groups}
        self._sizes = Counter({group.name: len(group.nodes) for group in self._groups.values()})
        self._before: dict[str, int] = {}
        """The sizes before the last plans."""
        self._said: dict[str, float] = {}
        self.version = ""
        """Such as "1.36.1"; empty until the program says it."""
        self.ready = False
        """Whether it has read its node groups."""

    def read(self, line: str) -> list[Decision]:
        """The decisions of one line."""
        if not (match := _LINE.match(line)):
            return []
        at, text = _time(f"{self._year}-{match[1]}-{match[2]} {match[3]}"), match[4]
        if found := _VERSION.match(text):
            self.version = found[1]
        self.ready |= text == _READY
        decisions = self._growth(at, text) or self._trouble(at, text) or self._removal(at, text)
        return [replace(decision, pool=self._pool(decision.group)) for decision in decisions]

    def _pool(self, name: str) -> str:
        return self._groups[name].pool if name in self._groups else ""

    def _growth(self, at: float, text: str) -> list[Decision]:
        if not text.startswith("Final scale-up plan: "):
            return []
        plan = [
            Decision(at, "scale-up", name, "", int(a), int(b)) for name, a, b in _PLAN.findall(text)
        ]
        for decision in plan:
            self._before[decision.group], self._sizes[decision.group] = (
                decision.before,
                decision.after,
            )
        return plan

    def _trouble(self, at: float, text: str) -> list[Decision]:
        if found := _TIMEOUT.match(text):
            return [Decision(at, "failed", found[1], reason=f"scale-up timed out after {found[2]}")]
        if found := _BACKOFF.match(text):
            name = found[1]
            if found[4] != "timeout":  # refused at once: no node of the plan was made
                self._sizes[name] = self._before.get(name, self._sizes[name])
            return [
                Decision(
                    at, "backoff", name, until=_time(found[2]), reason=f"{found[3]}/{found[4]}"
                )
            ]
        if found := _REFUSED.match(text):
            return [Decision(at, "failed", "", reason=found[1])]
        if (found := _UNHEALTHY.match(text)) and self._news(at, found[1]):
            return [
                Decision(
                    at, "failed", found[1], reason="more unready nodes than allowed: not an option"
                )
            ]
        if _STOPPED.match(text) and self._news(at, ""):
            return [
                Decision(
                    at, "failed", "", reason="more unready nodes than allowed: nothing is scaled"
                )
            ]
        return []

    def _removal(self, at: float, text: str) -> list[Decision]:
        if found := _KEPT.match(text):
            name = self._group(found[1])
            self._sizes[name] += 1
            return [Decision(at, "failed", name, reason=found[2])]
        if not (found := _REMOVED.match(text)):
            return []
        name = self._group(found["empty"] or found["drained"])
        before = max(self._sizes[name], 1)
        self._sizes[name] = before - 1
        return [
            Decision(
                at,
                "scale-down",
                name,
                "",
                before,
                before - 1,
                reason="empty" if found["empty"] else "drain",
            )
        ]

    def _group(self, node: str) -> str:
        """The group of a node: one that the provider made, or one of the first."""
        first = (name for name, group in self._groups.items() if node in group.nodes)
        return next(first, _SUFFIX.sub("", node))

    def _news(self, at: float, subject: str) -> bool:
        """Whether a state begins, and is not one that the last scans had too."""
        before, self._said[subject] = self._said.get(subject, 0.0), at
        return at - before > _SPELL


def _time(text: str) -> float:
    # Go prints nanoseconds, Python reads microseconds.
    return datetime.fromisoformat(text[:26]).replace(tzinfo=UTC).timestamp()
