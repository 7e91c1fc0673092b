"""Deployments of templates: the changed pools, the state after a refusal, and invalid templates."""

from typing import Any

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.cloud.provider import InitFailed, Refused, Resource

from .conftest import CLUSTER_ID, POOL, SPOT, SYSTEM, Account, Props, deployment, ml, refusal

TOKEN = "azure-native:resources:Deployment"


def system(account: Account) -> Props:
    pool = account.cloud.get(f"{CLUSTER_ID}/agentPools/system")
    assert pool is not None
    return pool


def put(account: Account, **changes: Any) -> Resource:
    return account.create(TOKEN, deployment("system", SYSTEM | changes))


def test_a_deployment_changes_a_pool_of_any_creator_and_reports_each_change(ready: Account) -> None:
    deployed = put(ready, count=2)
    assert system(ready)["count"] == 2
    assert len(ready.runtime.names()) == 2
    first = deployed.old_outputs["properties"]["correlationId"]
    changed = ready.update(deployed, deployment("system", SYSTEM | {"count": 1}))
    assert system(ready)["count"] == 1
    assert changed.old_outputs["properties"]["correlationId"] != first
    names = ml(deploymentName="pool")
    assert (
        ready.provider.invoke("azure-native:resources:getDeployment", names)["properties"]
        == (changed.old_outputs["properties"])
    )
    # A deployment's GET has no template: a refresh shows no drift.
    assert ready.refresh(changed).old_inputs == changed.old_inputs


def test_a_deployment_creates_a_missing_pool(ready: Account) -> None:
    spot = {k: v for k, v in SPOT.items() if k not in ("agentPoolName", "resourceGroupName", "resourceName")}
    ready.create(TOKEN, deployment("t4spot", spot))
    assert (ready.cloud.get(f"{CLUSTER_ID}/agentPools/t4spot") or {})["scaleSetPriority"] == "Spot"


def test_what_aks_refuses_fails_the_deployment_which_stays_and_can_be_sent_again(ready: Account) -> None:
    with pytest.raises(InitFailed) as failed:
        put(ready, orchestratorVersion="1.36")
    assert 'Code="DeploymentFailed"' in failed.value.reasons[0]
    assert "NodePoolMcVersionIncompatible" in failed.value.reasons[0]
    assert system(ready)["orchestratorVersion"] == "1.35"
    assert failed.value.outputs["properties"]["provisioningState"] == "Failed"
    inputs = ready.check(TOKEN, deployment("system", SYSTEM | {"count": 2}))
    failed_deployment = Resource(
        TOKEN, "it", "urn:it", failed.value.id, old_inputs=inputs, old_outputs=failed.value.outputs
    )
    assert ready.update(failed_deployment, inputs).old_outputs["properties"]["provisioningState"] == "Succeeded"
    assert system(ready)["count"] == 2


def test_a_second_deployment_of_a_name_is_refused_and_a_deleted_one_leaves_its_pool(ready: Account) -> None:
    deployed = put(ready)
    with pytest.raises(Refused, match="already existing"):
        put(ready)
    ready.provider.delete(deployed)
    assert ready.provider.read(deployed) is None
    assert system(ready)["count"] == 1
    with pytest.raises(Refused, match=r"DeploymentNotFound.*'pool' could not be found"):
        ready.provider.invoke("azure-native:resources:getDeployment", ml(deploymentName="pool"))


def test_a_deployment_waits_for_none_of_its_name_and_one_that_was_killed_is_over_for_the_next_command(
    ready: Account,
) -> None:
    def again(count: int) -> None:
        properties = deployment("system", SYSTEM | {"count": count})["properties"]
        ready.cloud.put(TOKEN, deployed.id, {"properties": properties}, create=False)

    deployed = put(ready)
    seen: list[AzureRefused] = []
    ready.runtime.during(lambda: seen.append(refusal(again, 1)))
    again(2)
    assert [refused.code for refused in seen] == ["DeploymentActive"]
    ready.runtime.fails(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        again(1)
    ready.cloud.reconcile()
    again(2)
    assert system(ready)["count"] == 2


def test_a_deployment_that_runs_is_not_deleted(ready: Account) -> None:
    deployed = put(ready)
    seen: list[AzureRefused] = []
    ready.runtime.during(lambda: seen.append(refusal(ready.provider.delete, deployed)))
    ready.update(deployed, deployment("system", SYSTEM | {"count": 2}))
    assert [refused.code for refused in seen] == ["DeploymentActive"]
    ready.provider.delete(deployed)
    assert ready.provider.read(deployed) is None


def changed(**changes: Any) -> Props:
    sent = deployment("system", SYSTEM)
    template = sent["properties"]["template"]
    template["resources"] = [template["resources"][0] | changes]
    return sent


def without(part: str) -> Props:
    sent = deployment("system", SYSTEM)
    del sent["properties"]["template"][part]
    return sent


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (deployment("system", SYSTEM) | {"location": "westeurope"}, "LocationNotRequired"),
        (without("$schema"), "InvalidTemplate.*schema"),
        (without("contentVersion"), "InvalidTemplate.*contentVersion"),
        (without("resources"), "InvalidTemplate.*resources"),
        (changed(name="system"), "incorrect segment lengths"),
        (changed(name="[concat('aks/', 'system')]"), "evaluates no expression"),
        (changed(type="Microsoft.Storage/storageAccounts", name="a"), "agent pools only"),
        (changed(apiVersion="2020-01-01"), "not 2020-01-01"),
        (changed(properties={"colour": "blue"}), "unknown property 'colour'"),
        (
            deployment("system", SYSTEM)
            | {"properties": deployment("system", SYSTEM)["properties"] | {"mode": "Complete"}},
            "Incremental only",
        ),
    ],
)
def test_a_template_that_is_none_changes_nothing(ready: Account, sent: Props, why: str) -> None:
    before = system(ready)
    with pytest.raises(Refused, match=why):
        ready.create(TOKEN, sent)
    assert system(ready) == before
    assert ready.cloud.get(f"{CLUSTER_ID.replace('resourcegroups', 'resourceGroups')}/deployments/pool") is None


def test_pools_of_one_network_are_made_one_after_the_other(ready: Account) -> None:
    """Azure/AKS issue 4522. Which subnets they are in makes no difference."""
    ready.network()
    for subnet, prefix in (("nodes", "10.100.0.0/20"), ("gpus", "10.100.16.0/20")):
        ready.subnet(subnetName=subnet, addressPrefix=prefix)
    subnets = f"{CLUSTER_ID.partition('/providers')[0]}/providers/Microsoft.Network/virtualNetworks/net/subnets"
    ready.cluster(resourceName="two", agentPoolProfiles=[SYSTEM | {"vnetSubnetID": f"{subnets}/nodes"}])
    pool = SPOT | {"resourceName": "two", "vnetSubnetID": f"{subnets}/nodes"}
    second = pool | {"agentPoolName": "second", "vnetSubnetID": f"{subnets}/gpus"}
    seen: list[AzureRefused] = []
    ready.runtime.during(lambda: seen.append(refusal(ready.create, POOL, second)))
    ready.create(POOL, pool)
    assert [refused.code for refused in seen] == ["SetVNetOwnershipFailed"]
    ready.create(POOL, second)
