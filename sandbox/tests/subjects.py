"""The checked-in stacks of the shared tests, with the facts of each in the words of its cloud.

`pytest --stack staging` (`make test STACK=staging`) runs the shared tests on that stack only. The facts come from the stack
files and from the clouds' pages, not from the program.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

AKS_SPOT = "kubernetes.azure.com/scalesetpriority"
GKE_SPOT = "cloud.google.com/gke-spot"
GKE_CLASS = "cloud.google.com/compute-class"

Edit = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Subject:
    """A stack with the pools `system` and `general`, a spot pool with GPUs and its on-demand twin, and perhaps other pools."""

    name: str
    cluster: str
    spot: str
    twin: str
    accelerator: str
    taint: tuple[str, str]
    """Key and value of the taint that keeps pods off spot nodes; its effect is NoSchedule."""
    added_labels: dict[str, str]
    """Labels that the cloud itself adds to spot nodes."""
    class_name: str
    """The ComputeClass of the GPU pools; "" on clouds without one."""
    grace: int
    """Seconds between the notice of an eviction and its end."""
    at_first: dict[str, int]
    """Nodes of each pool after the first `up`."""
    node_name: str
    """The names of nodes: a regular expression with `{pool}`."""
    most: str
    """The property of the cloud's pool for its largest size."""
    least: str
    label: str
    """The property of a label, with `{key}`."""
    another: dict[str, Any]
    """A further spot pool, with a machine that the stack does not use yet."""
    changed_by_further_pool: tuple[str, ...]
    """Objects inside the cluster that change with the further pool, without the stack's prefix."""
    mistake: Edit
    """A mistake in the settings of the spot pool."""
    mistake_messages: tuple[str, ...]
    """The messages about the mistake."""
    refused: Edit
    """A change that only the cloud refuses."""
    refusal: str
    """The beginning of the cloud's refusals."""
    order: tuple[str, ...]
    """The pools with GPUs, first choice first."""
    larger: dict[str, Any]
    """A spot pool of larger machines with the same GPU, for the second place in the chain."""
    created_by_newer: tuple[str, ...]
    """New objects inside the cluster with Kubernetes 1.36, without the stack's prefix."""
    other_purchase: Edit
    """A change of the spot pool's purchase option, which is immutable."""
    changed_by_purchase: tuple[str, ...]
    """Objects that change with the purchase option."""
    quota: Callable[[int], dict[str, Any]]
    """Quotas of a cloud file with this number of vCPUs for the machine family of the general pool."""
    cores: tuple[int, int, int]
    """Three such quotas: used by the first `up`, too small for two more nodes, and sufficient."""
    quota_messages: tuple[str, ...]
    """Parts of the refusal beyond the quota."""
    other_network: dict[str, Any]
    """Network settings that require another cluster."""
    services: str
    """The beginning of Service addresses in that network."""
    bounds_move: tuple[int, int]
    """Nodes of the spot pool and of `system` after bounds of 1 to 2 and of at least 4, from three nodes each."""

    @property
    def toleration(self) -> dict[str, str]:
        """The toleration of the spot taint."""
        key, value = self.taint
        return {"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}


def _spot_pool(config: dict[str, Any]) -> dict[str, Any]:
    pool: dict[str, Any] = config["pools"][1]
    return pool


LOST_PODS = ("lost-pods", "lost-pods-binding", "lost-pods-guard", "lost-pods-guard-binding")

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
    changed_by_further_pool=("contract", "device-plugin", "expander", "guard-platform", "guard-profiles"),
    mistake=lambda config: _spot_pool(config).update(machine="Standard_NC6s_v3"),
    mistake_messages=(
        'pools[1] "t4": machine: Standard_NC6s_v3 was retired on 2025-09-30',
        "use Standard_NC40ads_H100_v5",
    ),
    refused=lambda config: config["cluster"].update(kubernetesVersion="1.34", reason="asking for a downgrade"),
    refusal='Status=400 Code="',
    order=("t4", "t4od"),
    larger={"name": "t4big", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 4},
    created_by_newer=("defaults", "defaults", "defaults-binding", *LOST_PODS),
    other_purchase=lambda config: _spot_pool(config).update(spot={"maxPrice": 0.5}),
    changed_by_purchase=(),
    quota=lambda cores: {"westeurope": {"standardDDSv5Family": cores}},
    # Two system nodes of 4 vCPUs and a general one of 8 exist.
    cores=(16, 24, 32),
    quota_messages=('Code="ErrCode_InsufficientVCPUQuota"', "standardDDSv5Family"),
    other_network={"serviceCidr": "172.20.0.0/16"},
    services="172.20.",
    # The program sends AKS a count within the bounds (docs/adr/0014).
    bounds_move=(2, 4),
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
    changed_by_further_pool=("compute-class", "compute-class-policy", "contract", "guard-platform", "guard-profiles"),
    mistake=lambda config: _spot_pool(config).update(machine="n1-standard-8", gpus=1, gpuModel="nvidia-tesla-k80"),
    mistake_messages=(
        'pools[1] "l4": gpuModel: is nvidia-tesla-k80, which Google retired on 2024-05-01',
        "use the machine g2-standard-8 (nvidia-l4)",
    ),
    # That zone has no A100.
    refused=lambda config: config["pools"].append({**_A100, "zones": ["europe-west4-c"]}),
    refusal="googleapi: Error 400: ",
    order=("l4", "l4big", "l4od"),
    larger={"name": "l4big", "machine": "g2-standard-16", "capacity": "spot", "maxNodes": 4},
    created_by_newer=(
        *("compute-class", "compute-class", "compute-class-binding", "compute-class-policy"),
        *("defaults", "defaults", "defaults-binding", *LOST_PODS),
    ),
    other_purchase=lambda config: _spot_pool(config).update(capacity="preemptible"),
    # Taint and label differ.
    changed_by_purchase=("contract", "defaults"),
    quota=lambda cores: {"gcp": {"europe-west4": {"N2_CPUS": cores}}},
    # A node of 8 vCPUs in each of three zones; the system pool is of another family.
    cores=(24, 40, 48),
    quota_messages=("googleapi: Error 403: ", "N2_CPUS"),
    other_network={"dataplane": "legacy"},
    services="10.20.",
    # GKE keeps a minimum, and removes no node for a lower maximum (docs/adr/0001).
    bounds_move=(3, 4),
)

