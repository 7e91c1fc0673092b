"""What GPU nodes run: NVIDIA's device plugin, MPS, metrics."""
