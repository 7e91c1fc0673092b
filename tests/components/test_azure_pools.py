"""A pool of the stack file in AKS' words; and refused differences of a live cluster and its pools.

An edit never replaces a cluster or an on-demand pool.
"""

from typing import Any

import pytest

from components.azure import azure_immutable_cluster, azure_immutable_pools, azure_pools
from components.azure.azure_live import LiveCluster, retries
from components.last_update import LastUpdate
from components.resources import wire
from config import releases
from config.clouds import registry
from config.clouds.azure.azure_settings import Azure, AzureEncryption
from config.clouds.azure.azure_traits import Aks
from config.model.cluster import Cluster
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.object_names import next_generation
from tests.components.features import ID
from tests.components.google import rows

Pool, SystemPool = registry.pool_model(), registry.system_pool_model()
CORDONED = {"undrainableNodeBehavior": "Cordon"}
NOT_YET = LiveCluster({})
GPU = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "maxNodes": 4}
TWIN = {"capacity": "spot", "fallback": [{"onDemand": {"maxNodes": 1}}]}


def pool_inputs(live: LiveCluster = NOT_YET, **pool: Any) -> dict[str, dict[str, Any]]:
    """Return the properties of the pool and of its twin as they are sent, by name."""
    spec = ClusterSpec(
        release=releases.load(releases.names()[-1]),
        cluster=Cluster(name="lab"),
        cloud=Azure(provider="azure", location="westeurope"),
        systemPool=SystemPool(machine="Standard_D4ds_v5", maxNodes=3),
        pools=(Pool.model_validate(pool),),
    )
    return {p.name: wire(azure_pools.profile(p, "1.36", live)) for p in node_pools.node_pools(spec, Aks())}


def system_profile() -> dict[str, Any]:
    pool = SystemPool.model_validate({"machine": "Standard_D4ds_v5", "maxNodes": 3, "upgrade": {"maxSurge": "1"}})
    profile: dict[str, Any] = wire(azure_pools.profile(node_pools.system_pool(pool, Aks()), "1.36", NOT_YET))
    return profile


@pytest.mark.parametrize(("pool", "sent"), rows("options", "azure"))
def test_options_of_the_machine_reach_the_pool_and_its_twin(pool: dict[str, Any], sent: dict[str, Any]) -> None:
    inputs = pool_inputs(**GPU, **pool, **TWIN)
    assert set(inputs) == {"t4", "t4od"}
    for args in inputs.values():
        assert {key: args.get(key) for key in sent} == sent


def test_a_reserved_pool_names_its_group() -> None:
    group = f"{ID}/Microsoft.Compute/capacityReservationGroups/gpus"
    (args,) = pool_inputs(**GPU, reservation=group).values()
    assert args["capacityReservationGroupID"] == group
    assert "scaleSetPriority" not in args


@pytest.mark.parametrize(("pool", "settings"), rows("upgrades", "azure"))
def test_on_demand_nodes_are_exchanged_in_place_where_they_have_gpus_and_never_both_ways(
    pool: dict[str, Any], settings: tuple[str, str]
) -> None:
    (args,) = pool_inputs(**{**GPU, **pool}).values()
    assert args["upgradeSettings"] == {"maxSurge": settings[0], "maxUnavailable": settings[1], **CORDONED}


def test_a_spot_pool_has_no_upgrade_settings_and_its_twin_has() -> None:
    inputs = pool_inputs(**GPU, **TWIN, upgrade={"maxSurge": "1"})
    assert "upgradeSettings" not in inputs["t4"]
    assert inputs["t4od"]["upgradeSettings"] == {"maxSurge": "1", "maxUnavailable": "0", **CORDONED}


def test_a_system_pool_is_sent_a_surge_and_no_max_unavailable() -> None:
    assert system_profile()["upgradeSettings"] == {"maxSurge": "1", **CORDONED}


def test_a_live_pool_with_what_aks_added_is_as_the_profile_wants_it() -> None:
    profile, settings = system_profile(), {"maxSurge": "1", "maxUnavailable": "0", **CORDONED}
    live = {**profile, "nodeTaints": None, "upgradeSettings": settings, "maxPods": 250}
    assert LiveCluster({"system": live}).is_as(profile)
    settings["maxSurge"] = "10%"
    assert not LiveCluster({"system": live}).is_as(profile)


@pytest.mark.parametrize(("state", "before", "tags"), rows("retries", "azure"))
def test_a_pool_or_cluster_that_has_failed_is_asked_for_once_more(
    state: str, before: dict[str, str], tags: dict[str, str]
) -> None:
    assert retries({"provisioningState": state, "tags": before, "count": 0}) == tags


def test_access_by_ssh_that_somebody_closed_stays_closed() -> None:
    live = LiveCluster({"general": {"securityProfile": {"sshAccess": "Disabled", "enableVTPM": True}}})
    declared = pool_inputs(live, name="general", machine="Standard_D8ds_v5", maxNodes=2)["general"]
    assert declared["securityProfile"] == {"sshAccess": "Disabled", "enableSecureBoot": False, "enableVTPM": False}


@pytest.mark.parametrize(("wanted", "cluster", "pool", "expected"), rows("versions", "azure"))
def test_a_minor_version_is_any_of_its_patches(
    wanted: str, cluster: str | None, pool: str | None, expected: list[str]
) -> None:
    answer = {"kubernetesVersion": cluster} if cluster else None
    live = LiveCluster({"t4": {"orchestratorVersion": pool}} if pool else {}, answer)
    assert [live.version(wanted), live.version(wanted, "t4")] == expected


