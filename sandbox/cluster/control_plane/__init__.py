"""One real Kubernetes control plane per emulated cluster, on loopback, with nodes and pods played by kwok."""

from sandbox.cluster.control_plane.plane import ControlPlane

__all__ = ["ControlPlane"]
