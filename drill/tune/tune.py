"""The search of `sandbox drill --tune`: the cheapest settings within the accepted wait.

Weeks are drawn by seeds and run in memory; each setting has the same work on the same spot
capacity. Some seeds choose, and others judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean

from drill.in_memory.stack import Stack
from drill.judge.outcome import ALONE, OURS, Outcome, outcome_of
from drill.tune.policies import run_policy
from drill.world.basis import Trial
from sandbox.autoscaler.autoscaler_options import seconds

UNNEEDED = "scaleDownUnneededTime"
TIMES: Mapping[str, Sequence[str]] = {
    # A GPU machine boots for some paid minutes: a time below two scans gains nothing.
    UNNEEDED: ("1m", "2m", "3m", "5m", "10m"),
    "scaleDownDelayAfterAdd": ("1m", "2m", "5m", "10m"),
    # Not below a slow boot, or machines would always be given up: 4 to 11 minutes were seen on AKS.
    "maxNodeProvisionTime": ("10m", "12m", "15m"),
}
CONSOLIDATION = (1, 2, 3, 5, 10)
_WORTH = 0.005
"""The least share of the cost that a change must save on average."""


@dataclass(frozen=True)
class Setting:
    """The tuned settings that differ from the stack's: `Setting(most=(("t4od", 4),)).on(stack)`."""

    most: tuple[tuple[str, int], ...] = ()
    """The maxima of on-demand GPU pools."""
    order: tuple[str, ...] = ()
    times: tuple[tuple[str, str], ...] = ()
    consolidation: int | None = None
    """Minutes after which GKE removes unused nodes of a ComputeClass."""
    back_to_spot: bool | None = None
    """Whether pods that keep checkpoints move back to spot: only compared, as it needs an image."""

    def on(self, stack: Stack) -> Stack:
        """Return a stack with these settings."""
        changed = stack.with_most(dict(self.most)).with_profile(dict(self.times))
        if self.order:
            changed = changed.with_order(self.order)
        if self.consolidation:
            changed = changed.with_consolidation(self.consolidation)
        moves = changed.back_to_spot if self.back_to_spot is None else self.back_to_spot
        return replace(changed, back_to_spot=moves)


@dataclass(frozen=True)
class Judged:
    """The outcomes of a setting, one for each trial."""

    setting: Setting
    outcomes: tuple[Outcome, ...]

    @property
    def usd(self) -> float:
        """The mean cost of a trial in US dollars."""
        return mean(each.usd or 0.0 for each in self.outcomes)

    @property
    def longest_wait(self) -> float:
        """Seconds."""
        return max(each.longest_wait for each in self.outcomes)

    def beyond(self, accepted: float) -> float:
        """Return the seconds by which waits exceed the accepted one, and a minute for each
        unfinished piece of work."""
        beyond = sum(max(0.0, each.longest_wait - accepted) for each in self.outcomes)
        return beyond + 60.0 * sum(each.unfinished for each in self.outcomes)


@dataclass(frozen=True)
class Tuned:
    """The result: the stack as it is and as tuned, on the judging weeks."""

    chosen: Setting
    before: Judged
    after: Judged
    alone: Judged
    """On demand alone, by the timers as tuned."""
    moved: Judged
    """As tuned, with `scheduling.backToSpot` switched."""
    other: Judged | None
    """Another stack as it is, on the work of this one."""
    regret: float
    """US dollars a week by which the cheapest finalist within the accepted wait was cheaper."""
    tried: int


