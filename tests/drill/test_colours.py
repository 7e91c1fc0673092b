"""Colours of a drill's charts."""

from __future__ import annotations

import pytest

from drill.report.colours import DARK, LIGHT


def lightness(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    high, low = sorted((lightness(first), lightness(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_main_colours_are_okabe_and_itos() -> None:
    """jfly.uni-koeln.de/color: blue, sky blue, orange, reddish purple."""
    assert [LIGHT[name] for name in ("spot-1", "spot-2", "on-demand-1", "waiting-1")] == [
        *("#0072b2", "#56b4e9", "#e69f00", "#cc79a7")
    ]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_are_read_and_spot_is_told_from_on_demand_without_hues(palette: dict[str, str]) -> None:
    assert palette.keys() == LIGHT.keys()
    assert contrast(palette["ink"], palette["paper"]) >= 7
    assert contrast(palette["soft"], palette["paper"]) >= 4.5
    assert contrast(palette["spot-1"], palette["on-demand-1"]) >= 1.5
