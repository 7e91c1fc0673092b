"""Rights of an AKS cluster: of its control plane at subnets and zones, of its kubelets at a registry."""

import asyncio
from pathlib import Path

import pulumi
import pytest

from components.azure import waiting
from components.azure.azure_identity import each_once, reservation_grants
from tests.components.emulated import EmulatedAzure
from tests.components.features import ID, NETWORK_CONTRIBUTOR, ROLE_ASSIGNMENT, Azure, cluster, grants, named, plain
from tests.components.program import KUBELET, LIVE_KUBELET, declare, running

pytestmark = pytest.mark.program


def test_the_identity_may_use_the_subnets_that_pools_use_and_the_cluster_waits_for_that(azure: Azure) -> None:
    subnets = {"gpu": "10.8.32.0/20", "spare": "10.8.64.0/20"}
    declared = azure({"network": {"subnets": subnets}}, pool={"subnet": "gpu"}, systemPool={"subnet": "nodes"})
    assert {name: s["addressPrefix"] for name, s in named(declared, "network:Subnet").items()} == {
        "lab-nodes": "10.8.0.0/20",
        "lab-gpu": "10.8.32.0/20",
        "lab-spare": "10.8.64.0/20",
    }
    assert {scope.rpartition("/")[2] for _, scope in grants(declared)} == {"nodes", "gpu"}
    (cluster,) = declared.of("azure-native:containerservice:ManagedCluster").values()
    waits = {urn.rpartition("::")[2] for urn in cluster.options["dependencies"]}
    assert {"lab-network", "lab-network-gpu"} <= waits


def test_the_identity_may_use_the_groups_of_reserved_pools_and_nothing_beside_them(azure: Azure) -> None:
    group = f"{ID}/Microsoft.Compute/capacityReservationGroups/gpus"
    declared = azure({}, pool={"capacity": "on-demand", "reservation": group})
    ((role, scope),) = (grant for grant in grants(declared) if "/subnets/" not in grant[1])
    assert (role.rpartition("/")[2], scope) == ("b24988ac-6180-42a0-ab88-20f7382dd24c", group)
    (cluster,) = declared.of("azure-native:containerservice:ManagedCluster").values()
    assert [urn for urn in cluster.options["dependencies"] if "-capacity-" in urn]


def test_a_pool_goes_before_the_rights_that_aks_uses_until_it_is_gone(azure: Azure) -> None:
    """The engine deletes what depends on a right first."""
    group = f"{ID}/Microsoft.Compute/capacityReservationGroups/gpus"
    on_subnet = {"capacity": "on-demand", "reservation": group, "subnet": "gpu"}
    declared = azure({"network": {"subnets": {"gpu": "10.8.32.0/20"}}}, pool=on_subnet)
    for pool in declared.of("azure-native:containerservice:AgentPool").values():
        before = {urn.rpartition("::")[2] for urn in pool.options["dependencies"]}
        assert {"lab-network-gpu", "lab-capacity-shared-gpus"} <= before, pool.name


def test_ids_that_differ_in_case_are_one_scope(azure: Azure) -> None:
    group = f"{ID}/Microsoft.Compute/capacityReservationGroups/gpus"
    ids = [group, group.replace("gpus", "GPUs"), f"{group}2"]
    assert [grant.scope for grant in reservation_grants(ids)] == [ids[1], ids[2]]
    # The name of the assignment stays when the id is written in another way.
    assert {grant.at for grant in reservation_grants(ids[:2])} == {grant.at for grant in reservation_grants(ids[:1])}
    subnets = {"gpu": "10.8.32.0/20", "nodes": "10.8.0.0/20"}
    assert each_once([*subnets, "GPU"]) == ["GPU", "nodes"]


def refused(*errors: str, operation: str = "create") -> pulumi.ErrorHookArgs:
    return pulumi.ErrorHookArgs("urn", "", "it", "type", failed_operation=operation, errors=list(errors))


