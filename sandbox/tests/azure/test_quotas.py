"""Quotas: their form, the resources that count against them, and pools that exceed one."""

import json
from typing import Any

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.azure_quotas import Quotas
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.provider import InitFailed, Resource

from .conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, SPOT, SYSTEM, Account, Props, refusal

# The system pool of the cluster `aks` has 4 vCPUs, and so have one node of REGULAR and one of SPOT.
T4 = "standardNCASv3_T4Family"
GPU = {**REGULAR, "agentPoolName": "gpu", "vmSize": "Standard_NC4as_T4_v3"}


def limited(account: Account, limits: dict[str, int], location: str = "westeurope") -> None:
    account.limit(Quotas.parse_quotas({location: limits}))


def too_much(account: Account, inputs: Props, token: str = POOL) -> str:
    refused = refusal(account.create, token, inputs)
    assert (refused.status, refused.code) == (400, "ErrCode_InsufficientVCPUQuota")
    return refused.message


def failed(account: Account, inputs: Props, pool: Resource | None = None) -> Resource:
    """Return the pool that a request leaves for whose machines Azure has no quota."""
    with pytest.raises(InitFailed) as init:
        account.update(pool, inputs) if pool else account.create(POOL, inputs)
    return Resource(
        POOL, "it", "urn:it", init.value.id, old_inputs=account.check(POOL, inputs), old_outputs=init.value.outputs
    )


@pytest.mark.parametrize("family", [T4, T4.upper(), "Standard NCASv3_T4 Family"])
@pytest.mark.parametrize("region", ["westeurope", "West Europe"])
def test_names_are_read_in_any_spelling(ready: Account, region: str, family: str) -> None:
    limited(ready, {family: 4}, region)
    assert (
        "Insufficient vcpu quota requested 8, remaining 4 for family Standard NCASv3_T4 Family for region westeurope."
    ) in too_much(ready, {**GPU, "count": 2})
    ready.create(POOL, {**GPU, "count": 1})


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        ({"westeurope": 5}, ["quotas.westeurope:"]),
        ({"westeurope": {"core": 5}}, ["quotas.westeurope.core:"]),
        ({"westeurope": {"cores": "5"}}, ["quotas.westeurope.cores:"]),
        ({"westeurope": {"cores": -1}}, ["quotas.westeurope.cores:"]),
        ({"westeurope": {"cores": True}}, ["quotas.westeurope.cores:"]),
        (
            {1: {"cores": 1}, "eastus": {"gpus": 1, T4: 1.5}},
            ["quotas.1:", "quotas.eastus.gpus:", f"quotas.eastus.{T4}:"],
        ),
    ],
)
def test_everything_that_is_no_quota_is_reported(data: Any, paths: list[str]) -> None:
    with pytest.raises(SandboxError) as wrong:
        Quotas.parse_quotas(data)
    assert [line.partition(" ")[0] for line in str(wrong.value).split("\n")] == paths


def test_all_pools_of_a_region_count_and_those_of_others_do_not(ready: Account) -> None:
    limited(ready, {"cores": 20})
    ready.cluster(resourceName="near")
    ready.cluster(resourceName="far", location="northeurope")
    ready.create(POOL, {**REGULAR, "resourceName": "far", "count": 9})
    ready.create(POOL, {**SPOT, "count": 4})
    assert (
        "Insufficient regional vcpu quota left for location westeurope. left regional vcpu quota 12, requested quota 16."
    ) in too_much(ready, {**REGULAR, "count": 4})
    ready.create(POOL, {**REGULAR, "count": 3})


def test_spot_has_a_quota_of_its_own(ready: Account) -> None:
    limited(ready, {"cores": 4, T4: 0})
    ready.create(POOL, {**SPOT, "count": 4})


def test_pools_of_one_request_count_together(ready: Account) -> None:
    limited(ready, {"cores": 12})
    inputs = {**CLUSTER_INPUTS, "resourceName": "two"}
    three = [{**SYSTEM, "count": 2}, {**SYSTEM, "name": "more", "count": 1}]
    assert "left regional vcpu quota 8, requested quota 12" in too_much(
        ready, {**inputs, "agentPoolProfiles": three}, CLUSTER
    )
    ready.create(CLUSTER, {**inputs, "agentPoolProfiles": [{**SYSTEM, "count": 1}, three[1]]})


