"""Fixed policies beside a stack's own settings: the same work on the same spot capacity, through the same autoscaler.

They are run in memory (`drill.in_memory`), the stack's own settings too: rows of one table have the same errors. "Saved"
always means against on demand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from drill.in_memory import back_to_spot
from drill.in_memory import run_in_memory as in_memory
from drill.in_memory.run_in_memory import Admit, admit_by_defaults
from drill.in_memory.stack import Stack
from drill.in_memory.uniform_progress import UniformProgress
from drill.judge.outcome import ALONE, OURS, Row, outcome
from drill.world import record
from drill.world.scenario import Scenario

ACCELERATOR = "kubeflow-spot.dev/accelerator"
SPOT_ALONE, GREEDY, UNIFORM = "spot alone", "greedy", "uniform progress"


def plain(scenario: Scenario) -> Scenario:
    """A scenario as it can be run in memory: a pipeline is the Job of its step, and what the guard should refuse is left out."""
    work = [
        each.model_copy(update={"kind": "Job"}) if each.kind == "Workflow" else each
        for each in scenario.work
        if not each.greedy
    ]
    return scenario.model_copy(update={"work": work})


@dataclass(frozen=True)
class Trial:
    """Some work on some spot capacity, drawn by a seed."""

    scenario: Scenario
    name: str
    seed: int
    steps: Sequence[record.Step] = ()

    def run(self, stack: Stack, policy: str = OURS) -> record.Record:
        """The record of a policy on a stack. Raises SandboxError for work that cannot be run in memory."""
        own = POLICIES[policy](stack)
        uniform = UniformProgress(own, self.scenario.slowdown) if policy == UNIFORM else None
        admit: Admit = uniform.admit if uniform else admit_by_defaults(own)
        return in_memory.run(
            own,
            self.scenario,
            name=self.name,
            seed=self.seed,
            steps=self.steps,
            admit=admit,
            follow=uniform.follow
            if uniform
            else back_to_spot.follow
            if own.back_to_spot
            else lambda drill: None,
        )


def compared(stack: Stack, trial: Trial, names: Sequence[str] = ()) -> Iterator[Row]:
    """The outcomes of policies, all by default, on the work that the first run of the stack's own settings draws."""
    own = trial.run(stack)
    same = replace(stack, basis=stack.basis.worked(own))
    for name in names or POLICIES:
        yield Row(name, outcome(own if name == OURS else trial.run(same, name)))


def on_demand_alone(stack: Stack) -> Stack:
    """The stack without spot, whose on-demand pools may have as many GPUs as both had."""
    return _without(stack, "spot", enlarged=True)


def spot_alone(stack: Stack) -> Stack:
    """The stack without its on-demand GPU pools where spot machines have the same GPUs."""
    return _without(stack, "on-demand", enlarged=False)


def greedy(stack: Stack) -> Stack:
    """The stack whose spot pools stand before on-demand pools with the same GPUs, whatever they cost."""
    groups = {group.pool: _accelerator(stack, group.pool) for group in stack.groups}
    spot = {pool.name for pool in stack.pools if pool.capacity == "spot"}
    first: dict[str, int] = {}
    for number, name in enumerate(stack.order):
        first.setdefault(groups[name] or name, number)
    return stack.with_order(
        sorted(stack.order, key=lambda name: (first[groups[name] or name], name not in spot))
    )


def uniform(stack: Stack) -> Stack:
    """The stack for "Uniform Progress": on-demand pools as large as for on demand alone, and spot as it is."""
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
    other = {
        _accelerator(stack, pool.name)
        for pool in stack.pools
        if pool.gpus and pool.capacity != capacity
    }
    gone = {
        pool.name: 0
        for pool in stack.pools
        if pool.gpus and pool.capacity == capacity and _accelerator(stack, pool.name) in other
    }
    return stack.with_most({**(_enlarged(stack) if enlarged else {}), **gone})


def _enlarged(stack: Stack) -> dict[str, int]:
    """The maxima of on-demand GPU pools that hold the work of spot pools with the same GPUs as well."""
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