SUBJECTS = {subject.name: subject for subject in (DEV, STAGING)}


class Words:
    """Translation between the texts of the corpus and those of a stack.

    Golden pods use the labels and names of the dev stack, on AKS. Only whole texts are replaced, never parts of a text.
    """

    def __init__(self, subject: Subject) -> None:
        (corpus_key, corpus_value), (key, value) = DEV.taint, subject.taint
        self._written = {
            corpus_key: key,
            DEV.spot: subject.spot,
            DEV.twin: subject.twin,
            DEV.accelerator: subject.accelerator,
        }
        self._read = {actual: written for written, actual in self._written.items()}
        self._keys, self._values = (corpus_key, key), (corpus_value, value)

    def write(self, thing: Any) -> Any:
        """Return an object, or a part of one, in the words of the stack under test."""
        return self._exchanged(thing, self._written, 0)

    def read(self, thing: Any) -> Any:
        """Return an object of the stack in the words of the corpus."""
        return self._exchanged(thing, self._read, 1)

    def _exchanged(self, thing: Any, texts: Mapping[str, str], old: int) -> Any:
        if isinstance(thing, dict):
            replaced = {texts.get(key, key): self._exchanged(value, texts, old) for key, value in thing.items()}
            return replaced | self._value(replaced, old)
        if isinstance(thing, list):
            return [self._exchanged(item, texts, old) for item in thing]
        return texts.get(thing, thing) if isinstance(thing, str) else thing

    def _value(self, item: Mapping[str, Any], old: int) -> dict[str, str]:
        """Return the value of the spot taint, in a taint or a toleration of it, and of the spot label in a selector."""
        names = [name for name in item if name in self._keys or (name == "value" and item.get("key") in self._keys)]
        return {name: self._values[1 - old] for name in names if item[name] == self._values[old]}
