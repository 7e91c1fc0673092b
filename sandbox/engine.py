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
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from pulumi import automation
from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent

from sandbox import cloudfile, clouds, clusters, programs, workspace
from sandbox.azure import schema
from sandbox.azure.resources.table import KINDS
from sandbox.checkpoint import Checkpoint
from sandbox.cloudfile import CloudFile
from sandbox.clouds import AZURE, GCP, Clouds
from sandbox.errors import SandboxError
from sandbox.gcp import workstation
from sandbox.home import Home
from sandbox.interrupted import Interrupted
from sandbox.kubernetes.provider import KubernetesProvider
from sandbox.locks import hold, share_cloud
from sandbox.policies import Pack, furnish
from sandbox.provider import InitFailed, Provider
from sandbox.servicer import serve
from sandbox.steps import Unrepeated
from sandbox.yamlfile import read_yaml

Report = Callable[[str], None]

_ORPHAN_SECONDS = 20

_PRODUCTION = ("prod", "production")
"""Names of stacks in which policies are mandatory, as a rule."""


class Engine:
    """One stack's engine. Use `open`."""

    def __init__(
        self,
        stack: automation.Stack,
        clouds: Clouds,
        checkpoint: Checkpoint,
        interrupted: Interrupted,
        policies: Mapping[str, Any],
    ) -> None:
        self.stack, self.clouds, self._checkpoint, self._interrupted = stack, clouds, checkpoint, interrupted
        self._policies = policies

    def up(
        self,
        on_output: Report,
        on_event: Callable[[EngineEvent], None] | None = None,
        *,
        refresh: bool = False,
        continue_on_error: bool = False,
    ) -> automation.UpResult:
        """Declare the stack. Raises `automation.errors.CommandError`.

        As the engine's own command does, it asks first where something is protected, or a policy may refuse something: what
        would replace or break it then changes nothing. Where neither is, that costs some seconds and prevents little.
        """
        refusable = bool(self._policies) and self.stack.name in _PRODUCTION
        if refusable or any(resource.get("protect") for resource in self._checkpoint.resources()):
            asked = _errors_only(on_event)
            _asked(
                lambda told: self.stack.preview(on_event=asked, refresh=refresh, **self._policies, **told), on_output
            )
        with self._interrupted.until_the_engine_ends():
            return self.stack.up(
                on_event=on_event,
                suppress_outputs=True,
                refresh=refresh,
                continue_on_error=continue_on_error,
                **self._policies,
                **_told_to(on_output),
            )

    def preview(
        self,
        on_output: Report,
        on_event: Callable[[EngineEvent], None],
        *,
        refresh: bool = False,
        expect_no_changes: bool = False,
    ) -> automation.PreviewResult:
        """What an `up` would do. Raises `automation.errors.CommandError`, also where nothing was to change and something does."""
        return self.stack.preview(
            on_event=on_event,
            refresh=refresh,
            expect_no_changes=expect_no_changes,
            **self._policies,
            **_told_to(on_output),
        )

    def destroy(self, on_output: Report) -> None:
        """Delete everything the stack declared. Raises `automation.errors.CommandError`.

        Asks first, as the engine's own command does: a protected resource then keeps the others from being deleted.
        """
        _asked(lambda told: self.stack.preview_destroy(**told), on_output)
        with self._interrupted.until_the_engine_ends():
            self.stack.destroy(**_told_to(on_output))


def _asked(ask: Callable[[dict[str, Any]], object], on_output: Report) -> None:
    """Ask the engine what a change would do, and tell it only when that is an error."""
    told: list[str] = []
    try:
        ask(_told_to(told.append))
    except CommandError:
        for line in told:
            on_output(line)
        raise


def _errors_only(on_event: Callable[[EngineEvent], None] | None) -> Callable[[EngineEvent], None] | None:
    """What is only asked changes nothing, so of its events none but what went wrong is anybody's."""
    return on_event and (lambda event: on_event(event) if event.diagnostic_event or event.policy_event else None)


def _told_to(on_output: Report) -> dict[str, Any]:
    """The options by which every engine command tells its progress."""
    report = Unrepeated(on_output)
    color = "always" if sys.stdout.isatty() else "never"
    return {"on_output": report, "on_error": report, "color": color, "suppress_progress": True}


