"""Node objects, as far as all clouds' are alike."""

from collections.abc import Mapping
from typing import Any

KUBELET = "kubeflow-spot.dev/kubelet"
"""An annotation of the sandbox: with the value `silent` nothing reports for the node's kubelet."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def silent() -> dict[str, str]:
    """The annotation of a node whose kubelet is silent."""
    return {KUBELET: "silent"}


def is_silent(node: Mapping[str, Any]) -> bool:
    return (node["metadata"].get("annotations") or {}).get(KUBELET) == "silent"


def base36(number: int, digits: int) -> str:
    """The last digits of a number to base 36, the highest first."""
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text


def well_known_labels(name: str, machine: str, architecture: str, region: str, zone: str) -> dict[str, str]:
    """The labels that Kubernetes itself names (kubernetes.io, page labels-annotations-taints)."""
    return {
        "beta.kubernetes.io/arch": architecture,
        "beta.kubernetes.io/instance-type": machine,
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }


def resources(
    vcpus: int, memory_ki: int, disk_ki: int, pods: int, *, kept_cpu: int, kept_memory_ki: int, free_disk: int
) -> dict[str, dict[str, str]]:
    """Capacity and allocatable of a machine: kept CPU in millicores, the disk that is free for pods in bytes."""
    shared = {"pods": str(pods), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    return {
        "capacity": {"cpu": str(vcpus), "memory": f"{memory_ki}Ki", "ephemeral-storage": f"{disk_ki}Ki", **shared},
        "allocatable": {
            "cpu": f"{vcpus * 1000 - kept_cpu}m",
            "memory": f"{memory_ki - kept_memory_ki}Ki",
            "ephemeral-storage": str(free_disk),
            **shared,
        },
    }


def node(
    name: str, labels: Mapping[str, str], provider_id: str, taints: list[dict[str, str]], status: Mapping[str, Any]
) -> dict[str, Any]:
    """A Node as it registers: a device plugin is yet to report its GPUs."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"providerID": provider_id, **({"taints": taints} if taints else {})},
        "status": dict(status),
    }
