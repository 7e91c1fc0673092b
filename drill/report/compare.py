"""Two reports side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from drill.judge.spans import span
from drill.report.model import FORMAT, Comparison, Figure, Moved, PoolUse, Report, Turned


def compared(
    before: Report, after: Report, names: tuple[str, str] = ("before", "after"), basis: str = ""
) -> Comparison:
    """The figures and verdicts that differ, each figure with a sentence.

    `names` are those of the two settings, `basis` a sentence about what both drills have alike.
    """
    changed = _changed(before, after)
    with_ = f"With {changed[0]}" if len(changed) == 1 else "After the change"
    old = {figure.key: figure for figure in before.figures}
    moved = []
    for figure in after.figures:
        earlier = old.get(figure.key)
        # What reads alike is no difference: "from 6.7 to 6.7 hours".
        if (
            earlier is not None
            and earlier.value != figure.value
            and written(earlier) != written(figure)
        ):
            moved.append(_moved(with_, earlier, figure))
    verdicts = {verdict.name: verdict.state for verdict in before.verdicts}
    turned = [
        Turned(verdict.name, verdicts[verdict.name], verdict.state)
        for verdict in after.verdicts
        if verdict.name in verdicts and verdicts[verdict.name] != verdict.state
    ]
    return Comparison(
        FORMAT,
        tuple(changed),
        tuple(_differences(before, after)),
        tuple(moved),
        tuple(turned),
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
    return changed + [
        f"{text} pool `{name}`" for name in both for text in _of_pool(old[name], new[name], both)
    ]


def _of_pool(before: PoolUse, after: PoolUse, both: Collection[str]) -> Iterator[str]:
    """What differs of a pool; pools that only one side has are named for themselves, and not once more in each chain."""
    if before.machine != after.machine:
        yield f"`{after.machine}` for"
    elif before.gpus != after.gpus:
        yield f"{_number(after.gpus, 'GPU')} on each node of"
    if before.capacity != after.capacity:
        yield f"{after.capacity} capacity for"
    if None in (after.least, after.most) and (before.least, before.most) != (
        after.least,
        after.most,
    ):
        yield "no autoscaling of"
    else:
        if before.least != after.least:
            yield f"at least {_number(after.least or 0, 'node')} of"
        if before.most != after.most:
            yield f"at most {_number(after.most or 0, 'node')} of"
    if sorted(before.zones) != sorted(after.zones):
        yield f"zones {', '.join(after.zones)} for" if any(after.zones) else "no zones for"
    if [name for name in before.fallback if name in both] != [
        name for name in after.fallback if name in both
    ]:
        yield (
            f"fallback {', '.join(f'`{name}`' for name in after.fallback)} of"
            if after.fallback
            else "no fallback of"
        )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _differences(before: Report, after: Report) -> list[str]:
    """Sentences about what makes the two drills different beside their settings."""
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
    if before.value is None or after.value is None:
        verb, shown = (
            ("is now", written(after))
            if before.value is None
            else ("is no longer known; it was", written(before))
        )
        sentence = f"{with_} the {after.name} {verb} {shown}."
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
    """`15.6 to 5.7 minutes`: two values in one unit, the unit once."""
    high = max(before.value or 0.0, after.value or 0.0)
    if before.unit != "seconds":
        return f"{written(before, unit=False)} to {written(after)}"
    # The units of `span`, which the table has.
    units = (
        (99.5, 1.0, "seconds", 0),
        (6000.0, 60.0, "minutes", 1),
        (172800.0, 3600.0, "hours", 1),
    )
    divisor, unit, digits = next(
        ((divisor, unit, digits) for below, divisor, unit, digits in units if high < below),
        (86400.0, "days", 1),
    )
    return f"{(before.value or 0.0) / divisor:,.{digits}f} to {(after.value or 0.0) / divisor:,.{digits}f} {unit}"


def written(figure: Figure, *, unit: bool = True) -> str:
    """The value of a figure as people read it; a dash without one."""
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
