"""The real Pulumi engine over the unmodified program and the emulated clouds.

The program runs inline: the engine asks this process for it, so no language-host plugin is needed. The engine's own state,
plugins and credentials are below the sandbox's home; the user's Pulumi is neither read nor written.
"""

from __future__ import annotations

import importlib
import os
import runpy
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from filelock import FileLock, Timeout
from pulumi import automation
from pulumi.automation.events import EngineEvent

from sandbox import clusters, programs, workspace
from sandbox.azure import schema
from sandbox.azure.cloud import AzureCloud
from sandbox.azure.provider import AzureProvider
from sandbox.azure.resources.table import KINDS
from sandbox.errors import SandboxError
from sandbox.home import Home
from sandbox.kubernetes.provider import KubernetesProvider
from sandbox.servicer import serve
from sandbox.steps import Unrepeated

Report = Callable[[str], None]

_ORPHAN_SECONDS = 20


class Engine:
    """One stack's engine. Use `open`."""

    def __init__(self, home: Home, stack: automation.Stack, cloud: AzureCloud) -> None:
        self.home, self.stack, self.cloud = home, stack, cloud

    def up(self, on_output: Report) -> automation.UpResult:
        """Declare the stack. Raises `automation.errors.CommandError`."""
        return self.stack.up(suppress_outputs=True, **_told_to(on_output))

    def preview(self, on_output: Report, on_event: Callable[[EngineEvent], None]) -> automation.PreviewResult:
        """What an `up` would do. Raises `automation.errors.CommandError`."""
        return self.stack.preview(on_event=on_event, **_told_to(on_output))

    def destroy(self, on_output: Report) -> None:
        """Delete everything the stack declared. Raises `automation.errors.CommandError`.

        Asks first, as the engine's own command does: a protected resource then keeps the others from being deleted.
        """
        asked: list[str] = []
        try:
            self.stack.preview_destroy(**_told_to(asked.append))
        except automation.errors.CommandError:
            for line in asked:
                on_output(line)
            raise
        self.stack.destroy(**_told_to(on_output))


def _told_to(on_output: Report) -> dict[str, Any]:
    """The options by which every engine command tells its progress."""
    report = Unrepeated(on_output)
    color = "always" if sys.stdout.isatty() else "never"
    return {"on_output": report, "on_error": report, "color": color, "suppress_progress": True}


@contextmanager
def open(home: Home, report: Report, *, changing: bool = True) -> Iterator[Engine]:
    """The stack's engine with its clouds attached; one at a time for each stack.

    Clusters of a machine that was restarted, or of a command that was killed, are brought in line first; where nothing is
    to be `changing`, only when they do not run.

    Raises SandboxError when another command holds the stack, the stack file is missing or a program cannot be built.
    """
    workspace.stack_file(home)
    with hold(home):
        home.directory.mkdir(mode=0o700, exist_ok=True)
        _clear_up(home, report)
        name = workspace.prepare(home)
        binaries = programs.ensure(["pulumi"], report)
        sdks = Thread(target=_import_sdks, daemon=True)
        sdks.start()

        def control_plane() -> Mapping[str, Path]:
            return programs.ensure(clusters.PROGRAMS, report)

        cloud = azure(home, control_plane, report)
        if changing or not all(plane.running() for plane in clusters.planes(home.clusters)):
            cloud.reconcile()
        with serve({"azure-native": lambda: AzureProvider(cloud), "kubernetes": KubernetesProvider}) as attach:
            yield Engine(home, _stack(home, name, binaries["pulumi"], attach, sdks), cloud)


def azure(home: Home, binaries: Callable[[], Mapping[str, Path]], report: Report) -> AzureCloud:
    """The stack's emulated Azure."""
    return AzureCloud(home.cloud / "azure.json", clusters.LocalClusters(home.clusters, "azure", binaries, report))


def _clear_up(home: Home, report: Report) -> None:
    """End what a killed command left: its engine, which has nobody to talk to any more, and that engine's lock.

    Nobody else can be at work: the caller holds the stack.
    """
    engine = str(_command(home))
    orphans = [p for p in psutil.process_iter(["cmdline"]) if (p.info["cmdline"] or [""])[0] == engine]
    if orphans:
        report("waiting: the engine of a command that was killed still runs")
        _, alive = psutil.wait_procs(orphans, timeout=_ORPHAN_SECONDS)
        for process in alive:
            process.kill()
        psutil.wait_procs(alive, timeout=_ORPHAN_SECONDS)
    locks = home.backend / ".pulumi" / "locks"
    if locks.exists():
        shutil.rmtree(locks)


def _command(home: Home) -> Path:
    """The engine's command, under a name that is this stack's own."""
    return home.directory / "bin" / "pulumi"


def _import_sdks() -> None:
    """Import the SDKs of the clouds this sandbox emulates while the engine starts; the program then finds them loaded."""
    for token in KINDS:
        # By way of the schema, which lets one thread at a time load the SDK's lazy modules.
        schema.inputs_of(token)
    for name in ("core.v1", "apps.v1"):
        importlib.import_module(f"pulumi_kubernetes.{name}")


@contextmanager
def hold(home: Home) -> Iterator[None]:
    """Keep every other command that changes the stack out."""
    home.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home.lock)
    try:
        lock.acquire(timeout=0)
    except Timeout as held:
        raise SandboxError(
            f"another command is working on stack {home.stack!r}; wait until it has ended, then run this one again"
        ) from held
    try:
        yield
    finally:
        lock.release()


def _stack(home: Home, project_name: str, pulumi: Path, attach: str, sdks: Thread) -> automation.Stack:
    # A name such as PULUMI_STACK or PULUMI_CONFIG in the caller's environment would change what the engine does.
    for variable in [key for key in os.environ if key.startswith("PULUMI_")]:
        del os.environ[variable]
    command = _command(home)
    command.parent.mkdir(exist_ok=True)
    command.unlink(missing_ok=True)
    command.symlink_to(pulumi)
    environment = {
        "PULUMI_BACKEND_URL": home.backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": workspace.passphrase(home),
        "PULUMI_DEBUG_PROVIDERS": attach,
        # Both look for things on the network, and failing to find them costs seconds.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }

    def program() -> None:
        # The SDKs' lazy modules are not made for two threads.
        sdks.join()
        # As the engine's own Python host does it: the project's folder first, then __main__.py.
        if str(home.project) not in sys.path:
            sys.path.insert(0, str(home.project))
        runpy.run_path(str(home.project / "__main__.py"), run_name="__main__")

    try:
        return automation.create_or_select_stack(
            stack_name=home.stack,
            project_name=project_name,
            program=program,
            opts=automation.LocalWorkspaceOptions(
                work_dir=str(home.workspace),
                pulumi_home=str(home.directory / "pulumi-home"),
                env_vars=environment,
                pulumi_command=automation.PulumiCommand(str(home.directory), skip_version_check=True),
            ),
        )
    except automation.errors.CommandError as failed:
        raise SandboxError(f"the engine cannot open the stack's state in {home.backend}:\n{failed}") from failed
