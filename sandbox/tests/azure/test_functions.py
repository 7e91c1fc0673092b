"""Functions of azure-native: credentials, reads by name, and the client."""

from __future__ import annotations

import base64

import pytest

from sandbox.cloud.provider import Refused

from .conftest import (
    Account,
    ml,
)

CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"


def test_credentials_of_a_cluster(ready: Account) -> None:
    args = ml(resourceName="aks")
    (entry,) = ready.provider.invoke(CREDENTIALS, args)["kubeconfigs"]
    assert base64.b64decode(entry["value"]).startswith(b"kubeconfig of /subscriptions/")
    assert entry["name"] == "clusterUser"
    with pytest.raises(Refused, match="unknown argument 'name'"):
        ready.provider.invoke(CREDENTIALS, {**args, "name": "x"})
    with pytest.raises(
        Refused, match=r'^Status=404 Code="ResourceNotFound" Message="The Resource .*managedClusters/no'
    ):
        ready.provider.invoke(CREDENTIALS, {**args, "resourceName": "no"})


def test_no_admin_credentials_without_local_accounts(ready: Account) -> None:
    ready.cluster(resourceName="two", disableLocalAccounts=True, aadProfile={"managed": True})
    admin = CREDENTIALS.replace("User", "Admin")
    assert ready.provider.invoke(admin, ml(resourceName="aks"))["kubeconfigs"]
    with pytest.raises(Refused, match="Getting static credential is not allowed"):
        ready.provider.invoke(admin, ml(resourceName="two"))


def test_every_type_can_be_read_by_its_names(account: Account) -> None:
    account.network()
    subnet = account.subnet()
    token, args = "azure-native:network:getSubnet", ml(virtualNetworkName="net")
    result = account.provider.invoke(token, {**args, "subnetName": "nodes"})
    assert (result["id"], result["addressPrefix"]) == (subnet.id, "10.100.0.0/20")
    for wrong, reason in (
        ({**args, "subnetName": "no"}, r"The Resource 'Microsoft.Network/virtualNetworks/net/subnets/no'"),
        (args, "missing required argument 'subnetName'"),
        ({**args, "subnetName": "nodes", "name": "x"}, "unknown argument 'name'"),
    ):
        with pytest.raises(Refused, match=reason):
            account.provider.invoke(token, wrong)


def test_client_config_and_unknown_functions(account: Account) -> None:
    result = account.provider.invoke("azure-native:authorization:getClientConfig", {})
    assert result.keys() == {"clientId", "objectId", "subscriptionId", "tenantId"}
    with pytest.raises(Refused, match="unknown function azure-native:compute:getDisk"):
        account.provider.invoke("azure-native:compute:getDisk", {})
