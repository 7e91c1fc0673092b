"""The checked-in stacks that the shared tests run on, each in its cloud's words.

`pytest --stack staging` (`make test STACK=staging`) runs the shared tests on that stack alone. What stands here is written from the
stack files and from the clouds' pages, and asks nothing of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

AKS_SPOT = "kubernetes.azure.com/scalesetpriority"
GKE_SPOT = "cloud.google.com/gke-spot"
GKE_CLASS = "cloud.google.com/compute-class"

Edit = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Subject:
    """A stack with the pools `system` and `general`, a spot pool of GPUs and its on-demand twin; perhaps others between."""

    name: str
    cluster: str
    spot: str
    twin: str
    accelerator: str
    taint: tuple[str, str]
    """Key and value of the taint that keeps pods off spot nodes; its effect is NoSchedule."""
    added_labels: dict[str, str]
    """What the cloud puts on spot nodes by itself."""
    class_name: str
    """The ComputeClass of the GPU pools; "" on clouds that have none."""
    grace: int
    """Seconds that a pod on a spot node can count on."""
    at_first: dict[str, int]
    """Nodes of each pool after the first `up`."""
    node_name: str
    """A regular expression with `{pool}`."""
    most: str
    """The property of the cloud's pool that has its largest size."""
    least: str
    label: str
    """The property that has a label, with `{key}`."""
    another: dict[str, Any]
    """A further spot pool, whose machine the stack does not use yet."""
    changed_by_another: tuple[str, ...]
    """What changes inside the cluster when there is one, without the stack's prefix."""
    mistake: Edit
    """Makes a mistake in the spot pool, which `settings` shows."""
    told: tuple[str, ...]
    """What is said of the mistake."""
    refused: Edit
    """Asks for what only the cloud knows to refuse."""
    refusal: str
    """How the cloud's refusals begin."""
    order: tuple[str, ...]
    """The pools with GPUs, first choice first."""
    larger: dict[str, Any]
    """A spot pool of larger machines with the same GPU, for the second place in the chain."""
    made_by_newer: tuple[str, ...]
    """What is new inside the cluster with Kubernetes 1.36, without the stack's prefix."""
    bought_otherwise: Edit
    """Changes how the spot pool is bought, which the cloud fixes for a pool's life."""
    told_how_it_is_bought: tuple[str, ...]
    """What else changes with it."""
    quota: Callable[[int], dict[str, Any]]
    """A cloud file's quotas with so many vCPUs for machines as the general pool's."""
    cores: tuple[int, int, int]
    """Of these: what the first `up` uses, too few for a pool of two nodes more, and enough."""
    beyond_the_quota: tuple[str, ...]
    """What a refusal says."""
    other_network: dict[str, Any]
    """A network that makes another cluster necessary."""
    services: str
    """How addresses of Services begin in it."""
    bounds_move: tuple[int, int]
    """Nodes of the spot pool and of `system`, of each of which there are three, when bounds of 1 to 2 and of 4 upwards are set."""
    token_in_kubeconfig: bool
    """False where a program of the cloud's finds the credentials."""

    @property
    def toleration(self) -> dict[str, str]:
        """Of the spot taint."""
        key, value = self.taint
        return {"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}


def _spot_pool(config: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = config["pools"][1]
    return found


DEV = Subject(
    name="dev",
    cluster="ml-dev",
    spot="t4",
    twin="t4od",
    accelerator="nvidia-t4",
    taint=(AKS_SPOT, "spot"),
    added_labels={AKS_SPOT: "spot"},
    class_name="",
    grace=25,
    at_first={"general": 1, "system": 2},
    node_name=r"aks-{pool}-\d{{8}}-vmss[0-9a-z]{{6}}",
    most="maxCount",
    least="minCount",
    label="nodeLabels.{key}",
    another={"name": "a100", "machine": "Standard_NC24ads_A100_v4", "capacity": "spot", "maxNodes": 1},
    changed_by_another=("contract", "device-plugin", "expander", "guard-platform", "guard-profiles"),
    mistake=lambda config: _spot_pool(config).update(machine="Standard_NC6s_v3"),
    told=("pools[1].machine: Standard_NC6s_v3 was retired on 2025-09-30", "use Standard_NC40ads_H100_v5"),
    refused=lambda config: config["cluster"].update(kubernetesVersion="1.34", reason="asking for a downgrade"),
    refusal='Status=400 Code="',
    order=("t4", "t4od"),
    larger={"name": "t4big", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 4},
    made_by_newer=("defaults", "defaults", "defaults-binding"),
    bought_otherwise=lambda config: _spot_pool(config).update(spot={"maxPrice": 0.5}),
    told_how_it_is_bought=(),
    quota=lambda cores: {"westeurope": {"standardDDSv5Family": cores}},
    # Two system nodes of 4 vCPUs and a general one of 8 are there.
    cores=(16, 24, 32),
    beyond_the_quota=('Code="ErrCode_InsufficientVCPUQuota"', "standardDDSv5Family"),
    other_network={"serviceCidr": "172.20.0.0/16"},
    services="172.20.",
    # AKS is sent a count within the bounds (docs/adr/0006).
    bounds_move=(2, 4),
    token_in_kubeconfig=True,
)

_A100 = {"name": "a100", "machine": "a2-highgpu-1g", "capacity": "spot", "maxNodes": 1}

STAGING = Subject(
    name="staging",
    cluster="ml-staging",
    spot="l4",
    twin="l4od",
    accelerator="nvidia-l4",
    taint=(GKE_SPOT, "true"),
    added_labels={GKE_SPOT: "true", "cloud.google.com/gke-provisioning": "spot"},
    class_name="kubeflow-spot",
    grace=15,
    # A pool begins with as many nodes in each of its three zones (pulumi-gcp, NodePool.initialNodeCount).
    at_first={"general": 3, "system": 3},
    node_name=r"gke-ml-staging-{pool}-[0-9a-f]{{8}}-[0-9a-z]{{4}}",
    most="autoscaling.totalMaxNodeCount",
    least="autoscaling.totalMinNodeCount",
    label="nodeConfig.labels.{key}",
    another={**_A100, "zones": ["europe-west4-b"]},
    changed_by_another=("compute-class", "compute-class-policy", "contract", "guard-platform", "guard-profiles"),
    mistake=lambda config: _spot_pool(config).update(machine="n1-standard-8", gpus=1, gpuModel="nvidia-tesla-k80"),
    told=(
        "pools[1].gpuModel: is nvidia-tesla-k80, which Google retired on 2024-05-01",
        "use g2-standard-8 (nvidia-l4)",
    ),
    # There is no A100 in that zone.
    refused=lambda config: config["pools"].append({**_A100, "zones": ["europe-west4-c"]}),
    refusal="googleapi: Error 400: ",
    order=("l4", "l4big", "l4od"),
    larger={"name": "l4big", "machine": "g2-standard-16", "capacity": "spot", "maxNodes": 4},
    made_by_newer=(
        *("compute-class", "compute-class", "compute-class-binding", "compute-class-policy"),
        *("defaults", "defaults", "defaults-binding"),
    ),
    bought_otherwise=lambda config: _spot_pool(config).update(capacity="preemptible"),
    # Taint and label are others.
    told_how_it_is_bought=("contract", "defaults"),
    quota=lambda cores: {"gcp": {"europe-west4": {"N2_CPUS": cores}}},
    # A node of 8 vCPUs in each of three zones; the system pool is of another family.
    cores=(24, 40, 48),
    beyond_the_quota=("googleapi: Error 403: ", "N2_CPUS"),
    other_network={"dataplane": "legacy"},
    services="10.20.",
    # GKE keeps a minimum, and removes nobody for a lower maximum (docs/adr/0017).
    bounds_move=(3, 4),
    token_in_kubeconfig=False,
)

SUBJECTS = {subject.name: subject for subject in (DEV, STAGING)}
