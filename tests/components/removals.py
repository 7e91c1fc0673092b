"""Edits of a stack file that remove pools, and the judgement of them with set nodes and pods."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from components import removed_pools
from components.last_update import LastUpdate
from components.removed_pools import LivePool
from components.running import Running
from components.target import Stack
from config.base.problems import Problem
from config.clouds import registry
from config.placement.node_pools import NodePool, node_pools, system_pool
from tests.components.google import written_stack
from tests.config import stack as stacks

Settings = dict[str, Any]
Edit = Callable[[Settings], object]

AKS, GKE = written_stack("azure-removals", ""), written_stack("gcp-removals", "")


def stack(settings: Settings, last: Mapping[str, Any] | None = None, **removed: list[str]) -> Stack:
    changed = {**settings, "cluster": {**settings["cluster"], **removed}}
    spec = stacks.spec(changed)
    cloud = registry.cloud_of(spec.cloud)
    system = system_pool(spec.system_pool, cloud) if spec.system_pool else None
    return Stack(spec, node_pools(spec, cloud), system, "dev", LastUpdate(last or {}))


def edited(settings: Settings, edit: Edit) -> Settings:
    changed = copy.deepcopy(settings)
    edit(changed)
    return changed


def live(pool: NodePool, nodes: int | None = 1, **also: Any) -> LivePool:
    return LivePool(pool.name, pool.labels, spot=pool.spot, nodes=nodes, **also)


def pod(pool: NodePool, name: str = "nb") -> dict[str, Any]:
    """Return a pod that runs on a pool."""
    return {
        "metadata": {"namespace": "team-a", "name": f"{name}-{pool.name}"},
        "spec": {
            "nodeName": f"node-{pool.name}",
            "tolerations": [{"key": taint.key, "operator": "Exists"} for taint in pool.taints],
            "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"} if pool.gpus else {}}}],
        },
        "status": {"phase": "Running"},
    }


def busy(pool: NodePool) -> Running:
    return Running((f"node-{pool.name}",), (pod(pool),))


def judged(
    settings: Settings,
    edit: Edit,
    *,
    work: Mapping[str, Running] | str | None = None,
    nodes: int | None = 1,
    removed: list[str] | None = None,
) -> dict[str, Problem]:
    """Return problems and warnings by pool after an edit, with a pod on every pool where no other work is given."""
    before = stack(settings)
    pools = [*before.node_pools, *([before.system_pool] if before.system_pool else [])]
    last = {"pools": removed_pools.remembered(before, [])}
    after = stack(edited(settings, edit), last, removedPools=removed or [])
    if work is None:
        work = {pool.label: busy(pool) for pool in pools}
    gone = removed_pools.removed(after, [live(pool, nodes) for pool in pools])
    return {pool.name: problem for pool in gone for problem in removed_pools.judge(after, pool, work)}


def without(name: str) -> Edit:
    """Remove a pool, and the steps that name it."""

    def edit(settings: Settings) -> None:
        settings["pools"] = [pool for pool in settings["pools"] if pool["name"] != name]
        for pool in settings["pools"]:
            pool["fallback"] = [step for step in pool.get("fallback", ()) if step.get("pool") != name]

    return edit


def renamed(name: str, other: str) -> Edit:
    """Rename a pool, and the steps that name it."""

    def edit(settings: Settings) -> None:
        for pool in settings["pools"]:
            pool["name"] = other if pool["name"] == name else pool["name"]
            for step in pool.get("fallback", ()):
                if step.get("pool") == name:
                    step["pool"] = other

    return edit


def no_twin(settings: Settings) -> None:
    chain = settings["pools"][1]["fallback"]
    chain.remove(next(step for step in chain if "onDemand" in step))


def renamed_twin(settings: Settings) -> None:
    next(step for step in settings["pools"][1]["fallback"] if "onDemand" in step)["onDemand"]["name"] = "reserve"


def sold_as_spot(settings: Settings) -> None:
    """Keep the pool under its old label, but its machines may be reclaimed now."""
    del settings["pools"][0]["generation"]
    settings["pools"][0]["capacity"] = "spot"


Case = tuple[str, Edit, dict[str, str], set[str]]
"""A name, an edit, the refused pools with their paths, and the pools that only draw a warning."""

BOTH: list[Case] = [
    ("general removed", without("general"), {"general": "pools"}, set()),
    ("general renamed", renamed("general", "cpu"), {"general": "pools"}, set()),
    ("on-demand GPUs removed", without("serving"), {"serving": "pools"}, set()),
    ("on-demand GPUs renamed", renamed("serving", "online"), {"serving": "pools"}, set()),
    ("spot and its twin removed", without("gpu"), {"gpuod": "pools"}, {"gpu"}),
    ("spot and its twin renamed", renamed("gpu", "train"), {"gpuod": "pools"}, {"gpu"}),
    ("twin removed", no_twin, {"gpuod": "pools[1].fallback"}, set()),
    ("twin renamed", renamed_twin, {"gpuod": "pools[1].fallback"}, set()),
    ("further step removed", without("big"), {}, {"big"}),
    ("further step renamed", renamed("big", "huge"), {}, {"big"}),
]
ON_GKE: list[Case] = [
    ("reserved step removed", without("reserved"), {"reserved": "pools"}, set()),
    ("reserved step renamed", renamed("reserved", "own"), {"reserved": "pools"}, set()),
    ("flex-start step removed", without("flex"), {"flex": "pools"}, set()),
    ("flex-start step renamed", renamed("flex", "queued"), {"flex": "pools"}, set()),
]
EDITS = [
    pytest.param(settings, *rest, id=f"{cloud}-{name}")
    for cloud, settings, edits in (("aks", AKS, BOTH), ("gke", GKE, [*BOTH, *ON_GKE]))
    for name, *rest in edits
]
