"""Who may work on a stack, and on an emulated cloud, at the same time as whom.

A stack is one command's at a time. A cloud may be several stacks' (`up --beside`), whose commands may work on it together:
its requests lock its memory one by one. What needs it alone is setting right what a killed command left, because a request
that is still running looks the same, and removing it.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home

_PATIENCE = 0.5
"""Seconds. A process that a killed command was about to start has that command's lock until it runs."""


@contextmanager
def hold(home: Home) -> Iterator[None]:
    """Keep every other command that works on the stack out. Raises SandboxError when there is one."""
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
def share_cloud(home: Home, report: Callable[[str], None], alone: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Work on the stack's cloud beside others. `alone` runs first, unless another is at work."""
    with _file(home) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                report(f"waiting: another command sets the cloud of stack {home.subscription!r} right or removes it")
                fcntl.flock(lock, fcntl.LOCK_SH)
        else:
            alone()
            # Whoever gets in between finds nobody at work.
            fcntl.flock(lock, fcntl.LOCK_SH)
        if home.host and not home.cloud.parent.exists():
            raise SandboxError(
                f"stack {home.stack!r} is beside {home.host!r}, which is not up any more; `down --force` removes what is left"
            )
        yield


@contextmanager
def own_cloud(home: Home) -> Iterator[None]:
    """Keep the commands of all stacks away from the cloud. Raises SandboxError when one is at work."""
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
    # Not FileLock: it cannot be shared. Closing the file, also by dying, gives the lock back.
    with home.cloud_lock.open("a") as file:
        yield file.fileno()
