"""A cluster with node auto-provisioning, and machines as Karpenter's provider asks for them."""

from typing import Any

import pytest

from .conftest import CLUSTER_ID, Account, Props

T4 = "Standard_NC4as_T4_v3"
UNREGISTERED = "karpenter.sh/unregistered:NoExecute"
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"


def wanted(priority: str = "Spot", size: str = T4, zone: str = "1", pool: str = "t4spot") -> Props:
    """Return a machine as the provider asks for it."""
    return {
        "zones": [zone] if zone else [],
        "properties": {
            "hardware": {"vmSize": size},
            "operatingSystem": {"osType": "Linux", "osSKU": "Ubuntu2404", "osDiskType": "Managed", "osDiskSizeGB": 128},
            "kubernetes": {
                "nodeLabels": {"karpenter.sh/nodepool": pool},
                "nodeInitializationTaints": [SPOT_TAINT, UNREGISTERED],
                "maxPods": 110,
            },
            "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202605.20.0",
            "mode": "User",
            "priority": priority,
            "tags": {"karpenter.sh_nodepool": pool, "karpenter.azure.com_aksmachine_nodeclaim": f"{pool}-1"},
        },
    }


@pytest.fixture
def provisioned(account: Account) -> Account:
    """Return a subscription with a cluster `aks` that has node auto-provisioning."""
    account.cluster(
        nodeProvisioningProfile={"mode": "Auto"},
        networkProfile={"networkPlugin": "azure", "networkPluginMode": "overlay"},
    )
    return account


def put(account: Account, name: str = "t4spot-1", **changes: Any) -> Props:
    return account.cloud.put_machine(CLUSTER_ID, name, wanted(**changes))
