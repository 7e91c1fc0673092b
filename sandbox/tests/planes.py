"""Control planes that tests start themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.start import start
from sandbox.tests import tally
from sandbox.toolchain.programs import ensure

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok", "kubectl")


@contextmanager
def running(directory: Path, **settings: Any) -> Iterator[ControlPlane]:
    """Run a control plane in a folder, by default Kubernetes 1.36 as AKS runs it."""
    plane = ControlPlane(directory, **({"version": "1.36", "cloud": "azure"} | settings))
    try:
        start(plane, ensure(PROGRAMS, print), tally.report)
        yield plane
    finally:
        plane.stop()
