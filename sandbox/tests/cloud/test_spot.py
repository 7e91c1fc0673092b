"""What the emulated clouds do with spot machines, as data."""

from __future__ import annotations

import pytest

from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.cluster import plugins

CLOUDS = pytest.mark.parametrize("cloud", plugins.NAMES)


def facts(cloud: str) -> SpotFacts:
    return plugins.plugin(cloud).spot


@CLOUDS
def test_pods_are_gone_before_the_machine_is(cloud: str) -> None:
    spot = facts(cloud)
    graces = spot.grace + (spot.critical_grace if spot.pods == "failed" else 0)
    assert 0 < spot.reaction + graces <= spot.notice


@CLOUDS
def test_a_refusal_has_the_code_the_machine_and_no_word_that_is_not_filled_in(cloud: str) -> None:
    spot = facts(cloud)
    for refusal in (spot.refused, spot.quota, spot.later):
        text = refusal.text("some-machine", "some-region", "some-zone")
        assert text.startswith(f"{refusal.code}: ")
        assert "{" not in text


@pytest.mark.parametrize(
    ("cloud", "word"), [("azure", "'westeurope'"), ("azure", "Standard_NC4as_T4_v3"), ("gcp", "westeurope-b")]
)
def test_a_refusal_says_what_is_short_and_where(cloud: str, word: str) -> None:
    assert word in facts(cloud).refused.text("Standard_NC4as_T4_v3", "westeurope", "westeurope-b")


def test_a_pool_that_extends_the_shutdown_gives_its_pods_longer() -> None:
    longer = facts("gcp").extended(120, None)
    assert (longer.notice, longer.grace, longer.critical_grace) == (120, 105, 15)
    longer = facts("gcp").extended(120, 40)
    assert (longer.grace, longer.critical_grace) == (80, 40)
    assert facts("gcp").extended(None, None) == facts("gcp")
