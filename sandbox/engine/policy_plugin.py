"""The engine's plugin for a policy pack: hands the pack to the process of `sandbox/engine/policy_host.py`.

It ends with that process or with the engine. The engine runs it by its path, without the environment's packages: it takes 20 ms.
Without a host it becomes the pack's process itself.
"""

import json
import os
import select
import signal
import socket
import sys

VARIABLE = "SANDBOX_POLICY_HOST"
"""An environment variable: the path of the host's socket."""


def main(arguments: list[str]) -> None:
    """Run the pack; `arguments` are the engine's address and the pack's folder."""
    # The engine interrupts its plugins when it has all answers.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with socket.socket(socket.AF_UNIX) as host:
        try:
            host.connect(os.environ.get(VARIABLE, ""))
        except OSError:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.execv(sys.executable, [sys.executable, "-u", "-m", "pulumi.policy", *arguments])
        request = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
        content = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(host, [content], [0, 1, 2])
        host.sendall(content[sent:])
        # The pack reads nothing: standard input only tells the end of the engine.
        ended = select.select([host, sys.stdin], [], [])[0]
        code = host.recv(1) if host in ended else b"\1"
        sys.exit(code[0] if code else "the process of the policy pack was killed")


if __name__ == "__main__":
    main(sys.argv[1:])
