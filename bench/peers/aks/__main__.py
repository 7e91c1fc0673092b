"""An AKS cluster as people write one: in the style of Pulumi's examples, with the SDK's classes."""

import base64

import pulumi
from pulumi_azure_native import authorization, containerservice, managedidentity, network, resources

config = pulumi.Config()
machine = config.get("machine") or "Standard_D4ds_v5"
nodes = config.get_int("nodes") or 2
subscription = authorization.get_client_config().subscription_id
NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"

group = resources.ResourceGroup("aks")

vnet = network.VirtualNetwork(
    "aks",
    resource_group_name=group.name,
    address_space=network.AddressSpaceArgs(address_prefixes=["10.0.0.0/16"]),
)

subnet = network.Subnet(
    "nodes",
    resource_group_name=group.name,
    virtual_network_name=vnet.name,
    address_prefix="10.0.0.0/20",
)

identity = managedidentity.UserAssignedIdentity("aks", resource_group_name=group.name)

grant = authorization.RoleAssignment(
    "network",
    principal_id=identity.principal_id,
    principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
    role_definition_id=(
        f"/subscriptions/{subscription}/providers/Microsoft.Authorization/roleDefinitions/{NETWORK_CONTRIBUTOR}"
    ),
    scope=subnet.id,
)

cluster = containerservice.ManagedCluster(
    "aks",
    resource_group_name=group.name,
    dns_prefix="peer",
    enable_rbac=True,
    identity=containerservice.ManagedClusterIdentityArgs(
        type=containerservice.ResourceIdentityType.USER_ASSIGNED,
        user_assigned_identities=[identity.id],
    ),
    agent_pool_profiles=[
        containerservice.ManagedClusterAgentPoolProfileArgs(
            name="system",
            mode=containerservice.AgentPoolMode.SYSTEM,
            type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
            vm_size=machine,
            count=nodes,
            os_type=containerservice.OSType.LINUX,
            vnet_subnet_id=subnet.id,
        )
    ],
    network_profile=containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin=containerservice.NetworkPlugin.AZURE,
        network_plugin_mode=containerservice.NetworkPluginMode.OVERLAY,
        service_cidr="10.1.0.0/16",
        dns_service_ip="10.1.0.10",
    ),
    # The other pool is a resource of its own.
    opts=pulumi.ResourceOptions(depends_on=[grant], ignore_changes=["agentPoolProfiles"]),
)

pool = containerservice.AgentPool(
    "spot",
    resource_group_name=group.name,
    resource_name_=cluster.name,
    agent_pool_name="spot",
    mode=containerservice.AgentPoolMode.USER,
    type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
    vm_size=machine,
    scale_set_priority=containerservice.ScaleSetPriority.SPOT,
    scale_set_eviction_policy=containerservice.ScaleSetEvictionPolicy.DELETE,
    enable_auto_scaling=True,
    min_count=0,
    max_count=4,
    count=0,
    vnet_subnet_id=subnet.id,
)

credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
kubeconfig = credentials.kubeconfigs[0].value.apply(lambda encoded: base64.b64decode(encoded).decode())
pulumi.export("kubeconfig", pulumi.Output.secret(kubeconfig))
