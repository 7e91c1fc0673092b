"""A program of three resources: what it costs to preview one at all."""

import pulumi

place = {"location": "westeurope", "resourceGroupName": "three"}
group = pulumi.CustomResource("azure-native:resources:ResourceGroup", "group", place)
in_it = pulumi.ResourceOptions(depends_on=[group])
pulumi.CustomResource(
    "azure-native:managedidentity:UserAssignedIdentity", "identity", {**place, "resourceName": "identity"}, in_it
)
network = {**place, "virtualNetworkName": "network", "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
pulumi.CustomResource("azure-native:network:VirtualNetwork", "network", network, in_it)
