"""Records of drills with GPU work, made by hand."""

from collections.abc import Iterable, Sequence

from drill.world.record import Clock, Node, Pod, Pool, Record, Step, Work

H = 3600.0
SPOT = Pool("t4", "T4", "spot", gpus=1, least=0, most=8, fallback=("t4-ondemand",), price=0.2, on_demand_price=1.0)
TWIN = Pool("t4-ondemand", "T4", "on-demand", gpus=1, least=0, most=8, price=1.0, on_demand_price=1.0)
STRONG = Pool("a100", "A100", "spot", gpus=1, least=0, most=4, price=0.9, on_demand_price=4.0)


def record(length: float, *, pools: Sequence[Pool] = (SPOT, TWIN), capacity: Iterable[Step] = ()) -> Record:
    head = ("test", "", "dev", "azure", "westeurope", 1, Clock(length, None, 0.0, ()), "stand-in")
    return Record(*head, settings={}, pools=list(pools), capacity=list(capacity))  # type: ignore[arg-type]


def levels(machine: str, nodes: Iterable[int | None], every: float = H, zone: str = "*") -> list[Step]:
    """Return the capacity of a machine: a number for each stretch of time."""
    return [Step(place * every, machine, zone, number) for place, number in enumerate(nodes)]


def add(
    drill: Record,
    work: str,
    pool: str,
    *,
    submitted: float = 0,
    begin: float = 0,
    end: float | None,
    needs: float | None = None,
    gpus: int = 1,
    spot: bool = True,
    node: str | None = None,
    lost: float = 0.0,
    finished: bool = True,
) -> Pod:
    """Add a pod that ran from `begin` to `end`, on a node of its own unless another pod's node is named."""
    if node is None:
        node = f"{pool}-{len(drill.nodes)}"
        drill.nodes.append(Node(node, pool, "", requested=begin, registered=begin, ready=begin, gone=end))
    head = (f"team/{work}-{len(drill.pods)}", work, "training", "Job", gpus, spot)
    pod = Pod(*head, submitted, begin, node, pool, begin, end, lost=lost)  # type: ignore[arg-type]
    drill.pods.append(pod)
    known = next((each for each in drill.work if each.name == work), None)
    if known is None:
        known = Work(work, "training" if needs is not None else "predictor", submitted, needs, None)
        drill.work.append(known)
    if needs is not None:
        known.finished = end if finished else None
    return pod
