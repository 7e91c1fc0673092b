"""For each rule about clusters, networks and identities: one request that is refused, and a near neighbour that is not."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.azure.errors import AzureRefused
from sandbox.azure.resources.pool_rules import skew

from .conftest import (
    CLUSTER,
    CLUSTER_INPUTS,
    FEDERATED,
    IDENTITY,
    POOL,
    REGULAR,
    ROLE,
    SPOT,
    SUBNET,
    SYSTEM,
    Account,
    CheckFailed,
)

GUID = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
ABSENT = "/subscriptions/s/resourceGroups/ml/providers/Microsoft.ManagedIdentity/userAssignedIdentities/no"
SPOT_INLINE = {
    "name": "spot",
    "count": 0,
    "type": "VirtualMachineScaleSets",
    "scaleSetPriority": "Spot",
    "vmSize": "Standard_D4s_v5",
}
AUTOSCALED = {**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 3}

CREATES: list[tuple[str, dict[str, Any], str, str, dict[str, Any]]] = [
    (
        "no pool",
        {"agentPoolProfiles": []},
        "MustDefineAtLeastOneSystemPool",
        "Must define at least one system pool.",
        {},
    ),
    (
        "no system pool",
        {"agentPoolProfiles": [{**SYSTEM, "mode": "User"}]},
        "MustDefineAtLeastOneSystemPool",
        "Must define at least one system pool.",
        {"agentPoolProfiles": [{**SYSTEM, "name": "user", "mode": "User"}, SYSTEM]},
    ),
    (
        "spot as first pool",
        {"agentPoolProfiles": [SPOT_INLINE, SYSTEM]},
        "InvalidParameter",
        "cannot be the first pool",
        {"agentPoolProfiles": [SYSTEM, SPOT_INLINE]},
    ),
    ("spot as system", {"agentPoolProfiles": [{**SPOT_INLINE, "mode": "System"}]}, "InvalidParameter", "User mode", {}),
    ("two pools of a name", {"agentPoolProfiles": [SYSTEM, SYSTEM]}, "InvalidParameter", "unique", {}),
    (
        "inline pool name",
        {"agentPoolProfiles": [{**SYSTEM, "name": "Sys"}]},
        "InvalidParameter",
        "The value of parameter agentPoolProfile.name is invalid. Please see https://aka.ms/aks-naming-rules",
        {},
    ),
    ("no identity", {"identity": None}, "InvalidParameter", "servicePrincipalProfile", {}),
    (
        "identity that is not there",
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": [ABSENT]}},
        "ResourceNotFound",
        "'Microsoft.ManagedIdentity/userAssignedIdentities/no' under resource group 'ml' was not found.",
        {},
    ),
    ("no DNS prefix", {"dnsPrefix": None}, "InvalidParameter", "dnsPrefix", {"dnsPrefix": None, "fqdnSubdomain": "ml"}),
    (
        "version not offered",
        {"kubernetesVersion": "1.30"},
        "K8sVersionNotSupported",
        "Managed cluster aks is on version 1.30 which is not supported in this region.",
        {"kubernetesVersion": "1.34"},
    ),
    (
        "unknown patch",
        {"kubernetesVersion": "1.36.99"},
        "K8sVersionNotSupported",
        "Managed cluster aks has invalid version 1.36.99.",
        {"kubernetesVersion": "1.36.2"},
    ),
    (
        "local accounts off without Entra",
        {"disableLocalAccounts": True},
        "BadRequest",
        "disableLocalAccounts can only be set on Azure AD integration enabled cluster.",
        {"disableLocalAccounts": True, "aadProfile": {"managed": True}},
    ),
    (
        "authorised ranges on a private cluster",
        {"apiServerAccessProfile": {"enablePrivateCluster": True, "authorizedIPRanges": ["1.2.3.4/32"]}},
        "InvalidParameter",
        "Private cluster cannot be enabled with AuthorizedIPRanges.",
        {"apiServerAccessProfile": {"enablePrivateCluster": False, "authorizedIPRanges": ["1.2.3.4/32"]}},
    ),
    (
        "node auto-provisioning with autoscaled pools",
        {"nodeProvisioningProfile": {"mode": "Auto"}, "agentPoolProfiles": [AUTOSCALED]},
        "OperationNotAllowed",
        ".properties.nodeProvisioningProfile.mode cannot be Auto",
        {"nodeProvisioningProfile": {"mode": "Auto"}},
    ),
    (
        "node auto-provisioning with IPv6",
        {"nodeProvisioningProfile": {"mode": "Auto"}, "networkProfile": {"ipFamilies": ["IPv4", "IPv6"]}},
        "OperationNotAllowed",
        "unless .properties.networkProfile.ipFamilies is set to one of [IPv4].",
        {"networkProfile": {"ipFamilies": ["IPv4", "IPv6"]}},
    ),
    ("group that is not there", {"resourceGroupName": "no"}, "ResourceGroupNotFound", "'no'", {}),
]


@pytest.mark.parametrize(("bad", "code", "text", "good"), [c[1:] for c in CREATES], ids=[c[0] for c in CREATES])
def test_create_is_refused_and_its_neighbour_is_not(
    account: Account, bad: dict[str, Any], code: str, text: str, good: dict[str, Any]
) -> None:
    account.group()
    with pytest.raises(AzureRefused) as refused:
        account.cluster(**bad)
    assert refused.value.code == code
    assert text in refused.value.message
    assert not account.runtime.calls
    assert not account.cloud.pools()
    account.cluster(**good)
    assert account.runtime.calls[0][0] == "start"


@pytest.mark.parametrize(
    ("network_profile", "code", "text"),
    [
        (
            {"serviceCidr": "10.100.0.0/24", "dnsServiceIP": "10.100.0.10"},
            "ServiceCidrOverlapExistingSubnetsCidr",
            "The specified service CIDR 10.100.0.0/24 is conflicted with an existing subnet CIDR 10.100.0.0/20",
        ),
        (
            {"podCidr": "10.100.128.0/17"},
            "NetworkProfileCIDROverlapVNET",
            "NetworkProfile CIDR 10.100.128.0/17 overlaps with reserved VNET CIDR 10.100.0.0/16",
        ),
    ],
)
def test_ranges_must_not_overlap(account: Account, network_profile: dict[str, str], code: str, text: str) -> None:
    account.group()
    account.network()
    subnet = account.subnet()
    pools = [{**SYSTEM, "vnetSubnetID": subnet.id}]
    with pytest.raises(AzureRefused) as refused:
        account.cluster(agentPoolProfiles=pools, networkProfile=network_profile)
    assert (refused.value.code, refused.value.message) == (code, text)
    account.cluster(
        agentPoolProfiles=pools, networkProfile={"serviceCidr": "10.101.0.0/16", "podCidr": "10.102.0.0/16"}
    )


def test_new_inline_pool_on_update_is_refused_and_a_missing_one_stays(ready: Account) -> None:
    made = ready.cluster(resourceName="two", agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "more", "mode": "User"}])
    inputs = {**CLUSTER_INPUTS, "resourceName": "two"}
    with pytest.raises(AzureRefused) as refused:
        ready.update(made, {**inputs, "agentPoolProfiles": [SYSTEM, {**SYSTEM, "name": "new"}]})
    assert refused.value.code == "BadRequest"
    assert refused.value.message.startswith("A new agent pool was introduced.")
    ready.update(made, {**inputs, "agentPoolProfiles": [SYSTEM]})
    assert [p.pool for p in ready.cloud.pools() if p.cluster == "two"] == ["system", "more"]


def test_inline_pool_keeps_what_an_update_leaves_out(ready: Account) -> None:
    made = ready.cluster(resourceName="two", agentPoolProfiles=[{**AUTOSCALED, "nodeLabels": {"a": "b"}}])
    ready.cloud.scale("two", "system", 3)
    left = ready.update(
        made, {**CLUSTER_INPUTS, "resourceName": "two", "agentPoolProfiles": [{"name": "system", "maxCount": 5}]}
    )
    (pool,) = left.old_outputs["agentPoolProfiles"]
    assert (pool["count"], pool["maxCount"], pool["nodeLabels"], pool["mode"]) == (3, 5, {"a": "b"}, "System")


def test_inline_pool_cannot_change_its_size(ready: Account) -> None:
    made = ready.cluster(resourceName="two")
    changed = {**CLUSTER_INPUTS, "resourceName": "two", "agentPoolProfiles": [{**SYSTEM, "vmSize": "Standard_D8s_v5"}]}
    with pytest.raises(AzureRefused, match="PropertyChangeNotAllowed"):
        ready.update(made, changed)


def test_versions_move_one_minor_at_a_time_and_not_away_from_pools(account: Account) -> None:
    account.group()
    inputs = {**CLUSTER_INPUTS, "kubernetesVersion": "1.34"}
    made = account.create(CLUSTER, inputs)
    with pytest.raises(AzureRefused, match=r"1.34.7 to 1.36 is not allowed"):
        account.update(made, {**inputs, "kubernetesVersion": "1.36"})
    made = account.update(made, {**inputs, "kubernetesVersion": "1.35"})
    assert made.old_outputs["currentKubernetesVersion"] == "1.35.5"
    assert made.old_outputs["agentPoolProfiles"][0]["currentOrchestratorVersion"] == "1.34.7"
    made = account.update(made, {**inputs, "kubernetesVersion": "1.36"})
    with pytest.raises(AzureRefused, match="not allowed"):
        account.update(made, {**inputs, "kubernetesVersion": "1.35"})


@pytest.mark.parametrize(
    ("pool", "control_plane", "refused"),
    [
        ("1.34.7", "1.36.2", False),
        ("1.33.9", "1.36.2", True),
        ("1.36.2", "1.36.2", False),
        ("1.36.10", "1.36.2", True),
    ],
)
def test_pools_trail_the_control_plane_by_two_minors_at_most(pool: str, control_plane: str, refused: bool) -> None:
    assert (skew(pool, control_plane) is not None) == refused


def test_provisioning_mode_cannot_follow_autoscaled_pools_nor_precede_them(ready: Account) -> None:
    made = ready.cluster(resourceName="two")
    ready.create(POOL, {**SPOT, "resourceName": "two"})
    automatic = {**CLUSTER_INPUTS, "resourceName": "two", "nodeProvisioningProfile": {"mode": "Auto"}}
    with pytest.raises(AzureRefused, match="cannot be Auto"):
        ready.update(made, automatic)
    ready.cluster(resourceName="three", nodeProvisioningProfile={"mode": "Auto"})
    with pytest.raises(AzureRefused, match="cannot be Auto"):
        ready.create(POOL, {**SPOT, "resourceName": "three"})
    ready.create(POOL, {**REGULAR, "resourceName": "three"})


@pytest.mark.parametrize("name", ["-aks", "aks-", "a.b", "a" * 64])
def test_bad_cluster_name_is_refused_at_check(account: Account, name: str) -> None:
    with pytest.raises(CheckFailed, match=r"'resourceName' (does not match|is too long)"):
        account.check(CLUSTER, {**CLUSTER_INPUTS, "resourceName": name})
    account.check(CLUSTER, {**CLUSTER_INPUTS, "resourceName": "a" * 63})


def test_subnet_in_use_stays_until_its_cluster_is_gone(account: Account) -> None:
    group = account.group()
    network, subnet = account.network(), account.subnet()
    cluster = account.cluster(agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet.id}])
    for made in (subnet, network):
        with pytest.raises(AzureRefused) as refused:
            account.provider.delete(made)
        assert refused.value.code == "InUseSubnetCannotBeDeleted"
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
    assert all(account.provider.read(made) is None for made in (group, subnet, cluster))
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
    with pytest.raises(AzureRefused) as refused:
        account.subnet(subnetName="second", **changes)
    assert refused.value.code == code
    account.subnet(subnetName="second", addressPrefix="10.100.16.0/20")


def test_identity_gets_credentials_and_roles(ready: Account) -> None:
    identity = ready.create(IDENTITY, {"resourceGroupName": "ml", "resourceName": "runs"})
    federated = {
        "resourceGroupName": "ml",
        "resourceName": "runs",
        "federatedIdentityCredentialResourceName": "pipelines",
        "issuer": "https://westeurope.oic.prod-aks.azure.com/t/i/",
        "subject": "system:serviceaccount:kubeflow:pipeline-runner",
        "audiences": ["api://AzureADTokenExchange"],
    }
    ready.create(FEDERATED, federated)
    with pytest.raises(AzureRefused, match="already exists for this Managed Identity"):
        ready.create(FEDERATED, {**federated, "federatedIdentityCredentialResourceName": "again"})
    with pytest.raises(AzureRefused, match="ParentResourceNotFound"):
        ready.create(FEDERATED, {**federated, "resourceName": "no"})

    role = {
        "principalId": identity.old_outputs["principalId"],
        "principalType": "ServicePrincipal",
        "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{GUID}",
        "scope": identity.id.split("/providers/")[0],
        "roleAssignmentName": GUID,
    }
    made = ready.create(ROLE, role)
    assert made.id == f"{role['scope']}/providers/Microsoft.Authorization/roleAssignments/{GUID}"
    other = {k: v for k, v in role.items() if k != "roleAssignmentName"}
    for changes, code in (
        ({"roleAssignmentName": "acr-pull"}, "InvalidRoleAssignmentId"),
        ({"principalId": GUID}, "PrincipalNotFound"),
        ({"scope": role["scope"] + "2"}, "ResourceGroupNotFound"),
        ({"roleDefinitionId": "AcrPull"}, "RoleDefinitionDoesNotExist"),
        ({}, "RoleAssignmentExists"),
    ):
        with pytest.raises(AzureRefused) as refused:
            ready.create(ROLE, {**other, **changes})
        assert refused.value.code == code


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
