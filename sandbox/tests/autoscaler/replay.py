"""A replay: the autoscaler in the cluster of a recording, and the differences between what it decided and what was recorded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from sandbox.autoscaler.scaler import Autoscaler
from sandbox.autoscaler.world import Decision

from . import script
from .cluster import Cluster

_LOOP = 0.02
"""Seconds that a loop of the real program takes; so its loops drift."""
SEEDS = 50
"""The real program takes equal pods in the order of a Go map and draws among equal groups; a recording is one draw."""


DRAWN_FROM = {"configmap-changed-while-running": 90.0}
"""Seconds from which a recording's groups are drawn, again and again: their times count, and not which group it was. Five draws
are like five others in one of 32 replays."""


class Fact(NamedTuple):
    """One decision in the words of recordings and of the autoscaler."""

    kind: str
    group: str
    before: int
    after: int
    at: float
    until: float


def run(told: script.Script, seed: int, *, skipping: bool = False) -> Cluster:
    """The cluster at the end of the recording; `skipping` scans in which nothing can happen, as a simulation does."""
    cluster, end = Cluster(told), float(told.recording["recordedSeconds"])
    pauses = sorted((step.at, step.kind) for step in told.steps if step.kind in ("kill", "start"))
    scaler: Autoscaler | None = Autoscaler("azure", told.options, Random(seed))
    # The autoscaler ran before, so its loop is somewhere in its interval when the first pods come.
    at = -told.scan * Random(seed).random()
    while True:
        due = min(at if scaler else float("inf"), cluster.triggered if scaler else float("inf"))
        if pauses and pauses[0][0] <= min(due, end):
            time, kind = pauses.pop(0)
            cluster.run(time)
            cluster.now = time
            scaler, cluster.triggered = None, float("inf")
            if kind == "start":
                seed += 1000
                # The recorded program acts one scan after its start: it must fill its caches first.
                scaler, at = Autoscaler("azure", told.options, Random(seed)), time + told.scan
            continue
        if due > end:
            cluster.run(end)
            if cluster.triggered > end or scaler is None:
                return cluster
            continue
        cluster.run(due)
        if scaler is None:
            continue
        triggered, cluster.triggered = cluster.triggered, float("inf")
        cluster.now = max(cluster.now, min(due, triggered))
        at = scaler.scan(cluster.now, cluster.world(), cluster) + _LOOP
        while skipping and at < min(scaler.wakes(), cluster.changes(), end):
            at += told.scan + _LOOP


def differences(told: script.Script, cluster: Cluster) -> list[str]:
    """How a replay differs from its recording: order, groups, sizes, times by more than one scan, placement, nodes."""
    recording, late = told.recording, told.scan + 0.5
    drawn = DRAWN_FROM.get(told.name, float("inf"))
    expected = [_without_draw(_recorded(each), drawn) for each in recording["decisions"]]
    decided = [_without_draw(fact, drawn) for each in cluster.decisions if (fact := _decided(each)) is not None]
    found: list[str] = []
    for kinds in (("scale-up", "scale-down"), ("backoff",), ("timeout",), ("refused",), ("unhealthy",)):
        wanted, got = ([fact for fact in facts if fact.kind in kinds] for facts in (expected, decided))
        if kinds == ("scale-up", "scale-down"):
            wanted, got = _merged(wanted), _merged(got)
        same = len(wanted) == len(got) and all(_same(a, b) for a, b in zip(wanted, got, strict=True))
        if not same:
            found.append(f"{'/'.join(kinds)}: recorded {_texts(wanted)}, decided {_texts(got)}")
            continue
        for first, second in zip(wanted, got, strict=True):
            # An unhealthy group is reported when it is looked at, so its time says when pods waited.
            if abs(first.at - second.at) > late or abs(first.until - second.until) > late:
                found.append(f"time: recorded {_texts([first])}, decided {_texts([second])}")
    if drawn < recording["recordedSeconds"]:
        return found
    found += _counts("placement", recording["placement"], cluster.placement())
    found += _counts("nodesAtEnd", recording["nodesAtEnd"], cluster.sizes())
    return found


def agrees(recording: Mapping[str, Any], seed: int, spared: str = "", *, skipping: bool = False) -> list[str]:
    """The differences of a replay, none where it is like its recording. Those that begin with `spared` do not count."""
    told = script.read(recording)
    wrong = differences(told, run(script.read(recording), seed, skipping=skipping))
    return [text for text in wrong if not spared or not text.startswith(spared)]


def share(recording: Mapping[str, Any], seeds: Sequence[int], spared: str = "") -> float:
    """The share of seeds whose replays are like the recording."""
    return sum(not agrees(recording, seed, spared) for seed in seeds) / len(seeds)


def replayed(recording: Mapping[str, Any], spared: str = "", *, skipping: bool = False) -> tuple[int | None, list[str]]:
    """The first seed whose replay is like the recording, None for none, with the fewest differences of any."""
    best: list[str] | None = None
    for seed in range(SEEDS):
        wrong = agrees(recording, seed, spared, skipping=skipping)
        if not wrong:
            return seed, []
        if best is None or len(wrong) < len(best):
            best = wrong
    return None, best or []


def firsts(recording: Mapping[str, Any], seeds: Iterable[int]) -> set[str]:
    """The first scale-ups of many replays, as `firstDecisionCounts` has them."""
    found = set()
    for seed in seeds:
        cluster = run(script.read(recording), seed)
        decision = next(each for each in cluster.decisions if each.action == "scale-up")
        found.add(f"{decision.group} {decision.before}->{decision.after}")
    return found


def _recorded(entry: Mapping[str, Any]) -> Fact:
    kind, reason = entry["action"], entry.get("reason") or ""
    if kind == "failed":
        kind = _failure(reason)
    before, after = entry.get("from") or 0, entry.get("to") or 0
    return Fact(kind, entry.get("group") or "", before, after, float(entry["t"]), float(entry.get("until") or 0))


def _decided(decision: Decision) -> Fact | None:
    kind = decision.action
    if kind == "note":
        return None
    if kind == "failed":
        kind = _failure(decision.reason)  # type: ignore[assignment]
    return Fact(kind, decision.group, decision.before, decision.after, decision.at, decision.until or 0)


def _without_draw(fact: Fact, drawn: float) -> Fact:
    """A fact without its group and sizes, where those are drawn."""
    return fact if fact.at < drawn else fact._replace(group="(drawn)", before=0, after=0)


def _same(recorded: Fact, decided: Fact) -> bool:
    """Whether two decisions are the same; a recorder that counted refused removals has sizes below 0."""
    if recorded.after < 0:
        recorded, decided = (fact._replace(before=fact.before - fact.after, after=0) for fact in (recorded, decided))
    return recorded[:4] == decided[:4]


def _failure(reason: str) -> str:
    kinds = {
        "timed out": "timeout",
        "increase node group size": "refused",
        "group is unhealthy": "unhealthy",
        "failed to remove": "kept",
    }
    return next((kind for text, kind in kinds.items() if text in reason), f"failed: {reason}")


def _merged(facts: Sequence[Fact]) -> list[Fact]:
    """Removals of one scan as one: the real program's order among them is a Go map's."""
    merged: list[Fact] = []
    for fact in facts:
        last = merged[-1] if merged else None
        if last and last.kind == fact.kind == "scale-down" and last.group == fact.group and fact.at - last.at < 1:
            merged[-1] = last._replace(before=max(last.before, fact.before), after=min(last.after, fact.after))
        else:
            merged.append(fact)
    return merged


def _texts(facts: Iterable[Fact]) -> list[str]:
    short = [(fact, re.sub(r"^aks-|-\d+-vmss$", "", fact.group)) for fact in facts]
    return [
        f"{fact.at:.1f} {fact.kind} {name} {fact.before}->{fact.after}"
        + (f" until {fact.until:.0f}" if fact.until else "")
        for fact, name in short
    ]


def _counts(what: str, wanted: Mapping[str, int], got: Counter[str]) -> list[str]:
    if {name: count for name, count in wanted.items() if count} == {name: n for name, n in got.items() if n}:
        return []
    return [f"{what}: recorded {dict(wanted)}, found {dict(got)}"]
