"""AKS, as the registry has it."""

from __future__ import annotations

from config.clouds.azure.settings import Azure, AzurePins
from config.clouds.azure.traits import aks
from config.clouds.registry import Registration

REGISTRATION = Registration(
    provider="azure",
    settings=Azure,
    traits=aks,
    rules="config.clouds.azure.rules",
    machine_form=r"(?i)(standard|basic)_.+",
    pins=AzurePins,
    examples={
        "cloud": "{provider: azure, location: westeurope}",
        "systemPool": "{machine: Standard_D4ds_v5, maxNodes: 4}",
        "pools": "[{name: t4, machine: Standard_NC4as_T4_v3, capacity: spot, maxNodes: 8}]",
        "imagePullSecrets": "[{name: acr-auth, server: example.azurecr.io, username: ..., password: ...}]",
    },
)