SUBNET = "/resourceGroups/lab/providers/Microsoft.Network/virtualNetworks/lab/subnets/nodes"
RESERVED = "/subscriptions/s/resourceGroups/lab/providers/Microsoft.Compute/capacityReservationGroups/gpus"


def live(**changes: Any) -> dict[str, Any]:
    """Return a pool as a GET shows it: AKS has filled in what was not sent."""
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
    """Return the arguments of a pool whose stack file says as little as possible."""
    least = {"name": "general", "vmSize": "Standard_D8ds_v5", "vnetSubnetID": SUBNET}
    return {**least, "availabilityZones": None, **changes}


def paths(wanted: dict[str, Any], live: dict[str, Any]) -> list[str]:
    return [problem.path for problem in azure_immutable_pools.differences("pools[1]", wanted, live, "do")]


@pytest.mark.parametrize(("want", "have"), rows("equal", "azure"))
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


@pytest.mark.parametrize(("want", "have", "path", "text"), rows("different", "azure"))
def test_every_fixed_property_has_its_difference_in_the_stack_files_words(
    want: dict[str, Any], have: dict[str, Any], path: str, text: str
) -> None:
    (problem,) = azure_immutable_pools.differences("pools[1]", wanted(**want), live(**have), "do")
    assert (problem.path, problem.remedy) == (path, "do")
    assert problem.what.startswith("general: ")
    assert text in problem.what


def test_a_pool_that_aks_made_without_its_group_says_what_to_look_at_first() -> None:
    """AKS only warns of a group that it cannot take, so the next `up` meets a pool without one."""
    want = wanted(capacityReservationGroupID=RESERVED, maxPods=30)
    reservation, other = sorted(azure_immutable_pools.differences("pools[1]", want, live(), "do"), reverse=True)
    assert (reservation.path, other.path) == ("pools[1].reservation", "pools[1].maxPods")
    assert reservation.what == "general: uses no reservation in the cluster, and AKS adds gpus to no pool that exists"
    assert (other.remedy, reservation.remedy[:4]) == ("do", "do; ")
    assert "AKS did not associate it" in reservation.remedy


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
    pool = node_pools.system_pool(SystemPool(name=name, machine="Standard_D8ds_v5", maxNodes=3), Aks())
    problems = azure_immutable_pools.system_problems(pool, wanted(name=name), LiveCluster(dict(profiles)), LastUpdate())
    return [f"{problem.path}: {problem.what}" for problem in problems]


def test_a_system_pool_under_another_name_is_no_new_pool() -> None:
    (problem,) = system("main", system=live(mode="System"), general=live())
    assert problem.startswith("systemPool.name: main: is no pool of the cluster, whose system pool is system;")


def test_a_system_pool_that_was_added_by_hand_is_taken() -> None:
    assert system("sys2", system=live(mode="System"), sys2=live(mode="System")) == []


def test_a_missing_cluster_has_no_differences() -> None:
    assert system("system") == []
    assert list(azure_immutable_cluster.key_problems(AzureEncryption(), LiveCluster({}))) == []


def test_the_key_of_secrets_that_are_encrypted_cannot_be_removed() -> None:
    kms = {"enabled": True, "keyId": "https://keys.vault.azure.net/keys/etcd/1"}
    properties = {"securityProfile": {"azureKeyVaultKms": kms}}
    (problem,) = azure_immutable_cluster.key_problems(AzureEncryption(), LiveCluster({}, properties))
    assert problem.path == "cloud.encryption.kms"
    kms["enabled"] = False
    assert list(azure_immutable_cluster.key_problems(AzureEncryption(), LiveCluster({}, properties))) == []


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck"


def cloud(**changes: Any) -> Azure:
    return Azure.model_validate({"provider": "azure", "location": "westeurope", **changes})


LIVE_CLUSTER: dict[str, Any] = {
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


def cluster_paths(wanted: Azure, **live: Any) -> list[str]:
    return [
        problem.path
        for problem in azure_immutable_cluster.problems(wanted, LiveCluster({}, {**LIVE_CLUSTER, **live}), LastUpdate())
    ]


def test_a_cluster_differs_in_nothing_that_aks_filled_in() -> None:
    assert cluster_paths(cloud()) == []
    assert cluster_paths(cloud(), networkProfile={"podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16"}) == []
    assert cluster_paths(cloud(), apiServerAccessProfile=None) == []
    assert cluster_paths(cloud(), networkProfile={}) == []
    private = {"enablePrivateCluster": True, "privateDNSZone": "System"}
    assert cluster_paths(cloud(access={"private": True}), apiServerAccessProfile=private) == []
    login = {"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": f"{KEY}\n"}]}}
    assert cluster_paths(cloud(ssh={"publicKey": KEY}), linuxProfile=login) == []
    # A missing cluster has no problems.
    assert list(azure_immutable_cluster.problems(cloud(location="northeurope"), LiveCluster({}), LastUpdate())) == []


@pytest.mark.parametrize(("changes", "path"), rows("cluster", "azure"))
def test_each_change_of_a_cluster_is_refused(changes: dict[str, Any], path: str) -> None:
    (problem,) = azure_immutable_cluster.problems(cloud(**changes), LiveCluster({}, LIVE_CLUSTER), LastUpdate())
    assert problem.path == path
    by_hand = path in ("cloud.network.policy", "cloud.network.outboundType")
    assert ("az aks update" if by_hand else "`pulumi destroy`, then `pulumi up`") in problem.remedy
