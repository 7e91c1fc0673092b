"""The drill's clock, and the times of the autoscaler's scans on it."""

from __future__ import annotations

import math
import time

import pytest

from drill.play.clock import Clock
from drill.play.scaling import Scans


def test_events_come_in_their_order_and_settle_once_a_moment() -> None:
    clock, seen = Clock(), list[tuple[float, str]]()

    def note(text: str) -> None:
        seen.append((clock.now, text))

    clock.at(20, lambda: note("late"))
    clock.at(10, lambda: note("first"))
    clock.at(10, lambda: note("second"))
    clock.at(10, lambda: clock.after(5, lambda: note("between")))
    clock.at(99, lambda: note("after the end"))
    clock.run(50, lambda: note("settled"))
    assert seen == [
        *((10, "first"), (10, "second"), (10, "settled")),
        *((15, "between"), (15, "settled"), (20, "late"), (20, "settled")),
    ]
    assert clock.now == 50


def test_what_an_event_does_at_its_own_time_is_of_the_same_moment() -> None:
    clock, seen = Clock(), list[str]()
    clock.at(1, lambda: clock.at(0.5, lambda: seen.append("past")))
    clock.run(2, lambda: seen.append("settled"))
    assert seen == ["past", "settled"]


@pytest.mark.parametrize(("factor", "least"), [(None, 0.0), (100.0, 0.2)])
def test_a_factor_holds_the_clock_back(factor: float | None, least: float) -> None:
    clock = Clock(factor)
    clock.at(10, lambda: None)
    began = time.monotonic()
    clock.run(20, lambda: None)
    assert time.monotonic() - began >= least


class Scanned:
    """Scans that take no time; `wakes` by the number of scans done."""

    def __init__(self, wakes: dict[int, float]) -> None:
        self.clock, self.times, self._wakes = Clock(), list[float](), wakes
        self.scans = Scans(self.clock, 10.0, self._scan)
        self.clock.at(0.0, self._scan)

    def _scan(self) -> None:
        self.times.append(self.clock.now)
        wakes = self._wakes.get(len(self.times), math.inf)
        at_once = wakes < self.clock.now + 1
        self.scans.done(wakes if at_once else self.clock.now + 10, wakes)

    def run(self) -> list[float]:
        self.clock.run(200.0, lambda: None)
        return self.times


def test_scans_without_effect_are_left_out_and_the_others_stay_on_the_grid() -> None:
    assert Scanned({1: 34.0}).run() == [0.0, 40.0]


def test_a_change_brings_the_next_scan_of_the_grid() -> None:
    scanned = Scanned({})
    scanned.clock.at(23.0, scanned.scans.changed)
    scanned.clock.at(24.0, scanned.scans.changed)
    assert scanned.run() == [0.0, 30.0]


def test_an_unschedulable_pod_brings_a_scan_at_once() -> None:
    scanned = Scanned({})
    scanned.clock.at(23.0, scanned.scans.now)
    assert scanned.run() == [0.0, 23.0]


def test_a_scan_after_a_scale_up_follows_at_once_and_moves_the_grid() -> None:
    assert Scanned({1: 0.5, 2: 21.0}).run() == [0.0, 0.5, 30.5]
