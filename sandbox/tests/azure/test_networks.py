"""Networks, subnets and groups: a resource in use cannot be deleted, and a deletion includes the resources inside."""

from __future__ import annotations

import pytest

from sandbox.azure.azure_errors import AzureRefused

from .conftest import SUBNET, SYSTEM, Account, refusal


def test_subnet_in_use_stays_until_its_cluster_is_gone(account: Account) -> None:
    group = account.group()
    network, subnet = account.network(), account.subnet()
    cluster = account.cluster(agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet.id}])
    for resource in (subnet, network):
        assert refusal(account.provider.delete, resource).code == "InUseSubnetCannotBeDeleted"
    account.provider.delete(cluster)
    account.provider.delete(subnet)
    account.provider.delete(network)
    account.provider.delete(group)


def test_group_goes_with_all_that_is_in_it(account: Account) -> None:
    group = account.group()
    account.network()
    subnet = account.subnet()
    cluster = account.cluster(agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet.id}])
    account.provider.delete(group)
    assert account.runtime.calls[-1] == ("stop", cluster.id.lower())
    assert all(account.provider.read(resource) is None for resource in (group, subnet, cluster))
    account.provider.delete(cluster)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"addressPrefix": "10.200.0.0/20"}, "NetcfgSubnetRangeOutsideVnet"),
        ({"addressPrefix": "10.100.8.0/24"}, "NetcfgSubnetRangesOverlap"),
        ({"addressPrefix": "10.100.16.1/24"}, "InvalidAddressPrefixFormat"),
        ({"virtualNetworkName": "no"}, "ParentResourceNotFound"),
    ],
)
def test_subnet_must_fit_its_network(account: Account, changes: dict[str, str], code: str) -> None:
    account.group()
    account.network()
    account.subnet()
    assert refusal(account.subnet, subnetName="second", **changes).code == code
    account.subnet(subnetName="second", addressPrefix="10.100.16.0/20")


def test_subnet_of_another_group_in_use_blocks_that_group(account: Account) -> None:
    group = account.group()
    account.network()
    subnet = account.subnet()
    account.create("azure-native:resources:ResourceGroup", {"resourceGroupName": "other"})
    account.cluster(resourceGroupName="other", agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet.id}])
    with pytest.raises(AzureRefused, match="InUseSubnetCannotBeDeleted"):
        account.provider.delete(group)
    assert account.provider.read(subnet) is not None
    assert subnet.type == SUBNET
