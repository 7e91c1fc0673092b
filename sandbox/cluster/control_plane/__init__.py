"""A real Kubernetes control plane for each emulated cluster, on loopback; kwok plays nodes and pods."""

from sandbox.cluster.control_plane.plane import ControlPlane

__all__ = ["ControlPlane"]