def test_a_pool_over_its_quota_may_change_and_shrink(ready: Account) -> None:
    pool = ready.create(POOL, {**REGULAR, "count": 3})
    limited(ready, {"cores": 8})
    pool = ready.update(pool, {**REGULAR, "count": 3, "nodeLabels": {"a": "b"}})
    pool = ready.update(pool, {**REGULAR, "count": 2})
    with pytest.raises(AzureRefused, match="left regional vcpu quota 0, requested quota 4"):
        ready.update(pool, {**REGULAR, "count": 3})


def test_spot_pool_without_quota_fails_later_and_converges(ready: Account) -> None:
    limited(ready, {"lowPriorityCores": 4})
    wanted = {**SPOT, "minCount": 2, "count": 2}
    pool = failed(ready, wanted)
    assert (pool.old_outputs["provisioningState"], pool.old_outputs["count"]) == ("Failed", 0)
    assert len(ready.runtime.names()) == 1
    # Failed is not busy: the same request fails in the same way.
    assert failed(ready, wanted, pool).id == pool.id
    limited(ready, {"lowPriorityCores": 8})
    again = ready.update(pool, wanted)
    assert (again.old_outputs["provisioningState"], again.old_outputs["count"]) == ("Succeeded", 2)
    assert len(ready.runtime.names()) == 3


def test_spot_pool_that_cannot_grow_keeps_its_nodes_and_takes_its_settings(ready: Account) -> None:
    limited(ready, {"lowPriorityCores": 8})
    pool = ready.create(POOL, {**SPOT, "count": 1})
    outputs = failed(ready, {**SPOT, "minCount": 3, "count": 3, "nodeLabels": {"a": "b"}}, pool).old_outputs
    assert (outputs["count"], outputs["minCount"], outputs["nodeLabels"]["a"]) == (1, 3, "b")
    assert sum("t4spot" in name for name in ready.runtime.names()) == 1


def test_failure_tells_the_engine_why(ready: Account) -> None:
    limited(ready, {"lowPriorityCores": 4})
    with pytest.raises(InitFailed) as init:
        ready.create(POOL, {**SPOT, "count": 2})
    (reason,) = init.value.reasons
    prefix = 'Code="ResourceOperationFailure" Message="'
    assert reason.startswith(prefix)
    body = json.loads(reason[len(prefix) : -1])
    assert body["message"] == "The resource operation completed with terminal provisioning state 'Failed'."
    text = (
        "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details - "
        "Deployment Model: Resource Manager, Location: westeurope, Current Limit: 4, Current Usage: 0, "
        "Additional Required: 8, (Minimum) New Limit Required: 8."
    )
    assert body["details"] == [{"code": "QuotaExceeded", "message": text}]


def test_inline_spot_pool_without_quota_fails_its_cluster_alone(ready: Account) -> None:
    limited(ready, {"lowPriorityCores": 4})
    spot = {**SYSTEM, "mode": "User", "scaleSetPriority": "Spot"}
    pools = [SYSTEM, {**spot, "name": "one"}, {**spot, "name": "other"}]
    with pytest.raises(InitFailed) as init:
        ready.cluster(resourceName="two", agentPoolProfiles=pools)
    assert init.value.outputs["provisioningState"] == "Failed"
    assert init.value.outputs["identityProfile"]
    summary = [(p["name"], p["count"], p["provisioningState"]) for p in init.value.outputs["agentPoolProfiles"]]
    assert summary == [("system", 1, "Succeeded"), ("one", 1, "Succeeded"), ("other", 0, "Failed")]
    assert sum("-one-" in name or "-other-" in name for name in ready.runtime.names()) == 1


@pytest.mark.parametrize(
    ("base", "limit", "text"),
    [
        (SPOT, "lowPriorityCores", "approved LowPriorityCores quota"),
        (
            {**GPU, "enableAutoScaling": True, "minCount": 0, "maxCount": 4, "count": 0},
            T4,
            "Standard NCASv3_T4 Family Cores",
        ),
        (
            {**REGULAR, "enableAutoScaling": True, "minCount": 0, "maxCount": 4, "count": 0},
            "cores",
            "Total Regional Cores",
        ),
    ],
)
def test_autoscaler_stops_at_the_quota(ready: Account, base: Props, limit: str, text: str) -> None:
    name = base["agentPoolName"]
    ready.create(POOL, base)
    limited(ready, {limit: 12})
    # The system pool has four of the region's.
    used = 1 if limit == "cores" else 0
    with pytest.raises(ScaleRefused, match=f"pool {name} stays at 0 nodes: .*{text}"):
        ready.cloud.scale("aks", name, 4 - used)
    assert not any(f"-{name}-" in node for node in ready.runtime.names())
    ready.cloud.scale("aks", name, 3 - used)
    limited(ready, {limit: 0})
    ready.cloud.scale("aks", name, 1)
