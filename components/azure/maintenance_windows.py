"""The weekly windows of a new cluster's upgrades."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import containerservice

from components.azure import azure_profiles
from components.azure.placed import Placed
from config.clouds.azure.azure_upgrades import AzureUpgrades


def declare_windows(
    name: str,
    upgrades: AzureUpgrades,
    cluster: containerservice.ManagedCluster,
    placed: Placed,
    parent: pulumi.Resource,
) -> None:
    """Declare the windows that the stack file has."""
    windows = {
        "aksManagedAutoUpgradeSchedule": upgrades.cluster_window,
        "aksManagedNodeOSUpgradeSchedule": upgrades.node_os_window,
    }
    for config, window in windows.items():
        if window:
            containerservice.MaintenanceConfiguration(
                f"{name}-{config}",
                config_name=config,
                resource_group_name=placed.resource_group,
                resource_name_=cluster.name,
                maintenance_window=azure_profiles.maintenance_window(window),
                opts=pulumi.ResourceOptions(parent=parent, deleted_with=cluster),
            )
