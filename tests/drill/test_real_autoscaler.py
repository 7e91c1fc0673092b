"""The real cluster-autoscaler in a drill: its flags, its process, and why a program is refused."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil
import pytest

from drill.play import real_autoscaler
from drill.play.real_autoscaler import RealAutoscaler, flags, named_program
from drill.play.real_provider import hostnames
from sandbox.autoscaler.world import Decision
from sandbox.azure.resources import azure_cluster_rules
from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane import ControlPlane
from tests.drill.external_bench import GROUPS, SPOT_GROUP

PLAN = f"I1122 21:20:41.302851   25008 orchestrator.go:177] Final scale-up plan: [{{{SPOT_GROUP} 0->2 (max: 10)}}]"
BOOLEANS = ("daemonsetEvictionForEmptyNodes", "daemonsetEvictionForOccupiedNodes", "ignoreDaemonsetsUtilization")
SETTINGS = {**azure_cluster_rules.AUTOSCALER_DEFAULTS, **dict.fromkeys(BOOLEANS, True)}


def test_every_setting_of_aks_has_its_flag() -> None:
    assert len(SETTINGS) == 20
    rendered = [flag for flag in flags(SETTINGS) if "balancing-ignore" not in flag]
    assert " ".join(rendered) == (
        "--balance-similar-node-groups=false --daemonset-eviction-for-empty-nodes=true"
        " --daemonset-eviction-for-occupied-nodes=true --expander=random --ignore-daemonsets-utilization=true"
        " --max-scale-down-parallelism=10 --max-graceful-termination-sec=600 --max-node-provision-time=15m"
        " --max-total-unready-percentage=45 --new-pod-scale-up-delay=0s --ok-total-unready-count=3"
        " --scale-down-delay-after-add=10m --scale-down-delay-after-delete=10s --scale-down-delay-after-failure=3m"
        " --scale-down-unneeded-time=10m --scale-down-unready-time=20m --scale-down-utilization-threshold=0.5"
        " --scan-interval=10s --skip-nodes-with-local-storage=false --skip-nodes-with-system-pods=true"
    )


def test_settings_that_are_not_set_have_no_flag() -> None:
    (flag,) = [flag for flag in flags({"expander": "priority"}) if "balancing-ignore" not in flag]
    assert flag == "--expander=priority"


def test_a_setting_without_a_flag_is_named() -> None:
    with pytest.raises(SandboxError, match="no flag for scanTime"):
        flags({"expander": "priority", "scanTime": "5s"})


def test_the_variable_names_a_program() -> None:
    assert named_program({"SANDBOX_AUTOSCALER": "/opt/cluster-autoscaler"}) == Path("/opt/cluster-autoscaler")
    assert named_program({"SANDBOX_AUTOSCALER": " "}) is None
    assert named_program({}) is None


@pytest.fixture
def plane(tmp_path: Path) -> ControlPlane:
    return ControlPlane(tmp_path / "plane", version="1.36", cloud="azure")


class Recorder:
    """A client that only takes objects."""

    def __init__(self) -> None:
        self.applied: list[str] = []

    def apply(self, body: Mapping[str, Any], manager: str, *, force: bool) -> None:
        self.applied.append(f"{body['kind']} {body['metadata']['name']}")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()

    @contextmanager
    def to_recorder(kubeconfig: Path) -> Iterator[Recorder]:
        yield recorder

    monkeypatch.setattr(real_autoscaler, "opened", to_recorder)
    return recorder


def script(folder: Path, text: str, mode: int = 0o755) -> Path:
    path = folder / "cluster-autoscaler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


def started(path: Path, plane: ControlPlane) -> RealAutoscaler:
    return RealAutoscaler(path, plane, GROUPS, {"expander": "priority", "scanInterval": "5s"}, plane.directory)


@pytest.mark.parametrize(
    ("name", "mode", "cloud", "message"),
    [
        ("missing", 0, "azure", r"SANDBOX_AUTOSCALER: .*/missing does not exist; expected a cluster-autoscaler"),
        (".", 0, "azure", "is no file"),
        ("cluster-autoscaler", 0o644, "azure", "is not executable"),
        ("cluster-autoscaler", 0o755, "gcp", "for stacks on AKS"),
    ],
)
def test_a_program_that_cannot_run_is_refused(tmp_path: Path, name: str, mode: int, cloud: str, message: str) -> None:
    if mode:
        script(tmp_path, "true", mode)
    with pytest.raises(SandboxError, match=message):
        started(tmp_path / name, ControlPlane(tmp_path / "plane", version="1.36", cloud=cloud))


@pytest.mark.process
def test_a_file_that_is_no_program_is_named(plane: ControlPlane, client: Recorder, tmp_path: Path) -> None:
    path = script(tmp_path, "")
    path.write_text("a text")
    with pytest.raises(SandboxError, match="cannot be run: Exec format error"):
        started(path, plane).start()


def test_it_decided_nothing_before_it_was_started(plane: ControlPlane, tmp_path: Path) -> None:
    assert started(script(tmp_path, ""), plane).decisions() == []


HELLO = "echo 'I1122 21:17:55.769366   19991 main.go:250] Cluster Autoscaler {}'"
READY = "echo 'I1122 21:17:55.833550   19991 main.go:87] Registered cleanup signal handler'"


@pytest.mark.process
def test_a_program_that_ends_at_once_shows_its_last_words(
    plane: ControlPlane, client: Recorder, tmp_path: Path
) -> None:
    words = "F1122 21:17:55.786198   19991 cloud_provider_builder.go:40] Unknown cloud provider: kwok"
    with pytest.raises(
        SandboxError, match=r"ended with exit code 255; [^\n]*ends with:\n(.*\n)*.*Unknown cloud provider: kwok"
    ):
        started(script(tmp_path, f"{HELLO.format('1.36.1')}; echo '{words}'; exit 255"), plane).start()


@pytest.mark.process
@pytest.mark.parametrize("version", ["1.35.2", "1.3", "1.360.0", "dev"])
def test_another_version_is_refused_and_stopped(
    plane: ControlPlane, client: Recorder, tmp_path: Path, version: str
) -> None:
    program = started(script(tmp_path, f"{HELLO.format(version)}; exec sleep 60"), plane)
    with pytest.raises(SandboxError, match=rf"is cluster-autoscaler {version}; expected 1\.36"):
        program.start()
    assert program._process.exit_code() is not None


@pytest.mark.process
def test_a_program_that_says_nothing_is_given_up(
    plane: ControlPlane, client: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_autoscaler, "_START", 0.2)
    program = started(script(tmp_path, "exec sleep 60"), plane)
    with pytest.raises(SandboxError, match="is not ready after"):
        program.start()
    assert program._process.exit_code() is not None


@pytest.mark.process
def test_one_that_ends_by_itself_is_noticed(plane: ControlPlane, client: Recorder, tmp_path: Path) -> None:
    lines = [HELLO.format("1.36.1"), READY, f"while [ ! -e {tmp_path}/end ]; do sleep 0.05; done; echo its last words"]
    program = started(script(tmp_path, "\n".join(lines)), plane)
    program.start()
    program.require_running()
    (tmp_path / "end").touch()
    assert program._process.child
    program._process.child.wait(timeout=10)
    with pytest.raises(SandboxError, match=r"ended with exit code 0; its log ends with:\n(.*\n)*its last words"):
        program.require_running()


@pytest.mark.process
def test_it_ends_with_its_control_plane_when_a_drill_was_killed(
    plane: ControlPlane, client: Recorder, tmp_path: Path
) -> None:
    program = started(script(tmp_path, f"{HELLO.format('1.36.1')}\n{READY}\nexec tail -f /dev/null"), plane)
    program.start()
    child = program._process.child
    assert child
    # The command line as it is after `exec`: of a real program it never changes.
    command = psutil.Process(child.pid).cmdline()
    program._process.write({**json.loads(program._process.record.read_text()), "command": command})
    try:
        ControlPlane(plane.directory, version="1.36", cloud="azure").stop()
        assert child.wait(timeout=10) is not None
    finally:
        program.stop()


@pytest.mark.process
def test_it_runs_on_the_plane_and_its_decisions_are_read_as_they_come(
    plane: ControlPlane, client: Recorder, tmp_path: Path
) -> None:
    arguments, later, end = (tmp_path / name for name in ("arguments", "later", "end"))
    lines = [
        f'echo "$@" "$KUBECONFIG" "$POD_NAMESPACE" "$KWOK_PROVIDER_MODE" > {arguments}',
        HELLO.format("1.36.1"),
        READY,
        *(f"while [ ! -e {file} ]; do sleep 0.05; done; cat {file}" for file in (later, end)),
        "sleep 60",
    ]
    program = started(script(tmp_path, "\n".join(lines)), plane)
    program.start()
    try:
        assert program.version == "1.36.1"
        assert program.decisions() == []
        later.write_text(f"{PLAN}\n{PLAN}")
        assert len(awaited(program, 1)) == 1, "the second line has no end yet"
        end.write_text("\n")
        assert [(decision.action, decision.after) for decision in awaited(program, 2)] == [("scale-up", 2)] * 2
    finally:
        program.stop()
    assert program._process.exit_code() is not None
    given = arguments.read_text().split()
    kubeconfig = str(plane.admin_kubeconfig)
    assert given[-3:] == [kubeconfig, "kube-system", "local"]
    assert {f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--write-status-configmap=true"} <= {*given}
    assert {"--cloud-provider=kwok", "--expander=priority", "--scan-interval=5s"} <= {*given}
    assert any(flag.startswith("--address=127.0.0.1:") for flag in given)
    assert client.applied == [
        "ConfigMap kwok-provider-config",
        "ConfigMap kwok-provider-templates",
        *(f"{body['kind']} {body['metadata']['name']}" for body in hostnames()),
    ]


def awaited(autoscaler: RealAutoscaler, count: int) -> list[Decision]:
    """Return the first decisions, after at most 90 seconds; fewer when no more come."""
    until = monotonic() + 90
    while len(autoscaler.decisions()) < count and monotonic() < until:
        sleep(0.1)
    return autoscaler.decisions()
