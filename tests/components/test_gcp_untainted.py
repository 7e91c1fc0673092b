"""Spot pools of others without a taint, in an existing GKE cluster and in one that the stack made."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from components.layer import discovery
from components.layer.discovery import Contents
from tests.components.google import L4, stack
from tests.components.program import declare
from tests.components.test_gcp_existing_cluster import PLUGIN, SHARED, ExistingCluster, run, settings

pytestmark = pytest.mark.program


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The program's warnings, in a cluster with GKE's device plugin."""
    contents = Contents("1.36.2-gke.100", daemon_sets=(PLUGIN,))
    monkeypatch.setattr(discovery, "read_contents", lambda kubeconfig, what, compute_class=None: contents)
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    return warned


_SPOT_TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
_GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
_TEAM_TAINT = {"key": "team", "value": "vision", "effect": "NO_EXECUTE"}


@pytest.mark.parametrize(
    ("nodes", "asked"),
    [
        ({"spot": True}, "cloud.google.com/gke-spot=true:NoSchedule"),
        ({"preemptible": True}, "cloud.google.com/gke-preemptible=true:NoSchedule"),
        ({"flexStart": True}, "cloud.google.com/gke-flex-start=true:NoSchedule"),
        ({"spot": True, "effectiveTaints": [_GPU_TAINT]}, "cloud.google.com/gke-spot=true:NoSchedule"),
        (
            {"spot": True, "effectiveTaints": [_TEAM_TAINT]},
            "team=vision:NoExecute,cloud.google.com/gke-spot=true:NoSchedule",
        ),
        (
            {"spot": True, "taints": [{**_SPOT_TAINT, "effect": "PREFER_NO_SCHEDULE"}]},
            "cloud.google.com/gke-spot=true:PreferNoSchedule,cloud.google.com/gke-spot=true:NoSchedule",
        ),
        ({"spot": True, "effectiveTaints": [_SPOT_TAINT]}, None),
        ({"preemptible": True, "taints": [_SPOT_TAINT]}, None),
        ({"spot": False, "preemptible": False}, None),
    ],
)
def test_a_spot_pool_that_nobody_tainted_is_named_with_the_command_that_taints_it(
    monkeypatch: pytest.MonkeyPatch, warnings: list[str], nodes: dict[str, Any], asked: str | None
) -> None:
    """GKE taints no spot pool that a person makes: the guard cannot keep pods off it."""
    cluster = {"nodePools": [*SHARED["nodePools"], {"name": "cheap", "nodeConfigs": [nodes]}]}
    run(monkeypatch, L4, cluster=cluster)
    place = "--cluster shared --location europe-west4 --project example-lab"
    wanted = f"gcloud container node-pools update cheap {place} --node-taints {asked} "
    assert [wanted in text for text in warnings if "'cheap'" in text] == [True] * (asked is not None)
    assert not [text for text in warnings if "'default-pool'" in text]


def test_an_untainted_spot_pool_is_not_named_where_there_is_no_guard(
    monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    answer = {**SHARED, "nodePools": [{"name": "cheap", "nodeConfigs": [{"spot": True}]}]}
    without = {**settings(L4), "kubeflow-spot:scheduling": {"enabled": False}}
    declare(without, monkeypatch, cloud=ExistingCluster(answer))
    assert not [text for text in warnings if "'cheap'" in text]


def test_a_spot_pool_that_somebody_added_without_a_taint_is_named(
    monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    declare(stack(L4), monkeypatch, live=[{"name": "cheap", "nodeConfigs": [{"spot": True}]}])
    wanted = "gcloud container node-pools update cheap --cluster lab --location "
    assert [wanted in text for text in warnings if "'cheap'" in text] == [True]
