"""The contract between a cluster and its users' tools: its pools, and the lines that put a pod on
them.

The ConfigMap `kubeflow-spot` in `kube-public` and the stack's output `contract` say the same
(docs/workloads.md).
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubeflow_spot import cluster_config_map
from kubeflow_spot.errors import ContractError
from kubeflow_spot.quantities import amount

VARIABLE = "KUBEFLOW_SPOT_CONTRACT"
NAME, NAMESPACE = "kubeflow-spot", "kube-public"

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
"""Keys of node affinity."""

_NO_PARTS = {"placements", "pools"}


@dataclass(frozen=True)
class Lines:
    """Placement of a pod: the parts of its spec that choose its nodes, as Kubernetes writes them.

    A contract has them ready; lines of one's own are written like this:
    `Lines(node_selector={"kubeflow-spot.dev/pool": "t4"})`.
    """

    tolerations: Sequence[Mapping[str, Any]] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    node_affinity: Mapping[str, Any] = field(default_factory=dict)

    def as_spec(self) -> dict[str, Any]:
        """Return the lines as fields of a pod's spec; a field without content is left out."""
        affinity = (
            {"nodeAffinity": copy.deepcopy(dict(self.node_affinity))} if self.node_affinity else {}
        )
        fields = {
            "tolerations": [dict(toleration) for toleration in self.tolerations],
            "nodeSelector": dict(self.node_selector),
            "affinity": affinity,
        }
        return {name: content for name, content in fields.items() if content}


@dataclass(frozen=True)
class Pool:
    """A node pool as its nodes show it."""

    name: str
    label: str
    """The value of the node label `kubeflow-spot.dev/pool`."""
    capacity: str
    """`spot` or `on-demand`."""
    gpus: int
    """GPUs of one node."""
    accelerator: str
    """The GPU's model; empty without GPUs."""
    largest_request: Mapping[str, str]
    """The most that one pod can ask for and fits an empty node, by resource; empty where the
    program does not know it."""

    def fits(self, requests: Mapping[str, str]) -> bool:
        """Return whether a pod with these requests fits an empty node, as far as the contract
        knows. Raises ValueError."""
        known = self.largest_request
        return all(
            amount(asked) <= amount(known[name])
            for name, asked in requests.items()
            if name in known
        )


