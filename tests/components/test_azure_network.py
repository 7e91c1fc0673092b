"""The network of an AKS cluster: subnets, egress, and network policies."""

from __future__ import annotations

import pulumi
import pytest

from tests.components.features import NETWORK_CONTRIBUTOR, Azure, _subscription, cluster, grants, inputs_of, named

pytestmark = pytest.mark.program


def test_of_an_existing_group_and_network_nothing_is_declared(azure: Azure) -> None:
    network = {"resourceGroup": "net-rg", "name": "corp", "subnet": "nodes"}
    declared = azure(
        {"existingResourceGroup": "ml-rg", "network": {"existing": network}}, pool={"subnet": "gpu"}, systemPool={}
    )
    for type in ("resources:ResourceGroup", "network:VirtualNetwork", "network:Subnet"):
        assert named(declared, type) == {}
    group = f"/subscriptions/{_subscription(azure)}/resourceGroups/net-rg"
    subnets = f"{group}/providers/Microsoft.Network/virtualNetworks/corp/subnets"
    assert cluster(declared)["resourceGroupName"] == "ml-rg"
    assert cluster(declared)["agentPoolProfiles"][0]["vnetSubnetID"] == f"{subnets}/nodes"
    assert inputs_of(declared, "containerservice:AgentPool")["vnetSubnetID"] == f"{subnets}/gpu"
    assert grants(declared) == {(NETWORK_CONTRIBUTOR, f"{subnets}/nodes"), (NETWORK_CONTRIBUTOR, f"{subnets}/gpu")}


def test_a_nat_gateway_is_on_every_subnet_of_a_new_network(azure: Azure) -> None:
    declared = azure(
        {"network": {"outboundType": "userAssignedNATGateway", "subnets": {"gpu": "10.8.32.0/20"}}},
        pool={"subnet": "gpu"},
    )
    gateway = inputs_of(declared, "network:NatGateway")
    assert gateway["publicIpAddresses"][0]["id"].endswith("/publicIPAddresses/lab-nat")
    assert inputs_of(declared, "network:PublicIPAddress")["sku"] == {"name": "Standard"}
    for subnet in named(declared, "network:Subnet").values():
        assert subnet["natGateway"]["id"].endswith("/natGateways/lab")
    assert cluster(declared)["networkProfile"]["outboundType"] == "userAssignedNATGateway"


def test_network_choices_reach_the_cluster(azure: Azure) -> None:
    profile = cluster(azure({"network": {"dataplane": "cilium", "policy": "cilium"}}))["networkProfile"]
    assert (profile["networkDataplane"], profile["networkPolicy"]) == ("cilium", "cilium")


@pytest.mark.parametrize(
    ("policy", "sent", "warns"), [(None, None, True), ("none", None, False), ("calico", "calico", False)]
)
def test_who_enforces_network_policies_is_asked_until_the_file_says(
    policy: str | None, sent: str | None, warns: bool, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    declared = azure({"network": {"policy": policy}} if policy else {})
    assert cluster(declared)["networkProfile"].get("networkPolicy") == sent
    assert any("cloud.network.policy: is unset" in text for text in warned) is warns