def tune(
    stack: Stack,
    choosing: Sequence[Trial],
    judging: Sequence[Trial],
    accepted: float,
    pool: Executor,
    notify: Callable[[str], None] = lambda text: None,
    other: Stack | None = None,
) -> Tuned:
    """Tune a stack on drawn weeks; `accepted` is the accepted wait in seconds.

    `other` is another stack, which is judged on the same weeks and work as it is.

    One axis is tuned after the other until none changes: the axes hardly affect each other, and a
    grid would need 10,000 weeks.
    """
    known: dict[Setting, Judged] = {}
    first = _with_work(stack, choosing, pool)

    def judged(settings: Iterable[Setting]) -> list[Judged]:
        wanted = [each for each in dict.fromkeys(settings) if each not in known]
        known.update(zip(wanted, _judge(wanted, first, pool), strict=True))
        return [known[each] for each in settings]

    best = judged([Setting()])[0]
    changed = True
    while changed:
        changed = False
        for axis, others in axes(stack, best.setting):
            options = judged(others)
            better = min(options, key=lambda each: (each.beyond(accepted), each.usd), default=best)
            if _preferred(better, best, accepted):
                best, changed = better, True
                minutes = best.longest_wait / 60
                notify(f"{axis}: {best.usd:,.2f} USD a week, longest wait {minutes:.1f} min")
    last = _with_work(stack, judging, pool)
    within = sorted(known.values(), key=lambda each: (each.beyond(accepted), each.usd))[:8]
    switched = replace(best.setting, back_to_spot=not stack.back_to_spot)
    moved, before, after, *rest = _judge(
        [switched, Setting(), best.setting, *(each.setting for each in within)], last, pool
    )
    finalists = [before, after, *rest]
    allowed = [each.usd for each in finalists if each.beyond(accepted) <= after.beyond(accepted)]
    alone = _judge([best.setting], last, pool, ALONE)[0]
    beside = None
    if other:
        same = [(replace(other, basis=worked.basis), trial) for worked, trial in last]
        notify("the other stack, on the weeks that judge")
        (beside,) = _judge([Setting()], same, pool)
    regret = after.usd - min(allowed)
    return Tuned(best.setting, before, after, alone, moved, beside, regret, len(known))


def _preferred(new: Judged, old: Judged, accepted: float) -> bool:
    """Return whether a setting is worth a change: less beyond the accepted wait, or cheaper."""
    over, was = new.beyond(accepted), old.beyond(accepted)
    return over < was or (over == was and new.usd < (1 - _WORTH) * old.usd)


def axes(stack: Stack, now: Setting) -> Iterator[tuple[str, list[Setting]]]:
    """Yield the settings that differ from `now` in one thing, by its name."""
    current = now.on(stack)
    twins = [pool for pool in current.pools if pool.gpus and pool.capacity == "on-demand"]
    most = {pool.name: pool.most or 0 for pool in twins}
    spot = [pool.most or 0 for pool in stack.pools if pool.gpus and pool.capacity == "spot"]
    top = max(8, sum(spot))
    for pool in twins:
        if pool.most is not None:
            sizes = sorted({1, 2, 3, 4, 6, 8, 12, 16, top} - {pool.most})
            changed = [{**most, pool.name: size} for size in sizes if size <= top]
            settings = [replace(now, most=tuple(sorted(each.items()))) for each in changed]
            yield f"{pool.name}.maxNodes", settings
    if stack.provider == "azure":
        for key, values in TIMES.items():
            before = seconds(current.profile.get(key, "0s"))
            times = [{**dict(now.times), key: each} for each in values if seconds(each) != before]
            yield key, [replace(now, times=tuple(sorted(each.items()))) for each in times]
    if stack.classes:
        others = [minutes for minutes in CONSOLIDATION if minutes != current.consolidation]
        yield "consolidationDelayMinutes", [replace(now, consolidation=each) for each in others]
    yield "order", [replace(now, order=order) for order in _orders(current)]


def _orders(stack: Stack) -> Iterator[tuple[str, ...]]:
    """Yield the order with each spot pool moved by one place."""
    order, pools = list(stack.order), [pool for pool in stack.pools if pool.gpus]
    with_gpus = {pool.name for pool in pools}
    for name in [pool.name for pool in pools if pool.capacity == "spot"]:
        for step in (-1, 1):
            place, other = order.index(name), order.index(name) + step
            if 0 <= other < len(order) and order[other] in with_gpus:
                moved = list(order)
                moved[place], moved[other] = moved[other], moved[place]
                yield tuple(moved)


Worked = Sequence[tuple[Stack, Trial]]


def _with_work(stack: Stack, trials: Sequence[Trial], pool: Executor) -> Worked:
    """Return the stack with the work of each trial, as its own settings draw it."""
    return list(zip(pool.map(partial(_worked, stack), trials), trials, strict=True))


def _worked(stack: Stack, trial: Trial) -> Stack:
    return replace(stack, basis=stack.basis.worked(run_policy(stack, trial)))


def _judge(
    settings: Sequence[Setting], worked: Worked, pool: Executor, policy: str = OURS
) -> list[Judged]:
    jobs = [(setting, stack, trial, policy) for setting in settings for stack, trial in worked]
    outcomes = list(pool.map(_outcome, jobs))
    number = len(worked)
    return [
        Judged(setting, tuple(outcomes[place * number : (place + 1) * number]))
        for place, setting in enumerate(settings)
    ]


def _outcome(job: tuple[Setting, Stack, Trial, str]) -> Outcome:
    setting, stack, trial, policy = job
    return outcome_of(run_policy(setting.on(stack), trial, policy))