def test_what_passes_by_itself_is_sent_again_for_four_minutes_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    passing, other = (
        f'Status=404 Code="{code}" Message="..."' for code in ("RoleDefinitionDoesNotExist", "PrincipalNotFound")
    )
    for args, again in (
        (refused(passing), True),
        # The newest error is the first.
        (refused(passing, other), True),
        (refused(other, passing), False),
        (refused(passing, operation="update"), False),
        (refused(passing, operation="delete"), False),
    ):
        assert asyncio.run(waiting.repeat_request(args)) is again, args
    waits.clear()
    failures = [passing]
    while asyncio.run(waiting.repeat_request(refused(*failures))):
        failures.append(passing)
    assert waits[:5] == [1, 2, 4, 8, 15]
    assert sum(waits) == 240


def test_a_private_cluster_may_link_its_zone_to_the_network(azure: Azure) -> None:
    zone = f"{ID}/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
    declared = azure({"access": {"private": True, "privateDnsZone": zone}})
    access = cluster(declared)["apiServerAccessProfile"]
    assert access == {"enablePrivateCluster": True, "privateDNSZone": zone, "disableRunCommand": False}
    assert {scope for _, scope in grants(declared)} == {
        zone,
        cluster(declared)["agentPoolProfiles"][0]["vnetSubnetID"].rpartition("/subnets/")[0],
    }


@pytest.mark.parametrize("zone", ["system", "none"])
def test_a_private_cluster_without_a_zone_of_its_own_has_no_right_at_one(azure: Azure, zone: str) -> None:
    declared = azure({"access": {"private": True, "privateDnsZone": zone}})
    ((role, scope),) = grants(declared)
    assert role == NETWORK_CONTRIBUTOR
    # Without a zone there is no link, and a role on the nodes' subnet is enough.
    assert ("/subnets/" in scope) == (zone == "none")


def test_the_kubelets_of_the_cluster_may_pull_from_the_registry(azure: Azure) -> None:
    registry = f"{ID}/Microsoft.ContainerRegistry/registries/images"
    declared = azure({"registry": {"id": registry}})
    (pull,) = (g for g in named(declared, "authorization:RoleAssignment").values() if g["scope"] == registry)
    assert pull["roleDefinitionId"].endswith("/7f951dda-4ed3-4680-a7ca-43fe172d538d")
    assert pull["principalId"] == azure.cloud.kubelet("lab")


def test_a_preview_of_a_running_cluster_does_not_replace_the_pull_role() -> None:
    settings = plain({"registry": {"id": f"{ID}/Microsoft.ContainerRegistry/registries/images"}})
    live = running(declare(settings))
    rights = {preview: declare(settings, live=live, preview=preview).of(ROLE_ASSIGNMENT) for preview in (True, False)}
    pulls = {preview: of_all["lab-pull"] for preview, of_all in rights.items()}
    # Nor those of the control plane, whose identity is another one after somebody deleted it: an update compares it.
    compared = {
        preview: "principalId" not in of_all["lab-network"].options["ignoreChanges"]
        for preview, of_all in rights.items()
    }
    assert compared == {True: False, False: True}
    # The outputs of a cluster that is updated are unknown in a preview; its GET says what they are.
    assert {preview: pull.inputs["principalId"] for preview, pull in pulls.items()} == {
        True: LIVE_KUBELET,
        False: KUBELET,
    }
    # But the identity goes with the cluster.
    pull = pulls[True]
    assert [urn.rpartition("::")[2] for urn in pull.options["replaceWith"]] == ["lab"]


def test_two_stacks_of_one_name_may_pull_from_one_registry(tmp_path: Path) -> None:
    names = set()
    for group in ("one", "two"):
        cloud = EmulatedAzure(tmp_path / group, "westeurope")
        settings = plain(
            {"resourceGroup": group, "registry": {"id": f"{ID}/Microsoft.ContainerRegistry/registries/images"}}
        )
        cloud.seed(settings)
        pull = declare(settings, cloud=cloud).of(ROLE_ASSIGNMENT)["lab-pull"]
        names.add(pull.inputs["roleAssignmentName"])
        # An assignment that an earlier version of the program named differently is not replaced.
        assert "roleAssignmentName" in pull.options["ignoreChanges"]
    assert len(names) == 2
