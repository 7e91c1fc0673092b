"""The engine's plugin for a policy pack: hands it to the process of `sandbox/engine/packhost.py`, and ends with that or the engine.

Run by its path, without the environment's packages: it takes 20 ms. Where nobody listens it becomes the pack's process itself.
"""

import json
import os
import select
import signal
import socket
import sys

VARIABLE = "SANDBOX_PACK_HOST"
"""An environment variable: the path of the socket."""


def main(arguments: list[str]) -> None:
    """Run the pack; `arguments` are the engine's address and the pack's folder."""
    # The engine ends its plugins so. It has all answers by then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with socket.socket(socket.AF_UNIX) as host:
        try:
            host.connect(os.environ.get(VARIABLE, ""))
        except OSError:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.execv(sys.executable, [sys.executable, "-u", "-m", "pulumi.policy", *arguments])
        told = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
        content = json.dumps(told).encode() + b"\n"
        sent = socket.send_fds(host, [content], [0, 1, 2])
        host.sendall(content[sent:])
        # The pack reads nothing: what ends on standard input is the engine.
        ended = select.select([host, sys.stdin], [], [])[0]
        code = host.recv(1) if host in ended else b"\1"
        sys.exit(code[0] if code else "the process of the policy pack was killed")


if __name__ == "__main__":
    main(sys.argv[1:])
