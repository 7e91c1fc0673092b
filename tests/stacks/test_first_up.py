"""`up` on a machine with the engine but without the cluster's programs; `go` is a script that builds nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT

import pytest

from sandbox.cluster import clusters
from sandbox.tests.reaper import running
from sandbox.tests.stack import Stack, until
from sandbox.toolchain import programs

pytestmark = pytest.mark.engine

GO = """#!/bin/sh
case "$1 $2 $*" in
"env GOVERSION "*) echo go1.26.8;;
"env "*) echo {machine}/go-cache;;
"build "*" -o "*) for o; do case $prev in -o) out=$o;; esac; prev=$o; done
  {build};;
esac
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a machine with the engine on PATH, and an empty cache for programs."""
    engine = programs.ensure(["pulumi"], print)["pulumi"]
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "pulumi").symlink_to(engine)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "path"), os.environ["PATH"]]))
    cache = tmp_path / "cache" / "kubeflow-spot"
    cache.mkdir(parents=True)
    # Imported modules need not be compiled again (see sandbox/__init__.py).
    (cache / "bytecode").symlink_to(programs.cache_directory() / "bytecode")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return tmp_path


@pytest.fixture
def stack(machine: Path) -> Iterator[Stack]:
    stack = Stack.copy(machine)
    yield stack
    stack.run("down", "--force")


def install_go(machine: Path, build: str) -> None:
    script = machine / "path" / "go"
    script.write_text(GO.format(machine=machine, build=build))
    script.chmod(0o755)


def test_up_declares_while_the_clusters_programs_are_built_and_can_be_interrupted(machine: Path, stack: Stack) -> None:
    install_go(machine, f"echo $$ > {machine}/pid; sleep 600 & wait")
    output = machine / "output"
    with output.open("w") as file:
        command = stack.start("up", file)
        try:
            assert until(lambda: "ManagedCluster ml-dev creating" in output.read_text()), output.read_text()
            assert "VirtualNetwork ml-dev-vnet created" in output.read_text()
            go = int((machine / "pid").read_text())
            assert running(go)
            command.send_signal(SIGINT)
            command.wait(30)
        finally:
            command.kill()
    assert until(lambda: not running(go))
    assert command.returncode != 0


@pytest.mark.slow
def test_a_failed_build_fails_the_cluster_and_the_next_up_creates_it(
    machine: Path, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_go(machine, "echo '# some/package'; echo 'x.go:1: undefined: y'; exit 1")
    failed = stack.run("up", ok=False)
    assert "VirtualNetwork ml-dev-vnet created" in failed.stdout
    assert "x.go:1: undefined: y" in failed.stdout
    assert "Run the command again" in failed.stdout

    monkeypatch.delenv("XDG_CACHE_HOME")
    built = programs.ensure(clusters.PROGRAMS, print)["etcd"].parent
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "cache"))
    install_go(machine, f"rm -r $out; cp -r {built} $out; cd $out; mv etcd server")
    assert "VirtualNetwork ml-dev-vnet created" not in stack.run("up").stdout
    assert "Ready" in stack.kubectl("get", "nodes")
