"""The real programs the sandbox runs: found on this machine, or built from the Go modules pinned under tools/.

Built programs are kept in the user's cache directory under a key of what they were built from, so another checkout
finds them. Nothing is ever written into the checkout.
"""

import errno
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from sandbox.errors import ProgramError
from sandbox.golang import Go, Report, fetching, find_go, run_build, version_of

PROJECT = Path(__file__).resolve().parent.parent
OLDEST_KUBERNETES = (1, 36)  # 1.36 is the first with MutatingAdmissionPolicy v1; older ones are emulated by it
COLD_BUILD = 6 << 30  # bytes Go's caches grow to when every module is built for the first time
LEAST_FREE = 1 << 30  # bytes below which no build can end well: the linked programs alone are 0.6 GB
WAIT_SECONDS = 10.0  # between two "still waiting" lines


@dataclass(frozen=True)
class Module:
    """One folder of tools/: the programs it builds and how their version is stamped.

    `packages` maps a program to its Go package, `source` is the module whose version go.mod pins, `stamps` are
    linker variables; `{version}`, `{major}` and `{minor}` stand for that version's parts.
    """

    name: str
    packages: dict[str, str]
    source: str
    stamps: tuple[str, ...] = ()

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
        return ["-mod=readonly", "-gcflags=all=-dwarf=false", "-ldflags", " ".join(["-s", "-w", *stamps])]

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
    ),
    Module(
        "kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")
        },
        "k8s.io/kubernetes",
        (
            "k8s.io/component-base/version.gitVersion={version}",
            "k8s.io/component-base/version.gitMajor={major}",
            "k8s.io/component-base/version.gitMinor={minor}",
        ),
    ),
    Module("etcd", {"etcd": "go.etcd.io/etcd/server/v3"}, "go.etcd.io/etcd/server/v3"),
    Module("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}, "sigs.k8s.io/kwok"),
    # No part of the sandbox: the tests of .github/workflows ask for it, and only they build it.
    Module("actionlint", {"actionlint": "github.com/rhysd/actionlint/cmd/actionlint"}, "github.com/rhysd/actionlint"),
)
NAMES = frozenset(name for module in MODULES for name in module.packages)


def ensure(names: Collection[str], report: Report) -> dict[str, Path]:
    """Absolute paths of the named programs, building those this machine lacks.

    `report` gets one line at a time for the person at the terminal. Raises ProgramError.
    """
    if unknown := set(names) - NAMES:
        raise ProgramError(f"no such program: {', '.join(sorted(unknown))} (known: {', '.join(sorted(NAMES))})")
    paths = found_here(names, report)
    modules = [module for module in MODULES if any(name in names and name not in paths for name in module.packages)]
    folders = {module.name: cache_directory() / "programs" / module.key() for module in modules}
    missing = [module for module in modules if not folders[module.name].is_dir()]
    if missing:
        try:
            build_all(missing, folders, report)
        except OSError as error:
            raise ProgramError(explain(str(error), cache_directory())) from error
    for module in modules:
        for name in module.packages:
            if name in names and name not in paths:
                paths[name] = folders[module.name] / name
    return paths


def cache_directory() -> Path:
    """`kubeflow-spot` in the user's cache directory (XDG Base Directory Specification: a relative value is ignored)."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "kubeflow-spot"


def found_here(names: Collection[str], report: Report) -> dict[str, Path]:
    """Those of the named programs that this machine has in a version that will do."""
    paths: dict[str, Path] = {}
    if "pulumi" in names and (on_path := shutil.which("pulumi")):
        pinned = MODULES[0].version
        version = reported_version([on_path, "version"])
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
    version = reported_version([str(assets / "kube-apiserver"), "--version"])
    if version[:2] < OLDEST_KUBERNETES:
        report(f"not using KUBEBUILDER_ASSETS={assets}: its API server is {dotted(version)}, not 1.36 or newer")
        return {}
    return present


def reported_version(command: list[str]) -> tuple[int, ...]:
    """The version a program prints; () when it cannot be run or prints none."""
    settings = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(command, check=False, env=settings, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return version_of(done.stdout)


def dotted(version: tuple[int, ...]) -> str:
    """A version for a reader."""
    return ".".join(map(str, version)) or "of an unknown version"


def build_all(modules: list[Module], folders: dict[str, Path], report: Report) -> None:
    """Build modules one after another: two at once would only take each other's cores and memory."""
    programs = cache_directory() / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    with locked(programs / "go.lock", "fetches Go", report):
        go = find_go(cache_directory(), PROJECT, report)
    check_disk([programs, Path(go.variable("GOCACHE")), Path(go.variable("GOMODCACHE"))], report)
    with fetching([(module.folder, list(module.packages.values())) for module in modules[1:]], go):
        compile_all(modules, folders, go, report)


