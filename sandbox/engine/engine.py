"""The real Pulumi engine over the unmodified program and the emulated clouds.

The program runs inline: the engine asks this process for it, so no language-host plugin is needed. The engine's own state,
plugins and credentials are below the sandbox's home; the user's Pulumi is neither read nor written.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import psutil
from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.locks import hold, share_cloud
from sandbox.cloud.provider import InitFailed, Provider
from sandbox.cloud.servicer import serve
from sandbox.cluster import clusters
from sandbox.cluster.kubernetes_provider import KubernetesProvider
from sandbox.engine import cloud_file as cloudfile
from sandbox.engine import clouds, workspace
from sandbox.engine.cloud_file import CloudFile
from sandbox.engine.clouds import Clouds
from sandbox.engine.command import EngineCommand, OnEvent
from sandbox.engine.interrupted import Interrupted
from sandbox.engine.policies import Pack, furnish
from sandbox.engine.program import Program
from sandbox.engine.steps import Unrepeated, without_advice
from sandbox.toolchain import programs

Report = Callable[[str], None]

_ORPHAN_SECONDS = 20

_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")
"""Names of stacks in which policies are mandatory, as a rule."""


class Engine:
    """One stack's engine. Use `open`."""

    def __init__(
        self,
        command: EngineCommand,
        clouds: Clouds,
        checkpoint: Checkpoint,
        interrupted: Interrupted,
        policies: Sequence[str],
    ) -> None:
        self.command, self.clouds, self._checkpoint, self._interrupted = command, clouds, checkpoint, interrupted
        self._policies = policies

    def up(
        self,
        on_output: Report,
        on_event: OnEvent = lambda event: None,
        *,
        refresh: bool = False,
        continue_on_error: bool = False,
    ) -> dict[str, int]:
        """Declare the stack; returns the number of resources by operation. Raises `automation.errors.CommandError`.

        As the engine's own command does, it asks first where something is protected, or a policy may refuse something: what
        would replace or break it then changes nothing. Where neither is, that costs some seconds and prevents little.
        """
        told = [*_told(), *self._policies, *(["--refresh"] if refresh else [])]
        refusable = bool(self._policies) and _PRODUCTION.fullmatch(self.command.stack)
        if refusable or any(resource.get("protect") for resource in self._checkpoint.resources()):
            self._ask("preview", *told, on_output=on_output, on_event=on_event)
        if continue_on_error:
            told.append("--continue-on-error")
        with self._interrupted.until_the_engine_ends():
            return self.command.run(
                *("up", "--yes", "--skip-preview", "--suppress-outputs", *told),
                on_output=Unrepeated(on_output),
                on_event=on_event,
            )

    def preview(
        self,
        on_output: Report,
        on_event: OnEvent,
        *,
        refresh: bool = False,
        expect_no_changes: bool = False,
    ) -> None:
        """Tell what an `up` would do. Raises `automation.errors.CommandError`, also when it changes what must not change."""
        told = [*_told(), *self._policies, *(["--refresh"] if refresh else [])]
        if expect_no_changes:
            told.append("--expect-no-changes")
        self.command.run("preview", *told, on_output=Unrepeated(on_output), on_event=on_event)

    def destroy(self, on_output: Report) -> None:
        """Delete everything the stack declared. Raises `automation.errors.CommandError`.

        Asks first, as the engine's own command does: a protected resource then keeps the others from being deleted.
        """
        self._ask("destroy", "--preview-only", *_told(), on_output=on_output)
        with self._interrupted.until_the_engine_ends():
            self.command.run(
                "destroy", "--yes", "--skip-preview", *_told(), on_output=Unrepeated(without_advice(on_output))
            )

    def _ask(self, *arguments: str, on_output: Report, on_event: OnEvent = lambda event: None) -> None:
        """Ask the engine what a change would do, and tell it only when that is an error.

        What is only asked changes nothing, so of its events none but what went wrong is anybody's.
        """

        def wrong(event: EngineEvent) -> None:
            if event.diagnostic_event or event.policy_event:
                on_event(event)

        lines: list[str] = []
        try:
            self.command.run(*arguments, on_output=Unrepeated(lines.append), on_event=wrong)
        except CommandError:
            for line in lines:
                on_output(line)
            raise


