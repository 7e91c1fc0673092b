"""The emulated resource types with their rules. A type that is not among them is refused."""

from collections.abc import Callable

from sandbox.azure import azure_errors
from sandbox.azure.azure_errors import arm
from sandbox.azure.resources import azure_network, egress, monitoring, prometheus_rules, reference, storage
from sandbox.azure.resources.azure_cluster import ManagedCluster
from sandbox.azure.resources.azure_identity import (
    IDENTITY,
    ROLE,
    FederatedCredential,
    RoleAssignment,
    UserAssignedIdentity,
)
from sandbox.azure.resources.azure_pool import AgentPool
from sandbox.azure.resources.azure_requests import CLUSTER, POOL
from sandbox.azure.resources.azure_resource_type import AzureType, Tracked
from sandbox.azure.resources.deployment import DEPLOYMENT, Deployment
from sandbox.azure.resources.maintenance import MaintenanceConfiguration
from sandbox.azure.resources.monitoring import DiagnosticSetting
from sandbox.azure.resources.roles import DEFINITION, RoleDefinition
from sandbox.cloud.resource_type import Types
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Resources

VAULT = "azure-native:keyvault:Vault"

# In use, these keep their group from being deleted, unless the user goes with the group.
_HELD: dict[str, Callable[[Resources, str, str], None]] = {
    azure_network.SUBNET: azure_network.require_unused,
    egress.NAT_GATEWAY: egress.gateway_held,
    egress.PUBLIC_ADDRESS: egress.address_held,
    egress.ROUTE_TABLE: egress.table_held,
}


class ResourceGroup(AzureType):
    """`Microsoft.Resources/resourceGroups`. Deleting one deletes what is in it."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        body = super().put(resources, id, wanted, current)
        if not body.get("location"):
            raise azure_errors.location_required()
        return body

    def check_delete(self, resources: Resources, id: str) -> None:
        for token, require_unused in _HELD.items():
            for record in resources.of_type(token, below=id):
                require_unused(resources, record.id, id)


def disk_encryption(request: ResourceRequest) -> None:
    """Check a disk encryption set. Codes and texts of both are UNCONFIRMED."""
    if "activeKey" not in request.body or request.body.get("identity", {}).get("type", "None") == "None":
        raise arm("InvalidParameter", "Required parameter 'activeKey' or 'identity' is missing (null).").as_read()
    if vault := request.body["activeKey"].get("sourceVault", {}).get("id"):
        reference.existing(request.resources, vault, VAULT)


TYPES = Types[AzureType](
    (
        ResourceGroup("azure-native:resources:ResourceGroup"),
        azure_network.VirtualNetwork(azure_network.NETWORK),
        azure_network.Subnet(azure_network.SUBNET),
        Tracked(egress.NAT_GATEWAY, egress.gateway, egress.gateway_held, egress.attached),
        Tracked(egress.PUBLIC_ADDRESS, egress.address, egress.address_held),
        Tracked(egress.ROUTE_TABLE, egress.routes, egress.table_held, egress.attached),
        UserAssignedIdentity(IDENTITY),
        FederatedCredential("azure-native:managedidentity:FederatedIdentityCredential"),
        RoleDefinition(DEFINITION),
        RoleAssignment(ROLE),
        ManagedCluster(CLUSTER),
        AgentPool(POOL),
        MaintenanceConfiguration("azure-native:containerservice:MaintenanceConfiguration"),
        Deployment(DEPLOYMENT),
        Tracked(monitoring.WORKSPACE, monitoring.workspace),
        Tracked(monitoring.ACCOUNT),
        Tracked(monitoring.ENDPOINT, held=monitoring.associated),
        Tracked(monitoring.RULE, monitoring.collection_rule, monitoring.associated),
        monitoring.Association(monitoring.ASSOCIATION),
        Tracked(prometheus_rules.GROUP, prometheus_rules.rule_group),
        DiagnosticSetting("azure-native:monitor:DiagnosticSetting"),
        Tracked("azure-native:containerregistry:Registry"),
        Tracked(VAULT),
        Tracked("azure-native:compute:DiskEncryptionSet", disk_encryption),
        Tracked(storage.ACCOUNT, storage.account),
        *storage.PARTS,
    )
)
