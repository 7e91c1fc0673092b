"""For every rule: resources that break it, by which input, and resources that keep it.

A resource that breaks a rule breaks no other. The same resources go through the rules and, in one stack, through the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.policy.resources import (
    AGENT_POOL,
    CLUSTER,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    DAEMON_SET,
    DEPLOYMENT,
    DIAGNOSTIC_SETTING,
    DIGEST,
    FOLDER_MEMBER,
    GPU_TAINT,
    MANAGED_CLUSTER,
    NODE_POOL,
    PERSON,
    POD,
    PROJECT_MEMBER,
    ROLE_ASSIGNMENT,
    ROLE_BINDING,
    SPOT_TAINT,
    TAGS,
    UNKNOWN,
    _google_taint,
    access,
    aks,
    aks_pool,
    assignment,
    cluster_role,
    cluster_role_binding,
    contract,
    daemon_set,
    deployed,
    deployment,
    diagnostics,
    gke,
    gke_nodes,
    gke_pool,
    iam_policy,
    member,
    secret,
    security,
    system_profile,
)


@dataclass(frozen=True)
class Case:
    """One resource."""

    rule: str
    what: str
    type: str
    inputs: Mapping[str, Any]
    breaks: str | None = None
    """The path that is said to break the rule; None for a resource that keeps it."""
    protect: bool = True
    emulated: bool = True
    """Whether the sandbox knows the type."""

    @property
    def engine(self) -> bool:
        """Whether the engine is asked as well; not about a resource that shows it nothing new."""
        return self.emulated and self.name not in RULES_ALONE

    @property
    def name(self) -> str:
        """The resource's."""
        return f"{self.rule}-{self.what}"

    def declared(self) -> dict[str, Any]:
        """For the program that declares it."""
        return {"type": self.type, "name": self.name, "inputs": self.inputs, "protect": self.protect}


_T4 = [{"type": "nvidia-tesla-t4", "count": 1}]
_CONTRIBUTOR, _OWNER = "b24988ac-6180-42a0-ab88-20f7382dd24c", "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
_CLUSTER_ADMIN = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"
_PLUGIN = "kubeflow-spot-dev-device-plugin"
_LOGS = "loggingConfig.enableComponents"
_SUBSCRIPTION = "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590"
_SCALED = {"totalMinNodeCount": 0, "totalMaxNodeCount": 4}
_SCALED_FAR = {"totalMinNodeCount": 0, "totalMaxNodeCount": 101}

RULES_ALONE = frozenset(
    (
        "broad-role-google-serviceAccountTokenCreator",
        "broad-role-google-projectIamAdmin",
        "broad-role-google-a-pod",
        "broad-role-azure-clusters",
        "broad-role-google-developer",
        "broad-role-google-workforce",
        "broad-role-kubernetes-masters",
        "broad-role-kubernetes-admin-of-kube-system",
        "broad-role-kubernetes-admin-of-team",
        "broad-role-kubernetes-reads",
        "host-pod-hostPID",
        "host-pod-hostIPC",
        "host-pod-folder",
        "host-pod-capability",
        "host-pod-port",
        "host-pod-elsewhere",
        "host-pod-plain",
        "host-pod-of-a-template",
        "node-metadata-open-gke-of-the-node",
        "api-server-open-gke-many-pieces",
        "api-server-open-aks-wide",
        "public-nodes-aks-deployed",
        "public-nodes-gke-private",
        "network-policy-missing-aks-none",
        "network-policy-missing-gke-calico",
        "workload-identity-missing-aks-webhook",
        "shielded-nodes-off-gke-default",
        "logs-missing-gke-of-workloads",
        "logs-missing-gke-service",
        "role-for-everybody-kubernetes-group",
        "secrets-key-missing-gke-key",
    )
)
"""Names of cases whose rule the engine meets in others of the same type."""

_ACCOUNT, _CONTAINER = "azure-native:storage:StorageAccount", "azure-native:storage:BlobContainer"
_BUCKET = "gcp:storage/bucket:Bucket"
_OPEN = ("allowBlobPublicAccess", "allowSharedKeyAccess")
_BLOBS = {"resourceGroupName": "ml", "accountName": "mlcheckpoints", "containerName": "checkpoints"}


