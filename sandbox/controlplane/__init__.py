"""One real Kubernetes control plane per emulated cluster, on loopback, with nodes and pods played by kwok."""

from sandbox.controlplane.plane import ControlPlane

__all__ = ["ControlPlane"]
