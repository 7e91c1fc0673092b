"""One scan after the other, with a cluster and a cloud of this test's own, and the log's lines."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.autoscaler import loop as loops
from sandbox.autoscaler.journal import Journal, decisions, pods
from sandbox.autoscaler.loop import Loop, Settings
from sandbox.cloud.node_groups import NodeGroup, NodeGroups
from sandbox.cluster.control_plane.certificates import ensure_certificates

from .objects import GPU, group, sized, training


class Mirrored:
    def __init__(self, objects: list[Any]) -> None:
        self._objects = objects

    def objects(self) -> list[Any]:
        return self._objects


class Cloud:
    """Pools whose machines never come."""

    def __init__(self, *groups: NodeGroup, **profile: str) -> None:
        times = {"scaleDownUnneededTime": "10m", "scaleDownDelayAfterAdd": "10m"}
        self.now = NodeGroups(list(groups), {"expander": "random", **times, **profile})

    def node_groups(self, cluster_id: str) -> NodeGroups:
        return self.now

    def grow(self, pool_id: str, by: int) -> None:
        groups = [sized(g, len(g.nodes) + by) if g.pool_id == pool_id else g for g in self.now.groups]
        self.now = replace(self.now, groups=groups)

    def sizes(self) -> dict[str, int]:
        return {group.pool: len(group.nodes) for group in self.now.groups}


class Scans:
    """A loop's scans at times of the test's choice."""

    def __init__(self, cloud: Cloud, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: bool) -> None:
        ensure_certificates(folder / "certificates", "10.0.0.0/16")
        given = Settings(folder, 1, "azure", folder / "azure.json", "c", **settings)
        self._loop = Loop(given, lambda: cloud)  # type: ignore[arg-type, return-value]
        self._loop._mirrors = [Mirrored([]), Mirrored(training(6, [GPU])), Mirrored([])]  # type: ignore[list-item]
        self._patch = monkeypatch

    def at(self, seconds: float) -> None:
        self._patch.setattr(loops.time, "monotonic", lambda: seconds)
        self._loop._scan()


def test_machines_that_do_not_come_are_waited_for_as_long_as_the_profile_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud = Cloud(group("dead", 6), maxNodeProvisionTime="10m")
    scans = Scans(cloud, tmp_path, monkeypatch)
    scans.at(0)
    scans.at(1)
    cloud.now.groups.append(group("twin", 6))
    scans.at(599)
    assert cloud.sizes() == {"dead": 6, "twin": 0}
    scans.at(600)
    assert cloud.sizes() == {"dead": 6, "twin": 6}
    printed = capsys.readouterr().out
    assert "pool dead: scale-up timed out after 600 s\n" in printed
    assert "pool dead: left alone for 300 s\n" in printed


def test_no_pool_grows_where_another_program_makes_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = Cloud(group("t4", 6))
    Scans(cloud, tmp_path, monkeypatch, provisioner=True).at(0)
    assert cloud.sizes() == {"t4": 0}
    Scans(cloud, tmp_path, monkeypatch).at(0)
    assert cloud.sizes() == {"t4": 6}


def test_the_last_decisions_are_found_among_other_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal()
    for number in range(4):
        journal.write(f"pool t4: {number} -> {number + 1} nodes")
        journal.write("node one: nvidia.com/gpu 1")
    log = tmp_path / "log"
    log.write_text("x" * (1 << 17) + "\n" + capsys.readouterr().out + "Traceback\n  pool: no\n")
    assert [line.partition("  ")[2] for line in decisions(log, 2)] == ["pool t4: 2 -> 3 nodes", "pool t4: 3 -> 4 nodes"]
    assert decisions(tmp_path / "none", 2) == []


def test_a_lasting_state_is_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal()
    for text in ("down", "down", "", "down", "broken"):
        journal.state("api", text)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[2] for line in lines] == ["down", "down", "broken"]


def test_pods_are_named_as_far_as_a_line_goes() -> None:
    assert pods(["a"]) == "1 pod (a)"
    assert pods(["a", "b"]) == "2 pods (a, b)"
    assert pods(["a", "b", "c", "d"]) == "4 pods (a, b and 2 more)"
