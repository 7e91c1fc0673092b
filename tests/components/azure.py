"""Stacks on AKS for tests: one with every setting of Azure, and one whose API server is private."""

from __future__ import annotations

import copy
from typing import Any

ID = "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/shared/providers"

FULL: dict[str, Any] = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cluster": {"name": "lab", "tags": {"team": "ml"}},
    "kubeflow-spot:cloud": {
        "provider": "azure",
        "location": "westeurope",
        "resourceGroup": "group",
        "tier": "Premium",
        "longTermSupport": True,
        "network": {
            "subnets": {"gpu": "10.8.32.0/20"},
            "outboundType": "userAssignedNATGateway",
            "dataplane": "cilium",
            "policy": "cilium",
        },
        "access": {
            "authorizedRanges": ["20.61.10.0/28"],
            "adminGroups": ["22222222-2222-4222-8222-222222222222"],
            "tenantId": "33333333-3333-4333-8333-333333333333",
            "azureRbac": True,
            "localAccounts": False,
            "runCommand": False,
        },
        "upgrades": {
            "channel": "patch",
            "nodeOsChannel": "SecurityPatch",
            "clusterWindow": {"day": "Sunday", "startTime": "02:00", "durationHours": 6, "everyWeeks": 2},
            "nodeOsWindow": {"day": "Saturday", "startTime": "22:30", "utcOffset": "+01:00"},
        },
        "registry": {"id": f"{ID}/Microsoft.ContainerRegistry/registries/images"},
        "ssh": {
            "username": "lab",
            "publicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck example",
        },
        "encryption": {
            "atHost": True,
            "diskEncryptionSet": f"{ID}/Microsoft.Compute/diskEncryptionSets/disks",
            "kms": {
                "keyId": "https://keys.vault.azure.net/keys/etcd/0123456789",
                "vaultId": f"{ID}/Microsoft.KeyVault/vaults/keys",
            },
        },
        "monitoring": {"logs": {"retentionDays": 90, "controlPlane": ["kube-audit-admin", "guard"]}, "metrics": {}},
        "autoscaler": {
            "expander": "priority",
            "scanInterval": "20s",
            "maxNodeProvisionTime": "12m",
            "newPodScaleUpDelay": "1s",
            "scaleDownDelayAfterAdd": "9m",
            "scaleDownDelayAfterDelete": "30s",
            "scaleDownDelayAfterFailure": "4m",
            "scaleDownUnneededTime": "8m",
            "scaleDownUnreadyTime": "21m",
            "scaleDownUtilizationThreshold": 0.4,
            "maxGracefulTerminationSec": 700,
            "maxEmptyBulkDelete": 9,
            "balanceSimilarNodeGroups": True,
            "skipNodesWithLocalStorage": True,
            "skipNodesWithSystemPods": False,
            "ignoreDaemonsetsUtilization": True,
            "daemonsetEvictionForEmptyNodes": True,
            "daemonsetEvictionForOccupiedNodes": False,
            "okTotalUnreadyCount": 4,
            "maxTotalUnreadyPercentage": 50,
        },
    },
    "kubeflow-spot:systemPool": {
        "machine": "Standard_D4ds_v5",
        "minNodes": 2,
        "maxNodes": 4,
        "criticalAddonsOnly": True,
        "maxPods": 64,
        "zones": ["1", "2"],
        "osDisk": {"type": "Ephemeral", "sizeGb": 100},
        "upgrade": {"maxSurge": "1"},
    },
    "kubeflow-spot:pools": [
        {"name": "general", "machine": "Standard_D8ds_v5", "minNodes": 1, "maxNodes": 6, "upgrade": {"maxSurge": "2"}},
        {
            "name": "a100",
            "machine": "Standard_NC24ads_A100_v4",
            "capacity": "spot",
            "spot": {"evictionPolicy": "Deallocate", "maxPrice": 1.5},
            "maxNodes": 4,
            "maxPods": 50,
            "zones": ["3"],
            "subnet": "gpu",
            "mig": "1g",
            "installDriver": False,
            "osDisk": {"type": "Managed", "sizeGb": 200},
            "fallback": [{"onDemand": {"maxNodes": 1}}],
        },
    ],
}
"""Everything that can be said of Azure and is not contradicted by something else here."""

PRIVATE = copy.deepcopy(FULL)
PRIVATE["kubeflow-spot:cloud"] |= {
    "access": {
        "private": True,
        "privateDnsZone": f"{ID}/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io",
    },
    "encryption": {},
    "monitoring": {},
    "ssh": None,
}
