"""Pools of a live cluster as a removal is judged, from each cloud's answer."""

from __future__ import annotations

from typing import Any

import pytest

from components.azure.azure_live import LiveCluster as AksCluster
from components.gcp.gcp_live import LiveCluster as GkeCluster
from components.removed_pools import LivePool

LABELS = {"kubeflow-spot.dev/pool": "x"}


@pytest.mark.parametrize(
    ("profile", "pool"),
    [
        ({"count": 2}, LivePool("x", {}, spot=False, nodes=2)),
        ({"nodeLabels": LABELS, "count": 0}, LivePool("x", LABELS, spot=False, nodes=0)),
        ({"scaleSetPriority": "Regular", "count": 1}, LivePool("x", {}, spot=False, nodes=1)),
        ({"scaleSetPriority": "Spot"}, LivePool("x", {}, spot=True, nodes=None)),
        (
            {"tags": {"kubeflow-spot-stack": "dev"}},
            LivePool("x", {}, spot=False, nodes=None, stack="dev"),
        ),
        # The cluster lists its system pool itself, and no update of the stack deletes it.
        ({"mode": "System", "count": 2}, None),
    ],
)
def test_a_pool_of_aks(profile: dict[str, Any], pool: LivePool | None) -> None:
    assert AksCluster({"x": {"name": "x", "mode": "User", **profile}}).user_pools == ([pool] if pool else [])


ONE, THREE = ["europe-west4-a"], ["europe-west4-a", "europe-west4-b", "europe-west4-c"]


@pytest.mark.parametrize(
    ("nodes", "answer", "pool"),
    [
        (
            {"labels": LABELS},
            {"nodeCount": 2, "nodeLocations": ONE},
            LivePool("x", LABELS, spot=False, nodes=2),
        ),
        # Of two nodes in three zones the provider says 0.
        ({}, {"nodeCount": 0, "nodeLocations": THREE}, LivePool("x", {}, spot=False, nodes=None)),
        ({}, {"nodeCount": 0, "nodeLocations": ONE}, LivePool("x", {}, spot=False, nodes=0)),
        ({}, {}, LivePool("x", {}, spot=False, nodes=None)),
        ({"spot": True}, {}, LivePool("x", {}, spot=True, nodes=None)),
        ({"preemptible": True}, {}, LivePool("x", {}, spot=True, nodes=None)),
        ({"flexStart": True, "spot": False}, {}, LivePool("x", {}, spot=False, nodes=None)),
        (
            {"resourceLabels": {"kubeflow-spot-stack": "dev"}},
            {},
            LivePool("x", {}, spot=False, nodes=None, stack="dev"),
        ),
    ],
)
def test_a_pool_of_gke(nodes: dict[str, Any], answer: dict[str, Any], pool: LivePool) -> None:
    assert GkeCluster({"nodePools": [{"name": "x", "nodeConfigs": [nodes], **answer}]}).live_pools == [pool]
