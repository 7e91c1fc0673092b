"""A session: one stack's engine at work, from the stack's lock to the providers that the engine calls.

The types keep the order of the steps: each step takes what the step before it returns.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NewType

import psutil
from pulumi.automation.errors import CommandError

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.locks import lock_stack, share_cloud
from sandbox.base.notices import Notify
from sandbox.cloud.program_requests import ProgramRequests
from sandbox.cloud.provider import InitFailed, Provider
from sandbox.cloud.servicer import serve
from sandbox.cluster import clusters
from sandbox.cluster.kubernetes_provider import VARIABLES, KubernetesProvider
from sandbox.engine import cloud_file as cloud_files
from sandbox.engine import clouds, workspace
from sandbox.engine.cloud_file import CloudFile
from sandbox.engine.clouds import Clouds
from sandbox.engine.command import EngineCommand
from sandbox.engine.engine import Engine
from sandbox.engine.interrupted import Interrupted
from sandbox.engine.policies import Pack, install
from sandbox.engine.program import Program
from sandbox.toolchain import programs

LockedStack = NewType("LockedStack", Home)
"""The home of a stack on which no other command and no engine of a killed command works."""

ReadyCloud = NewType("ReadyCloud", LockedStack)
"""The home of a locked stack whose emulated cloud is repaired and stays: this command shares it."""

FilledClouds = NewType("FilledClouds", Clouds)
"""The emulated clouds with the quotas and resources of the cloud files."""

_ORPHAN_SECONDS = 20

_SPACE = 200 << 20
"""Bytes that must be free before an `up`: a control plane takes 125 MB, most of it etcd's two log files."""
_SPACE_OF_A_STATE = 8 << 20
"""Bytes that must be free where nothing is made: the state with its copies."""


@dataclass(frozen=True)
class Prepared:
    """A stack with everything the engine's process needs."""

    home: ReadyCloud
    project: str
    pulumi: Path
    policies: list[str]
    """The engine's options for the policy pack."""


@contextmanager
def open(
    home: Home,
    notify: Notify,
    *,
    changing: bool = True,
    program: bool = True,
    cloud_file: Path | None = None,
    pack: Pack | None = None,
    ensure: programs.Ensure = programs.ensure,
) -> Iterator[Engine]:
    """Yield the stack's engine with its clouds attached; one at a time for each stack.

    Clusters of a machine that was restarted, or of a command that was killed, are repaired first; a command that is not
    `changing` anything repairs them only when they do not run, and remembers no option. A `cloud_file` replaces quotas and adds
    resources. With `program` false nothing runs the program, and the stack file may be missing. A policy `pack` checks all that
    is declared. `ensure` may wait for programs that are being built.

    Raises SandboxError when another command holds the stack, the stack or cloud file is missing or wrong, or a program
    cannot be built.
    """
    control_plane = partial(ensure, clusters.PROGRAMS, notify)
    if program:
        workspace.stack_file(home)
    if changing:
        _require_space(home.root, _SPACE if program else _SPACE_OF_A_STATE)
    requested = CloudFile.read(cloud_file, clouds.opened(home, dict, notify)) if cloud_file else CloudFile()
    with _locked(home, notify) as locked, _repaired(locked, control_plane, notify, changing) as ready:
        stack = _prepared(ready, pack, ensure, notify, changing=changing, program=program)
        filled = _filled(stack, requested, control_plane, notify)
        with _attached(stack, filled, notify, changing=changing, preload=program and not changing) as engine:
            yield engine


def _require_space(root: Path, needed: int) -> None:
    """Raise SandboxError for a disk that is nearly full: the engine would cut its state off there (`sandbox.base.checkpoint`)."""
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    if free < needed:
        raise SandboxError(
            f"only {free >> 20} MB are free in {root}, and this command may need {needed >> 20} MB. Nothing was changed.\n"
            "  Free some space, then run it again"
        )


@contextmanager
def _locked(home: Home, notify: Notify) -> Iterator[LockedStack]:
    """Yield the stack, locked."""
    with lock_stack(home):
        home.directory.mkdir(mode=0o700, exist_ok=True)
        _end_orphans(home, notify)
        yield LockedStack(home)


def _end_orphans(home: Home, notify: Notify) -> None:
    """End the engine of a killed command, which has nobody to talk to any more, and remove that engine's lock.

    No other engine of the stack can run: the caller holds the stack.
    """
    engine = str(_engine_path(home))
    orphans = [p for p in psutil.process_iter(["cmdline"]) if (p.info["cmdline"] or [""])[0] == engine]
    if orphans:
        notify("waiting: the engine of a command that was killed still runs")
        _, alive = psutil.wait_procs(orphans, timeout=_ORPHAN_SECONDS)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(alive, timeout=_ORPHAN_SECONDS)
    locks = home.backend / ".pulumi" / "locks"
    if locks.exists():
        shutil.rmtree(locks)
    _remove_torn_attributes(home.backend)


def _remove_torn_attributes(backend: Path) -> None:
    """Remove the attributes of files that a killed engine truncated and did not write.

    With them the engine reads no state: "failed to load checkpoint: EOF" (gocloud.dev/blob/fileblob, setAttrs). They are optional.
    """
    for attributes in backend.rglob("*.attrs"):
        if not attributes.stat().st_size:
            attributes.unlink()


