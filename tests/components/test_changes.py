"""Changes of an existing pool by a changed stack file: a replacement, an update in place, or an error alone.

Decision: docs/adr/0018.
"""

import copy
from typing import Any

import pulumi
import pytest

from sandbox.azure.resources.azure_table import TYPES
from tests.components.google import written_stack
from tests.components.program import Declared, Registration, declare, running

pytestmark = pytest.mark.program

Settings = dict[str, Any]

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"


def settings() -> Settings:
    return written_stack("azure-changes")


@pytest.fixture(scope="module")
def before() -> Declared:
    return declare(settings())


def after(before: Declared, changed: Settings) -> Declared:
    """Return the resources that the program declares with other settings while the earlier ones exist."""
    return declare(changed, live=running(before, general=2))


def outcome(before: Declared, after: Declared, pool: str) -> str:
    """Return the steps of the engine on a pool: azure-native's own replacements, and those that the program asks for."""
    old, new = before.of(POOL)[f"lab-{pool}"], after.of(POOL)[f"lab-{pool}"]
    changed = {key for key in old.inputs | new.inputs if old.inputs.get(key) != new.inputs.get(key)} - {"count"}
    if changed & {*new.options.get("replaceOnChanges", ()), *TYPES[POOL].replaces}:
        assert new.options["deleteBeforeReplace"] is True
        return "replaces"
    return "updates" if changed else "leaves"


FIXED_FOR_ALL: dict[str, Settings] = {
    "machine": {"machine": "Standard_NC48ads_A100_v4"},
    "zones": {"zones": ["1"]},
    "osDisk.type": {"osDisk": {"type": "Managed"}},
    "osDisk.sizeGb": {"osDisk": {"sizeGb": 200}},
    "maxPods": {"maxPods": 60},
    "subnet": {"subnet": "gpu"},
    "mig": {"mig": "1g"},
    "installDriver": {"installDriver": False},
}
"""By key of a pool: what changes it."""


@pytest.mark.parametrize("change", FIXED_FOR_ALL.values(), ids=FIXED_FOR_ALL)
def test_a_spot_pool_is_replaced_for_what_aks_fixes_and_its_twin_changes_by_generation(
    change: Settings, before: Declared
) -> None:
    changed = settings()
    changed["kubeflow-spot:pools"][1] |= change
    with pytest.raises(pulumi.RunError, match=r"pools\[1\]\.\S+: a100od: is (.|\n)*add `generation: b`"):
        after(before, changed)
    changed["kubeflow-spot:pools"][1]["generation"] = "b"
    after_change = after(before, changed)
    assert [outcome(before, after_change, pool) for pool in ("a100", "general")] == ["replaces", "leaves"]
    # The engine makes the new twin before the old one goes, and notebooks find it by the same label.
    assert "lab-a100od" not in after_change.of(POOL)
    twins = before.of(POOL)["lab-a100od"].inputs, after_change.of(POOL)["lab-a100odb"].inputs
    labels = [twin["nodeLabels"]["kubeflow-spot.dev/pool"] for twin in twins]
    assert labels == ["a100od", "a100od"]


@pytest.mark.parametrize("change", [{"maxPrice": 1.5}, {"evictionPolicy": "Deallocate"}], ids=str)
def test_how_a_spot_pool_is_bought_replaces_it_and_not_its_twin(change: Settings, before: Declared) -> None:
    changed = settings()
    changed["kubeflow-spot:pools"][1]["spot"] = change
    after_change = after(before, changed)
    assert [outcome(before, after_change, pool) for pool in ("a100", "a100od")] == ["replaces", "leaves"]


@pytest.mark.parametrize("pool", [0, 1], ids=["on-demand", "spot"])
@pytest.mark.parametrize(
    "change",
    [{"minNodes": 1, "maxNodes": 7}, {"labels": {"team": "ml"}}, {"taints": [{"key": "team", "value": "ml"}]}],
    ids=["bounds", "labels", "taints"],
)
def test_the_rest_updates_a_pool_in_place(change: Settings, pool: int, before: Declared) -> None:
    changed = settings()
    changed["kubeflow-spot:pools"][pool] |= change
    assert outcome(before, after(before, changed), ("general", "a100")[pool]) == "updates"


def test_upgrade_settings_and_removed_lines_update_an_on_demand_pool(before: Declared) -> None:
    changed = settings()
    changed["kubeflow-spot:pools"][0] |= {"upgrade": {"maxSurge": "50%"}}
    del changed["kubeflow-spot:pools"][0]["maxPods"]
    assert outcome(before, after(before, changed), "general") == "updates"


def test_all_changes_of_fixed_properties_are_refused_in_one_message_before_anything_is_declared(
    before: Declared,
) -> None:
    changed = settings()
    changed["kubeflow-spot:cloud"]["encryption"] = {"atHost": True}
    changed["kubeflow-spot:systemPool"] |= {"machine": "Standard_D8ds_v5", "zones": ["1", "2"]}
    changed["kubeflow-spot:pools"][0] |= {"machine": "Standard_D16ds_v5", "maxPods": 60, "subnet": "gpu"}
    with pytest.raises(pulumi.RunError) as error:
        after(before, changed)
    lines = str(error.value).splitlines()
    assert lines[0] == "8 changes refused; nothing was declared."
    assert [line.split(": ")[0].strip() for line in lines[1::2]] == [
        "cloud.encryption.atHost",
        "cloud.encryption.atHost",
        "cloud.encryption.atHost",
        "pools[0].machine",
        "pools[0].maxPods",
        "pools[0].subnet",
        "systemPool.machine",
        "systemPool.zones",
    ]
    assert "az aks nodepool add --mode System" in lines[-1]