def _account(**changes: Any) -> dict[str, Any]:
    place = {"resourceGroupName": "ml", "accountName": "mlcheckpoints", "location": "westeurope"}
    kind = {"kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}
    return {**place, **kind, **dict.fromkeys(_OPEN, False), **changes}


def _bucket(**changes: Any) -> dict[str, Any]:
    closed = {"uniformBucketLevelAccess": True, "publicAccessPrevention": "enforced"}
    return {"project": "ml-project", "location": "EUROPE-WEST4", **closed, **changes}


CASES: tuple[Case, ...] = (
    # GPU machines
    Case("gpu-pool-untainted", "aks", AGENT_POOL, aks_pool(vmSize="Standard_NC4as_T4_v3"), "nodeTaints"),
    Case(
        "gpu-pool-untainted",
        "aks-preferred",
        AGENT_POOL,
        aks_pool(
            vmSize="Standard_NC4as_T4_v3", nodeTaints=["nvidia.com/gpu=present:PreferNoSchedule", "sku=gpu:NoSchedule"]
        ),
        "nodeTaints",
    ),
    Case(
        "gpu-pool-untainted",
        "aks-inline",
        MANAGED_CLUSTER,
        aks(
            agentPoolProfiles=[
                system_profile(),
                system_profile(name="gpu", mode="User", vmSize="Standard_ND96isr_H100_v5"),
            ]
        ),
        "agentPoolProfiles[1].nodeTaints",
    ),
    Case("gpu-pool-untainted", "gke", NODE_POOL, gke_pool(nodes={"machineType": "g2-standard-8"}), "nodeConfig.taints"),
    Case(
        "gpu-pool-untainted",
        "gke-attached",
        NODE_POOL,
        gke_pool(nodes={"machineType": "n1-standard-4", "guestAccelerators": _T4, "taints": [_google_taint("team")]}),
        "nodeConfig.taints",
    ),
    Case(
        "gpu-pool-untainted", "aks-tainted", AGENT_POOL, aks_pool(vmSize="Standard_NC4as_T4_v3", nodeTaints=[GPU_TAINT])
    ),
    Case(
        "gpu-pool-untainted",
        "aks-some-unknown",
        AGENT_POOL,
        aks_pool(vmSize="Standard_NC4as_T4_v3", nodeTaints=["team=a:NoSchedule", UNKNOWN]),
    ),
    Case(
        "gpu-pool-untainted",
        "gke-inline",
        CLUSTER,
        gke(
            removeDefaultNodePool=None,
            initialNodeCount=None,
            nodePools=[{"name": "gpu", "autoscaling": _SCALED, "nodeConfig": gke_nodes(machineType="a2-highgpu-1g")}],
        ),
        "nodePools[0].nodeConfig.taints",
    ),
    Case("gpu-pool-untainted", "aks-amd", AGENT_POOL, aks_pool(vmSize="Standard_NV8as_v4")),
    Case(
        "gpu-pool-untainted",
        "gke-tainted",
        NODE_POOL,
        gke_pool(nodes={"machineType": "g2-standard-8", "taints": [_google_taint("nvidia.com/gpu")]}),
    ),
    # Spot machines
    Case("spot-pool-untainted", "aks", AGENT_POOL, aks_pool(scaleSetPriority="Spot"), "nodeTaints"),
    Case("spot-pool-untainted", "gke", NODE_POOL, gke_pool(nodes={"spot": True}), "nodeConfig.taints"),
    Case(
        "spot-pool-untainted", "gke-preemptible", NODE_POOL, gke_pool(nodes={"preemptible": True}), "nodeConfig.taints"
    ),
    Case("spot-pool-untainted", "gke-flex", NODE_POOL, gke_pool(nodes={"flexStart": True}), "nodeConfig.taints"),
    Case(
        "spot-pool-untainted",
        "gke-flex-tainted",
        NODE_POOL,
        gke_pool(nodes={"flexStart": True, "taints": [_google_taint("cloud.google.com/gke-flex-start", "true")]}),
    ),
    Case("spot-pool-untainted", "aks-tainted", AGENT_POOL, aks_pool(scaleSetPriority="Spot", nodeTaints=[SPOT_TAINT])),
    Case(
        "spot-pool-untainted",
        "gke-executed",
        NODE_POOL,
        gke_pool(nodes={"spot": True, "taints": [_google_taint("cloud.google.com/gke-spot", "true", "NO_EXECUTE")]}),
    ),
    Case("spot-pool-untainted", "aks-regular", AGENT_POOL, aks_pool(scaleSetPriority="Regular")),
    Case(
        "spot-pool-untainted",
        "gke-tainted",
        NODE_POOL,
        gke_pool(nodes={"spot": True, "taints": [_google_taint("cloud.google.com/gke-spot", "true")]}),
    ),
    Case(
        "spot-pool-untainted",
        "gke-of-a-class",
        NODE_POOL,
        gke_pool(nodes={"spot": True, "taints": [_google_taint("cloud.google.com/compute-class", "gpus")]}),
    ),
    # The cluster's own pods
    Case(
        "system-pool-on-spot",
        "aks",
        AGENT_POOL,
        aks_pool(mode="System", scaleSetPriority="Spot", nodeTaints=[SPOT_TAINT]),
        "scaleSetPriority",
    ),
    Case(
        "system-pool-on-spot",
        "aks-inline",
        MANAGED_CLUSTER,
        aks(agentPoolProfiles=[system_profile(scaleSetPriority="Spot", nodeTaints=[SPOT_TAINT])]),
        "agentPoolProfiles[0].scaleSetPriority",
    ),
    Case(
        "system-pool-on-spot",
        "gke",
        NODE_POOL,
        gke_pool(
            nodes={
                "spot": True,
                "taints": [
                    _google_taint("cloud.google.com/gke-spot", "true"),
                    _google_taint("CriticalAddonsOnly", "true"),
                ],
            }
        ),
        "nodeConfig.spot",
    ),
    Case(
        "system-pool-on-spot",
        "gke-first-pool",
        CLUSTER,
        gke(
            removeDefaultNodePool=None,
            nodeConfig=gke_nodes(preemptible=True, taints=[_google_taint("cloud.google.com/gke-preemptible", "true")]),
        ),
        "nodeConfig.preemptible",
    ),
    Case(
        "system-pool-on-spot",
        "gke-by-name",
        NODE_POOL,
        gke_pool(name="system", nodes={"spot": True, "taints": [_google_taint("cloud.google.com/gke-spot", "true")]}),
        "nodeConfig.spot",
    ),
    Case("system-pool-on-spot", "gke-first-pool-removed", CLUSTER, gke(nodeConfig={"spot": True})),
    Case("system-pool-on-spot", "aks-regular", AGENT_POOL, aks_pool(mode="System")),
    Case("system-pool-on-spot", "gke-regular", NODE_POOL, gke_pool(name="system")),
    # Bounds
    Case(
        "pool-unbounded",
        "aks-fixed-far",
        AGENT_POOL,
        aks_pool(enableAutoScaling=False, minCount=None, maxCount=None, count=101),
        "count",
    ),
    Case("pool-unbounded", "aks-far", AGENT_POOL, aks_pool(maxCount=101), "maxCount"),
    Case(
        "pool-unbounded",
        "gke-fixed-far",
        NODE_POOL,
        gke_pool(autoscaling=None, initialNodeCount=None, nodeCount=34),
        "nodeCount",
    ),
    Case("pool-unbounded", "gke-far", NODE_POOL, gke_pool(autoscaling=_SCALED_FAR), "autoscaling.totalMaxNodeCount"),
    Case(
        "pool-unbounded",
        "gke-far-in-three-zones",
        NODE_POOL,
        gke_pool(autoscaling={"minNodeCount": 0, "maxNodeCount": 34}),
        "autoscaling.maxNodeCount",
    ),
    Case(
        "pool-unbounded",
        "aks-deployed-far",
        DEPLOYMENT,
        deployment({"type": "Microsoft.Storage/storageAccounts", "name": "a"}, deployed(maxCount=101)),
        "properties.template.resources[1].properties.maxCount",
    ),
    Case("pool-unbounded", "aks-deployed-near", DEPLOYMENT, deployment(deployed(maxCount=100))),
    Case("pool-unbounded", "aks-endless", AGENT_POOL, aks_pool(maxCount=None), "maxCount"),
    Case(
        "pool-unbounded",
        "gke-endless",
        NODE_POOL,
        gke_pool(autoscaling={"totalMinNodeCount": 0, "totalMaxNodeCount": 0}),
        "autoscaling.maxNodeCount",
    ),
    Case("pool-unbounded", "aks-near", AGENT_POOL, aks_pool(maxCount=100)),
    Case("pool-unbounded", "aks-fixed", AGENT_POOL, aks_pool(enableAutoScaling=None, minCount=None, maxCount=None)),
    Case("pool-unbounded", "gke-fixed", NODE_POOL, gke_pool(autoscaling=None, initialNodeCount=3)),
    Case("pool-unbounded", "aks-unknown", AGENT_POOL, aks_pool(maxCount=UNKNOWN)),
    Case("pool-unbounded", "gke-near", NODE_POOL, gke_pool(autoscaling={"minNodeCount": 0, "maxNodeCount": 33})),
    # Rights
    Case("broad-role", "azure", ROLE_ASSIGNMENT, assignment(_CONTRIBUTOR, _SUBSCRIPTION), "roleDefinitionId"),
    Case(
        "broad-role",
        "azure-group",
        ROLE_ASSIGNMENT,
        assignment(_OWNER, f"{_SUBSCRIPTION}/resourceGroups/g"),
        "roleDefinitionId",
    ),
    Case(
        "broad-role",
        "azure-management-group",
        ROLE_ASSIGNMENT,
        assignment(_OWNER, "/providers/Microsoft.Management/managementGroups/all"),
        "roleDefinitionId",
    ),
    Case("broad-role", "azure-tenant", ROLE_ASSIGNMENT, assignment(_OWNER, "/"), "roleDefinitionId"),
    Case(
        "role-for-everybody",
        "google-binding",
        "gcp:projects/iAMBinding:IAMBinding",
        {"project": "project", "role": "roles/owner", "members": ["user:a@example.com", "allAuthenticatedUsers"]},
        "members",
        emulated=False,
    ),
    Case(
        "broad-role",
        "google",
        PROJECT_MEMBER,
        {
            "project": "project",
            "role": "roles/editor",
            "member": "serviceAccount:nodes@project.iam.gserviceaccount.com",
        },
        "role",
    ),
    Case(
        "broad-role",
        "google-default-account",
        NODE_POOL,
        gke_pool(nodes={"serviceAccount": None}),
        "nodeConfig.serviceAccount",
    ),
    Case(
        "broad-role",
        "google-default-account-inline",
        CLUSTER,
        gke(
            removeDefaultNodePool=None,
            initialNodeCount=None,
            nodePools=[{"name": "pool", "autoscaling": _SCALED, "nodeConfig": gke_nodes(serviceAccount=None)}],
        ),
        "nodePools[0].nodeConfig.serviceAccount",
    ),
    Case(
        "broad-role",
        "google-default-account-first-pool",
        CLUSTER,
        gke(removeDefaultNodePool=None, nodeConfig=gke_nodes(serviceAccount=None)),
        "nodeConfig.serviceAccount",
    ),
    Case(
        "broad-role",
        "kubernetes",
        CLUSTER_ROLE_BINDING,
        cluster_role_binding(
            "cluster-admin",
            {"kind": "Group", "name": "admins"},
            {"kind": "ServiceAccount", "name": "default", "namespace": "kubeflow"},
        ),
        "subjects[1]",
    ),
    Case(
        "role-for-everybody",
        "kubernetes",
        CLUSTER_ROLE_BINDING,
        cluster_role_binding("cluster-admin", {"kind": "Group", "name": "system:authenticated"}),
        "subjects[0]",
    ),
    Case(
        "broad-role",
        "azure-narrow",
        ROLE_ASSIGNMENT,
        assignment(_CONTRIBUTOR, f"{_SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n"),
    ),
    Case("broad-role", "azure-people", ROLE_ASSIGNMENT, assignment(_OWNER, _SUBSCRIPTION, "Group")),
    Case("broad-role", "azure-unknown", ROLE_ASSIGNMENT, assignment(_OWNER, UNKNOWN)),
    Case(
        "broad-role",
        "google-unknown",
        PROJECT_MEMBER,
        {"project": "project", "role": "roles/owner", "member": UNKNOWN},
    ),
    Case(
        "broad-role",
        "google-narrow",
        PROJECT_MEMBER,
        {"project": "project", "role": "roles/container.defaultNodeServiceAccount", "member": UNKNOWN},
    ),
    Case(
        "broad-role",
        "google-people",
        PROJECT_MEMBER,
        {"project": "project", "role": "roles/editor", "member": "group:admins@example.com"},
    ),
    Case(
        "broad-role",
        "kubernetes-people",
        CLUSTER_ROLE_BINDING,
        cluster_role_binding("cluster-admin", {"kind": "Group", "name": "admins"}),
    ),
    Case(
        "broad-role",
        "kubernetes-narrow",
        CLUSTER_ROLE_BINDING,
        cluster_role_binding("view", {"kind": "Group", "name": "system:serviceaccounts"}),
    ),
    # Images
    Case(
        "image-without-digest",
        "tag",
        DAEMON_SET,
        daemon_set(f"a@{DIGEST}", "b:1"),
        "spec.template.spec.containers[1].image",
    ),
    Case(
        "image-without-digest",
        "init",
        DAEMON_SET,
        daemon_set(f"a:1@{DIGEST}", init="registry.example.com:5000/b"),
        "spec.template.spec.initContainers[0].image",
    ),
    Case(
        "image-without-digest",
        "hidden",
        DAEMON_SET,
        daemon_set(secret("b:1")),
        "spec.template.spec.containers[0].image",
    ),
    Case("image-without-digest", "digest", DAEMON_SET, daemon_set(f"a:1@{DIGEST}", init=f"b@{DIGEST}")),
    Case("image-without-digest", "unknown", DAEMON_SET, daemon_set(UNKNOWN)),
    # Tags
    Case("owner-missing", "aks", AGENT_POOL, aks_pool(tags={"environment": "test"}), "tags"),
    Case("owner-missing", "aks-cluster", MANAGED_CLUSTER, aks(tags=None), "tags"),
    Case("owner-missing", "gke", NODE_POOL, gke_pool(nodes={"resourceLabels": None}), "nodeConfig.resourceLabels"),
    Case("owner-missing", "gke-cluster", CLUSTER, gke(resourceLabels={"owner": "ml"}), "resourceLabels"),
    Case("owner-missing", "aks-empty", AGENT_POOL, aks_pool(tags={**TAGS, "owner": ""}), "tags"),
    Case("owner-missing", "aks-case", AGENT_POOL, aks_pool(tags={"Owner": "ml", "Environment": UNKNOWN})),
    Case("owner-missing", "gke-labels", NODE_POOL, gke_pool()),
    # Production: protection
    Case("cluster-unprotected", "aks", MANAGED_CLUSTER, aks(), "protect", protect=False),
    Case("cluster-unprotected", "gke", CLUSTER, gke(), "protect", protect=False),
    Case("cluster-unprotected", "aks-protected", MANAGED_CLUSTER, aks()),
    Case("cluster-unprotected", "gke-protected", CLUSTER, gke()),
    Case("cluster-unprotected", "a-pool", AGENT_POOL, aks_pool(), protect=False),
    # Production: who reaches the API server
    Case(
        "api-server-open",
        "aks",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(authorizedIPRanges=None)),
        "apiServerAccessProfile.authorizedIPRanges",
    ),
    Case(
        "api-server-open",
        "aks-everybody",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(authorizedIPRanges=["203.0.113.0/24", "0.0.0.0/0"])),
        "apiServerAccessProfile.authorizedIPRanges",
    ),
    Case("api-server-open", "gke", CLUSTER, gke(masterAuthorizedNetworksConfig=None), "masterAuthorizedNetworksConfig"),
    Case(
        "api-server-open",
        "gke-everybody",
        CLUSTER,
        gke(masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]}),
        "masterAuthorizedNetworksConfig.cidrBlocks",
    ),
    Case(
        "api-server-open",
        "gke-every-customer",
        CLUSTER,
        gke(masterAuthorizedNetworksConfig={"cidrBlocks": [], "gcpPublicCidrsAccessEnabled": True}),
        "masterAuthorizedNetworksConfig.gcpPublicCidrsAccessEnabled",
    ),
    Case("api-server-open", "aks-ranges", MANAGED_CLUSTER, aks()),
    Case(
        "api-server-open",
        "aks-private",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(authorizedIPRanges=None, enablePrivateCluster=True)),
    ),
    Case(
        "api-server-open",
        "aks-unknown",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(authorizedIPRanges=[UNKNOWN])),
    ),
    Case("api-server-open", "gke-ranges", CLUSTER, gke()),
    Case(
        "api-server-open",
        "gke-private",
        CLUSTER,
        gke(
            masterAuthorizedNetworksConfig=None,
            privateClusterConfig={"enablePrivateNodes": True, "enablePrivateEndpoint": True},
        ),
    ),
    Case(
        "api-server-open",
        "gke-by-name",
        CLUSTER,
        gke(
            masterAuthorizedNetworksConfig=None,
            controlPlaneEndpointsConfig={
                "dnsEndpointConfig": {"allowExternalTraffic": True},
                "ipEndpointsConfig": {"enabled": False},
            },
        ),
    ),
    # Production: logins
    Case("local-accounts", "aks", MANAGED_CLUSTER, aks(disableLocalAccounts=None), "disableLocalAccounts"),
    Case("local-accounts", "gke-abac", CLUSTER, gke(enableLegacyAbac=True), "enableLegacyAbac"),
    Case(
        "local-accounts",
        "gke-certificate",
        CLUSTER,
        gke(masterAuth={"clientCertificateConfig": {"issueClientCertificate": True}}),
        "masterAuth.clientCertificateConfig.issueClientCertificate",
    ),
    Case(
        "local-accounts",
        "gke-anonymous",
        CLUSTER,
        gke(anonymousAuthenticationConfig={"mode": "ENABLED"}),
        "anonymousAuthenticationConfig.mode",
    ),
    Case("local-accounts", "gke-limited", CLUSTER, gke(anonymousAuthenticationConfig={"mode": "LIMITED"})),
    Case("local-accounts", "aks-disabled", MANAGED_CLUSTER, aks()),
    Case("local-accounts", "gke-neither", CLUSTER, gke()),
    # Production: what it is made from
    Case("release-unreleased", "candidate", CONFIG_MAP, contract(release="next"), "data.release"),
    Case("release-unreleased", "released", CONFIG_MAP, contract(release="r2026-11")),
    Case("release-unreleased", "elsewhere", CONFIG_MAP, contract("team", release="next")),
    Case("release-unreleased", "unknown", CONFIG_MAP, contract(release=UNKNOWN)),
    # Rights: siblings of the basic roles
    *(
        Case("broad-role", f"google-{role.rpartition('.')[2]}", PROJECT_MEMBER, member(f"roles/{role}"), "role")
        for role in ("container.admin", "iam.serviceAccountTokenCreator", "resourcemanager.projectIamAdmin")
    ),
    Case("broad-role", "google-a-pod", PROJECT_MEMBER, member("roles/editor", POD), "role"),
    Case(
        "broad-role",
        "google-folder",
        FOLDER_MEMBER,
        {"folder": "folders/1", "role": "roles/owner", "member": "group:admins@example.com"},
        "role",
        emulated=False,
    ),
    Case(
        "broad-role",
        "google-organization",
        "gcp:organizations/iAMBinding:IAMBinding",
        {"orgId": "1", "role": "roles/owner", "members": ["user:a@example.com"]},
        "role",
        emulated=False,
    ),
    Case(
        "broad-role",
        "google-policy",
        "gcp:projects/iAMPolicy:IAMPolicy",
        {"project": "project", "policyData": iam_policy("roles/container.admin", "serviceAccount:ci@example.com")},
        "policyData",
        emulated=False,
    ),
    Case("broad-role", "google-developer", PROJECT_MEMBER, member("roles/container.developer")),
    Case("broad-role", "google-workforce", PROJECT_MEMBER, member("roles/container.admin", PERSON)),
    Case(
        "broad-role",
        "google-folder-narrow",
        FOLDER_MEMBER,
        {"folder": "folders/1", "role": "roles/browser", "member": "serviceAccount:ci@example.com"},
        emulated=False,
    ),
    Case(
        "broad-role", "azure-clusters", ROLE_ASSIGNMENT, assignment(_CLUSTER_ADMIN, _SUBSCRIPTION), "roleDefinitionId"
    ),
    Case(
        "broad-role",
        "azure-every-action",
        "azure-native:authorization:RoleDefinition",
        {"roleName": "mine", "permissions": [{"actions": ["Microsoft.Compute/*/read"]}, {"actions": ["*"]}]},
        "permissions[1].actions",
        emulated=False,
    ),
    Case("broad-role", "kubernetes-everything", CLUSTER_ROLE, cluster_role("*"), "rules[1]"),
    Case(
        "broad-role",
        "kubernetes-masters",
        ROLE_BINDING,
        cluster_role_binding("view", {"kind": "Group", "name": "system:masters"}, kind="RoleBinding"),
        "subjects[0]",
    ),
    *(
        Case(
            "broad-role",
            f"kubernetes-admin-of-{namespace}",
            ROLE_BINDING,
            cluster_role_binding(
                "cluster-admin",
                {"kind": "ServiceAccount", "name": "default", "namespace": "team"},
                kind="RoleBinding",
                namespace=namespace,
            ),
            breaks,
        )
        for namespace, breaks in (("kube-system", "subjects[0]"), ("team", None))
    ),
    Case("broad-role", "kubernetes-one-group", CLUSTER_ROLE, cluster_role("apps")),
    Case("broad-role", "kubernetes-reads", CLUSTER_ROLE, cluster_role("*", verbs=["get", "list"])),
    # Rights for everybody
    Case("role-for-everybody", "google", PROJECT_MEMBER, member("roles/browser", "allUsers"), "member"),
    Case(
        "role-for-everybody",
        "google-account",
        "gcp:serviceaccount/iAMMember:IAMMember",
        {"serviceAccountId": "s", "role": "roles/iam.serviceAccountTokenCreator", "member": "allAuthenticatedUsers"},
        "member",
        emulated=False,
    ),
    Case(
        "role-for-everybody",
        "google-policy",
        "gcp:storage/bucketIAMPolicy:BucketIAMPolicy",
        {"bucket": "b", "policyData": iam_policy("roles/storage.objectViewer", "allUsers")},
        "policyData",
        emulated=False,
    ),
    Case(
        "role-for-everybody",
        "kubernetes-anonymous",
        ROLE_BINDING,
        cluster_role_binding("view", {"kind": "User", "name": "system:anonymous"}, kind="RoleBinding"),
        "subjects[0]",
    ),
    Case(
        "role-for-everybody",
        "google-account-of-a-pod",
        "gcp:serviceaccount/iAMMember:IAMMember",
        {"serviceAccountId": "s", "role": "roles/iam.workloadIdentityUser", "member": POD},
        emulated=False,
    ),
    Case(
        "role-for-everybody",
        "kubernetes-issuer",
        CLUSTER_ROLE_BINDING,
        cluster_role_binding(
            "system:service-account-issuer-discovery", {"kind": "Group", "name": "system:unauthenticated"}
        ),
    ),
    Case(
        "role-for-everybody",
        "kubernetes-group",
        CLUSTER_ROLE_BINDING,
        cluster_role_binding("view", {"kind": "Group", "name": "data-science"}),
    ),
    # Pods on their node
    *(
        Case("host-pod", field, DAEMON_SET, daemon_set(**{field: True}), f"spec.template.spec.{field}")
        for field in ("hostNetwork", "hostPID", "hostIPC")
    ),
    Case(
        "host-pod",
        "folder",
        DAEMON_SET,
        daemon_set(volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/"}}]),
        "spec.template.spec.volumes[1].hostPath",
    ),
    Case(
        "host-pod",
        "privileged",
        DAEMON_SET,
        daemon_set(container={"securityContext": {"privileged": True}}, namespace="kube-system"),
        "spec.template.spec.containers[0].securityContext.privileged",
    ),
    Case(
        "host-pod",
        "capability",
        DAEMON_SET,
        daemon_set(container={"securityContext": {"capabilities": {"add": ["CHOWN", "SYS_ADMIN"]}}}),
        "spec.template.spec.containers[0].securityContext.capabilities.add",
    ),
    Case(
        "host-pod",
        "port",
        DAEMON_SET,
        daemon_set(container={"ports": [{"containerPort": 80, "hostPort": 80}]}),
        "spec.template.spec.containers[0].ports[0].hostPort",
    ),
    Case(
        "host-pod",
        "of-a-template",
        "kubernetes:core/v1:PodTemplate",
        {"metadata": {"name": "a"}, "template": {"spec": {"hostPID": True, "containers": [{"image": f"a@{DIGEST}"}]}}},
        "template.spec.hostPID",
    ),
    Case("host-pod", "elsewhere", DAEMON_SET, daemon_set(hostPID=True, name=_PLUGIN), "spec.template.spec.hostPID"),
    Case("host-pod", "ours", DAEMON_SET, daemon_set(hostPID=True, name=_PLUGIN, namespace="kube-system")),
    Case(
        "host-pod",
        "plain",
        DAEMON_SET,
        daemon_set(
            hostNetwork=False,
            container={
                "securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}},
                "ports": [{"containerPort": 80}],
            },
        ),
    ),
    # What a node tells its pods
    *(
        Case(
            "node-metadata-open",
            f"gke-{what}",
            NODE_POOL,
            gke_pool(nodes={"workloadMetadataConfig": mode}),
            "nodeConfig.workloadMetadataConfig.mode",
        )
        for what, mode in (("missing", None), ("of-the-node", {"mode": "GCE_METADATA"}))
    ),
    Case(
        "node-metadata-open",
        "gke-legacy",
        NODE_POOL,
        gke_pool(nodes={"metadata": {"disable-legacy-endpoints": "false"}}),
        "nodeConfig.metadata",
    ),
    Case(
        "node-metadata-open",
        "gke-concealed",
        NODE_POOL,
        gke_pool(nodes={"metadata": {"disable-legacy-endpoints": "true"}}),
    ),
    # Production: all addresses in pieces
    Case(
        "api-server-open",
        "aks-halves",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(authorizedIPRanges=["0.0.0.0/1", "128.0.0.0/1"])),
        "apiServerAccessProfile.authorizedIPRanges",
    ),
    *(
        Case(
            "api-server-open",
            f"gke-{name}",
            CLUSTER,
            gke(controlPlaneEndpointsConfig={"dnsEndpointConfig": {"allowExternalTraffic": True, name: True}}),
            f"controlPlaneEndpointsConfig.dnsEndpointConfig.{name}",
        )
        for name in ("enableK8sTokensViaDns", "enableK8sCertsViaDns")
    ),
    Case(
        "api-server-open",
        "gke-name-inside",
        CLUSTER,
        gke(controlPlaneEndpointsConfig={"dnsEndpointConfig": {"enableK8sTokensViaDns": True}}),
    ),
    Case(
        "api-server-open",
        "gke-many-pieces",
        CLUSTER,
        gke(masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": f"{n}.0.0.0/6"} for n in range(64, 128, 4)]}),
        "masterAuthorizedNetworksConfig.cidrBlocks",
    ),
    Case(
        "api-server-open",
        "aks-wide",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(authorizedIPRanges=["17.0.0.0/8", "10.0.0.0/8", "17.1.0.0/16"])),
    ),
    # Production: the way past the address
    Case(
        "run-command-on",
        "aks",
        MANAGED_CLUSTER,
        aks(apiServerAccessProfile=access(disableRunCommand=None)),
        "apiServerAccessProfile.disableRunCommand",
    ),
    Case("run-command-on", "aks-off", MANAGED_CLUSTER, aks()),
    # Production: nodes
    Case("public-nodes", "aks", AGENT_POOL, aks_pool(enableNodePublicIP=True), "enableNodePublicIP"),
    Case(
        "public-nodes",
        "aks-inline",
        MANAGED_CLUSTER,
        aks(agentPoolProfiles=[system_profile(enableNodePublicIP=True)]),
        "agentPoolProfiles[0].enableNodePublicIP",
    ),
    Case(
        "public-nodes",
        "aks-deployed",
        DEPLOYMENT,
        deployment(deployed(enableNodePublicIP=True)),
        "properties.template.resources[0].properties.enableNodePublicIP",
    ),
    Case("public-nodes", "gke", CLUSTER, gke(privateClusterConfig=None), "privateClusterConfig.enablePrivateNodes"),
    Case(
        "public-nodes",
        "gke-pool",
        NODE_POOL,
        gke_pool(networkConfig={"enablePrivateNodes": False}),
        "networkConfig.enablePrivateNodes",
    ),
    Case("public-nodes", "aks-private", AGENT_POOL, aks_pool(enableNodePublicIP=False)),
    Case("public-nodes", "gke-private", NODE_POOL, gke_pool(networkConfig={"enablePrivateNodes": True})),
    # Storage
    *(Case("storage-open", f"aks-{broken}", _ACCOUNT, _account(**{broken: True}), broken) for broken in _OPEN),
    Case("storage-open", "aks-container", _CONTAINER, {**_BLOBS, "publicAccess": "Blob"}, "publicAccess"),
    Case("storage-open", "gke", _BUCKET, _bucket(publicAccessPrevention="inherited"), "publicAccessPrevention"),
    Case("storage-open", "gke-lists", _BUCKET, _bucket(uniformBucketLevelAccess=None), "uniformBucketLevelAccess"),
    Case("storage-open", "aks-closed", _ACCOUNT, _account()),
    Case("storage-open", "aks-container-closed", _CONTAINER, {**_BLOBS, "publicAccess": "None"}),
    Case("storage-open", "gke-closed", _BUCKET, _bucket()),
    Case(
        "shielded-nodes-off",
        "gke",
        NODE_POOL,
        gke_pool(nodes={"shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": False}}),
        "nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring",
    ),
    Case("shielded-nodes-off", "gke-cluster", CLUSTER, gke(enableShieldedNodes=False), "enableShieldedNodes"),
    Case(
        "shielded-nodes-off",
        "gke-default",
        NODE_POOL,
        gke_pool(nodes={"shieldedInstanceConfig": {"enableSecureBoot": True}}),
    ),
    Case(
        "secure-boot-off",
        "gke",
        NODE_POOL,
        gke_pool(nodes={"shieldedInstanceConfig": None}),
        "nodeConfig.shieldedInstanceConfig.enableSecureBoot",
    ),
    Case("secure-boot-off", "gke-on", NODE_POOL, gke_pool()),
    # Production: inside the cluster
    *(
        Case(
            "network-policy-missing",
            f"aks-{what}",
            MANAGED_CLUSTER,
            aks(networkProfile={"networkPlugin": "azure", **chosen}),
            "networkProfile.networkPolicy",
        )
        for what, chosen in (("missing", {}), ("none", {"networkPolicy": "none"}))
    ),
    Case("network-policy-missing", "gke", CLUSTER, gke(datapathProvider="LEGACY_DATAPATH"), "datapathProvider"),
    Case("network-policy-missing", "aks-calico", MANAGED_CLUSTER, aks()),
    Case(
        "network-policy-missing",
        "gke-calico",
        CLUSTER,
        gke(datapathProvider=None, networkPolicy={"enabled": True, "provider": "CALICO"}),
    ),
    Case("workload-identity-missing", "aks", MANAGED_CLUSTER, aks(oidcIssuerProfile=None), "oidcIssuerProfile.enabled"),
    Case(
        "workload-identity-missing",
        "aks-webhook",
        MANAGED_CLUSTER,
        aks(securityProfile=security(workloadIdentity=None)),
        "securityProfile.workloadIdentity.enabled",
    ),
    Case(
        "workload-identity-missing",
        "gke",
        CLUSTER,
        gke(workloadIdentityConfig=None),
        "workloadIdentityConfig.workloadPool",
    ),
    Case("workload-identity-missing", "gke-unknown", CLUSTER, gke(workloadIdentityConfig={"workloadPool": UNKNOWN})),
    Case(
        "secrets-key-missing",
        "aks",
        MANAGED_CLUSTER,
        aks(securityProfile=security(azureKeyVaultKms=None)),
        "securityProfile.azureKeyVaultKms",
    ),
    Case("secrets-key-missing", "gke", CLUSTER, gke(databaseEncryption={"state": "DECRYPTED"}), "databaseEncryption"),
    Case("secrets-key-missing", "aks-key", MANAGED_CLUSTER, aks()),
    Case("secrets-key-missing", "gke-key", CLUSTER, gke()),
    # Production: logs
    *(
        Case("logs-missing", f"gke-{what}", CLUSTER, gke(loggingConfig={"enableComponents": kept}), _LOGS)
        for what, kept in (("none", []), ("of-workloads", ["WORKLOADS"]))
    ),
    Case("logs-missing", "gke-service", CLUSTER, gke(loggingConfig=None, loggingService="none"), "loggingService"),
    Case("logs-missing", "aks", DIAGNOSTIC_SETTING, diagnostics("guard", "kube-audit-admin")),
    Case("logs-missing", "gke-default", CLUSTER, gke(loggingConfig=None)),
)

BREAKING = tuple(case for case in CASES if case.breaks)
KEEPING = tuple(case for case in CASES if not case.breaks)
