"""The folder of a drill's report: it is tried before the drill begins, so that no result is lost to it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from sandbox.base.errors import SandboxError


@contextmanager
def writable(directory: Path) -> Iterator[None]:
    """A folder in which files can be written; one that was made for a drill that failed is removed again.

    Raises SandboxError where no file can be written.
    """
    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory) as probe:
            probe.write(b"drill")
            probe.flush()
    except OSError as refused:
        raise _refused(directory, refused) from refused
    try:
        yield
    except BaseException:
        if made:
            with suppress(OSError):
                directory.rmdir()
        raise


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Turns the errors of a folder that can no longer be written into SandboxError."""
    try:
        yield
    except OSError as refused:
        raise _refused(directory, refused) from refused


def _refused(directory: Path, refused: OSError) -> SandboxError:
    return SandboxError(
        f"the drill's report cannot be written into {directory}: {refused.strerror or refused};"
        " make room there, or name another folder with --report-dir"
    )
