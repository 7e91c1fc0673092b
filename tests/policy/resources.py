"""Resources as the rules are asked about them, each in order but for what a case changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

AGENT_POOL = "azure-native:containerservice:AgentPool"

MANAGED_CLUSTER = "azure-native:containerservice:ManagedCluster"

DEPLOYMENT = "azure-native:resources:Deployment"

NODE_POOL = "gcp:container/nodePool:NodePool"

CLUSTER = "gcp:container/cluster:Cluster"

ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"

PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"

CLUSTER_ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"

ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"

FOLDER_MEMBER = "gcp:folder/iAMMember:IAMMember"

CLUSTER_ROLE = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"

DIAGNOSTIC_SETTING = "azure-native:monitor:DiagnosticSetting"

KEY = "projects/keys/locations/europe-west4/keyRings/ml/cryptoKeys/etcd"

POD = "principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/project.svc.id.goog/subject/ns/n/sa/s"

PERSON = "principal://iam.googleapis.com/locations/global/workforcePools/people/subject/a@example.com"

TAGS = {"owner": "ml", "environment": "test"}

SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"

DIGEST = "sha256:" + "0" * 64

UNKNOWN = {"unknown": True}
"""A value that a preview does not know."""


def secret(value: Any) -> dict[str, Any]:
    """A value that the engine hides."""
    return {"secret": value}


def aks_pool(**changed: Any) -> dict[str, Any]:
    """An agent pool that keeps every rule; None takes an input away."""
    return _with(
        {
            "resourceGroupName": "group",
            "resourceName": "cluster",
            "agentPoolName": "pool",
            "mode": "User",
            "vmSize": "Standard_D8ds_v5",
            "enableAutoScaling": True,
            "count": 1,
            "minCount": 1,
            "maxCount": 4,
            "tags": TAGS,
        },
        changed,
    )


def aks(**changed: Any) -> dict[str, Any]:
    """A cluster of AKS that keeps every rule."""
    return _with(
        {
            "resourceGroupName": "group",
            "resourceName": "cluster",
            "location": "westeurope",
            "dnsPrefix": "cluster",
            "identity": {"type": "SystemAssigned"},
            "tags": TAGS,
            "disableLocalAccounts": True,
            "aadProfile": {"managed": True},
            "apiServerAccessProfile": access(),
            "networkProfile": {"networkPlugin": "azure", "networkPolicy": "calico"},
            "oidcIssuerProfile": {"enabled": True},
            "securityProfile": security(),
            "agentPoolProfiles": [system_profile()],
        },
        changed,
    )


def access(**changed: Any) -> dict[str, Any]:
    """Who reaches an API server of AKS."""
    return _with({"authorizedIPRanges": ["203.0.113.0/24"], "disableRunCommand": True}, changed)


def security(**changed: Any) -> dict[str, Any]:
    """The security profile of a cluster of AKS."""
    key = {"enabled": True, "keyId": "https://example.vault.azure.net/keys/etcd/0123456789abcdef0123456789abcdef"}
    return _with({"workloadIdentity": {"enabled": True}, "azureKeyVaultKms": key}, changed)


def diagnostics(*categories: str, uri: Any = UNKNOWN) -> dict[str, Any]:
    """The logs that Azure keeps of a resource."""
    return {"name": "logs", "resourceUri": uri, "logs": [{"category": name, "enabled": True} for name in categories]}


def system_profile(**changed: Any) -> dict[str, Any]:
    """A pool inside a cluster of AKS."""
    return _with(
        {
            "name": "system",
            "mode": "System",
            "vmSize": "Standard_D4ds_v5",
            "enableAutoScaling": True,
            "count": 2,
            "minCount": 2,
            "maxCount": 4,
        },
        changed,
    )


def deployment(*resources: Mapping[str, Any]) -> dict[str, Any]:
    """A deployment of a template to a group."""
    template = {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": list(resources),
    }
    return {
        "resourceGroupName": "group",
        "deploymentName": "pool",
        "tags": TAGS,
        "properties": {"mode": "Incremental", "template": template},
    }


def deployed(**changed: Any) -> dict[str, Any]:
    """An agent pool in a template."""
    return {
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "apiVersion": "2025-09-01",
        "name": "cluster/system",
        "properties": {key: value for key, value in system_profile(**changed).items() if key != "name"},
    }


def gke_nodes(**changed: Any) -> dict[str, Any]:
    """Settings of GKE's nodes that keep every rule."""
    return _with(
        {
            "machineType": "n2-standard-8",
            "serviceAccount": "nodes@project.iam.gserviceaccount.com",
            "oauthScopes": [CLOUD_PLATFORM],
            "resourceLabels": TAGS,
            "workloadMetadataConfig": {"mode": "GKE_METADATA"},
            "shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": True},
        },
        changed,
    )