def test_a_generation_makes_a_second_pool_with_the_labels_of_the_first(before: Declared) -> None:
    changed = settings()
    changed["kubeflow-spot:pools"][0] |= {"machine": "Standard_D16ds_v5", "generation": "b"}
    after_change = after(before, changed)
    # Two resources, of which the engine deletes the one that is no longer declared after making the other.
    assert "lab-general" not in after_change.of(POOL)
    old, new = before.of(POOL)["lab-general"].inputs, after_change.of(POOL)["lab-generalb"].inputs
    assert (new["agentPoolName"], new["vmSize"]) == ("generalb", "Standard_D16ds_v5")
    assert new["nodeLabels"] == old["nodeLabels"]
    # The new pool starts with the nodes of the pool it replaces, so that pods need not wait for machines.
    assert (old["count"], new["count"]) == (1, 2)


def test_a_spot_pool_gives_way_to_an_on_demand_pool_of_its_name(before: Declared) -> None:
    changed = settings()
    del changed["kubeflow-spot:pools"][1]["capacity"], changed["kubeflow-spot:pools"][1]["fallback"]
    assert outcome(before, after(before, changed), "a100") == "replaces"


def test_an_on_demand_pool_in_use_does_not_become_a_spot_pool(before: Declared) -> None:
    changed = settings()
    changed["kubeflow-spot:pools"][0]["capacity"] = "spot"
    with pytest.raises(pulumi.RunError, match=r"pools\[0\]\.capacity: general: is on-demand in the cluster"):
        after(before, changed)


def test_a_cluster_that_becomes_private_is_replaced_and_one_with_new_bounds_is_not(before: Declared) -> None:
    (cluster,) = before.of(CLUSTER).values()
    assert "apiServerAccessProfile.enablePrivateCluster" in cluster.options["replaceOnChanges"]
    assert not {"agentPoolProfiles", "apiServerAccessProfile"} & set(cluster.options["replaceOnChanges"])
    assert cluster.options["deleteBeforeReplace"] is True


def test_pools_that_are_as_wanted_are_left_alone(before: Declared) -> None:
    declared = after(before, copy.deepcopy(settings()))
    assert {outcome(before, declared, pool) for pool in ("general", "a100", "a100od")} == {"leaves"}
    (cluster,) = declared.of(CLUSTER).values()
    assert cluster.options["ignoreChanges"] == [
        "storageProfile",
        "azureMonitorProfile.metrics.kubeStateMetrics",
        "agentPoolProfiles",
    ]


def test_a_changed_system_pool_is_put_again_after_every_earlier_request(before: Declared) -> None:
    def deployment(**live: Any) -> Registration:
        pools = running(before)
        pools[0] |= live
        (resource,) = declare(settings(), live=pools).of("azure-native:resources:Deployment").values()
        return resource

    as_it_is = deployment()
    assert as_it_is.options["ignoreChanges"] == ["properties"]
    assert "metadata" not in as_it_is.inputs["properties"]["template"]
    for changed in ({"maxCount": 9}, {"nodeTaints": ["a=b:NoSchedule"]}, {"provisioningState": "Failed"}):
        put = deployment(**changed)
        assert "ignoreChanges" not in put.options
        # A second change of the same kind by hand is put back as well: the engine compares with the last template.
        assert put.inputs["properties"]["template"]["metadata"] == {"replaces": changed, "after": "the last one"}
    # The count is the autoscaler's.
    assert deployment(count=3).options["ignoreChanges"] == ["properties"]


def waits(declared: Declared) -> dict[str, set[str]]:
    """Return the resources that each pool waits for beside the cluster and its network."""
    return {
        pool.name: {
            urn.rpartition("::")[2] for urn in pool.options["dependencies"] if "Pool::" in urn or "Deployment" in urn
        }
        for pool in declared.of(POOL).values()
    }


def test_new_pools_are_made_one_after_the_other_and_spot_is_upgraded_last(before: Declared) -> None:
    system = "lab-system-pool"
    assert waits(before) == {"lab-a100od": {system}, "lab-general": {"lab-a100od"}, "lab-a100": {"lab-general"}}
    older = declare(settings() | {"kubeflow-spot:release": "r2026-09"})
    upgraded = declare(settings(), live=running(older))
    on_demand = {"lab-a100od": {system}, "lab-general": {system}}
    assert waits(upgraded) == {**on_demand, "lab-a100": {system, "lab-a100od", "lab-general"}}
    # Without a new or upgraded pool no pool waits for another, so a refused one delays none.
    assert waits(after(before, settings())) == {pool: {system} for pool in waits(before)}
    # A spot pool that is replaced is made anew.
    changed = settings()
    changed["kubeflow-spot:pools"][1]["spot"] = {"maxPrice": 1.5}
    changed["kubeflow-spot:pools"].append({"name": "more", "machine": "Standard_D8ds_v5", "maxNodes": 2})
    assert waits(after(before, changed))["lab-a100"] == {"lab-more"}
