"""Values of a stack for the kustomize components in `kubeflow/`: what the manifests of Kubeflow cannot know of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from config.clouds.traits import Cloud
from config.model.cloud import CloudSettings
from config.model.scheduling import Placement
from config.placement.contract import snippets
from config.placement.node_pools import PREFIX, NodePool

_TITLE = "GPU on an on-demand machine"
_LOCAL = {"config.kubernetes.io/local-config": "true"}
"""Kustomize reads an object with this annotation and leaves it out of what it builds (kustomize, page annotations)."""


def values(
    pools: Iterable[NodePool],
    cloud: Cloud,
    settings: CloudSettings | None,
    of: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The object that `kubeflow/values` holds, as kustomize reads it.

    `spawner` are two fields of the form for notebooks (spawner_ui_config.yaml of kubeflow/manifests 26.03,
    applications/jupyter/jupyter-web-app). Their one option is the contract's `gpu-on-demand`; none where the stack has no on-demand
    GPUs. `disk` is what `workloads.storageClass` makes as well, `workspaceDisk` is for notebooks; both are left out where the cloud
    is unknown. `of` becomes annotations, by which users see whose values a file holds.
    """
    key = f"gpu-{Placement.ON_DEMAND}"
    lines = snippets(pools).get(key)
    affinity, tolerations = [], []
    if lines:
        affinity = [{"configKey": key, "displayName": _TITLE, "affinity": lines["affinity"]}]
        tolerations = [
            {"groupKey": key, "displayName": _TITLE, "tolerations": lines["tolerations"]}
        ]
    disks = {
        "disk": cloud.durable_disks(settings),
        "workspaceDisk": cloud.workspace_disks(settings),
    }
    whose = {f"{PREFIX}/{key}": value for key, value in (of or {}).items()}
    return {
        "apiVersion": f"{PREFIX}/v1",
        "kind": "KubeflowValues",
        "metadata": {"name": "values", "annotations": {**_LOCAL, **whose}},
        **{
            key: {"provisioner": disk[0], "parameters": dict(disk[1])}
            for key, disk in disks.items()
            if disk
        },
        "spawner": {"affinityConfig": _field(affinity), "tolerationGroup": _field(tolerations)},
    }


def _field(options: list[dict[str, Any]]) -> dict[str, Any]:
    """A field of the form in which nothing is chosen at first."""
    return {"readOnly": False, "value": "", "options": options}
