"""The rate at which one cluster or pool accepts PUTs; seconds pass only during a wait."""

from __future__ import annotations

import pytest

from sandbox.azure.azure_operations import Throttle

from .conftest import POOL, REGULAR, SPOT, Account, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def throttle(clock: Clock) -> Throttle:
    return Throttle(lambda: clock.now, clock.wait)


def test_twenty_are_free_and_then_one_a_minute(throttle: Throttle, clock: Clock) -> None:
    for _ in range(20):
        throttle.admit("/a")
    assert clock.waits == []
    throttle.admit("/a")
    clock.now += 15
    throttle.admit("/a")
    assert clock.waits == [60, 45]


def test_bucket_fills_again_and_never_over(throttle: Throttle, clock: Clock) -> None:
    for _ in range(20):
        throttle.admit("/a")
    clock.now += 24 * 3600
    for _ in range(20):
        throttle.admit("/a")
    assert clock.waits == []
    throttle.admit("/a")
    assert clock.waits == [60]


def test_objects_have_buckets_of_their_own(throttle: Throttle, clock: Clock) -> None:
    for _ in range(20):
        throttle.admit("/a")
        throttle.admit("/B")
    assert clock.waits == []
    throttle.admit("/b")
    assert clock.waits == [60]


def test_requests_that_are_refused_count_and_other_objects_do_not(ready: Account) -> None:
    pool = ready.create(POOL, REGULAR)
    for _ in range(18):
        pool = ready.update(pool, REGULAR)
    with pytest.raises(Exception, match="PropertyChangeNotAllowed"):
        ready.update(pool, {**REGULAR, "maxPods": 30})
    ready.create(POOL, SPOT)
    assert ready.clock.waits == []
    ready.update(pool, REGULAR)
    assert ready.clock.waits == [60]