@contextmanager
def _repaired(
    stack: LockedStack, control_plane: Callable[[], Mapping[str, Path]], notify: Notify, changing: bool
) -> Iterator[ReadyCloud]:
    """Yield the stack's emulated cloud, shared with other stacks' commands. The first of them repairs it."""

    def repair() -> None:
        if changing or not all(plane.running() for plane in clusters.planes(stack.clusters)):
            for cloud in clouds.opened(stack, control_plane, notify):
                try:
                    cloud.reconcile()
                except InitFailed as failed:
                    raise SandboxError(f"the emulated cloud cannot be repaired: {failed}") from failed

    with share_cloud(stack, notify, repair):
        yield ReadyCloud(stack)


def _prepared(
    home: ReadyCloud, pack: Pack | None, ensure: programs.Ensure, notify: Notify, *, changing: bool, program: bool
) -> Prepared:
    """Return the files and the program of the engine."""
    if changing:
        home.remember()
    project = workspace.prepare(home, program=program)
    pulumi = ensure(["pulumi"], notify)["pulumi"]
    # Google's login program and the clusters' authorities, after the builds: those download modules from hosts whose certificates
    # have other authorities.
    clouds.furnish(home.directory / "workstation", home.clusters, os.environ)
    return Prepared(home, project, pulumi, install(home, pack) if pack else [])


def _filled(
    stack: Prepared, requested: CloudFile, control_plane: Callable[[], Mapping[str, Path]], notify: Notify
) -> FilledClouds:
    """Return the clouds, after the quotas and resources of this cloud file and of earlier ones."""
    with cloud_files.changing(stack.home.cloud) as kept:
        kept.add(requested)
        kept.keep(stack.home.cloud)
        # After the file is kept: the clouds read their quotas from it.
        opened = clouds.opened(stack.home, control_plane, notify)
        # A memory that is cut off is one error here; to the engine it would be one for each resource.
        opened.pools()
        cloud_files.make(kept, opened, notify)
    return FilledClouds(opened)


@contextmanager
def _attached(
    stack: Prepared, filled: FilledClouds, notify: Notify, *, changing: bool, preload: bool
) -> Iterator[Engine]:
    """Yield the engine, with providers over the clouds and a state that has all that the clouds made for a killed command."""
    checkpoint = Checkpoint(stack.home)
    known = checkpoint.exists(stack.project)
    interrupted = Interrupted(stack.home, checkpoint)
    providers: dict[str, Callable[[], Provider]] = {
        **{package: partial(filled.provider, package) for package in filled.opened},
        "kubernetes": KubernetesProvider,
    }
    program = Program(stack.home.project, stack.home.directory / "imported.json")
    if preload:
        program.preload()
    requests = ProgramRequests()
    with serve(providers, interrupted.keep, requests) as addresses:
        command = _engine_command(stack, program, addresses, requests)
        if not known:
            _create_stack(command, stack.home)
        if changing:
            checkpoint.keep_copy()
            instances = {package: make() for package, make in providers.items()}
            try:
                interrupted.resolve(command, instances, notify)
            finally:
                for provider in instances.values():
                    provider.close()
        yield Engine(command, filled, checkpoint, interrupted, stack.policies)


def _engine_path(home: Home) -> Path:
    """Return the engine's program, under a name that is this stack's own."""
    return home.directory / "bin" / "pulumi"


def _engine_command(stack: Prepared, program: Program, addresses: str, requests: ProgramRequests) -> EngineCommand:
    """Return the engine's command line. `addresses` are the providers', as PULUMI_DEBUG_PROVIDERS has them."""
    home = stack.home
    # A variable such as PULUMI_STACK or PULUMI_CONFIG of the user would change what the engine does; two are for a provider.
    for variable in [key for key in os.environ if key.startswith("PULUMI_") and key not in VARIABLES]:
        del os.environ[variable]
    binary = _engine_path(home)
    binary.parent.mkdir(exist_ok=True)
    binary.unlink(missing_ok=True)
    binary.symlink_to(stack.pulumi)
    _leave_out_log(home.engine / "logs")
    environment = {
        "PULUMI_HOME": str(home.engine),
        "PULUMI_BACKEND_URL": home.backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": workspace.passphrase(home),
        "PULUMI_DEBUG_PROVIDERS": addresses,
        # `--event-log` is one of its options for debugging.
        "PULUMI_DEBUG_COMMANDS": "true",
        "PULUMI_AUTOMATION_API": "true",
        # The engine lives for seconds and need not be small: it spent a tenth of its time collecting garbage.
        "GOGC": os.environ.get("GOGC", "400"),
        # Every user of the machine can have the engine start a plugin (`sandbox.cloud.program_requests`), and Pulumi's own CLI puts
        # plugins on the PATH that run what they are sent. Those in the project file are started.
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        # Both look for things on the network, and failing to find them costs seconds.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    return EngineCommand(binary, home.stack, home.workspace, environment, program, workspace.as_written(home), requests)


def _leave_out_log(folder: Path) -> None:
    """Put a file in the place of the folder where the engine writes a log of each command, for which there is no setting.

    That log is 2 MB a command and took half of the engine's time; without its folder the engine goes on (pulumi 3.258,
    pkg/logging/encrypted.go, StartLogging).
    """
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.parent.mkdir(exist_ok=True)
    folder.touch()


def _create_stack(command: EngineCommand, home: Home) -> None:
    """Create the stack. Raises SandboxError for a state that the engine cannot open."""
    try:
        command.init()
    except CommandError as failed:
        raise SandboxError(f"the engine cannot open the stack's state in {home.backend}:\n{failed}") from failed
