"""Programs that this machine has: `pulumi` on PATH, and Kubernetes' in $KUBEBUILDER_ASSETS, in versions that suffice."""

import os
import shutil
import subprocess
from collections.abc import Collection
from functools import cache
from pathlib import Path

from sandbox.base.notices import Notify
from sandbox.toolchain.golang import version_of
from sandbox.toolchain.modules import MODULES

OLDEST_KUBERNETES = (1, 36)  # 1.36 is the first with MutatingAdmissionPolicy v1; older ones are emulated by it


def installed(names: Collection[str], notify: Notify) -> dict[str, Path]:
    """Return the named programs that this machine has in a version that suffices."""
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
    """As `reported_version`; asks an unchanged program once, because that takes up to half a second."""
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