def gke_pool(*, nodes: Mapping[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """A node pool of GKE that keeps every rule; `nodes` changes settings of its nodes."""
    return _with(
        {
            "project": "project",
            "location": "europe-west4",
            "cluster": "cluster",
            "name": "pool",
            "initialNodeCount": 0,
            "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
            "nodeConfig": gke_nodes(**(nodes or {})),
        },
        changed,
    )


def gke(**changed: Any) -> dict[str, Any]:
    """A cluster of GKE that keeps every rule."""
    return _with(
        {
            "project": "project",
            "location": "europe-west4",
            "name": "cluster",
            "removeDefaultNodePool": True,
            "initialNodeCount": 1,
            "resourceLabels": TAGS,
            "masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]},
            "privateClusterConfig": {"enablePrivateNodes": True},
            "datapathProvider": "ADVANCED_DATAPATH",
            "databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY},
            "workloadIdentityConfig": {"workloadPool": "project.svc.id.goog"},
            "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS"]},
        },
        changed,
    )


def daemon_set(
    *images: Any,
    init: Any = None,
    name: str = "agent",
    namespace: str | None = None,
    container: Mapping[str, Any] | None = None,
    **pod: Any,
) -> dict[str, Any]:
    """A workload of these images, or of one in order; `container` and further fields are of its containers and its pod."""
    labels = {"app": "agent"}
    images = images or (f"a@{DIGEST}",)
    pod["containers"] = [{"name": f"c{i}", "image": image, **(container or {})} for i, image in enumerate(images)]
    if init:
        pod["initContainers"] = [{"name": "init", "image": init}]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": _with({"name": name}, {"namespace": namespace}),
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
    }


def cluster_role(*groups: str, resources: Sequence[str] = ("*",), verbs: Sequence[str] = ("*",)) -> dict[str, Any]:
    """A ClusterRole."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "role"},
        "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
            {"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)},
        ],
    }


def cluster_role_binding(
    role: str, *subjects: Mapping[str, str], kind: str = "ClusterRoleBinding", namespace: str | None = None
) -> dict[str, Any]:
    """A ClusterRole for these subjects, in the whole cluster or, as a RoleBinding, in a namespace."""
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": _with({"name": "binding"}, {"namespace": namespace}),
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": list(subjects),
    }


def assignment(role: str, scope: Any, principal_type: str = "ServicePrincipal") -> dict[str, Any]:
    """A role of Azure's for an identity."""
    definitions = "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions"
    return {
        "principalId": UNKNOWN,
        "principalType": principal_type,
        "roleDefinitionId": f"{definitions}/{role}",
        "roleAssignmentName": "9b2e8c1e-0f6e-4d53-8f34-93a3c5b1b0aa",
        "scope": scope,
    }


def member(role: str, who: str = "serviceAccount:ci@project.iam.gserviceaccount.com") -> dict[str, Any]:
    """A role in a project of Google Cloud."""
    return {"project": "project", "role": role, "member": who}


def iam_policy(role: str, who: str) -> str:
    """All roles in something of Google Cloud's, as its resources take them."""
    return json.dumps({"bindings": [{"role": role, "members": [who]}]})


def contract(namespace: str = "kube-public", **data: Any) -> dict[str, Any]:
    """The contract of a cluster with its users' tools."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kubeflow-spot", "namespace": namespace},
        "data": data,
    }


def _with(inputs: dict[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**inputs, **changed}.items() if value is not None}


def _google_taint(key: str, value: str = "present", effect: str = "NO_SCHEDULE") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}
