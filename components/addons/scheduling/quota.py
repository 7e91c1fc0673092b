"""ResourceQuotas: the most GPUs that the pods of a Kubeflow profile may ask for together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from components.addons import names
from components.addons.manifest import Manifest
from components.addons.part import Inside, Part
from config.model.scheduling import Profile
from config.placement.node_pools import GPU_TAINT

ROLE = "gpus"

RESOURCE = f"requests.{GPU_TAINT.key}"
"""Only requests of an extended resource can be limited; a pod's limits are equal to them (page resource-quotas)."""

DEVICE_CLASSES = ("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com")
"""Device classes of NVIDIA's driver for dynamic resource allocation (kubernetes-sigs/dra-driver-nvidia-gpu, chart)."""


def counted(device_classes: Iterable[str]) -> list[str]:
    """The names under which Kubernetes counts GPUs, each for itself: see `quotas`.

    A class is counted under its own name for claims and for extended resources that a driver serves, and a pod may also ask for its
    implicit extended resource (kubernetes.io/docs/concepts/policy/resource-quotas, "Quota for DRA resource claims"; since 1.34).
    """
    classes = sorted({*DEVICE_CLASSES, *device_classes})
    return [
        RESOURCE,
        *(f"{name}.deviceclass.resource.k8s.io/devices" for name in classes),
        *(f"requests.deviceclass.resource.kubernetes.io/{name}" for name in classes),
    ]


def quotas(profiles: Sequence[Profile], instance: str, device_classes: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A ResourceQuota for each profile with a limit, which holds for each way to ask for a GPU.

    Kubernetes cannot limit by node: a quota counts all GPUs of the namespace, those on spot and those of
    pending pods too. It counts requested units, so a MIG instance or a share of a GPU is one. Pods without GPUs are
    unaffected: unlike CPU and memory, an extended resource under quota need not be requested
    (kubernetes.io/docs/concepts/policy/resource-quotas).
    """
    for profile in profiles:
        if profile.gpus is not None:
            metadata = {
                "name": names.object_name(instance, ROLE),
                "namespace": profile.namespace,
                "labels": names.labels(instance),
            }
            hard = dict.fromkeys(counted(device_classes), str(profile.gpus))
            yield {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}


class Quotas(Part):
    """One ResourceQuota a namespace. The namespaces must exist."""

    def __init__(
        self,
        name: str,
        profiles: Sequence[Profile],
        inside: Inside,
        device_classes: Sequence[str] = (),
    ) -> None:
        super().__init__("kubeflow-spot:addons:Quotas", name, inside)
        for quota in quotas(profiles, self.instance, device_classes):
            Manifest(
                f"{name}-{quota['metadata']['namespace']}",
                quota,
                self.child,
            )
        self.register_outputs({})
