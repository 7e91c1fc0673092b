"""A cluster is never replaced by an edit: what only another cluster can have is refused, with the way to have it on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from components.azure import azure_immutable_cluster
from components.azure.azure_live import LiveCluster
from components.last_update import LastUpdate
from config.clouds.azure.azure_settings import Azure

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck"


def cloud(**changes: Any) -> Azure:
    return Azure.model_validate({"provider": "azure", "location": "westeurope", **changes})


LIVE: dict[str, Any] = {
    "location": "West Europe",
    "networkProfile": {
        "podCidr": "10.244.0.0/16",
        "serviceCidr": "10.0.0.0/16",
        "networkDataplane": "azure",
        "networkPolicy": "none",
        "outboundType": "loadBalancer",
    },
    "apiServerAccessProfile": {"disableRunCommand": False},
}


def paths(wanted: Azure, **live: Any) -> list[str]:
    return [
        problem.path
        for problem in azure_immutable_cluster.problems(wanted, LiveCluster({}, {**LIVE, **live}), LastUpdate())
    ]


def test_nothing_differs_from_what_aks_filled_in() -> None:
    assert paths(cloud()) == []
    assert paths(cloud(), networkProfile={"podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16"}) == []
    assert paths(cloud(), apiServerAccessProfile=None) == []
    assert paths(cloud(), networkProfile={}) == []
    private = {"enablePrivateCluster": True, "privateDNSZone": "System"}
    assert paths(cloud(access={"private": True}), apiServerAccessProfile=private) == []
    login = {"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": f"{KEY}\n"}]}}
    assert paths(cloud(ssh={"publicKey": KEY}), linuxProfile=login) == []
    # A missing cluster has no problems.
    assert list(azure_immutable_cluster.problems(cloud(location="northeurope"), LiveCluster({}), LastUpdate())) == []


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"location": "northeurope"}, "cloud.location"),
        ({"network": {"podCidr": "10.200.0.0/16"}}, "cloud.network.podCidr"),
        ({"network": {"serviceCidr": "10.1.0.0/16"}}, "cloud.network.serviceCidr"),
        ({"network": {"policy": "calico"}}, "cloud.network.policy"),
        ({"network": {"outboundType": "userAssignedNATGateway"}}, "cloud.network.outboundType"),
        ({"access": {"private": True}}, "cloud.access.private"),
        (
            {"encryption": {"diskEncryptionSet": "/subscriptions/s/resourceGroups/g/providers/M.C/d/e"}},
            "cloud.encryption.diskEncryptionSet",
        ),
        ({"ssh": {"publicKey": KEY}}, "cloud.ssh"),
    ],
)
def test_each_change_and_each_removal_is_refused(changes: dict[str, Any], path: str) -> None:
    (problem,) = azure_immutable_cluster.problems(cloud(**changes), LiveCluster({}, LIVE), LastUpdate())
    assert problem.path == path
    by_hand = path in ("cloud.network.policy", "cloud.network.outboundType")
    assert ("az aks update" if by_hand else "`pulumi destroy`, then `pulumi up`") in problem.remedy


def test_a_removed_line_is_a_change_to_the_default() -> None:
    live = {
        "networkProfile": {**LIVE["networkProfile"], "networkDataplane": "cilium", "networkPolicy": "cilium"},
        "apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": "none"},
        "diskEncryptionSetID": "/subscriptions/s/resourceGroups/g/providers/M.C/d/e",
        "linuxProfile": {"adminUsername": "kim", "ssh": {"publicKeys": [{"keyData": KEY}]}},
    }
    assert paths(cloud(), **live) == [
        "cloud.network.dataplane",
        "cloud.network.policy",
        "cloud.access.private",
        "cloud.encryption.diskEncryptionSet",
        "cloud.ssh",
    ]
    # The zone is immutable only in a cluster that stays private.
    live = {"apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": "none"}}
    assert paths(cloud(access={"private": True}), **live) == ["cloud.access.privateDnsZone"]
