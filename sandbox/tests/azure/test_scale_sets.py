"""Machines that a pool keeps when its size changes, and its autoscaler's view of them."""

import json
import time

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.azure_quotas import UNLIMITED
from sandbox.cloud.node_groups import Gpus, NodeGroup, ScaleRefused
from sandbox.cloud.quotas import KEPT
from sandbox.cluster.plugins import limits

from .conftest import CLUSTER_ID, POOL, REGULAR, SPOT, Account

T4 = f"{CLUSTER_ID}/agentPools/t4spot"


def numbers(account: Account, pool: str = "t4spot") -> list[str]:
    """Return the last three digits of the nodes of a pool."""
    return [name[-3:] for name in account.runtime.names() if f"-{pool}-" in name]


def groups(account: Account) -> dict[str, NodeGroup]:
    return {group.pool: group for group in account.cloud.node_groups(CLUSTER_ID).groups}


def test_the_named_machines_go_and_a_number_is_given_once(ready: Account) -> None:
    pool = ready.create(POOL, {**SPOT, "count": 4})
    names = groups(ready)["t4spot"].nodes
    assert names == tuple(name for name in ready.runtime.names() if "-t4spot-" in name)
    ready.cloud.remove(T4, [names[1], names[2], "no node"])
    assert numbers(ready) == ["000", "003"]
    assert ready.refresh(pool).old_outputs["count"] == 2
    ready.cloud.grow(T4, 1)
    assert numbers(ready) == ["000", "003", "004"]
    # A request for fewer takes the highest numbers; none for the same number.
    ready.update(ready.refresh(pool), {**SPOT, "count": 3, "tags": {"a": "b"}})
    assert numbers(ready) == ["000", "003", "004"]
    ready.update(ready.refresh(pool), {**SPOT, "count": 2, "maxCount": 2})
    assert numbers(ready) == ["000", "003"]
    ready.cloud.scale("aks", "t4spot", 0)
    ready.cloud.scale("aks", "t4spot", 1)
    assert numbers(ready) == ["005"]


def test_a_count_read_just_before_a_node_went_is_no_change(ready: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ready.create(POOL, {**SPOT, "count": 3})
    ready.cloud.remove(T4, groups(ready)["t4spot"].nodes[:1])
    ready.update(pool, {**SPOT, "count": 3, "tags": {"a": "b"}})
    assert numbers(ready) == ["001", "002"]
    ready.cloud.remove(T4, groups(ready)["t4spot"].nodes[:1])
    read = ready.refresh(pool)
    for count in (0, 3):
        with pytest.raises(AzureRefused, match=rf"count was {count}\. The pool is autoscaled and has 1 nodes"):
            ready.update(read, {**SPOT, "count": count})
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(AzureRefused, match=r"count was 2\. The pool is autoscaled and has 1 nodes"):
        ready.update(read, {**SPOT, "count": 2})


def test_a_pool_made_anew_counts_from_the_start(ready: Account) -> None:
    pool = ready.create(POOL, {**SPOT, "count": 2})
    ready.cloud.scale("aks", "t4spot", 0)
    ready.provider.delete(pool)
    ready.create(POOL, {**SPOT, "count": 1})
    assert numbers(ready) == ["000"]


def test_a_state_file_that_knows_no_machines_is_read(ready: Account) -> None:
    ready.create(POOL, {**SPOT, "count": 3})
    lines = ready.state_file.read_text().splitlines()
    kept = [line.rstrip(",") for line in lines[1:-1] if "sandbox:ScaleSet" not in line]
    assert len(kept) < len(lines) - 2
    ready.state_file.write_text("\n".join([lines[0], ",\n".join(kept), lines[-1]]))
    names = groups(ready)["t4spot"].nodes
    assert [name[-3:] for name in names] == ["000", "001", "002"]
    ready.cloud.remove(T4, [names[0]])
    assert numbers(ready) == ["001", "002"]


def test_the_autoscaler_s_requests_stay_within_bounds(ready: Account) -> None:
    ready.create(POOL, {**SPOT, "count": 2, "minCount": 1})
    ready.create(POOL, REGULAR)
    names = groups(ready)["t4spot"].nodes
    for call, text in (
        (lambda: ready.cloud.grow(T4, 3), "takes 1 to 4 nodes, not 5"),
        (lambda: ready.cloud.remove(T4, names), "keeps 1 nodes"),
        (lambda: ready.cloud.grow(f"{CLUSTER_ID}/agentPools/cpu", 1), "is not autoscaled"),
    ):
        with pytest.raises(ScaleRefused, match=text):
            call()


def test_what_the_autoscaler_sees(ready: Account) -> None:
    cut = {"vmSize": "Standard_NC40ads_H100_v5", "gpuInstanceProfile": "MIG2g", "gpuProfile": {"driver": "None"}}
    ready.create(POOL, SPOT)
    ready.create(POOL, {**REGULAR, **cut})
    node_groups = ready.cloud.node_groups(CLUSTER_ID)
    system, spot, gpu = node_groups.groups
    assert (system.least, system.most, system.gpus) == (None, None, None)
    assert (spot.least, spot.most, spot.nodes, spot.gpus) == (0, 4, (), Gpus(1))
    assert spot.template["metadata"]["name"] == f"{spot.name}000000"
    assert gpu.gpus == Gpus(1, 94, "MIG2g", 3, driver=False)
    assert (node_groups.profile["expander"], node_groups.profile["scaleDownUnneededTime"]) == ("random", "10m")
    nobody = ready.cloud.node_groups(CLUSTER_ID.replace("aks", "other"))
    assert (nobody.groups, nobody.profile) == ([], {})


def test_quotas_of_the_cloud_file_are_read_beside_the_state(ready: Account) -> None:
    folder = ready.state_file.parent
    assert limits("azure", folder) == UNLIMITED
    (folder / KEPT).write_text(json.dumps({"quotas": {"westeurope": {"cores": 5}}, "resources": []}))
    assert limits("azure", folder).limit("westeurope", "cores") == 5
    (folder / KEPT).write_text(json.dumps({"quotas": None, "resources": []}))
    assert limits("azure", folder) == UNLIMITED
