"""Records made by hand: no drill ran for them."""

import random
from typing import Any

from drill.world.record import Clock, Event, Node, Pod, Pool, Record, Role, Step, Work

MACHINE = "Standard_NC24ads_A100_v4"
LENGTH = 5400.0
GONE, BACK = 1200.0, 3600.0
PROVISION = 600.0
CHECKPOINT = 600.0
NEEDS = 2400.0


def pools(most: int = 20, twin: int = 20, gpus: int = 1) -> list[Pool]:
    return [
        Pool("system", "Standard_D4ds_v5", "on-demand", 0, 1, 5, price=0.26),
        Pool("gpuspot", MACHINE, "spot", gpus, 0, most, ("1", "2"), ("gpuod",), price=0.8, on_demand_price=3.67),
        Pool("gpuod", MACHINE, "on-demand", gpus, 0, twin, ("1", "2"), price=3.67, on_demand_price=3.67),
    ]


def empty(scenario: str = "spot-gone", length: float = LENGTH, most: int = 20, twin: int = 20, gpus: int = 1) -> Record:
    return Record(
        scenario=scenario,
        description="A burst of training; spot is gone after 20 minutes and back after an hour.",
        stack="dev",
        provider="azure",
        location="westeurope",
        seed=7,
        clock=Clock(length, None, 4.2, ("The scheduler's own back-off is not part of the discrete clock.",)),
        autoscaler="stand-in",
        settings={"maxNodeProvisionTime": "10m", "scanInterval": "10s", "okTotalUnreadyCount": "3"},
        pools=pools(most, twin, gpus),
        price_source="Azure Retail Prices API, 2026-06-18",
    )


def training(work: str, *times: Any, suffix: str = "-0", role: Role = "training", **more: Any) -> Pod:
    """Return a pod with a GPU that may run on spot; `times` are created, bound, node, pool, started and so on."""
    return Pod(f"{work}{suffix}", work, role, "Job", 1, True, *times, **more)


def serving(work: str, role: Role, *times: Any, gpus: int = 0, spot: bool = False, **more: Any) -> Pod:
    """Return a pod of a platform service, a notebook or a predictor."""
    kind = "StatefulSet" if role == "notebook" else "Deployment"
    return Pod(f"{work}-0", work, role, kind, gpus, spot, *times, **more)


def add_late(record: Record, created: float, bound: float) -> None:
    """Add one more piece of work, whose pod gets a place on demand late."""
    record.work.append(Work("c/late", "training", created, 2400.0, 600.0))
    record.pods.append(training("c/late", created, bound, "gpuod-20", "gpuod", bound + 10))


def _platform(record: Record) -> None:
    record.nodes.append(Node("system-0", "system", "1", -60.0, -30.0, 0.0))
    roles: tuple[tuple[str, Role], ...] = (
        *(("kubeflow/dashboard", "platform"), ("team-a/notebook", "notebook")),
        ("team-a/predictor", "predictor"),
    )
    for name, role in roles:
        record.work.append(Work(name, role, 0.0, None, None))
        record.pods.append(serving(name, role, 0.0, 3.0, "system-0", "system", 5.0))


def _round(
    record: Record, pool: str, names: list[str], created: float, requested: float, ended: float, how: str
) -> list[Pod]:
    """Add and return pods, each on a node of its own that is requested then and ready 90 s later."""
    made = []
    for index, name in enumerate(names):
        node = Node(f"{pool}-{len(record.nodes)}", pool, "12"[index % 2], requested, requested + 60, requested + 90)
        node.gone = ended + (0 if how == "evicted" else 600)
        if node.gone > record.clock.length:
            node.gone = None
        node.why = None if node.gone is None else "evicted" if how == "evicted" else "scale-down"
        if how == "evicted":
            node.noticed = ended - 30
        record.nodes.append(node)
        times = (created, requested + 92, node.name, pool, requested + 95)
        pod = training(name, *times, suffix=f"-{created:.0f}")
        if ended <= record.clock.length:
            pod.ended, pod.how = ended, "evicted" if how == "evicted" else "succeeded"
        record.pods.append(pod)
        made.append(pod)
    return made


