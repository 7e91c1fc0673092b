"""What runs on pools, for the clouds, which never import the layer."""

from __future__ import annotations

from collections.abc import Collection

from components.layer import running
from components.layer.running import Running
from config.placement.node_pools import POOL_LABEL


def read_work(
    kubeconfig: str, key: str, labels: Collection[str], pool_label: str = POOL_LABEL
) -> dict[str, Running]:
    """Return the work on pools by their labels. Raise as `components.layer.running.read_running`."""
    return running.read_running(kubeconfig, key, labels, pool_label)
