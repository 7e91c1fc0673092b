"""`sandbox drill --tune`: the settings of a stack's chains that cost least while no pod waits longer than is accepted.

Weeks are drawn by seeds, run in memory, and each setting has the same work on the same spot capacity. Some seeds choose, others
judge: what was tuned on cannot praise itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean

from drill.in_memory.stack import Stack
from drill.judge.outcome import ALONE, Outcome, outcome
from drill.tune.policies import Trial
from sandbox.autoscaler.autoscaler_options import seconds

UNNEEDED, AFTER_ADD, PROVISION = (
    "scaleDownUnneededTime",
    "scaleDownDelayAfterAdd",
    "maxNodeProvisionTime",
)
TIMES: Mapping[str, Sequence[str]] = {
    # A GPU machine boots for some minutes, which are paid as well: a shorter time than two scans buys nothing.
    UNNEEDED: ("1m", "2m", "3m", "5m", "10m"),
    AFTER_ADD: ("1m", "2m", "5m", "10m"),
    # Not shorter than a slow boot: machines with GPUs were seen to take 4 to 11 minutes on AKS. They would be given up for ever.
    PROVISION: ("10m", "12m", "15m"),
}
CONSOLIDATION = (1, 2, 3, 5, 10)
_WORTH = 0.005
"""The share of the cost that a change must save on average to be made: less is the draw."""


@dataclass(frozen=True)
class Setting:
    """What is tuned, where it differs from the stack's own."""

    most: tuple[tuple[str, int], ...] = ()
    """The maxima of on-demand GPU pools."""
    order: tuple[str, ...] = ()
    times: tuple[tuple[str, str], ...] = ()
    consolidation: int | None = None
    """Minutes after which GKE removes unused nodes of a ComputeClass."""
    back_to_spot: bool | None = None
    """Whether pods that keep checkpoints move back to spot: compared, and not chosen, since it needs an image and labels."""

    def on(self, stack: Stack) -> Stack:
        """A stack with these settings."""
        changed = stack.with_most(dict(self.most)).with_profile(dict(self.times))
        changed = changed.with_order(self.order) if self.order else changed
        changed = changed.with_consolidation(self.consolidation) if self.consolidation else changed
        return (
            changed
            if self.back_to_spot is None
            else replace(changed, back_to_spot=self.back_to_spot)
        )


@dataclass(frozen=True)
class Judged:
    """A setting's outcomes, one for each trial."""

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
        """Seconds by which waits exceed the accepted one, together; unfinished work counts as well."""
        return sum(
            max(0.0, each.longest_wait - accepted) + 60.0 * each.unfinished
            for each in self.outcomes
        )


@dataclass(frozen=True)
class Tuned:
    """The result: the stack as it is and as tuned, on seeds that chose nothing."""

    chosen: Setting
    before: Judged
    after: Judged
    alone: Judged
    """On demand alone, by the timers as tuned."""
    moved: Judged
    """As tuned, with `scheduling.backToSpot` for all pods that keep checkpoints, or without it where the stack has it."""
    regret: float
    """US dollars by which the cheapest finalist within the accepted wait was cheaper on the judging weeks, on average."""
    tried: int


def tune(
    stack: Stack,
    choosing: Sequence[Trial],
    judging: Sequence[Trial],
    accepted: float,
    pool: Executor,
    notify: Callable[[str], None] = lambda text: None,
) -> Tuned:
    """Tune a stack. `choosing` and `judging` are drawn weeks, `accepted` the accepted wait in seconds.

    One axis after the other, until none changes any more: the axes hardly act on each other, and a grid would be 10,000 weeks.
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
                notify(
                    f"{axis}: {best.usd:,.2f} USD a week, longest wait {best.longest_wait / 60:.1f} min"
                )
    last = _with_work(stack, judging, pool)
    within = sorted(known.values(), key=lambda each: (each.beyond(accepted), each.usd))[:8]
    other = replace(best.setting, back_to_spot=not stack.back_to_spot)
    moved, before, after, *rest = _judge(
        [other, Setting(), best.setting, *(each.setting for each in within)], last, pool
    )
    finalists = [before, after, *rest]
    allowed = [each.usd for each in finalists if each.beyond(accepted) <= after.beyond(accepted)]
    alone = _judge([best.setting], last, pool, ALONE)[0]
    return Tuned(best.setting, before, after, alone, moved, after.usd - min(allowed), len(known))


def _preferred(new: Judged, old: Judged, accepted: float) -> bool:
    """Whether a setting is worth a change: less beyond the accepted wait, or as little and clearly cheaper."""
    over, was = new.beyond(accepted), old.beyond(accepted)
    return over < was or (over == was and new.usd < (1 - _WORTH) * old.usd)


def axes(stack: Stack, now: Setting) -> Iterator[tuple[str, list[Setting]]]:
    """The settings that differ from `now` in one thing, by its name."""
    current = now.on(stack)
    spot = {pool.name for pool in stack.pools if pool.capacity == "spot" and pool.gpus}
    for pool in current.pools:
        if pool.gpus and pool.capacity == "on-demand" and pool.most is not None:
            most = {
                each.name: each.most or 0
                for each in current.pools
                if each.gpus and each.name not in spot
            }
            top = max(8, sum(each.most or 0 for each in stack.pools if each.name in spot))
            sizes = sorted({1, 2, 3, 4, 6, 8, 12, 16, top} - {pool.most})
            yield (
                f"{pool.name}.maxNodes",
                [
                    replace(now, most=tuple(sorted({**most, pool.name: size}.items())))
                    for size in sizes
                    if size <= top
                ],
            )
    if stack.provider == "azure":
        for key, values in TIMES.items():
            own = dict(now.times)
            yield (
                key,
                [
                    replace(now, times=tuple(sorted({**own, key: value}.items())))
                    for value in values
                    if seconds(value) != seconds(current.profile.get(key, "0s"))
                ],
            )
    if stack.classes:
        others = [minutes for minutes in CONSOLIDATION if minutes != current.consolidation]
        yield (
            "consolidationDelayMinutes",
            [replace(now, consolidation=minutes) for minutes in others],
        )
    yield "order", [replace(now, order=order) for order in _orders(current)]


def _orders(stack: Stack) -> Iterator[tuple[str, ...]]:
    """The order with each spot pool moved by one place."""
    order = list(stack.order)
    for name in [pool.name for pool in stack.pools if pool.capacity == "spot" and pool.gpus]:
        for step in (-1, 1):
            place, other = order.index(name), order.index(name) + step
            if 0 <= other < len(order) and _has_gpus(stack, order[other]):
                moved = list(order)
                moved[place], moved[other] = moved[other], moved[place]
                yield tuple(moved)


def _has_gpus(stack: Stack, name: str) -> bool:
    return any(pool.name == name and pool.gpus for pool in stack.pools)


Worked = Sequence[tuple[Stack, Trial]]


def _with_work(stack: Stack, trials: Sequence[Trial], pool: Executor) -> Worked:
    """The stack with the work of each trial, as its own settings draw it."""
    return list(zip(pool.map(partial(_worked, stack), trials), trials, strict=True))


def _worked(stack: Stack, trial: Trial) -> Stack:
    return replace(stack, basis=stack.basis.worked(trial.run(stack)))


def _judge(
    settings: Sequence[Setting], worked: Worked, pool: Executor, policy: str = ""
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
    own = setting.on(stack)
    return outcome(trial.run(own, policy) if policy else trial.run(own))
