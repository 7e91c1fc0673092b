"""Two reports side by side."""

from __future__ import annotations

from sandbox.drill.checks.spans import span
from sandbox.drill.report.model import FORMAT, Comparison, Figure, Moved, Report, Turned


def compared(before: Report, after: Report) -> Comparison:
    """The figures and verdicts that differ, each figure with a sentence."""
    changed = _changed(before, after)
    with_ = f"With {changed[0]}" if len(changed) == 1 else "After the change"
    old = {figure.key: figure for figure in before.figures}
    moved = []
    for figure in after.figures:
        earlier = old.get(figure.key)
        if earlier is not None and earlier.value != figure.value:
            moved.append(_moved(with_, earlier, figure))
    verdicts = {verdict.name: verdict.ok for verdict in before.verdicts}
    turned = [
        Turned(verdict.name, verdicts[verdict.name], verdict.ok)
        for verdict in after.verdicts
        if verdict.name in verdicts and verdicts[verdict.name] != verdict.ok
    ]
    return Comparison(
        FORMAT, tuple(changed), tuple(_differences(before, after)), tuple(moved), tuple(turned), before, after
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
    for name in old.keys() & new.keys():
        if old[name].machine != new[name].machine:
            changed.append(f"`{new[name].machine}` for pool `{name}`")
        if old[name].most != new[name].most:
            changed.append(f"at most {new[name].most} nodes of pool `{name}`")
    return changed


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
            ("is now", written(after)) if before.value is None else ("is no longer known; it was", written(before))
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
    divisor, unit, digits = (
        (1.0, "seconds", 0) if high < 99.5 else (60.0, "minutes", 1) if high < 6000 else (3600.0, "hours", 1)
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
