"""Which differences between a live pool and the stack file count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from components.azure import fixed
from components.azure.counts import LiveCluster
from spec import placement
from spec.azure import AzureEncryption
from spec.clouds.azure import aks
from spec.model import Pool, SystemPool

SUBNET = "/resourceGroups/lab/providers/Microsoft.Network/virtualNetworks/lab/subnets/nodes"


def live(**changes: Any) -> SimpleNamespace:
    """A pool as a GET shows it: AKS has filled in what was not sent."""
    profile: dict[str, Any] = {
        "vm_size": "Standard_D8ds_v5",
        "scale_set_priority": None,
        "mode": "User",
        "max_pods": 250,
        "os_disk_type": "Ephemeral",
        "os_disk_size_gb": 300,
        "availability_zones": None,
        "vnet_subnet_id": f"/subscriptions/s{SUBNET}",
        "gpu_instance_profile": None,
        "gpu_profile": None,
        "enable_encryption_at_host": False,
    }
    return SimpleNamespace(**profile | changes)


def wanted(**changes: Any) -> dict[str, Any]:
    """The arguments of a pool whose stack file says as little as possible."""
    least = {"agent_pool_name": "general", "vm_size": "Standard_D8ds_v5", "vnet_subnet_id": SUBNET}
    return {**least, "availability_zones": None, **changes}


def paths(want: dict[str, Any], have: SimpleNamespace) -> list[str]:
    return [problem.path for problem in fixed.differences("pools[1]", want, have, "do")]


@pytest.mark.parametrize(
    ("want", "have"),
    [
        ({}, {}),
        ({"vm_size": "standard_d8DS_v5"}, {}),
        ({"vnet_subnet_id": SUBNET.upper()}, {}),
        ({"availability_zones": ["1", "2"]}, {"availability_zones": ["2", "1"]}),
        ({"max_pods": 250, "os_disk_type": "ephemeral", "os_disk_size_gb": 300}, {}),
        ({}, {"availability_zones": []}),
        ({}, {"gpu_profile": SimpleNamespace(driver="Install")}),
        ({}, {"gpu_profile": SimpleNamespace(driver=None)}),
        ({"gpu_profile": {"driver": "None"}}, {"gpu_profile": SimpleNamespace(driver="None")}),
        ({"enable_encryption_at_host": True}, {"enable_encryption_at_host": True}),
        ({}, {"enable_encryption_at_host": None, "vnet_subnet_id": None}),
    ],
)
def test_another_spelling_and_what_aks_filled_in_are_no_differences(want: dict[str, Any], have: dict[str, Any]) -> None:
    assert paths(wanted(**want), live(**have)) == []


@pytest.mark.parametrize(
    ("want", "have", "path", "text"),
    [
        ({"vm_size": "Standard_D16ds_v5"}, {}, "pools[1].machine", "Standard_D8ds_v5 in the cluster"),
        ({"availability_zones": ["1"]}, {}, "pools[1].zones", "is [] in the cluster and cannot become [1]"),
        ({}, {"availability_zones": ["2", "1"]}, "pools[1].zones", "is [1, 2] in the cluster and cannot become []"),
        ({"max_pods": 110}, {}, "pools[1].maxPods", "is 250 in the cluster and cannot become 110"),
        ({"os_disk_type": "Managed"}, {}, "pools[1].osDisk.type", "cannot become Managed"),
        ({"os_disk_size_gb": 128}, {}, "pools[1].osDisk.sizeGb", "cannot become 128"),
        ({"vnet_subnet_id": SUBNET[:-5] + "gpu"}, {}, "pools[1].subnet", "is lab/nodes in the cluster"),
        ({"gpu_instance_profile": "MIG3g"}, {}, "pools[1].mig", "is unset in the cluster and cannot become 3g"),
        ({}, {"gpu_instance_profile": "MIG1g"}, "pools[1].mig", "is 1g in the cluster and cannot become unset"),
        ({"gpu_profile": {"driver": "None"}}, {}, "pools[1].installDriver", "is true in the cluster"),
        ({}, {"gpu_profile": SimpleNamespace(driver="None")}, "pools[1].installDriver", "cannot become true"),
        ({"enable_encryption_at_host": True}, {}, "cloud.encryption.atHost", "is false in the cluster"),
    ],
)
def test_every_fixed_property_has_its_difference_in_the_stack_files_words(
    want: dict[str, Any], have: dict[str, Any], path: str, text: str
) -> None:
    (problem,) = fixed.differences("pools[1]", wanted(**want), live(**have), "do")
    assert (problem.path, problem.remedy) == (path, "do")
    assert problem.what.startswith("general: ")
    assert text in problem.what


def test_all_differences_are_reported_together() -> None:
    want = wanted(vm_size="Standard_D16ds_v5", max_pods=30, availability_zones=["3"])
    assert paths(want, live()) == ["pools[1].machine", "pools[1].maxPods", "pools[1].zones"]


@pytest.mark.parametrize(
    ("now", "names", "letter"),
    [
        (None, [], "b"),
        ("b", [], "c"),
        ("z", [], "b"),
        # A pool that somebody else made, or one that is still going.
        (None, ["generalb"], "c"),
        ("y", ["generalz", "generalb"], "c"),
    ],
)
def test_the_next_generation_is_the_first_free_letter(now: str | None, names: list[str], letter: str) -> None:
    pool = Pool(name="general", machine="Standard_D8ds_v5", maxNodes=2, generation=now)
    assert placement.next_generation(pool, names, aks()) == letter


def system(name: str, **profiles: SimpleNamespace) -> list[str]:
    pool = SystemPool(name=name, machine="Standard_D8ds_v5", maxNodes=3)
    found = fixed.system_problems(pool, wanted(name=name), LiveCluster(dict(profiles)))
    return [f"{problem.path}: {problem.what}" for problem in found]


def test_a_system_pool_under_another_name_is_no_new_pool() -> None:
    (problem,) = system("main", system=live(mode="System"), general=live())
    assert problem.startswith("systemPool.name: main: is no pool of the cluster, whose system pool is system;")


def test_a_system_pool_that_was_added_by_hand_is_taken() -> None:
    assert system("sys2", system=live(mode="System"), sys2=live(mode="System")) == []


def test_a_cluster_that_is_not_there_has_no_differences() -> None:
    assert system("system") == []
    assert list(fixed.key_problems(AzureEncryption(), LiveCluster({}))) == []


def test_the_key_of_secrets_that_are_encrypted_cannot_be_removed() -> None:
    kms = SimpleNamespace(enabled=True, key_id="https://keys.vault.azure.net/keys/etcd/1")
    found = SimpleNamespace(security_profile=SimpleNamespace(azure_key_vault_kms=kms))
    (problem,) = fixed.key_problems(AzureEncryption(), LiveCluster({}, found))
    assert problem.path == "cloud.encryption.kms"
    kms.enabled = False
    assert list(fixed.key_problems(AzureEncryption(), LiveCluster({}, found))) == []
