"""Placement of tasks of Kubeflow Pipelines v2, by kfp-kubernetes.

Call these inside a pipeline function.

The settings reach the pod of the task alone, not the drivers beside it (kubeflow/pipelines,
backend/src/v2/driver/k8s.go).
"""

from __future__ import annotations

from typing import Any

from kubeflow_spot.contract import PREFERRED, REQUIRED, Contract, Lines
from kubeflow_spot.errors import ContractError


def place(task: Any, lines: Lines) -> Any:
    """Put the lines on a task, a `kfp.dsl.PipelineTask`; returns it. Raises ContractError."""
    from kfp import kubernetes  # type: ignore[import-not-found, unused-ignore]

    present = task.platform_config.get("kubernetes", {})
    tolerated = {toleration.get("key") for toleration in present.get("tolerations", ())}
    for toleration in lines.tolerations:
        if toleration["key"] not in tolerated:
            kubernetes.add_toleration(
                task,
                key=toleration["key"],
                operator=toleration["operator"],
                value=toleration.get("value"),
                effect=toleration.get("effect"),
            )
    for key, value in lines.node_selector.items():
        kubernetes.add_node_selector(task, label_key=key, label_value=value)
    required = lines.node_affinity.get(REQUIRED, {}).get("nodeSelectorTerms", ())
    if required and any("weight" not in term for term in present.get("nodeAffinity", ())):
        # The driver makes a term of each call, and of required terms one is enough.
        raise ContractError(
            f"task {task.name} requires nodes already: a second requirement would let it choose"
            " one of the two"
        )
    for term in required:
        kubernetes.add_node_affinity(task, match_expressions=term["matchExpressions"])
    for term in lines.node_affinity.get(PREFERRED, ()):
        kubernetes.add_node_affinity(
            task, match_expressions=term["preference"]["matchExpressions"], weight=term["weight"]
        )
    return task


def label(task: Any, contract: Contract, placement: str) -> Any:
    """Let the cluster's policy place a task: `prefer-spot`, `require-spot` or `on-demand`; returns
    it. Raises ContractError."""
    from kfp import kubernetes  # type: ignore[import-not-found, unused-ignore]

    for key, value in contract.labels(placement).items():
        kubernetes.add_pod_label(task, key, value)
    return task


def gpus(task: Any, count: int = 1) -> Any:
    """Let a task ask for whole NVIDIA GPUs; returns it.

    A limit without a type is not sent to Kubernetes at all.
    """
    return task.set_accelerator_type("nvidia.com/gpu").set_accelerator_limit(count)


def find_driver(task: Any) -> Any:
    """Let a task whose image is not built on CUDA's find the GPU driver's libraries on GKE; returns
    it.

    GKE mounts them at /usr/local/nvidia/lib64, where the loader of a slim image does not look;
    elsewhere the variable does no harm. Not for images on CUDA's: they have set it, to more folders
    than this.
    """
    return task.set_env_variable("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64")


def retry(task: Any, times: int = 5, minutes: int = 5) -> Any:
    """Retry a task after a constant pause, in which a node can start; returns it.

    For work that ends within an hour: Argo gives up when the next pause would pass an hour from the
    first start. kfp's own factor of 2 makes pauses of 5, 10 and 20 minutes, and gives up at the one
    of 40. A pod that is lost with its node is retried only with the component `retry` over
    Kubeflow's manifests: docs/workloads.md.
    """
    return task.set_retry(num_retries=times, backoff_duration=f"{minutes}m", backoff_factor=1)
