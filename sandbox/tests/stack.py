"""A stack in a sandbox of its own, driven through the command line as its user would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import yaml

from sandbox.base.home import Home
from sandbox.cluster import clusters
from sandbox.tests import commands, tally
from sandbox.tests.api import Api, Refused
from sandbox.toolchain.programs import ensure

PROJECT = Path(__file__).resolve().parents[2]

_BEHIND = ("scale", "capacity", "evict", "delete", "edit")
"""Commands after which the cloud differs from the stack file."""
_HARMLESS = ("pod", "pods", "namespace")
"""Objects that tests delete after creating them."""

_CLUSTERED = {
    "nodes",
    "namespaces",
    "computeclasses",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "persistentvolumes",
}
_CLUSTERED |= {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}
_GROUPS = {
    "/api/v1": (
        *("configmaps", "namespaces", "nodes", "pods", "resourcequotas", "secrets", "services"),
        *("persistentvolumeclaims", "persistentvolumes"),
    ),
    "/apis/apps/v1": ("daemonsets",),
    "/apis/rbac.authorization.k8s.io/v1": ("roles", "rolebindings"),
    "/apis/admissionregistration.k8s.io/v1": tuple(name for name in _CLUSTERED if "admission" in name),
    "/apis/cloud.google.com/v1": ("computeclasses",),
}


@dataclass
class Stack:
    """A copy of the project's files in a folder of its own, with the sandbox's home where it is by default."""

    project: Path
    home: Path
    name: str = "dev"
    _applied: str | None = field(default=None, init=False)
    """The stack file as of the last `up`, if that succeeded."""
    _moved: bool = field(default=False, init=False)
    """Whether the cloud or the cluster was changed out of band."""
    _limited: bool = field(default=False, init=False)
    """Whether a cloud file's quotas are in force."""

    @classmethod
    def copy(cls, folder: Path, name: str = "dev") -> Stack:
        """Copy the checked-in stack to a git repository in `folder` so that tests may edit it."""
        project = folder / "project"
        project.mkdir()
        for file in ("Pulumi.yaml", f"Pulumi.{name}.yaml", "__main__.py", ".gitignore"):
            shutil.copy(PROJECT / file, project)
        stack = cls(project, project / ".sandbox", name)
        stack.git("init", "--quiet")
        stack.git("add", "--all")
        return stack

    def git(self, *arguments: str) -> str:
        """Run git in the project; return its output."""
        return subprocess.run(["git", *arguments], cwd=self.project, capture_output=True, text=True, check=True).stdout

    def changed_files(self) -> str:
        """Files that differ from the checked-in ones, and untracked files."""
        return self.git("diff", "--name-only") + self.git("ls-files", "--others", "--exclude-standard")

    @property
    def file(self) -> Path:
        return self.project / f"Pulumi.{self.name}.yaml"

    @property
    def config(self) -> dict[str, Any]:
        """The stack file's settings without the project's prefix."""
        content = yaml.safe_load(self.file.read_text())["config"]
        return {key.removeprefix("kubeflow-spot:"): value for key, value in content.items()}

    def write(self, config: dict[str, Any]) -> None:
        """Replace the stack file's settings."""
        self.file.write_text(
            yaml.safe_dump({"config": {f"kubeflow-spot:{key}": value for key, value in config.items()}})
        )

    def run(
        self, command: str, *arguments: str, ok: bool | None = True, prepare: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the sandbox; fails the test unless it succeeds or fails as `ok` says (None: either).

        `prepare` is called in the command's process before; it is a function that can be pickled.
        """
        applied, self._applied = self._applied, None
        self._limited |= "--cloud" in arguments
        self._moved |= command in _BEHIND
        done = commands.run(self._arguments(command, *arguments), prepare=prepare)
        assert ok is None or (done.returncode == 0) == ok, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        if command == "down":
            self._moved = self._limited = False
        elif command != "up":
            self._applied = applied
        elif ok:
            self._applied = self.file.read_text() if self.file.exists() else None
        return done

    def start(self, command: str, output: IO[str], *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the sandbox in an interpreter of its own, without waiting; its output goes to `output`."""
        self._applied = None
        line = [sys.executable, "-m", "sandbox", *self._arguments(command, *arguments)]
        return subprocess.Popen(line, stdout=output, stderr=subprocess.STDOUT, text=True)

    def _arguments(self, command: str, *arguments: str) -> list[str]:
        return [command, "--stack", self.name, "--cwd", str(self.project), *arguments]

    def steps(self) -> list[tuple[str, str, list[str]]]:
        """Preview an `up`; return its steps as (operation, resource name, changed properties)."""
        return self._steps("preview")

    def up(self, *arguments: str) -> list[tuple[str, str, list[str]]]:
        """Bring the stack up; return the steps that it took, as `steps` does."""
        return self._steps("up", *arguments)

    def _steps(self, command: str, *arguments: str) -> list[tuple[str, str, list[str]]]:
        printed = json.loads(self.run(command, "--json", *arguments).stdout)
        assert printed["errors"] == []
        return [(step["op"], step["name"], step["diff"]) for step in printed["steps"]]

    def kubectl(self, *arguments: str, ok: bool = True) -> str:
        """Run kubectl; return its output."""
        kubectl = ensure(["kubectl"], print)["kubectl"]
        tally.kubectl()
        settings = {**os.environ, "KUBECONFIG": str(self._plane().admin_kubeconfig)}
        verb, *rest = arguments
        self._moved |= verb in ("patch", "label") or (verb == "delete" and rest[0] not in _HARMLESS)
        done = subprocess.run([kubectl, *arguments], env=settings, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == ok, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def get(self, kind: str, *arguments: str) -> dict[str, Any]:
        """Return the result of `kubectl get -o json` with these arguments: a name, `-n`, `-A` or `--all-namespaces`, and `-l`."""
        resources, options = _resources(kind), list(arguments)
        everywhere = resources in _CLUSTERED
        namespace, selector, name = "default", "", ""
        while options:
            option = options.pop(0)
            if option in ("-A", "--all-namespaces"):
                everywhere = True
            elif option == "-n":
                namespace = options.pop(0)
            elif option == "-l":
                selector = f"?labelSelector={options.pop(0)}"
            else:
                assert not option.startswith("-"), option
                name = f"/{option}"
        group = next(group for group, members in _GROUPS.items() if resources in members)
        place = "" if everywhere else f"/namespaces/{namespace}"
        api = Api(self._plane())
        try:
            return api.request("GET", f"{group}{place}/{resources}{name}{selector}")
        except Refused as refused:
            raise AssertionError(f"{kind} {' '.join(arguments)}: {refused}") from refused
        finally:
            api.close()

    def _plane(self) -> clusters.ControlPlane:
        return clusters.of_stack(Home.of(self.name, self.project))

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs, with secret ones hidden."""
        outputs: dict[str, Any] = json.loads(self.run("outputs", "--json").stdout)
        return outputs


class Standing(Stack):
    """A stack that stays up for the tests of several files; each test starts from the checked-in stack file."""

    def settle(self, nodes: Mapping[str, int]) -> None:
        """Bring the stack up as checked in, with these nodes of each pool only; nothing when no test has changed it."""
        checked_in = (PROJECT / self.file.name).read_text()
        self.file.write_text(checked_in)
        if self._applied == checked_in and not self._moved and not self._limited:
            return
        unlimited = self.project.parent / "unlimited.yaml"
        unlimited.write_text("quotas: {}")
        self.run("up", *(["--cloud", str(unlimited)] if self._limited else []))
        self.kubectl("delete", "pod", "--all", "--namespace=default", "--wait=false")
        running = Counter(node["metadata"]["labels"]["kubeflow-spot.dev/pool"] for node in self.get("nodes")["items"])
        for pool in sorted(running.keys() | nodes.keys()):
            if running[pool] != nodes.get(pool, 0):
                self.run("scale", pool, str(nodes.get(pool, 0)))
        self._moved = self._limited = False

    @contextmanager
    def scaled(self, pool: str, nodes: int) -> Iterator[None]:
        """Give a pool without nodes this number of them, and take them away again."""
        moved = self._moved
        self.run("scale", pool, str(nodes))
        yield
        self.run("scale", pool, "0")
        self._moved = moved


def _resources(kind: str) -> str:
    """Return the plural of a kind: both `node` and `nodes` are known."""
    known = {name for members in _GROUPS.values() for name in members}
    return next(name for name in (kind, f"{kind}s", f"{kind}es", f"{kind[:-1]}ies") if name in known)


def until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Wait for the condition; return whether it became true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def eventually(check: Callable[[], Any], condition: str, seconds: float = 60, pause: float = 0.02) -> Any:
    """Call `check` until its result is true, and return that. Raises AssertionError when the time is over."""
    deadline = time.monotonic() + seconds
    while not (answer := check()):
        assert time.monotonic() < deadline, f"not so after {seconds:.0f} s: {condition}"
        time.sleep(pause)
    return answer
