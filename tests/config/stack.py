"""Stack files for tests: the smallest good one, and variations of it."""

import copy
from typing import Any

from config.base.problems import Problem
from config.clouds import registry
from config.model.spec import ClusterSpec
from config.placement.growth_order import growth_order
from config.placement.node_pools import NodePool, node_pools
from config.stack_file import loader

GOOD: dict[str, Any] = {
    "release": "r2026-11",
    "cluster": {"name": "ml-test"},
    "cloud": {"provider": "azure", "location": "westeurope"},
    "systemPool": {"machine": "Standard_D4ds_v5", "minNodes": 2, "maxNodes": 4},
    "pools": [
        {"name": "general", "machine": "Standard_D8ds_v5", "minNodes": 1, "maxNodes": 6},
        {
            "name": "t4",
            "machine": "Standard_NC4as_T4_v3",
            "capacity": "spot",
            "maxNodes": 8,
            "fallback": [{"pool": "t4big"}, {"onDemand": {"maxNodes": 2}}],
        },
        {"name": "t4big", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 4},
    ],
    # Its chain has two spot pools and a small twin, which draws warnings of their own (tests/config/test_chains.py).
    "growth": {"acceptedWait": "24h"},
}


def good(**top: Any) -> dict[str, Any]:
    """Return a good stack file with some top keys replaced."""
    return {**copy.deepcopy(GOOD), **top}


def with_pool(**keys: Any) -> dict[str, Any]:
    """Return a good stack file whose second pool, the spot pool t4, has these keys besides its own."""
    raw = good()
    raw["pools"][1].update(keys)
    return raw


def azure(**cloud: Any) -> dict[str, Any]:
    """Return a good stack file with further keys of `cloud`."""
    return good(cloud={**GOOD["cloud"], **cloud})


def system(**keys: Any) -> dict[str, Any]:
    """Return a good stack file with further keys of the system pool."""
    return good(systemPool={"machine": "Standard_D4ds_v5", "maxNodes": 4, **keys})


def extra_pool(**keys: Any) -> dict[str, Any]:
    """Return a good stack file with a fourth pool, on demand and without GPUs."""
    return good(pools=[*good()["pools"], {"name": "extra", "machine": "Standard_D8ds_v5", "maxNodes": 3, **keys}])


def spec(raw: dict[str, Any]) -> ClusterSpec:
    """Return the spec of a stack file that must be good."""
    parsed, problems = loader.read_stack(raw)
    assert parsed is not None, problems
    return parsed


def aks(*pools: dict[str, Any]) -> dict[str, Any]:
    """Return a good stack file with these pools."""
    return good(pools=[*pools])


def placed_pools(raw: dict[str, Any]) -> tuple[NodePool, ...]:
    """Return the node pools of a stack file that must be good."""
    stack = spec(raw)
    return node_pools(stack, registry.cloud_of(stack.cloud))


def placed(raw: dict[str, Any]) -> dict[str, NodePool]:
    """Return the node pools of a stack file that must be good, by name."""
    return {pool.name: pool for pool in placed_pools(raw)}


def grown(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the order in which the stack's pools grow."""
    cloud = registry.cloud_of(spec.cloud)
    return growth_order(spec, node_pools(spec, cloud), cloud)


def errors(raw: dict[str, Any], stack: str = "") -> list[Problem]:
    """Return the errors of a stack file, for which alone it is refused."""
    parsed, problems = loader.read_stack(raw, stack)
    found = [problem for problem in problems if not problem.warning]
    assert (parsed is None) == bool(found)
    return found


def warnings(raw: dict[str, Any]) -> list[Problem]:
    return [problem for problem in loader.read_stack(raw)[1] if problem.warning]


def on_gke(pools: list[dict[str, Any]] | None = None, **cloud: Any) -> dict[str, Any]:
    """Return a good stack file for GKE, with own pools and further keys of `cloud`; an on-demand pool is last if none is among
    them, as all pools on spot draw a warning of their own."""
    general = {"name": "general", "machine": "n2-standard-8", "maxNodes": 6}
    alone = all(pool.get("capacity", "on-demand") != "on-demand" for pool in pools or [])
    return {
        "release": "r2026-11",
        "cluster": {"name": "ml-test"},
        "cloud": {"provider": "gcp", "project": "example-ml", "location": "europe-west4", **cloud},
        "systemPool": {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4},
        "growth": {"acceptedWait": "24h"},
        "pools": [*(pools or []), *([general] if alone else [])],
    }


CPU = {"name": "general", "machine": "n2-standard-8", "maxNodes": 6}
L4 = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 8}
N1 = {"name": "n1", "machine": "n1-highmem-8", "capacity": "spot", "maxNodes": 4}
FLEX = {"name": "flex", "machine": "g2-standard-8", "capacity": "flex-start", "maxNodes": 4}
RESERVED = {"name": "kept", "machine": "g2-standard-8", "maxNodes": 2, "zones": ["europe-west4-b"], "reservation": "l4"}


def gke_pool(pool: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Return a good stack file for GKE with one pool that has these keys besides its own."""
    return on_gke([{**pool, **keys}])


def gke_system(**keys: Any) -> dict[str, Any]:
    raw = on_gke()
    raw["systemPool"].update(keys)
    return raw


def gke_cluster(**keys: Any) -> dict[str, Any]:
    return on_gke() | {"cluster": {"name": "ml-test", **keys}}


def wide(**keys: Any) -> dict[str, Any]:
    """Return a good stack file for GKE with a network that has room for any number of nodes; leave out keys that are None."""
    pool = {key: value for key, value in {**L4, **keys}.items() if value is not None}
    return on_gke([pool], network={"nodeSubnet": "10.0.0.0/16", "podCidr": "100.64.0.0/10"})


GROUP = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/r"
    "/providers/Microsoft.Compute/capacityReservationGroups/g"
)
"""A capacity reservation group of Azure."""


def spot(
    name: str, machine: str = "Standard_NC4as_T4_v3", nodes: int = 8, chain: str = "", **keys: Any
) -> dict[str, Any]:
    """Return a spot pool of AKS. The words of its chain are pools, and a number is the bound of its twin."""
    steps = [{"onDemand": {"maxNodes": int(step)}} if step.isdecimal() else {"pool": step} for step in chain.split()]
    return {"name": name, "machine": machine, "capacity": "spot", "maxNodes": nodes, "fallback": steps, **keys}


def on_existing(*pools: dict[str, Any], **kubeconfig: Any) -> dict[str, Any]:
    """Return a good stack file for a cluster that its kubeconfig names."""
    cloud = {"provider": "existing", "name": "lab", "kubeconfig": kubeconfig or {"file": "~/.kube/config"}}
    return {"release": "r2026-11", "cloud": cloud} | ({"pools": [*pools]} if pools else {})
