"""Programs that the sandbox runs: installed on this machine, or built from the Go modules pinned under tools/.

Built programs are kept in the user's cache directory under a key of what they were built from, so another checkout
finds them. Nothing is ever written into the checkout.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType

from sandbox.base.errors import ProgramError
from sandbox.base.home import PROJECT
from sandbox.base.notices import Notify
from sandbox.toolchain.build_errors import check_disk, explain
from sandbox.toolchain.builder import Builder, Job, locked
from sandbox.toolchain.golang import find_go, version_of
from sandbox.toolchain.modules import MODULES, NAMES, Module

Ensure = Callable[[Collection[str], Notify], Mapping[str, Path]]
"""`ensure`, or the method of `Programs` that waits for a build."""

OLDEST_KUBERNETES = (1, 36)  # 1.36 is the first with MutatingAdmissionPolicy v1; older ones are emulated by it


class Programs:
    """Programs, some of which are being built. Use `building`."""

    def __init__(self, paths: Mapping[str, Path], builder: Builder | None) -> None:
        self._paths, self._builder = paths, builder

    def ensure(self, names: Collection[str], notify: Notify) -> dict[str, Path]:
        """Return absolute paths of the named programs, once they are built. Raises ProgramError."""
        paths = {name: self._paths[name] for name in names}
        if self._builder:
            for folder in dict.fromkeys(path.parent for path in paths.values()):
                self._builder.wait(folder)
        return paths

    def close(self) -> None:
        """Stop building. A thread that waits for a program gets a ProgramError."""
        if self._builder:
            self._builder.stop()


@contextmanager
def building(names: Collection[str], notify: Notify) -> Iterator[Programs]:
    """Yield the named programs; missing ones are built in the background, no longer than this context lasts.

    Raises ProgramError.
    """
    if unknown := set(names) - NAMES:
        raise ProgramError(f"no such program: {', '.join(sorted(unknown))} (known: {', '.join(sorted(NAMES))})")
    selected = [module for module in MODULES if not module.packages.keys().isdisjoint(names)]
    paths = installed([name for module in selected for name in module.packages], notify)
    # Installed programs need no build, even where others of their module do.
    modules = [module for each in selected if not (module := each.without(paths)).packages.keys().isdisjoint(names)]
    folders = {module.name: cache_directory() / "programs" / module.key() for module in modules}
    for module in modules:
        paths |= {name: folders[module.name] / name for name in module.packages}
    missing = [module for module in modules if not folders[module.name].is_dir()]
    builder = None
    if missing:
        try:
            builder = start_building(missing, folders, notify)
        except OSError as error:
            raise ProgramError(explain(str(error), cache_directory())) from error
    programs = Programs(paths, builder)
    try:
        with interrupted(builder.abandon) if builder else nullcontext():
            yield programs
    finally:
        programs.close()


@contextmanager
def interrupted(act: Callable[[], None]) -> Iterator[None]:
    """Act at once when the user interrupts the command: the steps that end the command may wait for a program."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or current_thread() is not main_thread():
        yield
        return

    def handler(number: int, frame: FrameType | None) -> None:
        act()
        before(number, frame)

    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ensure(names: Collection[str], notify: Notify) -> dict[str, Path]:
    """Return absolute paths of the named programs, after a build of the missing ones. Raises ProgramError."""
    with building(names, notify) as programs:
        return programs.ensure(names, notify)


def start_building(modules: list[Module], folders: Mapping[str, Path], notify: Notify) -> Builder:
    """Return a builder at work on these modules."""
    programs = cache_directory() / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    with locked(programs / "go.lock", "fetches Go", notify):
        go = find_go(cache_directory(), PROJECT, notify, [module.folder for module in modules])
    check_disk([programs, Path(go.variable("GOCACHE")), Path(go.variable("GOMODCACHE"))], notify)
    jobs = [Job(module.folder, module.packages, module.flags(), folders[module.name]) for module in modules]
    builder = Builder(jobs, go, notify)
    builder.start()
    return builder


def cache_directory() -> Path:
    """Return `kubeflow-spot` in the user's cache directory (XDG Base Directory Specification: a relative value is ignored)."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "kubeflow-spot"


def source(name: str, notify: Notify) -> Path:
    """Return the folder of the source that tools/<name> pins, in Go's module cache; fetched if it is missing.

    Raises ProgramError when it cannot be had.
    """
    module = next(each for each in MODULES if each.name == name)
    go = find_go(cache_directory(), PROJECT, notify, [module.folder])
    # Only the version of go.mod passes: go.sum has its hash.
    done = subprocess.run(
        [go.path, "mod", "download", "-json", f"{module.source}@{module.version}"],
        cwd=module.folder,
        env=go.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(done.stdout) if done.stdout else {}
    if done.returncode or "Dir" not in answer:
        raise ProgramError(
            f"{module.source} {module.version} could not be fetched: {answer.get('Error') or done.stderr.strip()}"
        )
    return Path(answer["Dir"])


def installed(names: Collection[str], notify: Notify) -> dict[str, Path]:
    """Return the named programs that this machine has in a version that suffices.

    `pulumi` on PATH, and Kubernetes' in $KUBEBUILDER_ASSETS.
    """
    paths: dict[str, Path] = {}
    if "pulumi" in names and (on_path := shutil.which("pulumi")):
        pinned = MODULES[0].version
        version = reported_version(Path(on_path), "version")
        if version >= version_of(pinned):
            paths["pulumi"] = Path(on_path).absolute()
        else:
            notify(f"not using {on_path}: {_dotted(version)} is older than {pinned}")
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        paths |= _in_assets(Path(assets).absolute(), set(names) - {"pulumi", "kwok"}, notify)
    return paths


def _in_assets(assets: Path, names: Collection[str], notify: Notify) -> dict[str, Path]:
    """Return the named programs in $KUBEBUILDER_ASSETS; none when its API server is too old or missing.

    All or none, so that an etcd or kubectl of another release never meets a newer API server.
    """
    present = {name: assets / name for name in names if os.access(assets / name, os.X_OK)}
    if not present:
        return {}
    version = reported_version(assets / "kube-apiserver", "--version")
    if version[:2] < OLDEST_KUBERNETES:
        notify(f"not using KUBEBUILDER_ASSETS={assets}: its API server is {_dotted(version)}, not 1.36 or newer")
        return {}
    return present


def reported_version(program: Path, argument: str) -> tuple[int, ...]:
    """Return the version that a program prints; () when it cannot run or prints none."""
    try:
        state = program.stat()
    except OSError:
        return ()
    return _reported_version(program, argument, state.st_mtime_ns)


@cache
def _reported_version(program: Path, argument: str, changed: int) -> tuple[int, ...]:
    """Ask as `reported_version` does, an unchanged program once: that takes up to half a second."""
    settings = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            [program, argument], check=False, env=settings, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return version_of(done.stdout)


def _dotted(version: tuple[int, ...]) -> str:
    """Return a version as text."""
    return ".".join(map(str, version)) or "of an unknown version"
