"""The resources that a stack declares on Azure, each with its place; and the actions that each type
takes.

A test compares them with what the program declares for every happy stack file: a type without a
line here fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.preflight.demand import Demand
from config.clouds.azure.azure_settings import Azure

GROUP, STORAGE_GROUP = "group", "storage group"
"""Places: the cluster's resource group, and that of the account for checkpoints."""

ACTIONS: dict[str, tuple[str, ...]] = {
    "azure-native:alertsmanagement:PrometheusRuleGroup": (
        "Microsoft.AlertsManagement/prometheusRuleGroups/write",
    ),
    "azure-native:authorization:RoleAssignment": ("Microsoft.Authorization/roleAssignments/write",),
    "azure-native:authorization:RoleDefinition": (
        "Microsoft.Authorization/roleDefinitions/write",
        "Microsoft.Authorization/roleDefinitions/delete",
    ),
    "azure-native:containerservice:AgentPool": (
        "Microsoft.ContainerService/managedClusters/agentPools/write",
        # The layer is put into the cluster by the kubeconfig.
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    ),
    "azure-native:containerservice:MaintenanceConfiguration": (
        "Microsoft.ContainerService/managedClusters/maintenanceConfigurations/write",
    ),
    "azure-native:containerservice:ManagedCluster": (
        "Microsoft.ContainerService/managedClusters/write",
    ),
    "azure-native:managedidentity:FederatedIdentityCredential": (
        "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write",
    ),
    "azure-native:managedidentity:UserAssignedIdentity": (
        "Microsoft.ManagedIdentity/userAssignedIdentities/write",
        "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
    ),
    "azure-native:monitor:AzureMonitorWorkspace": ("Microsoft.Monitor/accounts/write",),
    "azure-native:monitor:DataCollectionEndpoint": (
        "Microsoft.Insights/dataCollectionEndpoints/write",
    ),
    "azure-native:monitor:DataCollectionRule": ("Microsoft.Insights/dataCollectionRules/write",),
    "azure-native:monitor:DataCollectionRuleAssociation": (
        "Microsoft.Insights/dataCollectionRuleAssociations/write",
    ),
    "azure-native:monitor:DiagnosticSetting": ("Microsoft.Insights/diagnosticSettings/write",),
    "azure-native:network:NatGateway": (
        "Microsoft.Network/natGateways/write",
        "Microsoft.Network/natGateways/join/action",
    ),
    "azure-native:network:PublicIPAddress": (
        "Microsoft.Network/publicIPAddresses/write",
        "Microsoft.Network/publicIPAddresses/join/action",
    ),
    "azure-native:network:Subnet": (
        "Microsoft.Network/virtualNetworks/subnets/write",
        "Microsoft.Network/virtualNetworks/subnets/join/action",
    ),
    "azure-native:network:VirtualNetwork": ("Microsoft.Network/virtualNetworks/write",),
    "azure-native:operationalinsights:Workspace": (
        "Microsoft.OperationalInsights/workspaces/write",
        "Microsoft.OperationalInsights/workspaces/sharedkeys/read",
    ),
    "azure-native:resources:Deployment": (
        "Microsoft.Resources/deployments/write",
        "Microsoft.Resources/deployments/read",
        "Microsoft.Resources/deployments/delete",
        "Microsoft.Resources/deployments/operationstatuses/read",
    ),
    "azure-native:resources:ResourceGroup": (
        "Microsoft.Resources/subscriptions/resourceGroups/write",
    ),
    "azure-native:storage:BlobContainer": (
        "Microsoft.Storage/storageAccounts/blobServices/containers/write",
    ),
    "azure-native:storage:BlobServiceProperties": (
        "Microsoft.Storage/storageAccounts/blobServices/write",
    ),
    "azure-native:storage:ManagementPolicy": (
        "Microsoft.Storage/storageAccounts/managementPolicies/write",
    ),
    "azure-native:storage:StorageAccount": ("Microsoft.Storage/storageAccounts/write",),
}
"""What a create or an update of each type asks for (role-based-access-control:
resource-provider-operations)."""


