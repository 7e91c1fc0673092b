"""Fixed policies beside a stack's own settings, on the same work and the same spot capacity.

All run in memory (`drill.in_memory`), the stack's own settings too, so that the rows of a table
have the same errors. "Saved" always means against on demand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from drill.in_memory.moves import UniformProgress, follow_back_to_spot
from drill.in_memory.run_in_memory import run_in_memory
from drill.in_memory.stack import Stack
from drill.judge.outcome import ALONE, OURS, Row, outcome_of
from drill.world import record
from drill.world.basis import Trial
from drill.world.scenario import Scenario

ACCELERATOR = "kubeflow-spot.dev/accelerator"
SPOT_ALONE, GREEDY, UNIFORM = "spot alone", "greedy", "uniform progress"


def without_real_programs(scenario: Scenario) -> Scenario:
    """Return a scenario for memory: pipelines are Jobs, and work for the guard and edits of objects
    are left out.
    """
    work = [
        each.model_copy(update={"kind": "Job"}) if each.kind == "Workflow" else each
        for each in scenario.work
        if not each.greedy
    ]
    faults = [each for each in scenario.faults if not (each.apply or each.delete)]
    return scenario.model_copy(update={"work": work, "faults": faults})


def run_policy(stack: Stack, trial: Trial, policy: str = OURS) -> record.Record:
    """Run a policy on a stack. Raises SandboxError for work that cannot be run in memory.

    A fixed policy has no Karpenter, whose NodePools the stack declares.
    """
    own = POLICIES[policy](stack)
    if policy != OURS:
        own = replace(own, engine=None)
    if policy == UNIFORM:
        uniform = UniformProgress(own, trial.scenario.slowdown)
        return run_in_memory(own, trial, uniform.admit, uniform.follow)
    return run_in_memory(own, trial, follow=follow_back_to_spot if own.back_to_spot else None)


def compare_policies(stack: Stack, trial: Trial, names: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the outcomes of policies on the work that the stack's settings draw."""
    own = run_policy(stack, trial)
    same = replace(stack, basis=stack.basis.worked(own))
    for name in names or POLICIES:
        yield Row(name, outcome_of(own if name == OURS else run_policy(same, trial, name)))


def on_demand_alone(stack: Stack) -> Stack:
    """Return the stack without spot; its on-demand pools may have the GPUs of both."""
    return _without(stack, "spot", enlarged=True)


def spot_alone(stack: Stack) -> Stack:
    """Return the stack without the on-demand GPU pools that have a spot pool of the same GPUs."""
    return _without(stack, "on-demand", enlarged=False)


def greedy(stack: Stack) -> Stack:
    """Return the stack whose spot pools grow before on-demand pools of the same GPUs."""
    groups = {group.pool: _accelerator(stack, group.pool) for group in stack.groups}
    spot = {pool.name for pool in stack.pools if pool.capacity == "spot"}
    first: dict[str, int] = {}
    for number, name in enumerate(stack.order):
        first.setdefault(groups[name] or name, number)
    return stack.with_order(
        sorted(stack.order, key=lambda name: (first[groups[name] or name], name not in spot))
    )


def uniform(stack: Stack) -> Stack:
    """Return the stack for "Uniform Progress": its on-demand pools hold all work."""
    return stack.with_most(_enlarged(stack))


POLICIES: dict[str, Callable[[Stack], Stack]] = {
    OURS: lambda stack: stack,
    ALONE: on_demand_alone,
    SPOT_ALONE: spot_alone,
    GREEDY: greedy,
    UNIFORM: uniform,
}


def _accelerator(stack: Stack, pool: str) -> str:
    group = next(group for group in stack.groups if group.pool == pool)
    return str(group.template["metadata"]["labels"].get(ACCELERATOR, ""))


def _without(stack: Stack, capacity: record.Capacity, *, enlarged: bool) -> Stack:
    pools = [(pool, _accelerator(stack, pool.name)) for pool in stack.pools if pool.gpus]
    others = {gpu for pool, gpu in pools if pool.capacity != capacity}
    gone = {pool.name: 0 for pool, gpu in pools if pool.capacity == capacity and gpu in others}
    return stack.with_most({**(_enlarged(stack) if enlarged else {}), **gone})


def _enlarged(stack: Stack) -> dict[str, int]:
    """Return maxima with which on-demand GPU pools hold the work of their spot pools too."""
    most = {}
    for pool in stack.pools:
        if pool.gpus and pool.capacity == "on-demand" and pool.most is not None:
            alike = [each for each in stack.pools if each.capacity == "spot" and each.gpus]
            gpus = sum(
                (each.most or 0) * each.gpus
                for each in alike
                if _accelerator(stack, each.name) == _accelerator(stack, pool.name)
            )
            most[pool.name] = pool.most + -(-gpus // pool.gpus)
    return most
