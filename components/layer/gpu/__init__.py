"""DaemonSets of GPU nodes: NVIDIA's device plugin, MPS, metrics."""
