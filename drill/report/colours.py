"""Colours of the charts, for any kind of colour vision.

Blue is spot, orange on demand, purple not yet running: hues of Okabe and Ito's palette
(jfly.uni-koeln.de/color), which also differ in lightness.
"""

from __future__ import annotations

from collections.abc import Callable

LIGHT = {
    "ink": "#1d2530",
    "soft": "#5b6673",
    "line": "#dfe3e8",
    "paper": "#ffffff",
    "spot-1": "#0072b2",
    "spot-2": "#56b4e9",
    "spot-3": "#a6d5f2",
    "on-demand-1": "#e69f00",
    "on-demand-2": "#b86e00",
    "on-demand-3": "#f5d08a",
    "booting-1": "#e3bdd2",
    "waiting-1": "#cc79a7",
    "other-1": "#b9c0c8",
    "none": "#eceff2",
    "some": "#a6d5f2",
    "mark": "#1d2530",
    "alarm": "#c8470a",
}
DARK = {
    "ink": "#e6e9ee",
    "soft": "#9aa5b1",
    "line": "#333b46",
    "paper": "#14181e",
    "spot-1": "#3d9bd8",
    "spot-2": "#7cc6f2",
    "spot-3": "#1f6296",
    "on-demand-1": "#eeb02e",
    "on-demand-2": "#c2801a",
    "on-demand-3": "#f7d898",
    "booting-1": "#7d4f6a",
    "waiting-1": "#d88cb6",
    "other-1": "#59636f",
    "none": "#232a33",
    "some": "#24608f",
    "mark": "#e6e9ee",
    "alarm": "#ff8a4c",
}

Palette = Callable[[str], str]
"""Gives the colour of a name in SVG's notation."""


def light(name: str) -> str:
    """Return a colour for a light background."""
    return LIGHT[name]


def variable(name: str) -> str:
    """Return a colour that the page sets: light, dark or print."""
    assert name in LIGHT
    return f"var(--{name})"
