"""The real programs the sandbox runs: found on this machine, or built from the Go modules pinned under tools/.

Built programs are kept in the user's cache directory under a key of what they were built from, so another checkout
finds them. Nothing is ever written into the checkout.
"""

import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType

from sandbox.base.errors import ProgramError
from sandbox.toolchain.building import Builder, Job, check_disk, explain, locked
from sandbox.toolchain.golang import Report, find_go, version_of

PROJECT = Path(__file__).resolve().parents[2]
OLDEST_KUBERNETES = (1, 36)  # 1.36 is the first with MutatingAdmissionPolicy v1; older ones are emulated by it


Ensure = Callable[[Collection[str], Report], Mapping[str, Path]]
"""`ensure`, or one that waits for what is being built."""


@dataclass(frozen=True)
class Module:
    """One folder of tools/: the programs it builds and how their version is stamped.

    `packages` maps a program to its Go package, `source` is the module whose version go.mod pins, `stamps` are
    linker variables; `{version}`, `{major}` and `{minor}` stand for that version's parts. `tags` are build tags, and
    `unused` are patterns of packages that the sandbox never runs: compiled without inlining they take half the time.
    """

    name: str
    packages: dict[str, str]
    source: str
    stamps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where go.mod and go.sum are."""
        return PROJECT / "tools" / self.name

    @property
    def version(self) -> str:
        """The version go.mod pins, such as `v1.36.2`. Raises ProgramError when it pins none."""
        try:
            text = (self.folder / "go.mod").read_text()
        except OSError as error:
            raise ProgramError(f"{error}: the sandbox runs from a checkout of the project, which has tools/") from error
        found = re.search(rf"^\s*{re.escape(self.source)} (v\S+)", text, re.MULTILINE)
        if not found:
            raise ProgramError(f"{self.folder / 'go.mod'} pins no version of {self.source}")
        return found[1]

    def flags(self) -> list[str]:
        """The flags of `go build` that shape the programs."""
        major, minor = version_of(self.version)[:2]
        stamps = [f"-X {stamp.format(version=self.version, major=major, minor=minor)}" for stamp in self.stamps]
        # The linker drops debugging information; not writing it in the first place saves a tenth of the compiler's time.
        linker = " ".join(["-s", "-w", *stamps])
        tags = [f"-tags={','.join(self.tags)}"] if self.tags else []
        unused = [f"-gcflags={pattern}=-dwarf=false -l" for pattern in self.unused]
        return ["-mod=readonly", "-gcflags=all=-dwarf=false", *unused, f"-ldflags={linker}", *tags]

    def without(self, names: Collection[str]) -> "Module":
        """The module without some of its programs."""
        return replace(self, packages={name: path for name, path in self.packages.items() if name not in names})

    def key(self) -> str:
        """The name of the folder that holds the built programs: it changes with anything they are built from."""
        digest = hashlib.sha256()
        for name in ("go.mod", "go.sum"):
            digest.update((self.folder / name).read_bytes())
        shape = [*self.flags(), *self.packages.values(), platform.system(), platform.machine()]
        digest.update("\0".join(shape).encode())
        return f"{self.name}-{digest.hexdigest()[:12]}"


MODULES = (
    Module(
        "pulumi",
        {"pulumi": "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"},
        "github.com/pulumi/pulumi/pkg/v3",
        ("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",),
        # Leaves out Google Cloud Storage by gRPC, which nothing here calls: 135 of 1,680 packages.
        ("disable_grpc_modules",),
        # OpenAPI documents, for `pulumi cloud`: small, and a fifth of the whole compile time.
        ("github.com/pb33f/libopenapi/...",),
    ),
    # In this order they are linked, each while the next is compiled: what is linked last should be small.
    Module(
        "cluster",
        {
            **{
                name: f"k8s.io/kubernetes/cmd/{name}"
                for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
            },
            "kwok": "sigs.k8s.io/kwok/cmd/kwok",
            "etcd": "go.etcd.io/etcd/server/v3",
        },
        "k8s.io/kubernetes",
        (
            "k8s.io/component-base/version.gitVersion={version}",
            "k8s.io/component-base/version.gitMajor={major}",
            "k8s.io/component-base/version.gitMinor={minor}",
        ),
    ),
    # No part of the sandbox: the tests of .github/workflows ask for it, and only they build it.
    Module("actionlint", {"actionlint": "github.com/rhysd/actionlint/cmd/actionlint"}, "github.com/rhysd/actionlint"),
)
NAMES = frozenset(name for module in MODULES for name in module.packages)


class Programs:
    """Programs of which those that this machine lacks are being built. Use `building`."""

    def __init__(self, paths: dict[str, Path], missing: Mapping[str, Path], builder: Builder | None) -> None:
        """`paths` is where each will be; `missing` names the folder of those that are being built."""
        self._paths, self._missing, self._builder = paths, missing, builder

    def ensure(self, names: Collection[str], report: Report) -> dict[str, Path]:
        """Absolute paths of the named programs, once they are built. Raises ProgramError."""
        for folder in dict.fromkeys(self._missing[name] for name in names if name in self._missing):
            assert self._builder
            self._builder.wait(folder)
        return {name: self._paths[name] for name in names}

    def close(self) -> None:
        """Stop building. Whoever waits for a program that is not built gets a ProgramError."""
        if self._builder:
            self._builder.stop()


@contextmanager
def building(names: Collection[str], report: Report) -> Iterator[Programs]:
    """The named programs; those this machine lacks are built in the background, no longer than this context lasts.

    `report` gets one line at a time for the person at the terminal. Raises ProgramError.
    """
    if unknown := set(names) - NAMES:
        raise ProgramError(f"no such program: {', '.join(sorted(unknown))} (known: {', '.join(sorted(NAMES))})")
    wanted = [module for module in MODULES if not module.packages.keys().isdisjoint(names)]
    paths = found_here([name for module in wanted for name in module.packages], report)
    # What is here need not be built, even if its module has to be.
    modules = [module for each in wanted if not (module := each.without(paths)).packages.keys().isdisjoint(names)]
    folders = {module.name: cache_directory() / "programs" / module.key() for module in modules}
    for module in modules:
        paths |= {name: folders[module.name] / name for name in module.packages}
    missing = [module for module in modules if not folders[module.name].is_dir()]
    builder = None
    if missing:
        try:
            builder = start_building(missing, folders, report)
        except OSError as error:
            raise ProgramError(explain(str(error), cache_directory())) from error
    unbuilt = {folders[module.name] for module in missing}
    programs = Programs(paths, {name: path.parent for name, path in paths.items() if path.parent in unbuilt}, builder)
    try:
        with interrupted(builder.abandon) if builder else nullcontext():
            yield programs
    finally:
        programs.close()


@contextmanager
def interrupted(act: Callable[[], None]) -> Iterator[None]:
    """Act at once when the user interrupts the command; what waits for the command's end may itself wait for a program."""
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


