"""The status that the autoscaler writes into an AKS cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.ready.autoscaler import Group, read_status
from sandbox.autoscaler.api import Unanswered
from sandbox.autoscaler.status_map import Status
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.tests.autoscaler.objects import group, node, sized
from sandbox.tests.autoscaler.test_loop import Cloud, Scans


class Server:
    """The API server's ConfigMaps; silent where the test says so."""

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.silent = False

    def create(self, path: str, body: Any) -> None:
        """Another process' map stays."""

    def patch(self, path: str, body: Any) -> None:
        if self.silent:
            raise Unanswered("no")
        assert path == "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
        self.writes.append(body["data"]["status"])


class Full(Cloud):
    """A cloud whose quota is used up, while `full`."""

    full = True

    def grow(self, pool_id: str, by: int) -> None:
        if self.full:
            raise ScaleRefused("quota")
        super().grow(pool_id, by)


def test_each_change_is_written_once_and_read_as_the_real_ones_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = group("full", 5)
    cloud, server = Full(refusing), Server()
    scans = Scans(cloud, tmp_path, monkeypatch)
    scans._loop._status = Status(server)  # type: ignore[arg-type]
    server.silent = True
    scans.at(0)
    assert server.writes == []
    server.silent = False
    scans.at(1)
    scans.at(2)
    (text,) = server.writes
    assert read_status(text) == (Group("aks-full-12345678-vmss", "Healthy", "Backoff", "", 0, 5),)
    cloud.full = False
    scans.at(302)
    scans.at(303)
    assert [item.scale_up for item in read_status(server.writes[-1])] == ["InProgress"]


def test_groups_without_autoscaling_are_left_out_and_ready_nodes_counted() -> None:
    from dataclasses import replace

    from sandbox.autoscaler.status_map import document

    of = sized(group("a", 3), 2)
    nodes = [node(of, of.nodes[0]), node(of, of.nodes[1], ready=False)]
    content = yaml.safe_load(yaml.safe_dump(document([of, replace(of, name="fixed", most=None)], nodes, set())))
    (only,) = content["nodeGroups"]
    assert only["health"]["nodeCounts"] == {"registered": {"total": 2, "ready": 1, "notStarted": 1}}
    assert (only["health"]["cloudProviderTarget"], only["scaleUp"]["status"]) == (2, "NoActivity")
