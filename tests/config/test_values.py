"""Values that only warn, because the cloud may have what its list of some month did not; and remedies that name near values.

What is refused has an error row in tests/configs/errors.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_settings import Existing
from config.clouds.gcp.gcp_traits import Gke
from config.clouds.traits import Cloud
from config.placement.node_pools import NodePool, node_pools, system_pool
from config.stack_file import loader

from tests.config.stack import GOOD, good, on_gke, spec, with_pool

CPU = {"name": "general", "machine": "n2-standard-8", "maxNodes": 6}
L4 = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 4}
GROUP = "2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"


def azure(**cloud: Any) -> dict[str, Any]:
    return good(cloud={**GOOD["cloud"], **cloud})


WARNED = {
    "a region with a wrong letter": (azure(location="westeuropa"), "cloud.location", "did you mean westeurope? "),
    "a region of Google's with a wrong number": (
        on_gke(location="europe-west44"),
        "cloud.location",
        "did you mean europe-west4",
    ),
    "the region of an existing cluster": (
        {
            "release": "r2026-11",
            "cloud": {
                "provider": "gcp",
                "project": "example-ml",
                "existingCluster": {"location": "europe-west44", "name": "shared"},
            },
            "pools": [CPU],
        },
        "cloud.existingCluster.location",
        "did you mean europe-west4",
    ),
    "a region of China": (azure(location="chinanorth3"), "cloud.location", "azure-native:environment"),
    "a region of the government's": (azure(location="usgovvirginia"), "cloud.location", "azure-native:environment"),
    "a region far from all": (azure(location="atlantis"), "cloud.location", "`az account list-locations`"),
    "a zone instead of a region that has no such": (
        on_gke(location="europe-west4-z"),
        "cloud.location",
        "one of: europe-west4-a, europe-west4-b, europe-west4-c",
    ),
    "a zone of the cluster": (
        on_gke(zones=["europe-west4-a", "europe-west4-z"]),
        "cloud.zones[1]",
        "one of: europe-west4-a",
    ),
    "a zone of a pool": (on_gke([{**CPU, "zones": ["europe-west4-d"]}]), "pools[0].zones[0]", "one of: europe-west4-a"),
    "a zone for machine learning": (
        on_gke([{**CPU, "zones": ["us-central1-ai1a"]}], location="us-central1"),
        "pools[0].zones[0]",
        "it is passed on as written",
    ),
    "zones in a region without any": (
        {**with_pool(zones=["1"]), "cloud": {"provider": "azure", "location": "westus"}},
        "pools[1].zones",
        "remove it",
    ),
    "a machine with a wrong number": (
        with_pool(machine="Standard_NC4as_T4_v2", gpus=1),
        "pools[1].machine",
        "did you mean Standard_NC4as_T4_v3",
    ),
    "a machine without its first word": (
        with_pool(machine="NC4as_T4_v3", gpus=1),
        "pools[1].machine",
        "did you mean Standard_NC4as_T4_v3",
    ),
    "a machine of GKE with a wrong letter": (
        on_gke([{**CPU, "machine": "n2-standart-8", "gpus": 0}]),
        "pools[0].machine",
        "did you mean n2-standard-8",
    ),
    "a machine of a third cloud": (with_pool(machine="p3.2xlarge", gpus=1), "pools[1].machine", "check the spelling"),
    "a registry in a region with a wrong number": (
        on_gke(registries=[{"location": "europe-west44", "repository": "images"}]),
        "cloud.registries[0].location",
        "did you mean europe-west4",
    ),
    "a range twice": (
        azure(access={"authorizedRanges": ["20.61.10.0/28", "20.82.3.7/32", "20.61.10.0/28"]}),
        "cloud.access.authorizedRanges[2]",
        "remove one of them",
    ),
    "a group twice, in capitals": (
        azure(access={"adminGroups": [GROUP, GROUP.upper()]}),
        "cloud.access.adminGroups[1]",
        "remove one of them",
    ),
    "a reader twice": (
        good(scheduling={"contract": {"readers": ["ml", "ops", "ml"]}}),
        "scheduling.contract.readers[2]",
        "remove one of them",
    ),
    "more shares of a GPU than a node takes pods": (
        on_gke([{**L4, "gpuSharing": {"strategy": "time-slicing", "replicas": 40}, "maxPods": 32}]),
        "pools[0].gpuSharing.replicas",
        "32 or fewer",
    ),
    "a login that is the system's": (
        azure(
            ssh={
                "username": "root",
                "publicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck ops@example.com",
            }
        ),
        "cloud.ssh.username",
        "azureuser",
    ),
    "more than all nodes at once": (
        good(systemPool={**GOOD["systemPool"], "upgrade": {"maxSurge": "150%"}}),
        "systemPool.upgrade.maxSurge",
        'at most "100%"',
    ),
    "a fallback to fewer GPUs": (
        with_pool(machine="Standard_NC64as_T4_v3"),
        "pools[1].fallback[0].pool",
        "name a pool whose machines have 4 GPUs",
    ),
}


@pytest.mark.parametrize(("raw", "path", "remedy"), WARNED.values(), ids=WARNED)
def test_a_value_that_may_be_right_is_taken_with_a_warning(raw: dict[str, Any], path: str, remedy: str) -> None:
    spec, problems = loader.read(raw)
    assert spec is not None, problems
    assert [(problem.path, problem.warning) for problem in problems if problem.path == path] == [(path, True)]
    assert remedy in next(problem.remedy for problem in problems if problem.path == path)


def what(raw: dict[str, Any], path: str) -> str:
    return next(problem.what for problem in loader.read(raw)[1] if problem.path == path)


def test_a_list_of_regions_says_its_own_month() -> None:
    """The names and the zones are of two copies of the page (config/clouds/azure/README.md)."""
    assert what(*WARNED["zones in a region without any"][:2]).endswith("had no availability zones in March 2025")
    assert what(*WARNED["a region far from all"][:2]).endswith("that was read in November 2026")


TAKEN = {
    "a fallback to more GPUs": {
        **good(),
        "pools": [
            {"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 6},
            {**GOOD["pools"][1], "machine": "Standard_NC4as_T4_v3"},
            {**GOOD["pools"][2], "machine": "Standard_NC64as_T4_v3"},
        ],
    },
    "a soft taint of GPUs on a pool without": {
        **good(),
        "pools": [
            {
                **GOOD["pools"][0],
                "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "PreferNoSchedule"}],
            }
        ],
    },
}


@pytest.mark.parametrize("raw", TAKEN.values(), ids=TAKEN)
def test_what_the_lists_hold_is_taken_in_silence(raw: dict[str, Any]) -> None:
    spec, problems = loader.read(raw)
    assert spec is not None
    assert problems == []


def file(path: str) -> dict[str, Any]:
    return {"release": "r2026-11", "cloud": {"provider": "existing", "name": "lab", "kubeconfig": {"file": path}}}


@pytest.mark.parametrize("path", ["$HOME/.kube/config", "${HOME}/.kube/config", "$(pwd)/config"])
def test_a_variable_in_a_path_leads_to_the_tilde(path: str) -> None:
    (problem,) = loader.read(file(path))[1]
    assert (problem.path, problem.warning) == ("cloud.kubeconfig.file", False)
    assert "`~` is replaced, $HOME is not" in problem.remedy


def test_the_line_end_of_a_path_goes() -> None:
    cloud = spec(file("~/.kube/config\n")).cloud
    assert isinstance(cloud, Existing)
    assert cloud.kubeconfig.file == "~/.kube/config"


def test_a_machine_of_which_nothing_is_known_has_one_problem() -> None:
    """A taint of GPUs says no more about it."""
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    pool = {"name": "own", "machine": "Standard_NC4as_T9_v9", "maxNodes": 2, "taints": taints}
    problems = loader.read(good(pools=[GOOD["pools"][0], pool]))[1]
    assert [problem.path for problem in problems if not problem.warning] == ["pools[1].gpus"]
    problems = loader.read(good(pools=[GOOD["pools"][0], {**pool, "gpus": 0}]))[1]
    assert [problem.path for problem in problems if not problem.warning] == ["pools[1].taints[0]"]


@pytest.mark.parametrize(
    ("size", "remedy"),
    [
        (
            "Standard_NC6s_v3",
            "use Standard_NC40ads_H100_v5; Standard_NC8as_T4_v3 or Standard_NV36ads_A10_v5 has as many GPUs",
        ),
        ("Standard_NC24s_v3", "use Standard_NC80adis_H100_v5; Standard_NC64as_T4_v3 has as many GPUs"),
        ("Standard_NC6", "use Standard_NC4as_T4_v3; Standard_NC8as_T4_v3 or"),
    ],
)
def test_a_retired_machine_has_cheaper_successors_too(size: str, remedy: str) -> None:
    _, problems = loader.read(with_pool(machine=size))
    assert next(problem.remedy for problem in problems if problem.path == "pools[1].machine").startswith(remedy)


def pools(count: int, twins: int) -> list[dict[str, Any]]:
    """So many pools of one node, of which the first have a twin."""
    spot = {"capacity": "spot", "fallback": [{"onDemand": {"maxNodes": 1}}]}
    return [
        {
            "name": f"p{number}",
            "machine": "Standard_D8ds_v5",
            "maxNodes": 1,
            **(copy.deepcopy(spot) if number < twins else {}),
        }
        for number in range(count)
    ]


def test_the_system_pool_and_twins_count_as_pools() -> None:
    assert loader.read(good(pools=pools(90, 9)))[0] is not None
    spec, problems = loader.read(good(pools=pools(90, 10)))
    errors = [(problem.path, problem.what) for problem in problems if not problem.warning]
    assert (spec, errors) == (None, [("pools", "makes 101 node pools with the system pool and 10 twins")])


def test_a_number_is_never_true() -> None:
    """In a list of many kinds of fields, `true` would be 1: also where one of several forms is a number."""
    raw = with_pool(minNodes=True, gpus=True, gpuSharing={"strategy": "mps", "replicas": True}, osDisk={"sizeGb": True})
    raw["cloud"]["autoscaler"] = {"scaleDownUtilizationThreshold": True, "okTotalUnreadyCount": False}
    raw["systemPool"]["maxNodes"] = True
    _, problems = loader.read(raw)
    assert [problem.path for problem in problems if "number" in problem.remedy] == [
        "cloud.autoscaler.okTotalUnreadyCount",
        "cloud.autoscaler.scaleDownUtilizationThreshold",
        "pools[1].gpuSharing.replicas",
        "pools[1].gpus",
        "pools[1].minNodes",
        "pools[1].osDisk.sizeGb",
        "systemPool.maxNodes",
    ]
    assert len([problem for problem in problems if not problem.warning]) == 7


@pytest.mark.parametrize(
    ("as_people_type", "as_the_catalogue_has_it", "cloud"),
    [
        (
            with_pool(machine="standard_nc4as_t4_v3"),
            good(),
            Aks(),
        ),
        (
            on_gke([{**CPU, "machine": "N2-Standard-8"}, {**L4, "machine": "G2-STANDARD-8"}]),
            on_gke([CPU, L4]),
            Gke(),
        ),
    ],
    ids=["azure", "gcp"],
)
def test_a_machine_is_declared_as_its_cloud_spells_it(
    as_people_type: dict[str, Any], as_the_catalogue_has_it: dict[str, Any], cloud: Cloud
) -> None:
    """AKS takes any case and answers in its own (Azure/azure-cli pull request 33801): what is sent as typed would always differ."""
    as_people_type["systemPool"]["machine"] = as_people_type["systemPool"]["machine"].upper()
    first, second = (
        [(pool.machine, pool.gpus, pool.labels) for pool in (*node_pools(spec(raw), cloud), system(raw, cloud))]
        for raw in (as_people_type, as_the_catalogue_has_it)
    )
    assert first == second


def system(raw: dict[str, Any], cloud: Cloud) -> NodePool:
    pool = spec(raw).system_pool
    assert pool
    return system_pool(pool, cloud)
