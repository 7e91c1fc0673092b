"""Two reports side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from drill.judge.verdict import counted, span
from drill.report.model import FORMAT, Comparison, Figure, Moved, PoolUse, Report, Turned


def compare_reports(
    before: Report, after: Report, names: tuple[str, str] = ("before", "after"), basis: str = ""
) -> Comparison:
    """Compare two reports: the figures that differ, each with a sentence, and the verdicts.

    `names` are the names of the settings, `basis` says what both drills have alike.
    """
    changed = _changed(before, after)
    with_ = f"With {changed[0]}" if len(changed) == 1 else "After the change"
    old = {figure.key: figure for figure in before.figures}
    both = [(old[figure.key], figure) for figure in after.figures if figure.key in old]
    # Equal texts are no difference: "from 6.7 to 6.7 hours".
    moved = [(was, now) for was, now in both if written(was) != written(now)]
    verdicts = {verdict.name: verdict.state for verdict in before.verdicts}
    known = [verdict for verdict in after.verdicts if verdict.name in verdicts]
    turned = [Turned(each.name, verdicts[each.name], each.state) for each in known]
    return Comparison(
        *(FORMAT, tuple(changed), tuple(_differences(before, after))),
        tuple(_moved(with_, was, now) for was, now in moved),
        tuple(each for each in turned if each.before != each.after),
        before,
        after,
        names,
        basis,
    )


def _changed(before: Report, after: Report) -> list[str]:
    changed = [
        f"`{key}: {after.settings.get(key, 'not set')}`"
        for key in sorted({*before.settings, *after.settings})
        if before.settings.get(key) != after.settings.get(key)
    ]
    old = {pool.name: pool for pool in before.pools}
    new = {pool.name: pool for pool in after.pools}
    changed += [f"pool `{name}` removed" for name in old if name not in new]
    changed += [f"a new pool `{name}`" for name in new if name not in old]
    both = [name for name in new if name in old]
    for name in both:
        changed += [f"{text} pool `{name}`" for text in _of_pool(old[name], new[name], both)]
    return changed


def _of_pool(before: PoolUse, after: PoolUse, both: Collection[str]) -> Iterator[str]:
    """Yield the differences of a pool; new and removed pools are not named in its chain."""
    if before.machine != after.machine:
        yield f"`{after.machine}` for"
    elif before.gpus != after.gpus:
        yield f"{counted(after.gpus, 'GPU')} on each node of"
    if before.capacity != after.capacity:
        yield f"{after.capacity} capacity for"
    bounds = (after.least, after.most)
    if None in bounds and (before.least, before.most) != bounds:
        yield "no autoscaling of"
    else:
        if before.least != after.least:
            yield f"at least {counted(after.least or 0, 'node')} of"
        if before.most != after.most:
            yield f"at most {counted(after.most or 0, 'node')} of"
    if sorted(before.zones) != sorted(after.zones):
        yield f"zones {', '.join(after.zones)} for" if any(after.zones) else "no zones for"
    chains = [[name for name in each.fallback if name in both] for each in (before, after)]
    if chains[0] != chains[1]:
        names = ", ".join(f"`{name}`" for name in after.fallback)
        yield f"fallback {names} of" if names else "no fallback of"


def _differences(before: Report, after: Report) -> list[str]:
    """Say what differs between two drills beside their settings."""
    pairs = (
        ("scenario", before.scenario, after.scenario),
        ("seed", before.seed, after.seed),
        ("stack", before.stack, after.stack),
        ("location", before.location, after.location),
        ("autoscaler", before.autoscaler, after.autoscaler),
        ("length", span(before.clock.length), span(after.clock.length)),
    )
    return [f"The {name} differs: {old}, then {new}." for name, old, new in pairs if old != new]


def _moved(with_: str, before: Figure, after: Figure) -> Moved:
    if before.value is None:
        sentence = f"{with_} the {after.name} is now {written(after)}."
    elif after.value is None:
        sentence = f"{with_} the {after.name} is no longer known; it was {written(before)}."
    else:
        verb = "falls" if after.value < before.value else "rises"
        verb = verb if after.name not in _PLURAL else verb[:-1]
        sentence = f"{with_} the {after.name} {verb} from {_pair(before, after)}."
    return Moved(after.key, after.name, after.unit, before.value, after.value, sentence)


_PLURAL = {
    "red verdicts",
    "pods that fell back",
    "pods evicted or drained",
    "spot machine-hours",
    "on-demand machine-hours",
    "machine-hours not moved back",
}


def _pair(before: Figure, after: Figure) -> str:
    """Write two values with one unit: `15.6 to 5.7 minutes`."""
    high = max(before.value or 0.0, after.value or 0.0)
    if before.unit != "seconds":
        return f"{written(before, unit=False)} to {written(after)}"
    # The units of `span`, which the table has.
    seconds = (99.5, 1.0, "seconds", 0)
    units = (seconds, (6000.0, 60.0, "minutes", 1), (172800.0, 3600.0, "hours", 1))
    fitting = [unit for unit in units if high < unit[0]]
    _, divisor, unit, digits = fitting[0] if fitting else (high, 86400.0, "days", 1)
    was, now = ((each.value or 0.0) / divisor for each in (before, after))
    return f"{was:,.{digits}f} to {now:,.{digits}f} {unit}"


def written(figure: Figure, *, unit: bool = True) -> str:
    """Write the value of a figure; a dash without one."""
    value = figure.value
    if value is None:
        return "-"
    if figure.unit == "seconds":
        return span(value)
    if figure.unit == "share":
        return f"{value:.1%}"
    if figure.unit == "USD":
        return f"{value:,.2f}" + (" USD" if unit else "")
    if figure.unit == "hours":
        return f"{value:,.1f}" + (" h" if unit else "")
    return f"{value:,.0f}"
