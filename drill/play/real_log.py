"""The log of the real cluster-autoscaler, read into decisions.

The lines are those of 1.36.1 at `--v=1`, each with klog's header (kubernetes/autoscaler,
cluster-autoscaler/core and clusterstate).
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
    r"Disabling scale-up for node group (\S+) until (\S+ \S+) \S+ UTC.*?;"
    r" errorClass=(\w*); errorCode=(\w*)"
)
_REFUSED = re.compile(r"Failed to scale up: (.*)")
_UNHEALTHY = re.compile(r"Node group (\S+) is not ready for scaleup - unhealthy")
_STOPPED = re.compile(r"Cluster is not ready for autoscaling")
_REMOVED = re.compile(
    r'Scale-down: removing (?:empty node "(?P<empty>\S+)"|node (?P<drained>\S+), utilization)'
)
_KEPT = re.compile(r"Scale-down: couldn't delete (?:empty )?node \"(\S+)\".*status error: (.*)")
_SUFFIX = re.compile(r"-[a-z0-9]{5}$")
"""The provider's suffix of a group's name (cloudprovider/kwok/kwok_nodegroups.go, IncreaseSize)."""

_SPELL = 60.0
"""Seconds after which a repeated state is reported anew."""
_UNREADY = "more unready nodes than allowed: "


class Log:
    """A reader of the log: `Log(groups, 2026).read_line(line)`.

    Times are seconds since 1970; the log is in UTC and has no year. A group's size before a
    scale-down is counted from the log. Nodes that others deleted show in the next plan.
    """

    def __init__(self, groups: Iterable[NodeGroup], year: int) -> None:
        self._year = year
        self._groups = {group.name: group for group in groups}
        self._sizes = Counter({group.name: len(group.nodes) for group in self._groups.values()})
        self._before: dict[str, int] = {}
        """The sizes before the last plans."""
        self._said: dict[str, float] = {}
        self.version = ""
        """The program's version, such as "1.36.1"; empty until the log has it."""
        self.ready = False
        """Whether the program has read its node groups."""

    def read_line(self, line: str) -> list[Decision]:
        """Return the decisions of one line."""
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
        for each in plan:
            self._before[each.group], self._sizes[each.group] = each.before, each.after
        return plan

    def _trouble(self, at: float, text: str) -> list[Decision]:
        if found := _TIMEOUT.match(text):
            return [Decision(at, "failed", found[1], reason=f"scale-up timed out after {found[2]}")]
        if found := _BACKOFF.match(text):
            name = found[1]
            if found[4] != "timeout":  # Refused at once: no node of the plan was made.
                self._sizes[name] = self._before.get(name, self._sizes[name])
            reason = f"{found[3]}/{found[4]}"
            return [Decision(at, "backoff", name, until=_time(found[2]), reason=reason)]
        if found := _REFUSED.match(text):
            return [Decision(at, "failed", "", reason=found[1])]
        if (found := _UNHEALTHY.match(text)) and self._news(at, found[1]):
            return [Decision(at, "failed", found[1], reason=f"{_UNREADY}not an option")]
        if _STOPPED.match(text) and self._news(at, ""):
            return [Decision(at, "failed", "", reason=f"{_UNREADY}nothing is scaled")]
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
        reason = "empty" if found["empty"] else "drain"
        return [Decision(at, "scale-down", name, "", before, before - 1, reason=reason)]

    def _group(self, node: str) -> str:
        """Return the group of a node, one of the first nodes or one that the provider made."""
        first = (name for name, group in self._groups.items() if node in group.nodes)
        return next(first, _SUFFIX.sub("", node))

    def _news(self, at: float, subject: str) -> bool:
        """Return whether a state is new, and not repeated from the last scans."""
        before, self._said[subject] = self._said.get(subject, 0.0), at
        return at - before > _SPELL


def _time(text: str) -> float:
    # Go prints nanoseconds, Python reads microseconds.
    return datetime.fromisoformat(text[:26]).replace(tzinfo=UTC).timestamp()
