"""Stack files without a cloud, and the settings of each cloud for one."""

import copy
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Settings = dict[str, Any]


@dataclass(frozen=True)
class Sort:
    """Equivalent machines: a size on AKS, and a machine type on GKE with its attached GPUs."""

    aks: str
    gke: str
    gpus: int = 0
    model: str = ""
    attached: bool = False


SORTS = (
    Sort("Standard_D4ds_v5", "n2-standard-4"),
    Sort("Standard_D8ds_v5", "n2-standard-8"),
    Sort("Standard_NC4as_T4_v3", "n1-highmem-4", 1, "nvidia-t4", attached=True),
    Sort("Standard_NC8as_T4_v3", "n1-highmem-8", 1, "nvidia-t4", attached=True),
    Sort("Standard_NC64as_T4_v3", "n1-highmem-64", 4, "nvidia-t4", attached=True),
    Sort("Standard_NC24ads_A100_v4", "a2-ultragpu-1g", 1, "nvidia-a100-80gb"),
    Sort("Standard_NC48ads_A100_v4", "a2-ultragpu-2g", 2, "nvidia-a100-80gb"),
)
"""Sorts in ascending size on both clouds, which is the order in which pools grow; `test_the_sorts_are_in_one_order`."""

# Two of these names are in the golden pods; no name equals the name of another pool's on-demand twin.
_NAMES = st.sampled_from(["t4", "general", "p0", "p1", "p2", "p3"])
_TAINTS = st.sampled_from([{"key": "team", "value": "vision"}, {"key": "team", "value": "nlp", "effect": "NoExecute"}])
_LABELS = st.sampled_from([{"gpu": "true"}, {"example.com/team": "vision", "tier": "batch"}])


@st.composite
def neutral(draw: st.DrawFn) -> Settings:
    """Draw pools and scheduling of a stack file; a pool's `machine` is a `Sort`."""
    pools: list[Settings] = []
    for name in draw(st.lists(_NAMES, min_size=1, max_size=5, unique=True)):
        pool: Settings = {"name": name, "machine": draw(st.sampled_from(SORTS)), "maxNodes": draw(st.integers(1, 6))}
        if draw(st.booleans()):
            pool["minNodes"] = draw(st.integers(0, pool["maxNodes"]))
        if draw(st.integers(0, 2)):
            pool["capacity"] = "spot"
            pool["fallback"] = _chain(draw, pool, pools)
        if draw(st.booleans()):
            pool["labels"] = draw(_LABELS)
        if draw(st.integers(0, 3)) == 0:
            pool["taints"] = [draw(_TAINTS)]
        if pool["machine"].gpus and draw(st.integers(0, 3)) == 0:
            pool["gpuSharing"] = {"strategy": "time-slicing", "replicas": draw(st.integers(2, 8))}
        pools.append(pool)
    placements = st.sampled_from(["prefer-spot", "on-demand"])
    defaults = {kind: {"gpu": draw(placements)} for kind in ("pipelineStep", "job")}
    return {"pools": pools, "scheduling": {"defaults": defaults}}


def _chain(draw: st.DrawFn, pool: Settings, earlier: list[Settings]) -> list[Settings]:
    alike = [
        other["name"]
        for other in earlier
        if other.get("capacity") == "spot" and bool(other["machine"].gpus) == bool(pool["machine"].gpus)
    ]
    steps: list[Settings] = [{"pool": draw(st.sampled_from(alike))}] if alike and draw(st.booleans()) else []
    if draw(st.booleans()):
        steps.append({"onDemand": {"maxNodes": draw(st.integers(1, 3))}})
    return steps


def on_aks(drawn: Settings) -> Settings:
    """Return the settings of an AKS stack."""
    return _stack(
        # Regions without prices: the order follows the price, and prices of two clouds differ.
        drawn,
        {"provider": "azure", "location": "norwayeast"},
        "Standard_D4ds_v5",
        lambda sort: {"machine": sort.aks},
    )


def on_gke(drawn: Settings, mode: str | None = None) -> Settings:
    """Return the settings of a GKE stack; `mode` of its fallback."""
    cloud: Settings = {"provider": "gcp", "project": "example-project", "location": "asia-northeast1-a"}
    if mode:
        cloud["fallback"] = {"mode": mode}

    def machine(sort: Sort) -> Settings:
        return {"machine": sort.gke, **({"gpus": sort.gpus, "gpuModel": sort.model} if sort.attached else {})}

    return _stack(drawn, cloud, "n2-standard-4", machine)


def _stack(drawn: Settings, cloud: Settings, system: str, machine: Any) -> Settings:
    own = copy.deepcopy(drawn)
    return {
        "release": "r2026-11",
        "cluster": {"name": "ml-parity"},
        "cloud": cloud,
        "systemPool": {"machine": system, "minNodes": 2, "maxNodes": 4},
        **own,
        "pools": [{**pool, **machine(pool["machine"])} for pool in own["pools"]],
    }