def ensure(names: Collection[str], report: Report) -> dict[str, Path]:
    """Absolute paths of the named programs, building those this machine lacks. Raises ProgramError."""
    with building(names, report) as programs:
        return programs.ensure(names, report)


def start_building(modules: list[Module], folders: Mapping[str, Path], report: Report) -> Builder:
    """A builder at work on these modules."""
    programs = cache_directory() / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    with locked(programs / "go.lock", "fetches Go", report):
        go = find_go(cache_directory(), PROJECT, report)
    check_disk([programs, Path(go.variable("GOCACHE")), Path(go.variable("GOMODCACHE"))], report)
    jobs = [Job(module.folder, module.packages, module.flags(), folders[module.name]) for module in modules]
    builder = Builder(jobs, go, report)
    builder.start()
    return builder


def cache_directory() -> Path:
    """`kubeflow-spot` in the user's cache directory (XDG Base Directory Specification: a relative value is ignored)."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "kubeflow-spot"


def found_here(names: Collection[str], report: Report) -> dict[str, Path]:
    """Those of the named programs that this machine has in a version that will do."""
    paths: dict[str, Path] = {}
    if "pulumi" in names and (on_path := shutil.which("pulumi")):
        pinned = MODULES[0].version
        version = reported_version(Path(on_path), "version")
        if version >= version_of(pinned):
            paths["pulumi"] = Path(on_path).absolute()
        else:
            report(f"not using {on_path}: {dotted(version)} is older than {pinned}")
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        paths |= found_in_assets(Path(assets).absolute(), set(names) - {"pulumi", "kwok"}, report)
    return paths


def found_in_assets(assets: Path, names: Collection[str], report: Report) -> dict[str, Path]:
    """Those of the named programs in $KUBEBUILDER_ASSETS; none when its API server is too old or absent.

    All or none, so that an etcd or kubectl of another release never meets a newer API server.
    """
    present = {name: assets / name for name in names if os.access(assets / name, os.X_OK)}
    if not present:
        return {}
    version = reported_version(assets / "kube-apiserver", "--version")
    if version[:2] < OLDEST_KUBERNETES:
        report(f"not using KUBEBUILDER_ASSETS={assets}: its API server is {dotted(version)}, not 1.36 or newer")
        return {}
    return present


def reported_version(program: Path, argument: str) -> tuple[int, ...]:
    """The version a program prints; () when it cannot be run or prints none."""
    try:
        state = program.stat()
    except OSError:
        return ()
    return _reported_version(program, argument, state.st_mtime_ns)


@cache
def _reported_version(program: Path, argument: str, changed: int) -> tuple[int, ...]:
    """As `reported_version`; a program that has not `changed` is asked once, because it takes up to half a second."""
    settings = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            [program, argument], check=False, env=settings, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return version_of(done.stdout)


def dotted(version: tuple[int, ...]) -> str:
    """A version for a reader."""
    return ".".join(map(str, version)) or "of an unknown version"
