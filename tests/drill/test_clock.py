"""The drill's clock."""

from __future__ import annotations

import time

import pytest

from drill.play.clock import Clock


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
