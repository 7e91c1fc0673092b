"""Most GPUs that the pods of a Kubeflow profile may ask for together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from components.addons import names
from components.addons.manifest import Manifest
from components.addons.part import Inside, Part
from config.model.scheduling import Profile
from config.placement.node_pools import GPU_TAINT

ROLE = "gpus"

RESOURCE = f"requests.{GPU_TAINT.key}"
"""Of an extended resource only requests can be limited; a pod's limits are the same (page resource-quotas)."""


def quotas(profiles: Sequence[Profile], instance: str) -> Iterator[dict[str, Any]]:
    """A ResourceQuota for each profile with a limit.

    Kubernetes cannot limit by where a pod runs: a quota counts all GPUs of the namespace, those on spot and those of
    pending pods too. It counts what pods ask for, so a MIG instance or a share of a GPU is one. Pods without GPUs are not
    touched: unlike CPU and memory, an extended resource under quota need not be asked for
    (kubernetes.io/docs/concepts/policy/resource-quotas).
    """
    for profile in profiles:
        if profile.gpus is not None:
            metadata = {
                "name": names.object_name(instance, ROLE),
                "namespace": profile.namespace,
                "labels": names.labels(instance),
            }
            hard = {RESOURCE: str(profile.gpus)}
            yield {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}


class Quotas(Part):
    """One ResourceQuota a namespace. The namespaces are there already."""

    def __init__(
        self,
        name: str,
        profiles: Sequence[Profile],
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:Quotas", name, inside)
        for quota in quotas(profiles, self.instance):
            Manifest(
                f"{name}-{quota['metadata']['namespace']}",
                quota,
                self.child,
            )
        self.register_outputs({})
