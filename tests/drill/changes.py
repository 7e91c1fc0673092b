"""Changes of a good record, each of which turns verdicts red."""

from dataclasses import replace
from types import SimpleNamespace

from drill.judge.outcome import Saved
from drill.judge.verdicts import Best, Verdict, verdicts
from drill.world.record import Pod, Record, Work
from tests.drill import records

LOST, TWICE, PLATFORM = "Work lost for good", "Work done twice", "Platform off spot and GPU nodes"
SHARE, WAIT, FALLBACK = "On spot while there was spot", "Longest wait for a node", "Time to fall back"
EARLY, BACK, MOVES = "None on demand before its turn", "New pods go back to spot", "Moves of running pods"
REPEATED, COMPLETE, COST, FULL = "Work done again", "Work completes", "Cost of GPU nodes", "Pools at their maximum"
SLOW = "Slowdown of work"


def judged(record: Record, best: Best | None = None, saved: Saved | None = None) -> dict[str, Verdict]:
    return {verdict.name: verdict for verdict in verdicts(record, best, saved)}


def red(record: Record) -> set[str]:
    return {verdict.name for verdict in verdicts(record) if verdict.ok is False}


def best(cost: float) -> Best:
    return SimpleNamespace(cost=cost, explanation="by hindsight")


def pods_of(record: Record, pool: str) -> list[Pod]:
    return [pod for pod in record.pods if pod.pool == pool]


def a_reason(record: Record) -> None:
    record.work[-1].failed = "BackoffLimitExceeded"


def no_pod_after_an_eviction(record: Record) -> None:
    record.pods = [pod for pod in record.pods if not pod.name.startswith("team-a/train-2-1256")]
    next(work for work in record.work if work.name == "team-a/train-2").finished = None


def finished_twice(record: Record) -> None:
    record.work[4].times = 2


def two_pods_at_once(record: Record) -> None:
    first = pods_of(record, "gpuspot")[0]
    record.pods.append(replace(first, name="team-a/train-0-twin", ended=None, how=None))


def a_notebook_for_a_while_on_spot(record: Record) -> None:
    times = (60.0, 70.0, "gpuspot-1", "gpuspot", 72.0, 300.0, "removed")
    record.pods.append(records.serving("a/greedy", "notebook", *times, spot=True))


def a_predictor_without_a_gpu_on_a_gpu_node(record: Record) -> None:
    record.pods.append(records.serving("a/web", "predictor", 60.0, 70.0, "gpuod-1", "gpuod", 72.0))


def _on_demand(record: Record, created: float) -> None:
    for node in record.nodes:
        node.pool = "gpuod" if node.requested == created + 30 else node.pool
    for pod in record.pods:
        pod.pool = "gpuod" if pod.created == created else pod.pool


def on_demand_from_the_begin(record: Record) -> None:
    _on_demand(record, 5.0)


def on_demand_after_the_return(record: Record) -> None:
    _on_demand(record, records.BACK + 100)


def late_on_demand(record: Record) -> None:
    for pod in pods_of(record, "gpuod"):
        assert pod.bound
        pod.bound += 300


def two_moves_in_half_an_hour(record: Record) -> None:
    pod = next(pod for pod in record.pods if pod.created == records.BACK + 100)
    pod.ended, pod.how = 4300.0, "drained"
    second = replace(pod, name="again", created=4300.0, bound=4310.0, started=4312.0, ended=5000.0)
    third = replace(pod, name="and-again", created=5000.0, bound=5010.0, started=5012.0, ended=None, how=None)
    record.pods += [second, third]


def more_lost_than_an_interval(record: Record) -> None:
    pods_of(record, "gpuspot")[0].lost = records.CHECKPOINT + 20


def no_checkpoints(record: Record) -> None:
    for work in record.work:
        work.checkpoint = None


def a_pod_without_a_node(record: Record) -> None:
    record.work.append(Work("c/stuck", "training", 900.0, 60.0, None))
    record.pods.append(records.training("c/stuck", 900.0))


def no_twin(record: Record) -> None:
    record.pools[2] = replace(record.pools[2], most=0)
    for pod in pods_of(record, "gpuod"):
        pod.bound = pod.node = pod.pool = pod.started = pod.ended = pod.how = None
    record.nodes = [node for node in record.nodes if node.pool != "gpuod"]
    for work in record.work:
        work.finished, work.times = None, 0