@contextmanager
def open(
    home: Home,
    report: Report,
    *,
    changing: bool = True,
    program: bool = True,
    cloud_file: Path | None = None,
    pack: Pack | None = None,
    ensure: programs.Ensure = programs.ensure,
) -> Iterator[Engine]:
    """The stack's engine with its clouds attached; one at a time for each stack.

    Clusters of a machine that was restarted, or of a command that was killed, are brought in line first; where nothing is
    to be `changing`, only when they do not run, and nothing the command was told is remembered. What a `cloud_file` says is
    taken over. Without the `program` running the stack file may be gone. A policy `pack` looks at all that is declared. `ensure`
    may wait for programs that are being built.

    Raises SandboxError when another command holds the stack, the stack or cloud file is missing or wrong, or a program
    cannot be built.
    """
    if program:
        workspace.stack_file(home)
    said = CloudFile.read(cloud_file, clouds.opened(home, dict, report)) if cloud_file else CloudFile()

    def control_plane() -> Mapping[str, Path]:
        return ensure(clusters.PROGRAMS, report)

    def set_right() -> None:
        if changing or not all(plane.running() for plane in clusters.planes(home.clusters)):
            for cloud in clouds.opened(home, control_plane, report):
                try:
                    cloud.reconcile()
                except InitFailed as failed:
                    raise SandboxError(f"the emulated cloud cannot be set right: {failed}") from failed

    with hold(home):
        home.directory.mkdir(mode=0o700, exist_ok=True)
        _clear_up(home, report)
        sdks = Thread(target=_import_sdks, args=[_cloud(home)], daemon=True)
        sdks.start()
        with share_cloud(home, report, set_right):
            if changing:
                home.remember()
            name = workspace.prepare(home, program=program)
            binaries = ensure(["pulumi"], report)
            # Not before: what has to be built is fetched from the network, whose authorities are others.
            workstation.furnish(home.directory / "workstation", home.clusters, os.environ)
            policies = furnish(home, pack) if pack else {}
            with cloudfile.changing(home.cloud) as told:
                told.add(said)
                told.keep(home.cloud)
                there = clouds.opened(home, control_plane, report)
                cloudfile.make(told, there, report)
            checkpoint = Checkpoint(home)
            interrupted = Interrupted(home, checkpoint)
            providers: dict[str, Callable[[], Provider]] = {
                **{package: partial(there.provider, package) for package in (AZURE, GCP)},
                "kubernetes": KubernetesProvider,
            }
            with serve(providers, interrupted.keep) as attach:
                stack = _stack(home, name, binaries["pulumi"], attach, sdks)
                engine = Engine(stack, there, checkpoint, interrupted, policies)
                if changing:
                    known = {package: make() for package, make in providers.items()}
                    interrupted.resolve(engine.stack, known, report)
                yield engine


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


def _cloud(home: Home) -> str:
    """The `provider` that a stack file says its cloud has; empty where none does, as in other people's programs."""
    try:
        config = read_yaml(workspace.stack_file(home)).get("config") or {}
    except SandboxError:
        # Gone, or wrong: whoever needs it says so.
        return ""
    found = (value for key, value in config.items() if key.endswith(":cloud")) if isinstance(config, dict) else ()
    return next((str(value.get("provider")) for value in found if isinstance(value, dict)), "")


def _import_sdks(cloud: str) -> None:
    """Import the SDKs that a stack of this cloud uses while the engine starts; the program then finds them loaded.

    Of Google's nothing is: its modules cost seconds, and neither the program nor the emulated cloud needs them.
    """
    if cloud != "gcp":
        for kind in KINDS.values():
            if kind.preloaded:
                # By way of the schema, which lets one thread at a time load the SDK's lazy modules.
                schema.inputs_of(kind.token)
    for name in ("core.v1", "apps.v1"):
        importlib.import_module(f"pulumi_kubernetes.{name}")


def _stack(home: Home, project_name: str, pulumi: Path, attach: str, sdks: Thread) -> automation.Stack:
    # A name such as PULUMI_STACK or PULUMI_CONFIG in the caller's environment would change what the engine does.
    for variable in [key for key in os.environ if key.startswith("PULUMI_")]:
        del os.environ[variable]
    command = _command(home)
    command.parent.mkdir(exist_ok=True)
    command.unlink(missing_ok=True)
    command.symlink_to(pulumi)
    environment = {
        # The attributes beside each file are not written at once: an engine killed meanwhile leaves a state that cannot be
        # read, "failed to load checkpoint: EOF" (gocloud.dev/blob/fileblob, setAttrs).
        "PULUMI_BACKEND_URL": f"{home.backend.as_uri()}?metadata=skip",
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
                pulumi_home=str(home.engine),
                env_vars=environment,
                pulumi_command=automation.PulumiCommand(str(home.directory), skip_version_check=True),
            ),
        )
    except CommandError as failed:
        raise SandboxError(f"the engine cannot open the stack's state in {home.backend}:\n{failed}") from failed
