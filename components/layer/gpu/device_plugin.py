"""NVIDIA's device plugin, for clouds without one. Why no Helm chart: docs/adr/0019."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.gpu import mps, node_agent, plugin_config
from components.layer.gpu.node_agent import UNPRIVILEGED
from components.layer.part import Inside, Part, metadata, service_account
from config.placement.node_pools import NodePool

ROLE = "device-plugin"
NAMESPACE = "kube-system"

_PRIVILEGED = k8s.core.v1.SecurityContextArgs(
    capabilities=k8s.core.v1.CapabilitiesArgs(add=["SYS_ADMIN"])
)
"""Capabilities that NVIDIA's chart gives a plugin that may see MIG instances, and every plugin with
configurations (k8s-device-plugin 0.20, _helpers.tpl). Time-slicing is arithmetic and needs nothing.
"""


def daemon_set_spec(
    pools: Sequence[NodePool], image: str, instance: str
) -> k8s.apps.v1.DaemonSetSpecArgs:
    """Return the DaemonSet, on nodes of these pools only, with any taints.

    Without the spot taint's toleration spot nodes would have no `nvidia.com/gpu` (Azure/AKS issue
    4418). On nodes without a GPU the plugin would crash (FAIL_ON_INIT_ERROR is true by default),
    and on another stack's nodes it would be the second plugin.
    """
    mig = any(pool.mig for pool in pools)
    with_mps = any(map(mps.shared_by_mps, pools))
    configured = plugin_config.needed(pools)
    called, directory = names.object_name(instance, ROLE), "/var/lib/kubelet/device-plugins"
    plugin = k8s.core.v1.ContainerArgs(
        name="nvidia-device-plugin",
        image=image,
        # config-manager finds the process by this name.
        command=["nvidia-device-plugin"] if configured else None,
        env=_environment(mig, with_mps) if configured else None,
        security_context=_PRIVILEGED if mig or with_mps else UNPRIVILEGED,
        resources=k8s.core.v1.ResourceRequirementsArgs(
            requests={"cpu": "50m", "memory": "64Mi"}, limits={"memory": "256Mi"}
        ),
        volume_mounts=[
            k8s.core.v1.VolumeMountArgs(name="device-plugins", mount_path=directory),
            *(plugin_config.MOUNTS if configured else []),
            *(mps.MOUNTS if with_mps else []),
        ],
    )
    pod = k8s.core.v1.PodSpecArgs(
        containers=[plugin],
        volumes=[
            node_agent.of_the_node("device-plugins", directory, "Directory"),
            *(plugin_config.volumes(called) if configured else []),
            *(mps.VOLUMES if with_mps else []),
        ],
        # Named even where it is the default: an apply that only drops the field leaves the old account
        # in its alias `serviceAccount`, and pods of a deleted one are refused
        # (kubernetes/kubernetes issues 72519, 108208).
        service_account_name=called if configured else "default",
    )
    annotations = None
    if configured:
        annotations = {plugin_config.DIGEST: plugin_config.digest(plugin_config.data(pools))}
        pod.share_process_namespace = True
        pod.init_containers = [plugin_config.manager("nvidia-device-plugin-init", image)]
        sidecar = plugin_config.manager(
            "nvidia-device-plugin-sidecar", image, signals="nvidia-device-plugin"
        )
        pod.containers = [sidecar, plugin]
    else:
        # Only config-manager uses the API server, not the plugin (k8s-device-plugin 0.20, cmd/).
        pod.automount_service_account_token = False
    return node_agent.daemon_set_spec(
        pools, instance, node_agent.selector(instance, ROLE), pod, annotations
    )


def _environment(mig: bool, with_mps: bool) -> list[k8s.core.v1.EnvVarArgs]:
    return [
        k8s.core.v1.EnvVarArgs(name="CONFIG_FILE", value=plugin_config.FILE),
        *([k8s.core.v1.EnvVarArgs(name="NVIDIA_MIG_MONITOR_DEVICES", value="all")] if mig else []),
        *([k8s.core.v1.EnvVarArgs(name="MPS_ROOT", value=mps.ROOT)] if with_mps else []),
    ]


class DevicePlugin(Part):
    """The plugin in kube-system for GPU pools, with its configurations and the MPS daemons.

    It deliberately installs no driver: the cloud or a GPU operator does.
    """

    def __init__(self, name: str, pools: Sequence[NodePool], image: str, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:DevicePlugin", name, inside)
        if pools:
            called = names.object_name(self.instance, ROLE)
            before = (
                self._configurations(name, called, pools) if plugin_config.needed(pools) else ()
            )
            self._daemon_set(name, called, daemon_set_spec(pools, image, self.instance), before)
            for pool in filter(mps.shared_by_mps, pools):
                spec = mps.daemon_set_spec(pool, image, self.instance, called)
                role = f"mps-{pool.label}"
                self._daemon_set(
                    f"{name}-{role}", names.object_name(self.instance, role), spec, before
                )
        self.register_outputs({})

    def _configurations(
        self, name: str, called: str, pools: Sequence[NodePool]
    ) -> tuple[pulumi.Resource, ...]:
        """Declare the ConfigMap, and the right to read nodes, whose label names one of its keys."""
        config_map = metadata(called, self.instance, NAMESPACE)
        return (
            k8s.core.v1.ConfigMap(
                f"{name}-configs",
                metadata=config_map,
                data=plugin_config.data(pools),
                opts=self.child,
            ),
            *service_account(self, name, called, NAMESPACE, plugin_config.RULES),
        )

    def _daemon_set(
        self,
        name: str,
        called: str,
        spec: k8s.apps.v1.DaemonSetSpecArgs,
        before: Sequence[pulumi.Resource],
    ) -> None:
        own = metadata(called, self.instance, NAMESPACE)
        k8s.apps.v1.DaemonSet(name, metadata=own, spec=spec, opts=self.after(*before))
