"""The behaviour that all emulated clouds share, on each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.provider import Refused
from sandbox.tests.azure import conftest as azure
from sandbox.tests.engine_side import RecordingRuntime
from sandbox.tests.gcp import conftest as gcp

Opened = tuple[EmulatedCloud, RecordingRuntime, str]
"""A cloud with a cluster and an autoscaled pool `extra`, its runtime, and the cluster's id."""


def on_azure(folder: Path) -> Opened:
    account = azure.Account(folder / "azure.json")
    account.group()
    account.cluster()
    account.create(azure.POOL, {**azure.SPOT, "agentPoolName": "extra"})
    return account.cloud, account.runtime, azure.CLUSTER_ID


def on_gcp(folder: Path) -> Opened:
    project = gcp.Project(folder / "gcp.json")
    project.network()
    project.subnetwork()
    project.cluster()
    project.create(gcp.POOL, {**gcp.SPOT, "name": "extra"})
    return project.cloud, project.runtime, gcp.CLUSTER_ID


@pytest.fixture(params=[on_azure, on_gcp], ids=["azure", "gcp"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    cloud: Opened = request.param(tmp_path)
    return cloud


def fail(call: str) -> None:
    raise OSError("no space left")


@pytest.mark.parametrize("kind", ["cluster", "pool"])
def test_a_deletion_that_fails_on_this_machine_is_refused_and_can_be_repeated(opened: Opened, kind: str) -> None:
    cloud, runtime, cluster = opened
    id = cluster if kind == "cluster" else f"{cluster}/{cloud.folder}/extra"
    runtime.before = fail
    with pytest.raises(Refused, match="no space left"):
        cloud.delete(id)
    body = cloud.get(id)
    assert body is not None
    assert body[cloud.states.field] == cloud.states.failed
    runtime.before = lambda call: None
    cloud.delete(id)
    assert cloud.get(id) is None
    assert cloud.get(f"{cluster}/{cloud.folder}/extra") is None


def test_a_missing_pool_is_refused_with_the_names_of_the_others(opened: Opened) -> None:
    cloud, _, cluster = opened
    with pytest.raises(ScaleRefused, match=r"has no pool no; it has .*extra"):
        cloud.scale(cluster, "no", 1)


def test_the_autoscaler_of_a_missing_cluster_sees_no_pools(opened: Opened) -> None:
    cloud, _, cluster = opened
    assert "extra" in [group.pool for group in cloud.node_groups(cluster).groups]
    assert cloud.node_groups(f"{cluster}-other").groups == []


def test_every_property_that_is_set_out_of_band_is_an_input(opened: Opened) -> None:
    cloud, _, cluster = opened
    assert {"name", "tags"} & set(cloud.settable(cluster))
    with pytest.raises(KeyError):
        cloud.settable(f"{cluster}-other")
