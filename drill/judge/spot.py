"""Whether a spot pool could grow at a moment."""

from __future__ import annotations

from drill.judge.view import View
from drill.world.record import Pool

UNHEALTHY = "unhealthy"


def can_grow(view: View, pool: Pool, at: float) -> bool:
    """Whether the autoscaler could get a spot node at a moment: the cloud has one, and no fault is held against the pool."""
    return view.room(pool, at) > 0 and at_hand(view, pool, at) == ""


def at_hand(view: View, pool: Pool, at: float) -> str:
    """The reason why the autoscaler passes a spot pool over at a moment; empty if it has none."""
    scan = view.setting("scanInterval") or 10.0
    if view.full(pool, at):
        return "at its maximum"
    if view.backed_off_until(pool.name, at) is not None:
        return "backed off"
    if view.refused(pool.name, at, 2 * scan):
        return "refused"
    if view.unready(pool.name, at) > (view.setting("okTotalUnreadyCount") or 3):
        return UNHEALTHY
    return ""
