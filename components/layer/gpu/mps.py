"""The daemon of NVIDIA's Multi-Process Service (MPS), for pools whose GPUs are shared by it.

It follows NVIDIA's chart (k8s-device-plugin 0.20, daemonset-mps-control-daemon.yml), with one
DaemonSet for each pool: a restart of the daemon ends the CUDA work of every pod on the node, so a
change of another pool must not restart it. It mounts its one configuration and needs no
config-manager.
"""

from __future__ import annotations

import pulumi_kubernetes as k8s

from components.layer.gpu import node_agent, plugin_config
from config.placement.node_pools import PLUGIN_CONFIG_LABEL, POOL_LABEL, NodePool

ROLE = "mps-control-daemon"

ROOT = "/run/nvidia/mps"
"""On the node: pipes and logs of the daemon, and the shared memory that it and its clients use as
/dev/shm."""

VOLUMES = [
    node_agent.of_the_node("mps-root", ROOT, "DirectoryOrCreate"),
    node_agent.of_the_node("mps-shm", f"{ROOT}/shm"),
]
MOUNTS = [
    k8s.core.v1.VolumeMountArgs(name="mps-root", mount_path="/mps"),
    k8s.core.v1.VolumeMountArgs(name="mps-shm", mount_path="/dev/shm"),
]
"""The plugin has them too: it asks the daemon for its health."""

_RESOURCES = k8s.core.v1.ResourceRequirementsArgs(requests={"cpu": "50m", "memory": "128Mi"})
"""Without a memory limit: memory shared with clients may count as the daemon's, and a killed daemon
kills its clients."""


def shared_by_mps(pool: NodePool) -> bool:
    """Return whether the pool's GPUs are shared by MPS."""
    return pool.gpu_sharing is not None and pool.gpu_sharing.strategy == "mps"


def daemon_set_spec(
    pool: NodePool, image: str, instance: str, config_map: str
) -> k8s.apps.v1.DaemonSetSpecArgs:
    """Return the DaemonSet of one pool. Privileged: it sets the GPUs' compute mode and mounts
    shared memory on the node.
    """
    privileged = k8s.core.v1.SecurityContextArgs(privileged=True)
    shm = k8s.core.v1.ContainerArgs(
        name="mps-control-daemon-mounts",
        image=image,
        command=["mps-control-daemon", "mount-shm"],
        security_context=privileged,
        resources=_RESOURCES,
        volume_mounts=[
            k8s.core.v1.VolumeMountArgs(
                name="mps-root", mount_path="/mps", mount_propagation="Bidirectional"
            )
        ],
    )
    daemon = k8s.core.v1.ContainerArgs(
        name="mps-control-daemon-ctr",
        image=image,
        command=["mps-control-daemon"],
        env=[k8s.core.v1.EnvVarArgs(name="CONFIG_FILE", value=plugin_config.FILE)],
        security_context=privileged,
        resources=_RESOURCES,
        volume_mounts=[
            *MOUNTS,
            k8s.core.v1.VolumeMountArgs(name="config", mount_path="/config", read_only=True),
        ],
    )
    file = k8s.core.v1.KeyToPathArgs(key=pool.label, path=plugin_config.FILE.rpartition("/")[2])
    source = k8s.core.v1.ConfigMapVolumeSourceArgs(name=config_map, items=[file])
    pod = k8s.core.v1.PodSpecArgs(
        # With a driver on the node the daemon needs the node's process ids (chart,
        # mps.enableHostPID).
        host_pid=True,
        # Only after the plugin shares the GPU: the daemon lets no process but MPS' own use it.
        node_selector={PLUGIN_CONFIG_LABEL: pool.label},
        init_containers=[shm],
        containers=[daemon],
        volumes=[*VOLUMES, k8s.core.v1.VolumeArgs(name="config", config_map=source)],
    )
    selector = {**node_agent.selector(instance, ROLE), POOL_LABEL: pool.label}
    content = plugin_config.data([pool])[pool.label]
    annotations = {plugin_config.DIGEST: plugin_config.digest({pool.label: content})}
    return node_agent.daemon_set_spec([pool], instance, selector, pod, annotations)
