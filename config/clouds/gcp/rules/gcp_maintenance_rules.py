"""Rules of maintenance windows and exclusions (page maintenance-windows-and-exclusions)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain

from config.base.problems import Problem
from config.clouds.gcp.gcp_maintenance import ANCHOR, GcpExclusion, GcpMaintenance, moment
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.model.fields import Some, Unreadable, given
from config.model.reading import doubled, of_each
from config.rules.draft import Draft
from config.rules.periods import put_right

_PATH = "cloud.maintenance"

_MOST, _MOST_OF_ALL_UPGRADES = 20, 3
"""Exclusions of a cluster, and those of them with the scope NO_UPGRADES (same page)."""

_LONGEST, _LONG = timedelta(days=90), timedelta(days=30)
"""An exclusion with NO_UPGRADES: copies of the page say 30 days, later ones 90."""

_SPAN, _LEAST, _SHORTEST = timedelta(days=32), timedelta(hours=48), timedelta(hours=4)
"""GKE wants 48 hours of maintenance in any 32 days, of which it counts what is open for four hours
(page maintenance-windows)."""

_WEEK = timedelta(days=7)

Piece = tuple[datetime, datetime]


def _window(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    window = gcp.maintenance
    if window is None or given(window, "start_time"):
        return
    for name in ("days", "duration_hours", "utc_offset"):
        if given(window, name):
            yield Problem(_PATH, "has no `startTime`", 'add the time, such as `startTime: "02:00"`')
            return
    if not given(window, "exclusions"):
        yield Problem(
            _PATH,
            "says nothing",
            'write `maintenance: {startTime: "02:00"}` or its `exclusions`, or remove it',
        )


def _days(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    days = gcp.maintenance.days if gcp.maintenance else ()
    for index, day in enumerate(days):
        if day in days[:index]:
            yield Problem(f"{_PATH}.days[{index}]", f"{day} is in the list twice", "remove one")


def _numbered(gcp: Gcp) -> list[tuple[str, GcpExclusion]]:
    exclusions = gcp.maintenance.exclusions if gcp.maintenance else ()
    return [(f"{_PATH}.exclusions[{index}]", each) for index, each in enumerate(exclusions)]


def _number(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    exclusions = [each for _, each in _numbered(gcp)]
    if len(exclusions) > _MOST:
        yield Problem(
            f"{_PATH}.exclusions", f"has {len(exclusions)} exclusions", f"at most {_MOST}"
        )
    all_upgrades = [each for each in exclusions if each.scope == "NO_UPGRADES"]
    if len(all_upgrades) > _MOST_OF_ALL_UPGRADES:
        yield Problem(
            f"{_PATH}.exclusions",
            f"has {len(all_upgrades)} exclusions with the scope NO_UPGRADES",
            f"at most {_MOST_OF_ALL_UPGRADES}; the others can be NO_MINOR_OR_NODE_UPGRADES",
        )


def _names(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, first, _ in doubled(_numbered(gcp), lambda each: each.name):
        yield Problem(f"{path}.name", f"is the name of {first}", "give it another name")


def _ends(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, each in _numbered(gcp):
        ends = given(each, "end", "end_time_behavior")
        if len(ends) == 2:
            yield Problem(path, "has both `end` and `endTimeBehavior`", "remove one of them")
        elif not ends:
            yield Problem(path, "has no end", "add `end`, or `endTimeBehavior`")


def _behavior(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, each in of_each(_numbered(gcp), lambda one: (one[0], one[1])):
        if given(each, "end_time_behavior") and each.scope == "NO_UPGRADES":
            yield Problem(
                f"{path}.scope",
                "is NO_UPGRADES, which cannot last until the end of support",
                "write NO_MINOR_OR_NODE_UPGRADES or NO_MINOR_UPGRADES, or an `end`",
            )


def _times(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, each in _numbered(gcp):
        for key in given(each, "start", "end"):
            text = each.__dict__.get(key)
            try:
                moment(text or "2026-01-05T00:00:00Z")
            except (ValueError, OverflowError):
                yield Problem(f"{path}.{key}", f"{text} is not a time", "write one that exists")


def _piece(each: GcpExclusion) -> Piece:
    """Return beginning and end. Raise `Unreadable` without an end, or for a time that is none."""
    try:
        return moment(each.start), moment(each.end or "")
    except (ValueError, OverflowError):
        raise Unreadable("start") from None


def _lengths(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, each, (start, end) in of_each(_numbered(gcp), lambda one: (*one, _piece(one[1]))):
        if end <= start:
            remedy = put_right(each.start, each.end or "")
            yield Problem(f"{path}.end", f"{each.end} is not after `start`", remedy)
        elif each.scope == "NO_UPGRADES" and end - start > _LONG:
            until = _latest(gcp.maintenance, start) if gcp.maintenance else None
            earlier = f'write "{until:%Y-%m-%dT%H:%M:%SZ}"; or ' if until else ""
            yield Problem(
                f"{path}.end",
                f"is {(end - start).days} days after `start`; with the scope NO_UPGRADES GKE takes "
                "30 by older pages, 90 by later ones",
                f"{earlier}write `scope: NO_MINOR_UPGRADES`, which lets patches in",
                warning=end - start <= _LONGEST,
            )


def _latest(window: GcpMaintenance, start: datetime) -> datetime | None:
    """Return the latest end, in whole days, of an exclusion that leaves enough maintenance."""
    tries = (start + timedelta(days=days) for days in range(_LONG.days, 6, -1))
    return next((end for end in tries if not _is_short(window, (start, end), [(start, end)])), None)


def _availability(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    window = gcp.maintenance
    if window is None:
        return
    if isinstance(window.exclusions, Some):
        raise Unreadable("exclusions")
    closed = sorted(
        (start, end)
        for start, end in (
            _piece(each)
            for each in window.exclusions
            if each.scope == "NO_UPGRADES" and given(each, "end")
        )
        if start < end <= start + _LONGEST and 2000 < start.year < 9000
    )
    if _is_short(window, (ANCHOR, ANCHOR), []):
        weekly = len(window.opens) * window.open_for
        yield Problem(
            f"{_PATH}.durationHours",
            f"leaves {weekly.total_seconds() / 3600:.0f} hours a week: GKE wants 48 in any 32 days",
            "open it longer, or on more days: twice a week for 6 hours, or once for 12",
        )
        return
    for start, end in closed:
        if _is_short(window, (start, end), closed):
            yield Problem(
                f"{_PATH}.exclusions",
                f"leave less than 48 hours of maintenance in 32 days around {start:%Y-%m-%d}",
                "end it earlier, move it away from others, or widen the window",
            )
            return


def _is_short(window: GcpMaintenance, around: Piece, closed: list[Piece]) -> bool:
    """Return whether some 32 days that touch a time have less than 48 hours of maintenance."""
    pieces = list(_open(window, (around[0] - 2 * _SPAN, around[1] + 2 * _SPAN), closed))
    starts = chain((end for _, end in pieces), (start - _SPAN for start, _ in pieces))
    return any(
        _counted(pieces, (start, start + _SPAN)) < _LEAST
        for start in starts
        if around[0] - _SPAN <= start <= around[1]
    )


def _counted(pieces: list[Piece], span: Piece) -> timedelta:
    lengths = (min(end, span[1]) - max(start, span[0]) for start, end in pieces)
    return sum((length for length in lengths if length >= _SHORTEST), timedelta())


def _open(window: GcpMaintenance, span: Piece, closed: list[Piece]) -> Iterator[Piece]:
    """Yield the times between two moments at which the window is open and nothing excludes."""
    first = ANCHOR + (span[0] - ANCHOR) // _WEEK * _WEEK
    windows: list[Piece] = []
    for week in range((span[1] - first) // _WEEK + 1):
        for opens in window.opens:
            start = opens + (first - ANCHOR) + week * _WEEK
            if windows and windows[-1][1] >= start:
                start = windows.pop()[0]
            windows.append((start, opens + (first - ANCHOR) + week * _WEEK + window.open_for))
    for start, end in windows:
        for begins, ends in closed:
            if begins < end and ends > start:
                if begins > start:
                    yield start, begins
                start = ends
        if start < end:
            yield start, end


NEW_CLUSTER_RULES = (
    *(_window, _days, _number, _names, _ends, _behavior, _times, _lengths),
    _availability,
)
