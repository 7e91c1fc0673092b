"""Properties that a cluster's update keeps, moves and leaves alone, beside the refusals of the rule walk."""

from __future__ import annotations

import pytest

from sandbox.azure.resources.cluster_pools_rules import too_far_apart

from .conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, SPOT, SYSTEM, Account, CheckFailed

AUTOSCALED = {**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 3}


def test_inline_pool_that_an_update_does_not_name_stays(ready: Account) -> None:
    cluster = ready.cluster(resourceName="two", agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "more", "mode": "User"}])
    ready.update(cluster, {**CLUSTER_INPUTS, "resourceName": "two", "agentPoolProfiles": [SYSTEM]})
    assert [p.pool for p in ready.cloud.pools() if p.cluster == "two"] == ["system", "more"]


def test_inline_pool_keeps_what_an_update_leaves_out(ready: Account) -> None:
    cluster = ready.cluster(resourceName="two", agentPoolProfiles=[{**AUTOSCALED, "nodeLabels": {"a": "b"}}])
    ready.cloud.scale("two", "system", 3)
    updated = ready.update(
        cluster, {**CLUSTER_INPUTS, "resourceName": "two", "agentPoolProfiles": [{"name": "system", "maxCount": 5}]}
    )
    (pool,) = updated.old_outputs["agentPoolProfiles"]
    assert (pool["count"], pool["maxCount"], pool["nodeLabels"], pool["mode"]) == (3, 5, {"a": "b"}, "System")


def test_pools_stay_at_their_version_when_the_cluster_moves(account: Account) -> None:
    account.group()
    inputs = {**CLUSTER_INPUTS, "kubernetesVersion": "1.34"}
    cluster = account.update(account.create(CLUSTER, inputs), {**inputs, "kubernetesVersion": "1.35"})
    assert cluster.old_outputs["currentKubernetesVersion"] == "1.35.5"
    assert cluster.old_outputs["agentPoolProfiles"][0]["currentOrchestratorVersion"] == "1.34.7"


@pytest.mark.parametrize(
    ("pool", "control_plane", "refused"),
    [("1.34.7", "1.36.2", False), ("1.33.9", "1.36.2", True), ("1.36.2", "1.36.2", False), ("1.36.10", "1.36.2", True)],
)
def test_pools_trail_the_control_plane_by_two_minors_at_most(pool: str, control_plane: str, refused: bool) -> None:
    assert (too_far_apart(pool, control_plane) is not None) == refused


@pytest.mark.parametrize("name", ["-aks", "aks-", "a.b", "a" * 64])
def test_bad_cluster_name_is_refused_at_check(account: Account, name: str) -> None:
    with pytest.raises(CheckFailed, match=r"'resourceName' (does not match|is too long)"):
        account.check(CLUSTER, {**CLUSTER_INPUTS, "resourceName": name})
    account.check(CLUSTER, {**CLUSTER_INPUTS, "resourceName": "a" * 63})


@pytest.mark.parametrize("name", ["gpu-spot", "GPU", "1gpu", "thirteenchars", ""])
def test_bad_pool_name_is_refused_at_check(ready: Account, name: str) -> None:
    with pytest.raises(CheckFailed, match=r"'agentPoolName' does not match expression '\^\[a-z\]\[a-z0-9\]\{0,11\}\$'"):
        ready.check(POOL, {**SPOT, "agentPoolName": name})
    ready.check(POOL, {**SPOT, "agentPoolName": "twelvechars1"})


def test_existing_pool_is_not_created_again(ready: Account) -> None:
    inline = {**REGULAR, "agentPoolName": "system"}
    with pytest.raises(Exception, match=r"^cannot create already existing resource '.*/agentPools/system'$"):
        ready.create(POOL, inline)
