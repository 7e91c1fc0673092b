"""The sandbox starts a policy pack and reports the engine's events about it.

The pack runs in a process that has imported Pulumi before, and is otherwise as if the engine had started it itself.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import yaml
from pulumi.automation.events import EngineEvent, PolicyEvent

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.engine.events import Steps
from sandbox.engine.policies import Pack, hosted, install
from sandbox.engine.policy_plugin import VARIABLE
from sandbox.tests.reaper import running
from sandbox.tests.stack import until

BROKEN = PolicyEvent(
    message="<{%fg 1%}>Refused.<{%reset%}>\n\x1b[31mhere\x1b[0m: so\n",
    color="auto",
    policy_name="rule",
    policy_pack_name="pack",
    policy_pack_version="1",
    policy_pack_version_tag="1",
    enforcement_level="mandatory",
    resource_urn="urn:pulumi:prod::project::type::name",
)


def event(policy: PolicyEvent) -> EngineEvent:
    return EngineEvent(sequence=0, timestamp=0, policy_event=policy)


def a_pack(folder: Path, runtime: str = "{name: python, options: {toolchain: uv}}") -> Pack:
    folder.mkdir()
    (folder / "PulumiPolicy.yaml").write_text(f"version: 1.2.3\nruntime: {runtime}\n")
    return Pack(folder)


def home_of_dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path / "home"))
    return Home.of("dev", tmp_path)


def test_a_violation_is_reported_once_without_colour_codes_and_is_the_error() -> None:
    steps = Steps()
    for _ in range(2):
        steps.on_event(event(BROKEN))
    steps.errors.append("preview failed")
    steps.failed("exit 255")
    assert steps.as_json() == {
        "steps": [],
        "violations": [
            {
                "policy": "rule",
                "level": "mandatory",
                "resource": "name",
                "urn": "urn:pulumi:prod::project::type::name",
                "message": "Refused.\nhere: so",
            }
        ],
        "warnings": [],
        "errors": ["mandatory policies are broken: rule"],
    }


def test_an_error_beside_a_violation_is_kept() -> None:
    steps = Steps(errors=["the program is wrong"])
    steps.on_event(event(BROKEN))
    steps.failed("exit 255")
    assert steps.errors == ["the program is wrong"]


def test_a_project_has_a_pack_where_it_has_the_packs_file(tmp_path: Path) -> None:
    (tmp_path / "policy").mkdir()
    assert Pack.of(tmp_path, "prod") is None
    (tmp_path / "policy" / "PulumiPolicy.yaml").write_text("runtime: python\n")
    assert Pack.of(tmp_path, "prod") == Pack(tmp_path / "policy")


def test_a_stacks_own_file_configures_the_pack_until_it_is_removed_or_another_is_named(tmp_path: Path) -> None:
    pack, other = tmp_path / "policy", tmp_path / "other.json"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
    own = pack / "config.prod.json"
    own.write_text("{}")
    assert Pack.of(tmp_path, "prod") == Pack(pack, own)
    assert Pack.of(tmp_path, "prod", other) == Pack(pack, other)
    assert Pack.of(tmp_path, "dev") == Pack(pack)
    own.unlink()
    assert Pack.of(tmp_path, "prod") == Pack(pack)


def test_the_engine_gets_a_copy_that_no_language_host_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = a_pack(tmp_path / "pa ck")
    options = install(home_of_dev(tmp_path, monkeypatch), pack)
    option, folder = options
    copy = yaml.safe_load((Path(folder) / "PulumiPolicy.yaml").read_text())
    assert copy["version"] == "1.2.3"
    assert copy["runtime"] != "python"
    assert option == "--policy-pack"
    config = Pack(pack.folder, tmp_path / "config.json")
    assert install(home_of_dev(tmp_path, monkeypatch), config) == [*options, "--policy-pack-config", str(config.config)]


def test_a_pack_in_another_language_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = a_pack(tmp_path / "pack", "nodejs")
    with pytest.raises(SandboxError, match="only packs with the runtime python"):
        install(home_of_dev(tmp_path, monkeypatch), pack)


TELLS = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "path": sys.path[:2], "stack": os.environ.get("PULUMI_STACK"),
    "hosted": "policy_host" in " ".join(sys.orig_argv), "executable": sys.executable, "name": __name__, "pid": os.getpid()}))
print("to stderr", file=sys.stderr)
"""
WAITS = TELLS + "import time\ntime.sleep(60)\n"


