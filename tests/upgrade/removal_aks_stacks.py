"""Stack files on AKS that set every optional key, for the cases of `removal_aks`."""

from __future__ import annotations

from typing import Any

from tests.components import azure
from tests.components.azure import ID
from tests.upgrade import removal_queueing
from tests.upgrade.case import Config
from tests.upgrade.removal_workloads import AKS_STACKS

PLACE = {"provider": "azure", "location": "westeurope"}
GROUP = "22222222-2222-4222-8222-222222222222"
SYSTEM: dict[str, Any] = {"machine": "Standard_D4ds_v5", "maxNodes": 4}
ALL_NODES = {
    "zones": ["1"],
    "osDisk": {"type": "Managed", "sizeGb": 200},
    "maxPods": 64,
    "subnet": "more",
}
T4 = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 4}

FULL: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab", "tags": {"team": "ml"}, "protect": True, "removedPools": ["old"]},
    "cloud": {
        **PLACE,
        "resourceGroup": "group",
        "tier": "Premium",
        "longTermSupport": True,
        "network": {
            "addressSpace": "10.8.0.0/15",
            "nodeSubnet": "10.9.0.0/20",
            "subnets": {"more": "10.8.32.0/20", "idle": "10.8.64.0/20"},
            "podCidr": "10.200.0.0/16",
            "serviceCidr": "10.1.0.0/16",
            "outboundType": "userAssignedNATGateway",
            "dataplane": "cilium",
            "policy": "cilium",
        },
        "access": {
            "authorizedRanges": ["20.61.10.0/28"],
            "adminGroups": [GROUP],
            "tenantId": "33333333-3333-4333-8333-333333333333",
            "azureRbac": True,
            "localAccounts": False,
            "runCommand": False,
        },
        "upgrades": {
            "channel": "patch",
            "nodeOsChannel": "SecurityPatch",
            "clusterWindow": {
                "day": "Sunday",
                "startTime": "02:00",
                "durationHours": 6,
                "utcOffset": "+01:00",
                "everyWeeks": 2,
            },
            "nodeOsWindow": {
                "day": "Sunday",
                "startTime": "02:00",
                "durationHours": 6,
                "utcOffset": "+01:00",
                "everyWeeks": 2,
            },
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
        "monitoring": {
            "logs": {"retentionDays": 90, "controlPlane": ["kube-audit-admin", "guard"]},
            "metrics": {},
        },
        "autoscaler": {
            **azure.FULL["kubeflow-spot:cloud"]["autoscaler"],
            "expander": "least-waste",
            "okTotalUnreadyCount": 40,
            "maxTotalUnreadyPercentage": 90,
        },
    },
    "systemPool": {
        **SYSTEM,
        **ALL_NODES,
        "name": "base",
        "minNodes": 3,
        "criticalAddonsOnly": True,
        "upgrade": {"maxSurge": "2"},
        "azure": {"secureBoot": True, "vtpm": True},
    },
    "pools": [
        {
            **ALL_NODES,
            "name": "general",
            "machine": "Standard_D8ds_v5",
            "minNodes": 2,
            "maxNodes": 6,
            "labels": {"tier": "batch"},
            "taints": [{"key": "team", "value": "vision", "effect": "NoExecute"}],
            "upgrade": {"maxSurge": "2"},
            "azure": {"secureBoot": True, "vtpm": True},
        },
        {
            "name": "plain",
            "machine": "Standard_D8ds_v5",
            "maxNodes": 3,
            "upgrade": {"maxUnavailable": "2"},
            "reservation": f"{ID}/Microsoft.Compute/capacityReservationGroups/cpus",
            "generation": "b",
        },
        {
            **ALL_NODES,
            "name": "spot",
            "machine": "Standard_NC4as_T4_v3",
            "capacity": "spot",
            "minNodes": 1,
            "maxNodes": 4,
            "spot": {"evictionPolicy": "Deallocate", "maxPrice": 1.5},
            "azure": {"vtpm": True},
        },
        {
            **T4,
            "maxPods": 64,
            "generation": "b",
            "fallback": [{"pool": "t4big"}, {"onDemand": {"maxNodes": 2, "name": "t4more"}}],
            "gpuSharing": {"strategy": "time-slicing", "replicas": 4},
        },
        {**T4, "name": "t4big", "machine": "Standard_NC8as_T4_v3", "installDriver": False},
        {"name": "a100", "machine": "Standard_NC24ads_A100_v4", "capacity": "spot", "maxNodes": 2, "mig": "1g"},
        {
            "name": "strange",
            "machine": "Standard_NC64as_T4_v3",
            "capacity": "spot",
            "maxNodes": 2,
            "gpus": 4,
            "gpuModel": "nvidia-t4",
        },
    ],
}
SMALL: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab", "kubernetesVersion": "1.35", "reason": "an add-on is not ready for 1.36"},
    "cloud": {
        **PLACE,
        "existingResourceGroup": "theirs",
        "network": {"existing": {"resourceGroup": "net", "name": "corp", "subnet": "nodes"}},
        "access": {"private": True, "privateDnsZone": "none"},
        "monitoring": {
            "logs": {"workspace": f"{ID}/Microsoft.OperationalInsights/workspaces/logs"},
            "metrics": {"workspace": f"{ID}/Microsoft.Monitor/accounts/metrics"},
        },
    },
    "systemPool": SYSTEM,
    "pools": [T4],
}
ENTRA: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab"},
    "cloud": {
        **PLACE,
        "tier": "Standard",
        "access": {"adminGroups": [GROUP]},
        "network": {"addressSpace": "10.8.0.0/15", "subnets": {"idle": "10.8.64.0/20"}, "policy": "calico"},
    },
    "systemPool": SYSTEM,
}
EXISTING: Config = {
    "release": "r2026-11",
    "cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "theirs", "name": "theirs"}},
    "pools": [T4],
}
STACKS = {"full": FULL, "small": SMALL, "entra": ENTRA, "theirs": EXISTING, **AKS_STACKS, **removal_queueing.AKS_STACKS}
