"""Pictures of the docs: panels beside each other under a title that says what they show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drill.report import charts
from sandbox.base.home import PROJECT

COLOURS = ("#0b6e4f", "#3a7ca5", "#c77d0a", "#b3261e")
PANEL = {"labelFontSize": 12, "labelFontWeight": 600}
"""The header of a panel."""


def write(name: str, title: str, words: Sequence[str], picture: dict[str, Any]) -> Path:
    """Write a Vega-Lite picture below docs/, with a title and a few lines of words about it."""
    path = PROJECT / "docs" / name
    whole = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "#ffffff",
        "padding": 14,
        "title": {
            "text": title,
            "subtitle": list(words),
            "anchor": "start",
            "fontSize": 17,
            "subtitleFontSize": 12,
            "subtitleColor": "#555",
            "offset": 12,
        },
        "config": {
            "view": {"stroke": "#ddd"},
            "axis": {"gridColor": "#eee", "titleFontWeight": "normal", "titleColor": "#333"},
            "legend": {"titleFontWeight": "normal", "symbolOpacity": 1},
            "font": "sans-serif",
        },
        **picture,
    }
    path.write_text(charts.svg(whole))
    return path
