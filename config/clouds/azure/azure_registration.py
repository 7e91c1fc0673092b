"""The registration of AKS."""

from __future__ import annotations

from config.clouds import tables
from config.clouds.azure.azure_autoscaler import AzurePins
from config.clouds.azure.azure_pool import AksNodes, AksPool
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_traits import Aks
from config.clouds.registry import Registration

REGISTRATION = Registration(
    provider="azure",
    settings=Azure,
    traits=Aks(),
    rules="config.clouds.azure.rules",
    pool_keys=AksPool,
    system_pool_keys=AksNodes,
    machine_form=r"(?i)(standard|basic)_.+",
    pins=AzurePins,
    also_called=("aks", "azurerm", "azure-native", "microsoft"),
    foreign_keys=lambda: tables.read_foreign_keys(__file__),
    examples={
        "cloud": "{provider: azure, location: westeurope}",
        "systemPool": "{machine: Standard_D4ds_v5, maxNodes: 4}",
        "pools": "[{name: t4, machine: Standard_NC4as_T4_v3, capacity: spot, maxNodes: 8}]",
        "imagePullSecrets": "[{name: acr-auth, server: example.azurecr.io, username: ..., password: ...}]",
    },
)
