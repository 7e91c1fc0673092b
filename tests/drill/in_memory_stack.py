"""A stack for drills in memory, made by hand: a general pool, spot T4s, and their twin."""

from typing import Any

from drill.in_memory.stack import Stack
from drill.world.basis import Basis
from drill.world.record import Pool
from sandbox.cloud.node_groups import Gpus, NodeGroup

ZONE = "westeurope-1"
SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
_ON_SPOT = {"matchExpressions": [{"key": "kubeflow-spot.dev/capacity", "operator": "In", "values": ["spot"]}]}
_PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": _ON_SPOT}]}
PLACEMENT: dict[str, Any] = {
    "tolerations": [
        {"key": SPOT["key"], "operator": "Equal", "value": "spot", "effect": "NoSchedule"},
        {"key": GPU["key"], "operator": "Exists", "effect": "NoSchedule"},
    ],
    "affinity": {"nodeAffinity": _PREFERRED},
}
_PLUGIN_POD = {
    "tolerations": [{"operator": "Exists"}],
    "nodeSelector": {"kubeflow-spot.dev/accelerator": "nvidia-t4"},
    "containers": [{"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"}],
}
PLUGIN = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "device-plugin", "namespace": "kube-system"},
    "spec": {"template": {"spec": _PLUGIN_POD}},
}


def group(pool: str, capacity: str, machine: str, gpus: int, least: int, most: int) -> NodeGroup:
    labels = {
        "kubeflow-spot.dev/pool": pool,
        "kubeflow-spot.dev/capacity": capacity,
        "node.kubernetes.io/instance-type": machine,
        "topology.kubernetes.io/zone": ZONE,
        "topology.kubernetes.io/region": "westeurope",
        **({"kubeflow-spot.dev/accelerator": "nvidia-t4"} if gpus else {}),
    }
    taints = [*([SPOT] if capacity == "spot" else []), *([GPU] if gpus else [])]
    size = {"cpu": "4", "memory": "28Gi", "pods": "110", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    template = {
        "metadata": {"name": "", "labels": labels},
        "spec": {"taints": taints},
        "status": {"capacity": size, "allocatable": size},
    }
    nodes = tuple(f"{pool}-first-{number}" for number in range(least))
    return NodeGroup(
        f"aks-{pool}-1-vmss", pool, f"/pools/{pool}", least, most, nodes, template, Gpus(gpus) if gpus else None
    )


def stack(twin: int = 2, spot: int = 4, price: float = 0.4, **profile: str) -> Stack:
    groups = (
        group("general", "on-demand", "D8", 0, 2, 6),
        group("t4", "spot", "NC4", 1, 0, spot),
        group("t4od", "on-demand", "NC4", 1, 0, twin),
    )
    pools = (
        Pool("general", "D8", "on-demand", 0, 2, 6, (ZONE,), price=0.5, on_demand_price=0.5),
        Pool("t4", "NC4", "spot", 1, 0, spot, (ZONE,), ("t4od",), price=price, on_demand_price=1.0),
        Pool("t4od", "NC4", "on-demand", 1, 0, twin, (ZONE,), price=1.0, on_demand_price=1.0),
    )
    expander = {"priorities": "30: ['^aks-general-']\n20: ['^aks-t4-']\n10: ['^aks-t4od-']\n1: ['.*']\n"}
    return Stack(
        name="dev",
        provider="azure",
        location="westeurope",
        pools=pools,
        orders=((("general",), ("t4",), ("t4od",)),),
        groups=groups,
        zones={each.pool: [ZONE] for each in groups},
        kept=frozenset(),
        profile={"expander": "priority", "scanInterval": "10s", "maxNodeProvisionTime": "10m", **profile},
        classes=(),
        daemon_sets=(PLUGIN,),
        maps={("kube-system", "cluster-autoscaler-priority-expander"): expander},
        placement=PLACEMENT,
        basis=Basis({"spot": spot, "on-demand": twin}, {("NC4", ZONE): spot}, {"NC4": spot}, {"NC4": 1}, (ZONE,)),
        accepted_wait=900.0,
    )