def compile_all(modules: list[Module], folders: dict[str, Path], go: Go, report: Report) -> None:
    """Compile module after module, except those another process has built meanwhile."""
    for number, module in enumerate(modules, 1):
        what = f"{', '.join(module.packages)} ({number} of {len(modules)})"
        folder = folders[module.name]
        with locked(folder.with_name(f"{folder.name}.lock"), f"builds {', '.join(module.packages)}", report):
            if not folder.is_dir():  # else the process waited for has built it
                build(module, folder, go, what, report)


@contextmanager
def locked(path: Path, doing: str, report: Report) -> Iterator[None]:
    """Hold a lock file; says so while another process has it. The system frees it when its holder dies."""
    lock = FileLock(path)
    patience = 0.0
    while not lock.is_locked:
        try:
            lock.acquire(timeout=patience)
        except Timeout:
            report(f"waiting: another process {doing}")
            patience = WAIT_SECONDS
    try:
        yield
    finally:
        lock.release()


def check_disk(folders: list[Path], report: Report) -> None:
    """Warn when a cold build may not fit, refuse when none can. Raises ProgramError naming the directory."""
    warned = False
    for folder in folders:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free
        if free < LEAST_FREE:
            raise ProgramError(explain("no space left", folder))
        if free < COLD_BUILD and not warned:
            report(f"{folder} has {free / (1 << 30):.1f} GB free; a first build needs about 6 GB, a later one less")
            warned = True


def build(module: Module, folder: Path, go: Go, what: str, report: Report) -> None:
    """Build a module's programs into `folder`, which appears complete or not at all. Raises ProgramError."""
    for abandoned in folder.parent.glob(f".{folder.name}-*"):  # by a build that was killed: the lock is ours
        shutil.rmtree(abandoned, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        # One package is named after its program (server/v3 would become "server"), several go by their own names.
        target = str(unfinished / next(iter(module.packages))) if len(module.packages) == 1 else f"{unfinished}{os.sep}"
        command = [str(go.path), "build", "-v", *module.flags(), "-o", target, *module.packages.values()]
        code, progress = run_build(command, module.folder, go.environment, what, report)
        if code:
            tail = "\n".join(progress.tail)
            raise ProgramError(f"building {module.name} failed (exit code {code}):\n{tail}\n{explain(tail, folder)}")
        unfinished.chmod(0o755)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def explain(output: str, folder: Path) -> str:
    """What to do about a failed build, from what it printed."""
    text = output.lower()
    if "no space left" in text or os.strerror(errno.ENOSPC).lower() in text:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free / (1 << 30)
        return (
            f"The disk is full: {folder} has {free:.1f} GB free and a first build needs about 6 GB there and in Go's"
            " caches. Free some space (`go clean -cache` empties Go's build cache), or point XDG_CACHE_HOME, GOCACHE"
            " and GOMODCACHE at a larger disk, then run the command again."
        )
    if "signal: killed" in text:
        return "The compiler was killed, most likely for want of memory: it needs about 4 GB. Run the command again."
    if "checksum mismatch" in text or "missing go.sum entry" in text or "updates to go.mod needed" in text:
        return "The pinned modules do not fit: `git status tools` must be clean; `go clean -modcache` refetches them."
    if any(sign in text for sign in ("dial tcp", "i/o timeout", "no such host", "proxyconnect", "tls:", "403", "502")):
        return "Go could not download a module: check the network and GOPROXY, then run the command again."
    return "Run the command again: what was compiled so far is kept in Go's build cache."
