"""Differences between a live pool and the stack file that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from components.azure import azure_immutable_pools
from components.azure.azure_live import LiveCluster
from components.last_update import LastUpdate
from config.clouds import registry
from config.clouds.azure.azure_settings import AzureEncryption
from config.clouds.azure.azure_traits import Aks
from config.model.pool import Pool
from config.placement import node_pools
from config.placement.object_names import next_generation

SUBNET = "/resourceGroups/lab/providers/Microsoft.Network/virtualNetworks/lab/subnets/nodes"
GROUP = "/subscriptions/s/resourceGroups/lab/providers/Microsoft.Compute/capacityReservationGroups/gpus"


def live(**changes: Any) -> dict[str, Any]:
    """A pool as a GET shows it: AKS has filled in what was not sent."""
    profile: dict[str, Any] = {
        "vmSize": "Standard_D8ds_v5",
        "scaleSetPriority": None,
        "mode": "User",
        "maxPods": 250,
        "osDiskType": "Ephemeral",
        "osDiskSizeGB": 300,
        "availabilityZones": None,
        "vnetSubnetID": f"/subscriptions/s{SUBNET}",
        "gpuInstanceProfile": None,
        "gpuProfile": None,
        "enableEncryptionAtHost": False,
    }
    return profile | changes


def wanted(**changes: Any) -> dict[str, Any]:
    """The arguments of a pool whose stack file says as little as possible."""
    least = {"name": "general", "vmSize": "Standard_D8ds_v5", "vnetSubnetID": SUBNET}
    return {**least, "availabilityZones": None, **changes}


def paths(wanted: dict[str, Any], live: dict[str, Any]) -> list[str]:
    return [problem.path for problem in azure_immutable_pools.differences("pools[1]", wanted, live, "do")]


@pytest.mark.parametrize(
    ("want", "have"),
    [
        ({}, {}),
        ({"vmSize": "standard_d8DS_v5"}, {}),
        ({"vnetSubnetID": SUBNET.upper()}, {}),
        ({"availabilityZones": ["1", "2"]}, {"availabilityZones": ["2", "1"]}),
        ({"maxPods": 250, "osDiskType": "ephemeral", "osDiskSizeGB": 300}, {}),
        ({}, {"availabilityZones": []}),
        ({}, {"gpuProfile": {"driver": "Install"}}),
        ({}, {"gpuProfile": {"driver": None}}),
        ({"gpuProfile": {"driver": "None"}}, {"gpuProfile": {"driver": "None"}}),
        ({"enableEncryptionAtHost": True}, {"enableEncryptionAtHost": True}),
        ({}, {"enableEncryptionAtHost": None, "vnetSubnetID": None}),
        ({"capacityReservationGroupID": GROUP.upper()}, {"capacityReservationGroupID": GROUP}),
    ],
)
def test_another_spelling_and_what_aks_filled_in_are_no_differences(want: dict[str, Any], have: dict[str, Any]) -> None:
    assert paths(wanted(**want), live(**have)) == []


@pytest.mark.parametrize(
    "have",
    [
        {"securityProfile": {"enableVTPM": True}},
        {"securityProfile": {"enableVTPM": False}, "nodeImageVersion": "AKSUbuntu-2204gen2TLcontainerd-1"},
    ],
)
def test_a_pool_that_was_made_with_trusted_launch_takes_each_part_and_none(have: dict[str, Any]) -> None:
    for parts in ({"enableSecureBoot": True}, {"enableVTPM": True}, {"enableVTPM": False, "enableSecureBoot": False}):
        assert not azure_immutable_pools.differs(wanted(securityProfile=parts), live(**have))


@pytest.mark.parametrize(
    ("want", "have", "path", "text"),
    [
        ({"vmSize": "Standard_D16ds_v5"}, {}, "pools[1].machine", "Standard_D8ds_v5 in the cluster"),
        ({"availabilityZones": ["1"]}, {}, "pools[1].zones", "is [] in the cluster and cannot become [1]"),
        ({}, {"availabilityZones": ["2", "1"]}, "pools[1].zones", "is [1, 2] in the cluster and cannot become []"),
        ({"maxPods": 110}, {}, "pools[1].maxPods", "is 250 in the cluster and cannot become 110"),
        ({"osDiskType": "Managed"}, {}, "pools[1].osDisk.type", "cannot become Managed"),
        ({"osDiskSizeGB": 128}, {}, "pools[1].osDisk.sizeGb", "cannot become 128"),
        ({"vnetSubnetID": SUBNET[:-5] + "gpu"}, {}, "pools[1].subnet", "is lab/nodes in the cluster"),
        ({"gpuInstanceProfile": "MIG3g"}, {}, "pools[1].mig", "is unset in the cluster and cannot become 3g"),
        ({}, {"gpuInstanceProfile": "MIG1g"}, "pools[1].mig", "is 1g in the cluster and cannot become unset"),
        ({"gpuProfile": {"driver": "None"}}, {}, "pools[1].installDriver", "is true in the cluster"),
        ({}, {"gpuProfile": {"driver": "None"}}, "pools[1].installDriver", "cannot become true"),
        ({"enableEncryptionAtHost": True}, {}, "cloud.encryption.atHost", "is false in the cluster"),
        (
            {"securityProfile": {"enableVTPM": True}},
            {},
            "pools[1].azure",
            "is false in the cluster and cannot become true",
        ),
        ({"securityProfile": {"enableSecureBoot": True}}, {}, "pools[1].azure", "is false in the cluster"),
        (
            {},
            {"capacityReservationGroupID": GROUP},
            "pools[1].reservation",
            "gpus in the cluster and cannot become unset",
        ),
    ],
)
def test_every_fixed_property_has_its_difference_in_the_stack_files_words(
    want: dict[str, Any], have: dict[str, Any], path: str, text: str
) -> None:
    (problem,) = azure_immutable_pools.differences("pools[1]", wanted(**want), live(**have), "do")
    assert (problem.path, problem.remedy) == (path, "do")
    assert problem.what.startswith("general: ")
    assert text in problem.what


def test_a_pool_that_aks_made_without_its_group_says_what_to_look_at_first() -> None:
    """AKS only warns of a group that it cannot take, so the next `up` meets a pool without one."""
    want = wanted(capacityReservationGroupID=GROUP, maxPods=30)
    reservation, other = sorted(azure_immutable_pools.differences("pools[1]", want, live(), "do"), reverse=True)
    assert (reservation.path, other.path) == ("pools[1].reservation", "pools[1].maxPods")
    assert reservation.what == "general: uses no reservation in the cluster, and AKS adds gpus to no pool that exists"
    assert (other.remedy, reservation.remedy[:4]) == ("do", "do; ")
    assert "AKS did not associate it" in reservation.remedy


def test_all_differences_are_reported_together() -> None:
    want = wanted(vmSize="Standard_D16ds_v5", maxPods=30, availabilityZones=["3"])
    assert paths(want, live()) == ["pools[1].machine", "pools[1].maxPods", "pools[1].zones"]


@pytest.mark.parametrize(
    ("now", "names", "letter"),
    [
        (None, [], "b"),
        ("b", [], "c"),
        ("z", [], "b"),
        # A pool of another owner, or one that is still being deleted.
        (None, ["generalb"], "c"),
        ("y", ["generalz", "generalb"], "c"),
    ],
)
def test_the_next_generation_is_the_first_free_letter(now: str | None, names: list[str], letter: str) -> None:
    pool = Pool(name="general", machine="Standard_D8ds_v5", maxNodes=2, generation=now)
    assert next_generation(pool, names, Aks()) == letter


def system(name: str, **profiles: dict[str, Any]) -> list[str]:
    model = registry.system_pool_model()
    pool = node_pools.system_pool(model(name=name, machine="Standard_D8ds_v5", maxNodes=3), Aks())
    problems = azure_immutable_pools.system_problems(pool, wanted(name=name), LiveCluster(dict(profiles)), LastUpdate())
    return [f"{problem.path}: {problem.what}" for problem in problems]


def test_a_system_pool_under_another_name_is_no_new_pool() -> None:
    (problem,) = system("main", system=live(mode="System"), general=live())
    assert problem.startswith("systemPool.name: main: is no pool of the cluster, whose system pool is system;")


def test_a_system_pool_that_was_added_by_hand_is_taken() -> None:
    assert system("sys2", system=live(mode="System"), sys2=live(mode="System")) == []


def test_a_missing_cluster_has_no_differences() -> None:
    assert system("system") == []
    assert list(azure_immutable_pools.key_problems(AzureEncryption(), LiveCluster({}))) == []


def test_the_key_of_secrets_that_are_encrypted_cannot_be_removed() -> None:
    kms = {"enabled": True, "keyId": "https://keys.vault.azure.net/keys/etcd/1"}
    properties = {"securityProfile": {"azureKeyVaultKms": kms}}
    (problem,) = azure_immutable_pools.key_problems(AzureEncryption(), LiveCluster({}, properties))
    assert problem.path == "cloud.encryption.kms"
    kms["enabled"] = False
    assert list(azure_immutable_pools.key_problems(AzureEncryption(), LiveCluster({}, properties))) == []
