"""Panels of the picture: marks, stacked steps, strips of capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drill.judge.verdict import counted, moment, span
from drill.report.colours import Palette
from drill.report.model import Series, Timeline

WIDE, NARROW = 920, 360
"""Widths of a picture, in pixels."""
COLUMNS = {WIDE: 120, NARROW: 48}
"""The most columns that show their values on hover."""
LEFT, _RIGHT = 74, 16
_SHOWN = (
    "scale-up",
    "scale-down",
    "moved",
    "refused",
    "failed",
    "backoff",
    "evicted",
    "fault",
    "note",
)
_KINDS = {kind: kind.replace("backoff", "back-off") for kind in _SHOWN}
_ALARMS = ("evicted", "fault")
_SHAPES = {
    "scale-up": "triangle-up",
    "scale-down": "triangle-down",
    "evicted": "cross",
    "refused": "square",
    "fault": "diamond",
}
_MOST_RULES = 12

Spec = dict[str, Any]


@dataclass(frozen=True)
class Axes:
    """The ends of the axes; two compared timelines have the same."""

    length: float
    nodes: float
    pods: float


def unit(length: float) -> tuple[float, str]:
    """Return the unit of the time axis: its seconds and its symbol."""
    if length <= 3 * 3600:
        return 60.0, "min"
    return (3600.0, "h") if length <= 3 * 86400 else (86400.0, "d")


class Panels:
    """One picture: `Panels(timeline, light, WIDE, axes).marks()`."""

    def __init__(self, timeline: Timeline, colour: Palette, width: int, ends: Axes) -> None:
        self.timeline, self.colour, self.ends, self.wide = timeline, colour, ends, width == WIDE
        self.width = width - LEFT - _RIGHT
        self.columns = COLUMNS[width]
        self.seconds, self.unit = unit(ends.length)

    def x(self, *, title: bool = False) -> Spec:
        """Return the time axis."""
        return {
            "field": "at",
            "type": "quantitative",
            "scale": {"domain": [0, self.ends.length / self.seconds], "nice": False},
            "axis": {
                "title": "time since the begin" if title else None,
                "grid": True,
                "labelExpr": f"datum.label + ' {self.unit}'",
            },
        }

    def at(self, seconds: float) -> float:
        """Return a time on the axis."""
        return round(seconds / self.seconds, 4)

    def marks(self) -> Spec | None:
        """Return the events, a row for each kind; None without events."""
        kinds = [kind for kind in _KINDS if any(mark.kind == kind for mark in self.timeline.marks)]
        if not kinds:
            return None
        rows = [
            {
                "at": self.at(mark.at),
                "row": _KINDS[mark.kind],
                "kind": mark.kind,
                "words": f"{moment(mark.at)} {_KINDS[mark.kind]}: {mark.text}",
            }
            for mark in self.timeline.marks
            if mark.kind in _KINDS
        ]
        shapes = {"domain": kinds, "range": [_SHAPES.get(kind, "circle") for kind in kinds]}
        alarms = ["alarm" if kind in _ALARMS else "mark" for kind in kinds]
        colours = {"domain": kinds, "range": [self.colour(name) for name in alarms]}
        return {
            "title": "What happened",
            "width": self.width,
            "height": {"step": 17},
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 52, "opacity": 0.85},
            "encoding": {
                "x": self.x(),
                "y": {
                    "field": "row",
                    "type": "nominal",
                    "sort": [_KINDS[kind] for kind in kinds],
                    "axis": {"title": None, "grid": True},
                },
                "shape": {"field": "kind", "scale": shapes, "legend": None},
                "color": {"field": "kind", "scale": colours, "legend": None},
                "description": {"field": "words"},
            },
        }

    def stacked(self, title: str, of: str, series: tuple[Series, ...], top: float) -> Spec:
        """Return stacked series in steps; `of` is the unit of the axis."""
        times = [*self.timeline.times, self.timeline.length]
        rows = [
            {"at": self.at(at), "value": value, "name": each.name, "order": order}
            for order, each in enumerate(series)
            for at, value in zip(times, [*each.values, each.values[-1]], strict=True)
        ]
        names = [each.name for each in series]
        area = {
            "data": {"values": rows},
            "mark": {"type": "area", "interpolate": "step-after", "aria": False},
            "encoding": {
                "x": self.x(),
                "y": {
                    "field": "value",
                    "type": "quantitative",
                    "stack": "zero",
                    "scale": {"domain": [0, top * 1.05]},
                    # Above the numbers: a rotated title would take width from the picture.
                    "axis": {
                        "title": of,
                        "titleAngle": 0,
                        "titleAlign": "right",
                        "titleX": -6,
                        "titleY": -9,
                        "tickMinStep": 1,
                        "format": ",d",
                    },
                },
                "color": {
                    "field": "name",
                    "scale": {"domain": names, "range": self._bands(series)},
                    "sort": names,
                },
                "order": {"field": "order"},
            },
        }
        return {
            "title": title,
            "width": self.width,
            "height": 150 if self.wide else 120,
            "layer": [area, *self._rules(), self._hover(series)],
        }

    def _bands(self, series: tuple[Series, ...]) -> list[str]:
        seen: dict[str, int] = {}
        colours = []
        for each in series:
            seen[each.band] = seen.get(each.band, 0) + 1
            colours.append(self.colour(f"{each.band}-{seen[each.band]}"))
        return colours

    def _rules(self) -> list[Spec]:
        alarms = sorted({self.at(mark.at) for mark in self.timeline.marks if mark.kind in _ALARMS})
        if not alarms or len(alarms) > _MOST_RULES:
            return []
        mark = {
            "type": "rule",
            "strokeDash": [3, 3],
            "color": self.colour("alarm"),
            "opacity": 0.8,
            "aria": False,
        }
        return [
            {
                "data": {"values": [{"at": at} for at in alarms]},
                "mark": mark,
                "encoding": {"x": self.x()},
            }
        ]

    def _hover(self, series: tuple[Series, ...]) -> Spec:
        """Return invisible columns with the values of a step."""
        times = self.timeline.times
        stride = -(-len(times) // self.columns)
        rows = []
        for index in range(0, len(times), stride):
            end = times[index + stride] if index + stride < len(times) else self.timeline.length
            values = ", ".join(f"{each.name}: {each.values[index]:,g}" for each in series)
            words = f"{moment(times[index])}  {values}"
            rows.append({"at": self.at(times[index]), "end": self.at(end), "words": words})
        return {
            "data": {"values": rows},
            "mark": {"type": "rect", "opacity": 0, "color": self.colour("ink")},
            "encoding": {
                "x": self.x(),
                "x2": {"field": "end"},
                "y": {"value": 0},
                "y2": {"value": "height"},
                "description": {"field": "words"},
            },
        }

    def capacity(self) -> Spec | None:
        """Return the spot capacity, a strip for each machine and zone; None without capacity."""
        if not self.timeline.capacity:
            return None
        rows = self._capacity_rows()
        places = list(dict.fromkeys(row["place"] for row in rows))
        y = {"field": "place", "type": "nominal", "sort": places, "axis": None}
        kinds = ["no bound", "some", "none"]
        colours = [self.colour(name) for name in ("spot-1", "some", "none")]
        strips = {
            "mark": {
                "type": "rect",
                "height": 14,
                "stroke": self.colour("line"),
                "strokeWidth": 0.5,
            },
            "encoding": {
                "x": self.x(title=True),
                "x2": {"field": "end"},
                "y": y,
                # Farther off than other legends: the names of the places stand above their strips.
                "color": {
                    "field": "kind",
                    "scale": {"domain": kinds, "range": colours},
                    "sort": kinds,
                    "legend": {"offset": 12},
                },
                "description": {"field": "words"},
            },
        }
        numbers = {
            "transform": [{"calculate": "(datum.at + datum.end) / 2", "as": "middle"}],
            "mark": {"type": "text", "fontSize": 10, "baseline": "middle", "aria": False},
            "encoding": {
                "x": {**self.x(title=True), "field": "middle"},
                "y": y,
                "text": {"field": "shown"},
                "color": {
                    "condition": {
                        "test": "datum.kind == 'no bound'",
                        "value": self.colour("paper"),
                    },
                    "value": self.colour("ink"),
                },
            },
        }
        names = {
            "data": {"values": [{"place": place} for place in places]},
            "mark": {
                "type": "text",
                "align": "left",
                "dy": -15,
                "fontSize": 11,
                "aria": False,
                "color": self.colour("soft"),
            },
            "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "place"}},
        }
        return {
            "title": "Spot capacity there was (nodes)",
            "width": self.width,
            "height": {"step": 36},
            "data": {"values": rows},
            "layer": [strips, numbers, names],
        }

    def _capacity_rows(self) -> list[Spec]:
        rows = []
        for each in self.timeline.capacity:
            place, length = each.machine, each.end - each.begin
            if each.zone:
                place += f", {each.zone if 'zone' in each.zone else 'zone ' + each.zone}"
            wide = length / self.ends.length > (0.05 if self.wide else 0.12)
            kind, amount, shown = "some", counted(each.nodes or 0, "node"), f"{each.nodes}"
            if each.nodes is None:
                kind, amount, shown = "no bound", "no bound", "∞"
            elif not each.nodes:
                kind, amount = "none", "none"
            rows.append(
                {
                    "at": self.at(each.begin),
                    "end": self.at(each.end),
                    "place": place,
                    "kind": kind,
                    "shown": shown if wide else "",
                    "words": f"{place}: {amount}, from {moment(each.begin)} for {span(length)}",
                }
            )
        return rows
