"""`python -m sandbox.autoscaler`, as a control plane starts it."""

import argparse
import signal
from pathlib import Path
from typing import Any

from sandbox.autoscaler.api import ApiServer
from sandbox.autoscaler.loop import Loop, Settings
from sandbox.autoscaler.provisioner import Provisioner
from sandbox.cloud.cluster_runtime import NodesAlone
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cluster import plugins
from sandbox.cluster.control_plane.plane import SOCKET


class Nodes(NodesAlone):
    """The nodes of a cluster for its autoscaler, which does not wait until they are ready."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig

    def apply_nodes(self, cluster_id: str, nodes: list[dict[str, Any]]) -> None:
        # Only here: most scans change no node.
        from sandbox.kubernetes import node_objects as kubernetes_nodes

        with kubernetes_nodes.opened(self._kubeconfig) as client:
            kubernetes_nodes.apply(client, nodes)


def main() -> None:
    """Run until SIGTERM, or until the control plane's folder is gone."""
    parser = argparse.ArgumentParser(prog="sandbox.autoscaler")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cloud", choices=plugins.NAMES, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--clock-factor", type=float, default=1.0, dest="factor")
    parser.add_argument("--provisioner", action="store_true")
    settings = Settings(**vars(parser.parse_args()))
    runtime = Nodes(settings.directory / "kubeconfigs" / "admin.kubeconfig")

    def opened() -> EmulatedCloud:
        return plugins.opened(settings.cloud, settings.state.parent, runtime)

    loop = Loop(settings, opened)
    if settings.provisioner:
        # A process runs in its control plane's folder.
        plugins.plugin(settings.cloud).serve(opened, Path(SOCKET))
    # A scan that has begun is finished: its nodes are then as the cloud has them.
    signal.signal(signal.SIGTERM, lambda *_: loop.stopping.set())
    Provisioner(ApiServer(settings.directory, settings.port), settings.cloud, loop.stopping).start()
    loop.run()


if __name__ == "__main__":
    main()