def spot_gone(first: int = 6, later: int = 4, *, silent: bool = True) -> Record:
    """Return a burst on spot, evicted at 20 minutes, then on demand after the provision time; more is on spot later."""
    record = empty()
    _platform(record)
    record.capacity = [
        step
        for zone in ("1", "2")
        for step in (Step(0.0, MACHINE, zone, None), Step(GONE, MACHINE, zone, 0), Step(BACK, MACHINE, zone, 8))
    ]
    names = [f"team-a/train-{index}" for index in range(first)]
    record.work += [Work(name, "training", 5.0, NEEDS, CHECKPOINT) for name in names]
    begun = 5.0 + 30 + 95
    record.events.append(Event(35.0, "scale-up", "gpuspot", f"Scale-up: gpuspot 0->{first}", first))
    for pod in _round(record, "gpuspot", names, 5.0, 35.0, GONE, "evicted"):
        pod.lost = (GONE - begun) % CHECKPOINT
    record.events.append(Event(GONE, "evicted", "gpuspot", f"The cloud took {first} nodes of gpuspot", first))
    created = GONE + 56
    asked = created + 30
    given_up = asked + (PROVISION if silent else 10)
    if silent:
        record.events.append(Event(asked, "scale-up", "gpuspot", f"Scale-up: gpuspot 0->{first}", first))
        for _ in names:
            name = f"gpuspot-{len(record.nodes)}"
            record.nodes.append(Node(name, "gpuspot", "1", asked, gone=given_up, why="never registered"))
        words = "Node group gpuspot timed out: no node in 10m"
        record.events.append(Event(given_up, "failed", "gpuspot", words, first))
        record.events.append(Event(given_up, "backoff", "gpuspot", "Backing off gpuspot for 5m"))
    else:
        record.events.append(Event(asked, "refused", "gpuspot", "SkuNotAvailable", first))
        record.events.append(Event(asked, "backoff", "gpuspot", "Backing off gpuspot for 5m"))
    record.events.append(Event(given_up, "scale-up", "gpuod", f"Scale-up: gpuod 0->{first}", first))
    done = GONE - begun - (GONE - begun) % CHECKPOINT
    ended = given_up + 95 + NEEDS - done
    _round(record, "gpuod", names, created, given_up, ended, "succeeded")
    for work in record.work[-first:]:
        work.finished, work.times = ended, 1
    names = [f"team-b/more-{index}" for index in range(later)]
    record.work += [Work(name, "training", BACK + 100, NEEDS, CHECKPOINT) for name in names]
    record.events.append(Event(BACK + 130, "scale-up", "gpuspot", f"Scale-up: gpuspot 0->{later}", later))
    _round(record, "gpuspot", names, BACK + 100, BACK + 130, LENGTH + 1, "succeeded")
    return record


def large(nodes: int = 500, pods: int = 5000, length: float = 3600.0, seed: int = 1) -> Record:
    """Return many pods that come and go on nodes of eight GPUs, half of which are evicted on the way."""
    draw = random.Random(seed)
    record = empty("storm", length, most=nodes, twin=nodes, gpus=8)
    _platform(record)
    record.capacity = [Step(0.0, MACHINE, zone, nodes // 2) for zone in ("1", "2")]
    record.capacity += [Step(length * 0.4, MACHINE, zone, nodes // 8) for zone in ("1", "2")]
    gpu_nodes = []
    for index in range(nodes):
        spot = index < nodes * 3 // 4
        requested = 30.0 + draw.random() * length * 0.2 if spot else length * 0.42 + draw.random() * length * 0.1
        pool = "gpuspot" if spot else "gpuod"
        node = Node(f"n{index}", pool, "12"[index % 2], requested, requested + 60, requested + 95)
        if spot and index % 2:
            node.gone, node.why, node.noticed = length * (0.4 + draw.random() * 0.05), "evicted", length * 0.4
            record.events.append(Event(node.gone, "evicted", node.pool, f"The cloud took {node.name}", 1))
        record.events.append(Event(node.requested, "scale-up", node.pool, f"Scale-up: {node.pool} +1", 1))
        record.nodes.append(node)
        gpu_nodes.append(node)
    for index in range(pods):
        node = gpu_nodes[index % nodes]
        bound = (node.ready or 0) + draw.random() * 300
        work = f"team-{index % 7}/sweep-{index}"
        created = bound - 60 - draw.random() * 200
        pod = training(work, created, bound, node.name, node.pool, bound + 3, role="trial")
        end = bound + 300 + draw.random() * 1500
        if node.gone is not None and end > node.gone:
            pod.ended, pod.how, pod.lost = node.gone, "evicted", draw.random() * 300
        elif end < length:
            pod.ended, pod.how = end, "succeeded"
        record.pods.append(pod)
        record.work.append(Work(work, "trial", pod.created, 1800.0, 300.0, pod.ended, times=int(pod.ended is not None)))
    return record
