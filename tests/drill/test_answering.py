"""An API server that ends during a drill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drill.play.source import unreachable_as_error
from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import NAMES
from sandbox.kubernetes.client import Unreachable


@pytest.fixture
def plane(tmp_path: Path) -> ControlPlane:
    found = ControlPlane(tmp_path, version="1.36", cloud="azure")
    (tmp_path / "ports.json").write_text(json.dumps(dict.fromkeys(NAMES, 28406)))
    return found


def said(plane: ControlPlane, server: str) -> str:
    with pytest.raises(SandboxError) as refused, unreachable_as_error("dev", plane):
        raise Unreachable(server)
    return str(refused.value)


def test_the_drills_own_server_is_named_with_its_last_words(plane: ControlPlane) -> None:
    log = plane.processes["kube-apiserver"].log
    first = said(plane, "https://127.0.0.1:28406")
    assert first.startswith("the drill's API server does not answer any more")
    assert first.endswith(f"the log {log}")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("begin\na\nb\netcd is gone\n")
    assert said(plane, "https://127.0.0.1:28406").endswith("which ended so:\n  a\n  b\n  etcd is gone")


def test_the_stacks_server_is_told_from_it(plane: ControlPlane) -> None:
    assert "the API server of stack 'dev' does not answer at https://127.0.0.1:9: `up`" in said(
        plane, "https://127.0.0.1:9"
    )