class Started:
    """The engine's plugin, as the engine starts it: in a folder and a process group of its own, with pipes for its streams."""

    def __init__(self, folder: Path, program: str) -> None:
        self.pack = Pack(folder / "pa ck")
        self.pack.folder.mkdir(parents=True)
        (self.pack.folder / "PulumiPolicy.yaml").write_text("runtime: python\n")
        (self.pack.folder / "__main__.py").write_text(textwrap.dedent(program))
        _, copy = install(Home("dev", folder, folder / "home"), self.pack)
        self.folder = Path(copy)
        (script,) = (folder / "home").rglob("pulumi-analyzer-policy-*")
        # Open for as long as the engine lives.
        read, self.engine = os.pipe()
        self.process = subprocess.Popen(
            [script, "127.0.0.1:1", "."],
            cwd=self.folder,
            env={**os.environ, "PULUMI_STACK": "dev"},
            stdin=read,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        os.close(read)

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def ended(self) -> tuple[int, str, str]:
        """Return the exit code and the output since; wait, as the engine does, until every writer has closed the pipes."""
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


@pytest.mark.process
@pytest.mark.parametrize("host", [True, False])
def test_a_pack_gets_the_engines_arguments_hosted_or_not(host: bool, tmp_path: Path) -> None:
    pack = Pack(tmp_path) if host else None
    with hosted(pack):
        for name in ("one", "two"):
            started = Started(tmp_path / name, TELLS)
            code, out, err = started.ended()
            request = json.loads(out)
            assert (code, err) == (0, "to stderr\n")
            assert request == {
                "argv": ["127.0.0.1:1", str(started.pack.folder)],
                "cwd": str(started.folder),
                "path": [str(started.pack.folder), str(started.folder)],
                "stack": "dev",
                "hosted": host,
                "executable": sys.executable,
                "name": "__main__",
                "pid": request["pid"],
            }


@pytest.mark.process
@pytest.mark.parametrize(
    ("program", "code", "text"), [("raise ValueError('no rule')", 1, "no rule"), ("exit(7)", 7, "")]
)
def test_a_pack_that_ends_ends_as_it_would_by_itself(tmp_path: Path, program: str, code: int, text: str) -> None:
    endings = []
    for name, pack in (("hosted", Pack(tmp_path)), ("not", None)):
        with hosted(pack):
            ended = Started(tmp_path / name, program).ended()
            assert ended[0] == code
            assert text in ended[1] + ended[2]
            endings.append((ended[0], bool(ended[1]), bool(ended[2])))
    assert endings[0] == endings[1]


def interrupted(started: Started) -> None:
    os.killpg(started.process.pid, signal.SIGINT)


def killed(started: Started) -> None:
    started.process.kill()


def without_engine(started: Started) -> None:
    os.close(started.engine)


@pytest.mark.process
@pytest.mark.parametrize("end", [interrupted, killed, without_engine])
def test_a_pack_ends_at_once_when_the_engine_ends_it_or_ends_itself(
    tmp_path: Path, end: Callable[[Started], None]
) -> None:
    with hosted(Pack(tmp_path)):
        started = Started(tmp_path / "one", WAITS)
        pid = json.loads(started.line())["pid"]
        assert pid != started.process.pid
        end(started)
        assert started.ended()[0] != 0
        assert until(lambda: not running(pid))
        # The next one is served as well.
        assert json.loads(Started(tmp_path / "two", TELLS).ended()[1])["hosted"]


def host_of(socket: str) -> int:
    (host,) = (p.pid for p in psutil.process_iter(["cmdline"]) if str(Path(socket).parent) in (p.info["cmdline"] or []))
    return host


@pytest.mark.process
def test_nothing_of_a_host_stays(tmp_path: Path) -> None:
    with hosted(Pack(tmp_path)):
        socket = os.environ[VARIABLE]
        host = host_of(socket)
    assert not running(host)
    assert not Path(socket).parent.exists()
    assert VARIABLE not in os.environ


@pytest.mark.process
def test_a_host_ends_with_a_command_that_was_killed() -> None:
    code = (
        "import os, sys, time; from pathlib import Path; from sandbox.engine.policies import Pack, hosted\n"
        "with hosted(Pack(Path())): print(os.environ[sys.argv[1]], flush=True); time.sleep(60)"
    )
    command = subprocess.Popen([sys.executable, "-c", code, VARIABLE], stdout=subprocess.PIPE, text=True)
    with command:
        assert command.stdout
        socket = command.stdout.readline().strip()
        host = host_of(socket)
        command.kill()
    assert until(lambda: not running(host))
    assert until(lambda: not Path(socket).parent.exists())
