"""The real engine on a state that names plugins and where to get them, by the steps and variables of the jobs with credentials."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox.toolchain.programs import ensure
from tests.workflows.conftest import tarred
from tests.workflows.faults import ACQUISITION
from tests.workflows.files import SCRIPTS, workflow

pytestmark = pytest.mark.engine

HOST = f"""#!{sys.executable}
from concurrent.futures import ThreadPoolExecutor
import grpc
from pulumi.runtime.proto import language_pb2_grpc
from sandbox.engine.language_host import LanguageHost
server = grpc.server(ThreadPoolExecutor(4))
language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(lambda: None), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
"""
"""A language host whose program declares nothing."""
PLUGINS = {"evil": "1.0.0", "kubernetes": "4.0.0"}
"""A foreign plugin, and another version of one that is installed."""


class Attacker(NamedTuple):
    address: str
    asked: list[str]
    started: Path


@pytest.fixture
def attacker(tmp_path: Path) -> Iterator[Attacker]:
    """Yield a server of plugins, each of which leaves a mark once it is started."""
    started, asked = tmp_path / "started", list[str]()
    program = f"#!/bin/sh\nenv > {started}\nexit 1\n".encode()
    content = tarred(*((f"pulumi-resource-{name}", program) for name in PLUGINS))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Attacker(f"http://127.0.0.1:{server.server_port}", asked, started)
    server.shutdown()
    server.server_close()


class Runner:
    """A machine with a checkout of main, the program, and the stack's state in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "a passphrase",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PYTHONPATH": str(SCRIPTS.parents[1]),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        }
        self.state = f"file://{folder / 'state'}"
        for name in ("bin", "home", "state", "main/policy", "main/program"):
            (folder / name).mkdir(parents=True)
        shutil.copytree(SCRIPTS, folder / "main" / ".github" / "scripts")
        (folder / "bin" / "pulumi").symlink_to(ensure(["pulumi"], print)["pulumi"])
        self._script("pulumi-language-python", HOST)
        self._script("pulumi-analyzer-policy-none", f'#!/bin/sh\nexec {sys.executable} -u "$2/__main__.py" "$1"\n')
        for project in (folder / "main", folder / "main" / "program"):
            (project / "policy").mkdir(exist_ok=True)
            (project / "Pulumi.yaml").write_text("name: kubeflow-spot\nruntime: python\n")
            (project / "policy" / "PulumiPolicy.yaml").write_text("runtime: none\n")
            (project / "policy" / "__main__.py").write_text(
                "from pulumi_policy import PolicyPack, ResourceValidationPolicy\n"
                "PolicyPack('none', policies=[ResourceValidationPolicy('a-rule', 'none', lambda args, report: None)])\n"
            )

    def _script(self, name: str, text: str) -> None:
        (self.folder / "bin" / name).write_text(text)
        (self.folder / "bin" / name).chmod(0o755)

    def pulumi(self, *arguments: str, sent: str | None = None) -> str:
        """Run the engine as whoever writes the state does."""
        settings = self.environment | {"PULUMI_BACKEND_URL": self.state}
        command = ["pulumi", *arguments, "--stack", "prod", "--non-interactive"]
        done = subprocess.run(
            command, cwd=self.folder / "main", env=settings, input=sent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def step(self, name: str, *left_out: str, drift: bool = False) -> subprocess.CompletedProcess[str]:
        """Run the last step of a workflow's job: its script, its variables and those of the job, but for some."""
        [job] = workflow(name)["jobs"].values()
        step = job["steps"][-1]
        known = {"inputs.stack": "prod", "inputs.drift": str(drift).lower(), "steps.delivery.outputs.state": self.state}
        given = {
            key: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known.get(match[1], ""), value)
            for key, value in (job["env"] | step["env"]).items()
            if key not in left_out
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        settings = self.environment | given
        return subprocess.run(
            command, cwd=self.folder / "main", env=settings, capture_output=True, text=True, check=False, timeout=120
        )


@pytest.fixture
def runner(attacker: Attacker, tmp_path: Path) -> Runner:
    runner = Runner(tmp_path / "runner")
    runner.pulumi("stack", "init")
    for settings in (tmp_path / "runner" / "main").glob("Pulumi.*.yaml"):
        shutil.copy(settings, tmp_path / "runner" / "main" / "program")
    state = json.loads(runner.pulumi("stack", "export"))
    stack = "urn:pulumi:prod::kubeflow-spot"
    resources: list[dict[str, Any]] = []
    for name, version in PLUGINS.items():
        provider = f"{stack}::pulumi:providers:{name}::own"
        where = {"version": version, "pluginDownloadURL": attacker.address}
        resources += [
            {"urn": provider, "custom": True, "id": name, "type": f"pulumi:providers:{name}", "inputs": where},
            {
                "urn": f"{stack}::{name}:index:Thing::thing",
                "custom": True,
                "id": "thing",
                "type": f"{name}:index:Thing",
                "provider": f"{provider}::{name}",
            },
        ]
    state["deployment"]["resources"] = resources
    runner.pulumi("stack", "import", sent=json.dumps(state))
    assert attacker.asked == []
    return runner


RUNS = [("read", True), ("read", False), ("up", False)]


@pytest.mark.parametrize(("name", "drift"), RUNS, ids=["drift", "preview", "up"])
def test_a_job_with_credentials_fetches_and_starts_nothing_that_a_state_names(
    name: str, drift: bool, runner: Runner, attacker: Attacker
) -> None:
    done = runner.step(name, drift=drift)
    assert done.returncode != 0
    missing = re.search(
        "plugin (kubernetes 4.0.0|evil 1.0.0) not installed|no resource plugin '", done.stdout + done.stderr
    )
    assert missing, done.stdout + done.stderr
    assert (attacker.asked, attacker.started.exists()) == ([], False)


def test_without_the_jobs_variable_the_engine_runs_what_the_state_names_with_the_jobs_environment(
    runner: Runner, attacker: Attacker
) -> None:
    runner.step("read", ACQUISITION, drift=True)
    assert {path.split("-v")[0] for path in attacker.asked} == {f"/pulumi-resource-{name}" for name in PLUGINS}
    assert f"PULUMI_BACKEND_URL={runner.state}" in attacker.started.read_text()
