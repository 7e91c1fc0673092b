"""The host of policy packs: a Python that has imported Pulumi before the engine asks; each pack runs in a copy of it.

Run by its path, with a folder and the number of a listening socket: `sandbox.engine.policies` starts it with a command of the
sandbox, and it ends with that command. The engine starts `sandbox/engine/policy_plugin.py`, which hands over its arguments,
environment, folder and standard streams. From then on the copy is what `python -u -m pulumi.policy` would have been.
"""

import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
from contextlib import suppress
from runpy import run_module
from typing import Any

_LONGEST = 1 << 20
"""Bytes of the arguments and the environment; Linux allows 2 MB for both at most."""
_PRELOADED = ("pulumi.runtime", "pulumi.policy", "pulumi_policy", "grpc")


def main(folder: str, number: str) -> None:
    """Answer plugins until standard input ends, which the sandbox's command holds; then remove the socket's folder."""
    # `select` takes numbers below 1024, and the command may have many files open.
    with socket.socket(fileno=os.dup(int(number))) as listener:
        _preload()
        # The copies have no parent that asks how they ended.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # Interrupts at the keyboard are for the command, which ends this process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            while listener in select.select([listener, sys.stdin], [], [])[0]:
                plugin, _ = listener.accept()
                if os.fork() == 0:
                    listener.close()
                    _become(plugin)
                plugin.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _preload() -> None:
    gc.disable()
    for name in _PRELOADED:
        # A pack that needs a broken package reports it.
        with suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
    gc.enable()


def _become(plugin: socket.socket) -> None:
    """Become the pack's process for a plugin. Does not return."""
    code = 1
    try:
        # As for the engine's own plugins: interrupts at the keyboard are not for them.
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        request = _received(plugin)
        threading.Thread(target=_end_with, args=[plugin], daemon=True).start()
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        sys.path.insert(0, request["folder"])
        sys.argv = ["pulumi.policy", *request["arguments"]]
        run_module("pulumi.policy", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        with suppress(OSError):
            plugin.sendall(bytes([code & 255]))
        os._exit(code)


def _received(plugin: socket.socket) -> dict[str, Any]:
    """Receive the plugin's request, and take its standard streams for this process's."""
    content, streams, _, _ = socket.recv_fds(plugin, _LONGEST, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    while not content.endswith(b"\n"):
        more = plugin.recv(_LONGEST)
        if not more:
            os._exit(1)
        content += more
    request: dict[str, Any] = json.loads(content)
    return request


def _end_with(plugin: socket.socket) -> None:
    plugin.recv(1)
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
