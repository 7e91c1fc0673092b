"""What this program declares in Azure and asks of it, by the names of azure-native."""

from __future__ import annotations

AGENT_POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
DATA_COLLECTION_ENDPOINT = "azure-native:monitor:DataCollectionEndpoint"
DATA_COLLECTION_RULE = "azure-native:monitor:DataCollectionRule"
DATA_COLLECTION_RULE_ASSOCIATION = "azure-native:monitor:DataCollectionRuleAssociation"
DIAGNOSTIC_SETTING = "azure-native:monitor:DiagnosticSetting"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
LOG_WORKSPACE = "azure-native:operationalinsights:Workspace"
MAINTENANCE = "azure-native:containerservice:MaintenanceConfiguration"
MONITOR_WORKSPACE = "azure-native:monitor:AzureMonitorWorkspace"
NAT_GATEWAY = "azure-native:network:NatGateway"
PUBLIC_IP_ADDRESS = "azure-native:network:PublicIPAddress"
RESOURCE_GROUP = "azure-native:resources:ResourceGroup"
ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
SUBNET = "azure-native:network:Subnet"
VIRTUAL_NETWORK = "azure-native:network:VirtualNetwork"

CLIENT_CONFIG = "azure-native:authorization:getClientConfig"
GET_CLUSTER = "azure-native:containerservice:getManagedCluster"
USER_CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"
