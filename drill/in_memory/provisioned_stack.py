"""A stack in memory whose nodes Karpenter makes, or the cluster autoscaler: as it was declared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from drill.in_memory.stack import Stack, read_stack
from drill.play.provisioning import engine_of
from drill.play.source import CopiedCloud
from sandbox.base.notices import Notify
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.client import Client
from sandbox.toolchain import programs

_PROGRAM = "karpenter"


@contextmanager
def reading(name: str, source: tuple[ControlPlane, CopiedCloud], notify: Notify) -> Iterator[Stack]:
    """Read a stack from its API server and the copy of its cloud.

    With NodePools it has an engine, which works until this context ends.
    """
    plane, copy = source
    engine, client = None, Client(plane.admin_kubeconfig)
    # A socket's path has at most 107 characters.
    with TemporaryDirectory(prefix="drill") as folder:
        if copy.node_pools:
            program = programs.ensure([_PROGRAM], notify)[_PROGRAM]
            engine = engine_of(copy, program, Path(folder))
        try:
            stack = read_stack(name, copy, client, engine)
        finally:
            client.close()
        yield stack
