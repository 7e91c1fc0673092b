"""An existing AKS cluster, charmed-kubeflow, and a stack that adds pools to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.tests.azure.conftest import CLUSTER
from tests.components.emulated import EmulatedAzure
from tests.components.program import Declared

SPOTPOOL: dict[str, Any] = {
    "name": "spotpool",
    "machine": "Standard_NC4as_T4_v3",
    "capacity": "spot",
    "maxNodes": 4,
    "fallback": [{"onDemand": {"maxNodes": 1}}],
}

AKS = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cloud": {
        "provider": "azure",
        "existingCluster": {"resourceGroup": "charmed", "name": "charmed-kubeflow"},
    },
    "kubeflow-spot:pools": [SPOTPOOL],
}

Run = Callable[..., Declared]


def make_cluster(azure: EmulatedAzure, **inputs: Any) -> None:
    agentpool = {"name": "agentpool", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
    azure.make(
        CLUSTER,
        {
            "resourceGroupName": "charmed",
            "resourceName": "charmed-kubeflow",
            "dnsPrefix": "charmed",
            "kubernetesVersion": "1.35",
            "identity": {"type": "SystemAssigned"},
            "autoScalerProfile": {"expander": "priority"},
            "agentPoolProfiles": [{**agentpool, "type": "VirtualMachineScaleSets"}],
            **inputs,
        },
    )


def with_(settings: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {**settings, **{f"kubeflow-spot:{key}": value for key, value in top.items()}}
