"""The training example under a notice: nothing is lost where a save fits into it, else at most one interval.

Real processes, real signals. `python -m bench.checkpoints notice` measures more times.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.checkpoints import EVERY, INTERVALS, Lost, goodput, lost, spells

pytestmark = pytest.mark.process

CASES = {"fits": (0.1, 10.0), "slow and fits": (2.0, 10.0), "too slow": (4.0, 1.0)}
"""Seconds of a save, and from SIGTERM to SIGKILL."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lost]:
    folder: Path = tmp_path_factory.mktemp("training")
    with ThreadPoolExecutor(len(CASES)) as pool:
        found = pool.map(lambda name: lost(folder / name.replace(" ", "-"), *CASES[name]), CASES)
    return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize("name", ["fits", "slow and fits"])
def test_a_save_that_fits_into_the_notice_loses_no_step(ended: dict[str, Lost], name: str) -> None:
    assert ended[name].steps == 0
    assert ended[name].done % EVERY
    assert ended[name].status == 143


def test_a_save_that_does_not_fit_loses_at_most_one_interval(ended: dict[str, Lost]) -> None:
    assert ended["too slow"].status == -9
    assert 0 < ended["too slow"].steps <= EVERY
    assert ended["too slow"].saved == EVERY


def test_the_best_interval_is_short_where_machines_go_often_and_long_where_the_notice_saves() -> None:
    def best(losses: tuple[float, float], save: float, *, fits: bool) -> int:
        lengths = spells(*losses)
        return max(INTERVALS, key=lambda each: goodput(lengths, 60.0 * each, save, saved_on_notice=fits))

    seldom, often = (1.5, 4.0), (8.0, 21.0)
    assert best(often, 30.0, fits=False) < best(seldom, 30.0, fits=False)
    assert best(seldom, 5.0, fits=False) < best(seldom, 120.0, fits=False)
    assert best(often, 30.0, fits=True) == max(INTERVALS)
    # Two hours of which the last save is lost: 3 restarts of 300 s, and whole cycles of 600 s and 30 s.
    assert goodput([7200.0], 600.0, 30.0, saved_on_notice=False) == pytest.approx(10 * 600 / 7200)
    assert goodput([7200.0], 600.0, 30.0, saved_on_notice=True) == pytest.approx((10 * 600 + 570) / 7200)
