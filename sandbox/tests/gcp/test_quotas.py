"""Quotas: the resources that count against them, and requests that exceed one."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.provider import Refused
from sandbox.cloud.quotas import KEPT
from sandbox.cluster.plugins import limits
from sandbox.gcp.gcp_quotas import UNLIMITED, Quotas
from sandbox.tests.engine_side import Props

from .conftest import CLUSTER, FLEX, POOL, PROJECT, REGION, REGULAR, SPOT, TWO, Project, with_config

MORE = f"View and manage quotas at https://console.cloud.google.com/iam-admin/quotas?usage=USED&project={PROJECT}."
ON_DEMAND = {**with_config(SPOT, spot=None), "name": "od"}


def limited(project: Project, limits: dict[str, int], region: str = REGION) -> None:
    project.limit(Quotas.parse_quotas({region: limits}))


def refused(project: Project, inputs: Props, token: str = POOL) -> str:
    before = project.state_file.read_text()
    with pytest.raises(Refused) as error:
        project.create(token, inputs)
    assert project.state_file.read_text() == before
    return str(error.value)


def test_what_a_request_needs_is_counted_at_once(ready: Project) -> None:
    """4.4: kiosk-console #367; one initial node in each of three zones"""
    limited(ready, {"PREEMPTIBLE_NVIDIA_L4_GPUS": 2})
    assert refused(ready, {**SPOT, "initialNodeCount": 1}) == (
        "1 error occurred:\n\t* error creating NodePool: googleapi: Error 403: Insufficient regional quota to satisfy request: "
        "resource \"PREEMPTIBLE_NVIDIA_L4_GPUS\": request requires '3.0' and is short '1.0'. project has a quota of "
        f"'2.0' with '2.0' available. {MORE}, forbidden\n\n"
    )
    ready.create(POOL, SPOT)


def test_every_exceeded_quota_is_named(ready: Project) -> None:
    limited(ready, {"NVIDIA_A100_GPUS": 1, "A2_CPUS": 12})
    a100: dict[str, Any] = {
        **with_config(
            ON_DEMAND, machineType="a2-highgpu-1g", guestAccelerators=[{"type": "nvidia-tesla-a100", "count": 1}]
        ),
        "nodeLocations": [f"{REGION}-a", f"{REGION}-b"],
        "initialNodeCount": 1,
    }
    text = refused(ready, a100)
    assert 'Error 403: \n\t(1) insufficient regional quota to satisfy request: resource "A2_CPUS"' in text
    assert '\n\t(2) insufficient regional quota to satisfy request: resource "NVIDIA_A100_GPUS"' in text


@pytest.mark.parametrize(
    ("limits", "inputs", "metric"),
    [
        ({"CPUS": 5}, with_config(REGULAR, machineType="e2-standard-2"), "CPUS"),
        ({"N2_CPUS": 23}, REGULAR, "N2_CPUS"),
        ({"NVIDIA_L4_GPUS": 2}, {**ON_DEMAND, "initialNodeCount": 1}, "NVIDIA_L4_GPUS"),
        # Without a preemptible quota, spot and preemptible machines count against the standard one.
        ({"NVIDIA_L4_GPUS": 2}, {**SPOT, "initialNodeCount": 1}, "NVIDIA_L4_GPUS"),
        ({"N2_CPUS": 23}, with_config(REGULAR, spot=True), "N2_CPUS"),
        ({"PREEMPTIBLE_CPUS": 23, "N2_CPUS": 0}, with_config(REGULAR, preemptible=True), "PREEMPTIBLE_CPUS"),
        # Page dws-flex-start-training
        (
            {"PREEMPTIBLE_NVIDIA_L4_GPUS": 2, "NVIDIA_L4_GPUS": 9},
            {**FLEX, "initialNodeCount": 1},
            "PREEMPTIBLE_NVIDIA_L4_GPUS",
        ),
    ],
)
def test_each_machine_counts_against_its_own(
    ready: Project, limits: dict[str, int], inputs: Props, metric: str
) -> None:
    limited(ready, limits)
    assert f'resource "{metric}"' in refused(ready, inputs)
    limited(ready, {**limits, metric: limits[metric] + 1})
    ready.create(POOL, inputs)


def test_accelerator_optimized_machines_need_no_cpus(ready: Project) -> None:
    limited(ready, {"CPUS": 0, "N2_CPUS": 0, "A2_CPUS": 0, "PREEMPTIBLE_CPUS": 0})
    ready.create(POOL, {**SPOT, "initialNodeCount": 1})


def test_all_gpus_of_a_project_have_a_limit_together(ready: Project) -> None:
    ready.create(POOL, {**SPOT, "initialNodeCount": 1})
    limited(ready, {"GPUS_ALL_REGIONS": 5}, "global")
    t4 = with_config(
        ON_DEMAND, machineType="n1-standard-8", guestAccelerators=[{"type": "nvidia-tesla-t4", "count": 1}]
    )
    text = refused(ready, {**t4, "initialNodeCount": 1})
    assert 'Insufficient global quota to satisfy request: resource "GPUS_ALL_REGIONS": request requires' in text
    assert "'3.0' and is short '1.0'" in text


def test_the_pool_that_a_cluster_begins_with_needs_its_cpus(ready: Project) -> None:
    limited(ready, {"CPUS": 5})
    assert "requires '6.0' and is short '1.0'" in refused(ready, TWO, CLUSTER)
    ready.create(CLUSTER, {**TWO, "nodeLocations": [f"{REGION}-a"]})


def test_other_regions_do_not_count(ready: Project) -> None:
    limited(ready, {"N2_CPUS": 0}, "us-central1")
    ready.create(POOL, REGULAR)


def test_the_autoscaler_stops_at_a_quota(ready: Project) -> None:
    pool = ready.create(POOL, SPOT)
    limited(ready, {"PREEMPTIBLE_NVIDIA_L4_GPUS": 4})
    ready.cloud.grow(pool.id, 3)
    with pytest.raises(ScaleRefused) as error:
        ready.cloud.grow(pool.id, 2)
    assert str(error.value) == (
        "pool l4 stays at 3 nodes: Quota 'PREEMPTIBLE_NVIDIA_L4_GPUS' exceeded. Limit: 4.0 in region europe-west4."
    )
    assert len(ready.runtime.names()) == 3


def test_a_pool_over_its_limit_may_stay_and_shrink(ready: Project) -> None:
    pool = ready.create(POOL, REGULAR)
    limited(ready, {"N2_CPUS": 8})
    ready.update(pool, with_config(REGULAR, labels={"a": "b"}))
    ready.cloud.scale("gke", "cpu", 2)


def test_the_kept_quotas_are_google_s_part(tmp_path: Path) -> None:
    assert limits("gcp", tmp_path) == UNLIMITED
    (tmp_path / KEPT).write_text(json.dumps({"quotas": {"westeurope": {"cores": 5}}, "resources": []}))
    assert limits("gcp", tmp_path) == UNLIMITED
    (tmp_path / KEPT).write_text(json.dumps({"quotas": {"gcp": {REGION: {"CPUS": 5}}}, "resources": []}))
    assert limits("gcp", tmp_path).limits == {REGION: {"CPUS": 5}}
    with pytest.raises(SandboxError, match=r"quotas\.gcp: is not an object"):
        Quotas.parse_quotas([])
