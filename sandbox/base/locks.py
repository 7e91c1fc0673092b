"""Locks: one command at a time works on a stack, and commands of several stacks may share an emulated cloud.

Stacks share a cloud by `up --beside`, and their commands may work on it together: each request locks the cloud's memory. A
command needs the cloud alone to remove it, and to repair it after a killed command, because a request that still runs looks
like an interrupted one.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.notices import Notify

_PATIENCE = 0.5
"""Seconds. A process that a killed command was about to start holds that command's lock until it runs."""


@contextmanager
def lock_stack(home: Home) -> Iterator[None]:
    """Lock the stack for this command. Raises SandboxError when another command holds it."""
    home.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home.lock)
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout as held:
        raise SandboxError(
            f"another command is working on stack {home.stack!r}; wait until it has ended, then run this one again"
        ) from held
    try:
        yield
    finally:
        lock.release()


@contextmanager
def share_cloud(home: Home, notify: Notify, repair: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Work on the stack's cloud beside other commands. The first of them calls `repair` before."""
    with _file(home) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                notify(f"waiting: another command repairs or removes the cloud of stack {home.subscription!r}")
                fcntl.flock(lock, fcntl.LOCK_SH)
        else:
            repair()
            # A command that gets in between finds a repaired cloud.
            fcntl.flock(lock, fcntl.LOCK_SH)
        if home.host and not home.cloud.parent.exists():
            raise SandboxError(
                f"stack {home.stack!r} is beside {home.host!r}, which is not up any more; `down --force` removes the rest"
            )
        yield


@contextmanager
def lock_cloud(home: Home) -> Iterator[None]:
    """Lock the cloud for this command alone. Raises SandboxError when another stack's command shares it."""
    with _file(home) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            raise SandboxError(
                f"another stack's command is working on the cloud of stack {home.subscription!r}; wait until it has ended"
            ) from held
        yield


@contextmanager
def _file(home: Home) -> Iterator[int]:
    home.root.mkdir(parents=True, exist_ok=True)
    # Not FileLock: it cannot be shared. The system releases the lock when the file is closed, also by a killed process.
    with home.cloud_lock.open("a") as file:
        yield file.fileno()