@dataclass(frozen=True)
class Contract:
    """What the cluster promises to users' tools.

    `Contract.from_cluster().lines("require-spot")` are the lines of a GPU pod.
    """

    placement_label: str
    """The label of pods and namespaces that chooses a placement."""
    placements: Sequence[str]
    """The label's values that this cluster heeds."""
    pools: Sequence[Pool]
    snippets: Mapping[str, Lines]
    """Lines by name: `gpu-PLACEMENT`, `cpu-PLACEMENT` and `pool-LABEL`."""

    @classmethod
    def from_cluster(cls, name: str = NAME, namespace: str = NAMESPACE) -> Contract:
        """Return the contract of the cluster that this code runs in, else of the current
        kubeconfig. Needs the package `kubernetes`.

        `name` differs where another stack has the ConfigMap of that name; the stack's `up` says so.
        Raises ContractError.
        """
        return cls.from_config_map({"data": cluster_config_map.data(name, namespace)})

    @classmethod
    def find(cls) -> Contract:
        """Return the contract of the file that the variable KUBEFLOW_SPOT_CONTRACT names, else of
        the cluster. Raises ContractError."""
        file = os.environ.get(VARIABLE)
        return cls.load(file) if file else cls.from_cluster()

    @classmethod
    def load(cls, path: str | Path) -> Contract:
        """Return the contract of a JSON file: the ConfigMap, or the stack's output `contract`.

        Raises ContractError, OSError.
        """
        try:
            content = json.loads(Path(path).read_text())
        except ValueError as error:
            raise ContractError(f"{path} is not JSON: {error}") from error
        if not isinstance(content, Mapping):
            raise ContractError(f"{path} holds no JSON object, but {type(content).__name__}")
        return cls.from_config_map(content) if "data" in content else cls.from_output(content)

    @classmethod
    def from_config_map(cls, config_map: Mapping[str, Any]) -> Contract:
        """Return the contract of a ConfigMap as the API server writes it. Raises ContractError."""
        data: Mapping[str, str] = config_map.get("data") or {}
        try:
            content = {
                key.removesuffix(".json"): json.loads(text)
                for key, text in data.items()
                if key.endswith(".json")
            }
        except ValueError as error:
            raise ContractError(
                f"the ConfigMap is no contract of kubeflow-spot: {error}"
            ) from error
        parts = {key: part for key, part in content.items() if key not in _NO_PARTS}
        return cls.from_output(
            {**content, "placementLabel": data.get("placementLabel"), "snippets": parts}
        )

    @classmethod
    def from_output(cls, output: Mapping[str, Any]) -> Contract:
        """Return the contract of the stack's output `contract`. Raises ContractError."""
        missing = [
            key
            for key in ("placementLabel", "placements", "pools", "snippets")
            if output.get(key) is None
        ]
        if missing:
            raise ContractError(
                f"no contract of kubeflow-spot: {', '.join(missing)} missing; give the ConfigMap"
                f" {NAMESPACE}/{NAME} or the"
                " output `contract`"
            )
        return cls(
            placement_label=output["placementLabel"],
            placements=tuple(output["placements"]),
            pools=tuple(_pool(item) for item in output["pools"]),
            snippets={name: _lines(part) for name, part in output["snippets"].items()},
        )

    def lines(self, placement: str, *, gpu: bool = True) -> Lines:
        """Return the lines for `prefer-spot`, `require-spot` or `on-demand`, of a pod with or
        without GPUs. Raises ContractError.

        A pod without GPUs that is to stay on demand needs none.
        """
        if placement == "on-demand" and not gpu:
            return Lines()
        return self._snippet(f"{'gpu' if gpu else 'cpu'}-{placement}")

    def pool_lines(self, label: str) -> Lines:
        """Return the lines for one pool alone, by its label. Raises ContractError."""
        return self._snippet(f"pool-{label}")

    def labels(self, placement: str) -> dict[str, str]:
        """Return the label that chooses a placement, where the cluster heeds it.

        Raises ContractError.
        """
        if placement not in self.placements:
            known = (
                ", ".join(self.placements)
                or "none (Kubernetes 1.36 is the first with a placement policy)"
            )
            raise ContractError(
                f"this cluster does not heed {self.placement_label}={placement}; it heeds: {known}"
            )
        return {self.placement_label: placement}

    def pools_for(self, requests: Mapping[str, str], capacity: str | None = None) -> list[Pool]:
        """Return the pools whose empty nodes have room for a pod with these requests, of one
        capacity or of both.

        A pod that asks for more than `largestRequest` and less than the machine costs money on AKS
        and never runs (docs/placement.md). Raises ValueError for what is no quantity.
        """
        gpus = amount(requests.get("nvidia.com/gpu", "0"))
        return [
            pool
            for pool in self.pools
            if pool.fits(requests)
            and pool.gpus >= gpus
            and (capacity is None or pool.capacity == capacity)
        ]

    def _snippet(self, name: str) -> Lines:
        if name not in self.snippets:
            raise ContractError(
                f"no pool of this cluster is for {name}; there is:"
                f" {', '.join(sorted(self.snippets))}"
            )
        return self.snippets[name]


def _pool(item: Mapping[str, Any]) -> Pool:
    return Pool(
        name=item["name"],
        label=item["label"],
        capacity=item["capacity"],
        # Outputs of the engine are floats.
        gpus=int(item.get("gpus") or 0),
        accelerator=item.get("accelerator", ""),
        largest_request=dict(item.get("largestRequest") or {}),
    )


def _lines(part: Mapping[str, Any]) -> Lines:
    return Lines(
        tolerations=tuple(dict(toleration) for toleration in part.get("tolerations", ())),
        node_selector=dict(part.get("nodeSelector", {})),
        node_affinity=dict(part.get("affinity", {}).get("nodeAffinity", {})),
    )
