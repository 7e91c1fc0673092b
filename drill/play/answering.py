"""An API server that ends while a drill needs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.api_errors import Unreachable

_SERVER = "kube-apiserver"
_LINES = 3


@contextmanager
def answering(stack: str, plane: ControlPlane) -> Iterator[None]:
    """Turns a silent API server into SandboxError: the one of the drill's own `plane`, with the end of its log, or the stack's."""
    try:
        yield
    except Unreachable as silent:
        if str(silent).rpartition("/")[2] != plane.address():
            raise SandboxError(
                f"the API server of stack {stack!r} does not answer at {silent}: `up` restarts it, then run the drill again"
            ) from silent
        log = plane.processes[_SERVER].log
        lines = log.read_text(errors="replace").splitlines()[-_LINES:] if log.exists() else []
        raise SandboxError(
            "\n  ".join(
                [
                    "the drill's API server does not answer any more, so it has no result; its copy of the cluster is removed,"
                    f" and with it the log {log}" + (", which ended so:" if lines else ""),
                    *lines,
                ]
            )
        ) from silent