def resources(demand: Demand) -> Iterator[tuple[str, str]]:
    """Yield the type of each declared resource, without its package, and its place: one of the two,
    or an id of another owner's.

    An id without a subscription is in the cluster's.
    """
    cloud = demand.spec.cloud
    assert isinstance(cloud, Azure)
    # With node auto-provisioning the other pools are objects inside the cluster.
    if cloud.node_provisioning is None and any(
        need.pool != (demand.spec.system_pool and demand.spec.system_pool.name)
        for need in demand.needs
    ):
        yield "containerservice:AgentPool", GROUP
    if not demand.new:
        return
    if cloud.existing_resource_group is None:
        yield "resources:ResourceGroup", GROUP
    yield from ((type, GROUP) for type in _CLUSTER)
    yield from _network(cloud)
    for place in _grants(demand, cloud):
        yield "authorization:RoleAssignment", place
    if cloud.upgrades.cluster_window or cloud.upgrades.node_os_window:
        yield "containerservice:MaintenanceConfiguration", GROUP
    yield from _monitoring(cloud)
    if demand.spec.alerts_in_cloud:
        yield "alertsmanagement:PrometheusRuleGroup", GROUP
    yield from _checkpoints(demand, cloud)


_CLUSTER = (
    "managedidentity:UserAssignedIdentity",
    "containerservice:ManagedCluster",
    "resources:Deployment",
)


def group_of(id: str) -> str:
    """Return the id of a resource's group; empty for an empty id."""
    return "/".join(id.split("/")[:5])


def existing_network(cloud: Azure) -> str:
    """Return the id of an existing network behind its subscription; empty without one."""
    network = cloud.network.existing
    if not network:
        return ""
    group = f"/resourceGroups/{network.resource_group.text}"
    return f"{group}/providers/Microsoft.Network/virtualNetworks/{network.name.text}"


def _network(cloud: Azure) -> Iterator[tuple[str, str]]:
    if cloud.network.existing:
        return
    yield "network:VirtualNetwork", GROUP
    yield "network:Subnet", GROUP
    if cloud.network.outbound_type == "userAssignedNATGateway":
        yield "network:NatGateway", GROUP
        yield "network:PublicIPAddress", GROUP


def _grants(demand: Demand, cloud: Azure) -> Iterator[str]:
    """Yield the places at which the control plane and the nodes get rights."""
    yield existing_network(cloud) or GROUP
    zone, encryption = cloud.access.private_dns_zone, cloud.encryption
    if zone and zone.startswith("/"):
        yield zone
    if encryption.disk_encryption_set:
        yield encryption.disk_encryption_set.text
    if encryption.kms and encryption.kms.vault_id:
        yield str(encryption.kms.vault_id)
    if cloud.registry:
        yield cloud.registry.id.text
    yield from sorted({need.reservation for need in demand.needs if need.reserved})


def _monitoring(cloud: Azure) -> Iterator[tuple[str, str]]:
    logs, metrics = cloud.monitoring.logs, cloud.monitoring.metrics
    if logs or metrics:
        yield "monitor:DataCollectionRule", GROUP
        yield "monitor:DataCollectionRuleAssociation", GROUP
    if logs:
        if not logs.workspace:
            yield "operationalinsights:Workspace", GROUP
        if logs.control_plane:
            yield "monitor:DiagnosticSetting", GROUP
    if metrics:
        yield "monitor:DataCollectionEndpoint", GROUP
        if not metrics.workspace:
            yield "monitor:AzureMonitorWorkspace", GROUP


def _checkpoints(demand: Demand, cloud: Azure) -> Iterator[tuple[str, str]]:
    workloads = demand.spec.workloads
    if not workloads.checkpoints:
        return
    account = demand.existing_bucket
    kept = GROUP if cloud.existing_resource_group else STORAGE_GROUP
    if not account:
        if kept == STORAGE_GROUP:
            yield "resources:ResourceGroup", kept
        for type in ("StorageAccount", "BlobServiceProperties", "BlobContainer"):
            yield f"storage:{type}", kept
        if workloads.checkpoints.expire_after_days:
            yield "storage:ManagementPolicy", kept
    # The stack's own role can be assigned in the whole group of the account.
    yield "authorization:RoleDefinition", group_of(account) or kept
    if workloads.profiles:
        yield "managedidentity:FederatedIdentityCredential", GROUP
        yield "authorization:RoleAssignment", account or kept