def _told() -> list[str]:
    """The options by which every engine command tells its progress."""
    return ["--color", "always" if sys.stdout.isatty() else "never", "--suppress-progress"]


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
        with share_cloud(home, report, set_right):
            if changing:
                home.remember()
            name = workspace.prepare(home, program=program)
            binaries = ensure(["pulumi"], report)
            # Not before: what has to be built is fetched from the network, whose authorities are others.
            clouds.furnish(home.directory / "workstation", home.clusters, os.environ)
            policies = furnish(home, pack) if pack else []
            with cloudfile.changing(home.cloud) as told:
                told.add(said)
                told.keep(home.cloud)
                there = clouds.opened(home, control_plane, report)
                cloudfile.make(told, there, report)
            checkpoint = Checkpoint(home)
            interrupted = Interrupted(home, checkpoint)
            providers: dict[str, Callable[[], Provider]] = {
                **{package: partial(there.provider, package) for package in there.opened},
                "kubernetes": KubernetesProvider,
            }
            source = Program(home.project, home.directory / "imported.json")
            if program and not changing:
                source.preload()
            with serve(providers, interrupted.keep) as attach:
                command = _engine_command(home, name, source, binaries["pulumi"], attach, checkpoint)
                engine = Engine(command, there, checkpoint, interrupted, policies)
                if changing:
                    known = {package: make() for package, make in providers.items()}
                    try:
                        interrupted.resolve(command, known, report)
                    finally:
                        for provider in known.values():
                            provider.close()
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
            with suppress(psutil.NoSuchProcess):  # it ended since
                process.kill()
        psutil.wait_procs(alive, timeout=_ORPHAN_SECONDS)
    locks = home.backend / ".pulumi" / "locks"
    if locks.exists():
        shutil.rmtree(locks)


def _command(home: Home) -> Path:
    """The engine's command, under a name that is this stack's own."""
    return home.directory / "bin" / "pulumi"


def _engine_command(
    home: Home, project: str, program: Program, pulumi: Path, attach: str, checkpoint: Checkpoint
) -> EngineCommand:
    """The command line of the stack's engine, with the stack in its state. Raises SandboxError for a state it cannot open."""
    # A name such as PULUMI_STACK or PULUMI_CONFIG in the caller's environment would change what the engine does.
    for variable in [key for key in os.environ if key.startswith("PULUMI_")]:
        del os.environ[variable]
    binary = _command(home)
    binary.parent.mkdir(exist_ok=True)
    binary.unlink(missing_ok=True)
    binary.symlink_to(pulumi)
    environment = {
        "PULUMI_HOME": str(home.engine),
        # The attributes beside each file are not written at once: an engine killed meanwhile leaves a state that cannot be
        # read, "failed to load checkpoint: EOF" (gocloud.dev/blob/fileblob, setAttrs).
        "PULUMI_BACKEND_URL": f"{home.backend.as_uri()}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": workspace.passphrase(home),
        "PULUMI_DEBUG_PROVIDERS": attach,
        # `--event-log` is one of its options for debugging.
        "PULUMI_DEBUG_COMMANDS": "true",
        "PULUMI_AUTOMATION_API": "true",
        # It lives for seconds and need not be small: a tenth of its time went into collecting garbage.
        "GOGC": os.environ.get("GOGC", "400"),
        # Both look for things on the network, and failing to find them costs seconds.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    command = EngineCommand(binary, home.stack, home.workspace, environment, program)
    if not checkpoint.exists(project):
        try:
            command.init()
        except CommandError as failed:
            raise SandboxError(f"the engine cannot open the stack's state in {home.backend}:\n{failed}") from failed
    return command
