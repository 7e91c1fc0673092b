"""The Python environment of an older revision: by its own lock file, not by the work tree's."""

import hashlib
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT
from sandbox.engine.worker import FALLBACK
from sandbox.toolchain import locked_environment
from sandbox.toolchain.programs import cache_directory

_LOCK = ("pyproject.toml", "uv.lock")


@dataclass(frozen=True)
class Environment:
    """A Python and its environment variables."""

    python: str = sys.executable
    variables: dict[str, str] = field(default_factory=dict)


def environment_of(revision: Path, folder: Path) -> Environment:
    """Return the environment of the revision whose files are in a folder; this sandbox is imported from `folder` in it.

    The running environment where the lock files are equal; another is made once and kept in the user's cache.
    Raises SandboxError when uv cannot make it.
    """
    if _locked(revision) in (_locked(PROJECT), b""):
        return Environment()
    digest = hashlib.sha256(_locked(revision) + sys.version.encode()).hexdigest()[:16]
    home = cache_directory() / "environments" / digest
    # This checkout's own script: the older revision's script is itself compared.
    done = locked_environment.sync(revision, home, script=PROJECT / "scripts" / "uv")
    if done.returncode:
        raise SandboxError(f"the environment of the base's lock file cannot be made: {done.stderr.strip()}")
    # Only this checkout's sandbox: the folder beside it has the work tree's config and components.
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sandbox").symlink_to(PROJECT / "sandbox")
    packages = sysconfig.get_path("purelib")
    return Environment(str(home / "bin" / "python"), {"PYTHONPATH": str(folder), FALLBACK: packages})


def _locked(project: Path) -> bytes:
    """Return the content of the lock files; empty for a program without one, which uses the running environment."""
    files = [project / name for name in _LOCK]
    return b"".join(path.read_bytes() for path in files) if all(path.is_file() for path in files) else b""
