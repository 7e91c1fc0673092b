"""Programs that stand in for `gh`, `pulumi` and the project's own command on the PATH of a script."""

import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.workflows.files import SCRIPTS

GH = """
import json, os, sys
from pathlib import Path
world = Path(os.environ["WORLD"])
arguments = sys.argv[1:]
assert arguments.pop(0) == "api", arguments
path, options = arguments[0], arguments[1:]
fields = dict(text.split("=", 1) for flag, text in zip(options, options[1:]) if flag == "--raw-field")
method = options[options.index("--method") + 1] if "--method" in options else "GET"
sent = json.load(sys.stdin) if "--input" in options else None
with (world / "calls").open("a") as calls:
    calls.write(json.dumps([method, path, fields, sent]) + "\\n")
name = path.partition("?")[0].replace("/", "_")
if method == "GET" and (world / f"{name}.bytes").exists():
    sys.stdout.buffer.write((world / f"{name}.bytes").read_bytes())
    sys.exit()
try:
    answers = json.loads((world / f"{name}.json").read_text())
except FileNotFoundError:
    sys.exit("gh: Not Found (HTTP 404)")
if method != "GET":
    print(json.dumps({"id": 1}))
    sys.exit()
# A list of answers in the order of the questions: the last one stays.
print(json.dumps(answers[0]))
if len(answers) > 1:
    (world / f"{name}.json").write_text(json.dumps(answers[1:]))
"""

UV = """
import json, os, sys
from pathlib import Path
assert sys.argv[1:5] == ["run", "--locked", "sandbox", "report"], sys.argv
drawn = [sys.argv[5:], os.environ.get("GH_TOKEN", ""), Path(sys.argv[5]).read_text()]
Path(os.environ["WORLD"], "drawn").write_text(json.dumps(drawn))
longest = int(sys.argv[sys.argv.index("--longest") + 1])
print(("drawn " * 20_000)[: longest - 1].rstrip() if "long" in Path(sys.argv[5]).read_text() else "drawn")
sys.exit(int("broken" in Path(sys.argv[5]).read_text()))
"""


READER = """
[{stack}.reader]
azure-client-id = "00000000-0000-0000-0000-000000000004"
azure-tenant-id = "00000000-0000-0000-0000-000000000002"
azure-subscription-id = "00000000-0000-0000-0000-000000000003"
"""
DEPLOYER = """
[{stack}.deployer]
gcp-provider = "projects/1/locations/global/workloadIdentityPools/github/providers/kubeflow-spot"
gcp-service-account = "deploy-{stack}@example-project.iam.gserviceaccount.com"
"""


def delivery_entry(stack: str, state: str = "", more: str = "") -> str:
    """Return a stack's part of .github/delivery.toml."""
    state = state or f"azblob://{stack}?storage_account=examplestate"
    return f'[{stack}]\nstate = "{state}"\n{more}' + (DEPLOYER + READER).replace("{stack}", stack)


def tarred(*programs: tuple[str, bytes]) -> bytes:
    """Return an archive of these programs."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in programs:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def zipped(*files: tuple[str, str | bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as opened:
        for name, content in files:
            opened.writestr(name, content)
    return buffer.getvalue()


class Machine:
    """A copy of the scripts, a PATH of stand-ins, and GitHub's answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = folder / "world"
        self.temporary = folder / "runner" / "temp"
        for directory in (self.world, self.temporary, folder / "bin", folder / "project" / "scripts"):
            directory.mkdir(parents=True)
        shutil.copytree(
            SCRIPTS, folder / "project" / ".github" / "scripts", ignore=shutil.ignore_patterns("__pycache__")
        )
        self.program("bin/gh", GH)
        self.program("project/scripts/uv", UV)

    def program(self, path: str, code: str) -> None:
        """Write an executable Python program."""
        file = self.folder / path
        file.write_text(f"#!{sys.executable}\n{code}")
        file.chmod(0o755)

    def deliver(self, *stacks: str) -> None:
        """Write a delivery.toml with these stacks."""
        (self.folder / "project" / ".github" / "delivery.toml").write_text("".join(map(delivery_entry, stacks)))

    def answer(self, path: str, *answers: Any) -> None:
        """Set GitHub's answers to a path, in the order of the requests."""
        (self.world / f"{path.replace('/', '_')}.json").write_text(json.dumps(answers))

    def serve(self, path: str, content: bytes) -> None:
        """Set the contents of a download."""
        (self.world / f"{path.replace('/', '_')}.bytes").write_bytes(content)

    def calls(self, *methods: str) -> list[list[Any]]:
        """Return the requests to GitHub: method, path, fields, body."""
        file = self.world / "calls"
        every = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [call for call in every if not methods or call[0] in methods]

    def run(self, script: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run one script as a step of a workflow does."""
        environment = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "WORLD": str(self.world),
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_REPOSITORY": "owner/project",
            "GH_TOKEN": "token",
            **settings,
        }
        command = [sys.executable, str(self.folder / "project" / ".github" / "scripts" / script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class GitHub:
    """GitHub's answers to scripts that run in this process: cheaper than a stand-in for `gh`, for tables of cases."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: dict[str, list[Any]] = {}
        self.asked: list[str] = []
        self._monkeypatch = monkeypatch
        monkeypatch.syspath_prepend(str(SCRIPTS))

    def script(self, name: str, *imported: str) -> ModuleType:
        """Return a script as a module; it and the modules that it imports ask here."""
        for module in (name, *imported):
            self._monkeypatch.setattr(importlib.import_module(module), "api", self._api, raising=False)
        return importlib.import_module(name)

    def answer(self, path: str, *answers: Any) -> None:
        """Set GitHub's answers to a path without its query, in the order of the requests; the last one stays."""
        self.answers[path] = list(answers)

    def _api(self, path: str, *options: str) -> Any:
        self.asked.append(path)
        answers = self.answers[path.partition("?")[0]]
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> GitHub:
    return GitHub(monkeypatch)
