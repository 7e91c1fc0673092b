"""The program on stacks of a system pool and one user pool, each with some settings of `cloud`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.tests.azure.conftest import CLUSTER
from tests.components.emulated import EmulatedAzure
from tests.components.google import written_stack
from tests.components.program import Declared, declare

Settings = dict[str, Any]

ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"

NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"

ID = "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/shared/providers"

FULL = written_stack("azure-full")

GUID = "22222222-2222-4222-8222-222222222222"


def plain(cloud: Settings, **changes: Settings) -> Settings:
    """Return a stack of a system pool and one user pool."""
    return {
        "kubeflow-spot:release": "r2026-11",
        "kubeflow-spot:cluster": {"name": "lab", **changes.get("cluster", {})},
        "kubeflow-spot:cloud": {"provider": "azure", "location": "westeurope", **cloud},
        "kubeflow-spot:systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 3, **changes.get("systemPool", {})},
        "kubeflow-spot:pools": [
            {"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 2, **changes.get("pool", {})}
        ],
    }


class Azure:
    """The program with such a stack, on an emulated Azure that has the resources it names."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path, self._monkeypatch = tmp_path / "azure.json", monkeypatch
        self.cloud: EmulatedAzure

    def __call__(self, cloud: Settings, **changes: Settings) -> Declared:
        settings = plain(cloud, **changes)
        self.cloud = EmulatedAzure(self._path, "westeurope")
        self.cloud.seed(settings)
        return declare(settings, self._monkeypatch, cloud=self.cloud)


def inputs_of(declared: Declared, type: str) -> Settings:
    """Return the inputs of the only resource of a type."""
    (resource,) = declared.of(f"azure-native:{type}").values()
    return resource.inputs


def named(declared: Declared, type: str) -> dict[str, Settings]:
    return {name: resource.inputs for name, resource in declared.of(f"azure-native:{type}").items()}


def cluster(declared: Declared) -> Settings:
    return inputs_of(declared, "containerservice:ManagedCluster")


def grants(declared: Declared) -> set[tuple[str, str]]:
    """Return role and scope of every assignment."""
    assignments = named(declared, "authorization:RoleAssignment").values()
    return {(grant["roleDefinitionId"].rpartition("/")[2], grant["scope"]) for grant in assignments}


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
