"""The timeline as a picture: Vega-Lite, drawn by vl-convert without browser or network (ADR 7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drill.judge.verdict import printable, span
from drill.report.colours import Palette
from drill.report.model import Series, Timeline
from drill.report.panels import LEFT, NARROW, WIDE, Axes, Panels, Spec

__all__ = ["NARROW", "WIDE", "Axes", "axes", "png", "spec", "steps_sentence", "svg"]

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
"""Fonts with the widths of Liberation Sans, by which vl-convert measures texts."""


def axes(*timelines: Timeline) -> Axes:
    """Return axes for all of these timelines."""
    return Axes(
        max(each.length for each in timelines),
        max(1.0, *(_top(each.nodes) for each in timelines)),
        max(1.0, *(_top(each.pods) for each in timelines)),
    )


def _top(series: Iterable[Series]) -> float:
    return max(map(sum, zip(*(each.values for each in series), strict=True)), default=0.0)


def spec(
    timeline: Timeline,
    colour: Palette,
    width: int = WIDE,
    ends: Axes | None = None,
    title: str = "",
) -> Spec:
    """Return the specification of a timeline's picture."""
    chart = Panels(timeline, colour, width, ends or axes(timeline))
    panels = [
        chart.marks(),
        chart.stacked("Nodes by pool", "nodes", timeline.nodes, chart.ends.nodes),
        chart.stacked("Pods with GPUs", "pods", timeline.pods, chart.ends.pods),
        chart.capacity(),
    ]
    found: Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": None if colour("paper").startswith("var") else colour("paper"),
        "padding": 6,
        "vconcat": [panel for panel in panels if panel],
        "spacing": 18,
        "resolve": {
            "scale": {"color": "independent", "shape": "independent"},
            "legend": {"color": "independent"},
        },
        "config": _config(colour, wide=width == WIDE),
    }
    if title:
        found["title"] = {"text": title, "anchor": "start", "fontSize": 15, "offset": 12}
    return found


def _config(colour: Palette, *, wide: bool) -> Spec:
    ink, soft, line = colour("ink"), colour("soft"), colour("line")
    return {
        "font": _FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": soft,
            "titleColor": soft,
            "gridColor": line,
            "domain": False,
            "ticks": False,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelPadding": 6,
            "aria": False,
        },
        "axisY": {"minExtent": LEFT - 8, "maxExtent": LEFT - 8, "tickCount": 4},
        "axisX": {"tickCount": 8 if wide else 4, "labelFlush": False},
        "legend": {
            "labelColor": ink,
            "labelFontSize": 11,
            "title": None,
            "symbolType": "square",
            "symbolSize": 110,
            "symbolStrokeWidth": 0,
            "aria": False,
            "orient": "top",
            "direction": "horizontal",
            "columns": 6 if wide else 2,
            "labelLimit": 180 if wide else 110,
            "offset": 4,
            "columnPadding": 14,
        },
        "title": {
            "color": ink,
            "anchor": "start",
            "frame": "group",
            "fontSize": 13,
            "fontWeight": 600,
            "offset": 6,
        },
    }


def steps_sentence(timeline: Timeline) -> str:
    """Say that a timeline shows means instead of every change."""
    return f"Each step is the mean of {span(timeline.step)}; near marks of one kind are one."


def _printable(part: Any) -> Any:
    """Remove control characters from a specification: they end the process in vl-convert 1.9."""
    if isinstance(part, dict):
        return {_printable(key): _printable(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_printable(each) for each in part]
    return printable(part) if isinstance(part, str) else part


def svg(drawn: Spec) -> str:
    """Draw the picture as SVG."""
    import vl_convert  # Imported late: it has 90 MB, with its own JavaScript engine.

    return vl_convert.vegalite_to_svg(_printable(drawn), allowed_base_urls=[])


def png(drawn: Spec, scale: float = 2.0) -> bytes:
    """Draw the picture as PNG, with `scale` pixels for each pixel of the picture."""
    import vl_convert

    return vl_convert.vegalite_to_png(_printable(drawn), scale=scale, allowed_base_urls=[])
