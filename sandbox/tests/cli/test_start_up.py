"""Start-up of commands without the engine: they import no heavy package."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.base.home import Home

pytestmark = pytest.mark.process

# The stack seems to run, no program is built, and a program that would replace this process prints itself instead.
RUN = """
import os
import sys
from pathlib import Path
from sandbox.cli import commands as cli
from sandbox.toolchain import programs
from sandbox.cluster.control_plane import ControlPlane
ControlPlane.running = lambda plane: True
programs.ensure = lambda names, report: {name: Path(name) for name in names}
os.execve = lambda program, arguments, environment: print(program, *arguments)
cli.main(sys.argv[1:], prog_name="sandbox", standalone_mode=False)
print("loaded:", *sys.modules)
"""

HEAVY = {
    "pulumi",
    "grpc",
    "google",
    "cryptography",
    "kubernetes",
    "re2",
    "pulumi_azure_native",
    "pulumi_gcp",
    "pulumi_kubernetes",
}

SIGNED = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
OUTPUTS = {"name": "ml", "kubeconfig": SIGNED, "nested": {"list": [{"token": SIGNED}]}, "pools": [{"gpus": 1}]}


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a stack with a control plane, a pool and a state."""
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path / "home"))
    home = Home.of("dev")
    write(home.clusters / "ml" / "cluster.json", {"version": "1.36", "cloud": "azure"})
    write(home.cloud / "azure.json", {"format": 1, "resources": []})
    stack = {"urn": "urn:stack", "type": "pulumi:pulumi:Stack", "outputs": OUTPUTS}
    state = {"version": 3, "checkpoint": {"latest": {"resources": [stack]}}}
    write(home.backend / ".pulumi" / "stacks" / "kubeflow-spot" / "dev.json", state)
    return home


def run(*arguments: str) -> tuple[str, set[str]]:
    """Return the output of a command, and the top-level packages that it has loaded."""
    done = subprocess.run([sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed, _, loaded = done.stdout.rpartition("loaded: ")
    return printed, {name.partition(".")[0] for name in loaded.split()}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--help"], "Usage: sandbox"),
        (["status"], "Kubernetes 1.36"),
        (["kubectl", "--", "get", "nodes"], "kubectl kubectl get nodes"),
        (["diff-release", "next", "next"], "the same"),
        (["build"], "all programs are built"),
        (["outputs"], "name: ml"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_that_needs_no_engine_loads_nothing_heavy(home: Home, arguments: list[str], says: str) -> None:
    printed, loaded = run(*arguments)
    assert says in printed
    assert "click" in loaded
    assert loaded & HEAVY == set()


def test_secrets_are_hidden_in_outputs_at_any_depth(home: Home) -> None:
    printed, _ = run("outputs", "--json")
    assert json.loads(printed) == {
        "name": "ml",
        "kubeconfig": "[secret]",
        "nested": "[secret]",
        "pools": [{"gpus": 1}],
    }
    assert "kubeconfig: [secret]\n" in run("outputs")[0]


def test_a_stack_without_a_state_has_no_outputs_and_a_broken_state_is_an_error(home: Home) -> None:
    (state,) = home.backend.rglob("dev.json")
    state.write_text("{")
    done = subprocess.run(
        [sys.executable, "-c", RUN.replace(", standalone_mode=False", ""), "outputs"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"error: {state} is cut off or broken" in done.stderr
    state.unlink()
    assert json.loads(run("outputs", "--json")[0]) == {}
