"""NVIDIA's device plugin, for clouds that do not bring one. Not by its Helm chart: docs/adr/0033."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.layer import names
from components.layer.gpu import mps, node_agent, plugin_config
from components.layer.gpu.node_agent import UNPRIVILEGED
from components.layer.manifest import Manifest
from components.layer.part import Inside, Part
from config.placement.node_pools import NodePool

ROLE = "device-plugin"
NAMESPACE = "kube-system"

_PRIVILEGED = {"capabilities": {"add": ["SYS_ADMIN"]}}
"""Capabilities that NVIDIA's chart gives a plugin that may see MIG instances, and every plugin with configurations
(k8s-device-plugin 0.20, _helpers.tpl). Time-slicing is arithmetic and needs nothing."""


def daemon_set_spec(pools: Sequence[NodePool], image: str, instance: str) -> dict[str, Any]:
    """The DaemonSet: on nodes of these pools only, with any taints.

    A plugin without the spot taint's toleration leaves spot nodes without `nvidia.com/gpu` (Azure/AKS issue 4418); on
    nodes without a GPU it would crash (its FAIL_ON_INIT_ERROR is true by default), and on those of another stack it would
    be the second plugin.
    """
    mig = any(pool.mig for pool in pools)
    with_mps = any(map(mps.shared_by_mps, pools))
    plugin: dict[str, Any] = {
        "name": "nvidia-device-plugin",
        "image": image,
        "securityContext": _PRIVILEGED if mig or with_mps else UNPRIVILEGED,
        "resources": {
            "requests": {"cpu": "50m", "memory": "64Mi"},
            "limits": {"memory": "256Mi"},
        },
        "volumeMounts": [{"name": "device-plugins", "mountPath": "/var/lib/kubelet/device-plugins"}],
    }
    volumes: list[dict[str, Any]] = [
        {
            "name": "device-plugins",
            "hostPath": {"path": "/var/lib/kubelet/device-plugins", "type": "Directory"},
        }
    ]
    pod: dict[str, Any] = {"containers": [plugin], "volumes": volumes}
    annotations: dict[str, str] = {}
    if plugin_config.needed(pools):
        # config-manager finds the process by this name.
        plugin["command"] = ["nvidia-device-plugin"]
        plugin["env"] = _environment(mig, with_mps)
        plugin["volumeMounts"] += plugin_config.MOUNTS
        volumes += plugin_config.volumes(names.object_name(instance, ROLE))
        if with_mps:
            plugin["volumeMounts"] += mps.MOUNTS
            volumes += mps.VOLUMES
        annotations = {plugin_config.DIGEST: plugin_config.digest(plugin_config.data(pools))}
        pod |= {
            "serviceAccountName": names.object_name(instance, ROLE),
            "shareProcessNamespace": True,
            "initContainers": [_manager("nvidia-device-plugin-init", image)],
            "containers": [_manager("nvidia-device-plugin-sidecar", image, "nvidia-device-plugin"), plugin],
        }
    else:
        # The plugin talks to the kubelet alone; only config-manager asks the API server (k8s-device-plugin 0.20, cmd/).
        pod["automountServiceAccountToken"] = False
    return node_agent.daemon_set_spec(pools, instance, node_agent.selector(instance, ROLE), pod, annotations)


def _manager(name: str, image: str, signals: str | None = None) -> dict[str, Any]:
    return plugin_config.manager(name, image, signals=signals, security=UNPRIVILEGED)


def _environment(mig: bool, with_mps: bool) -> list[dict[str, str]]:
    return [
        {"name": "CONFIG_FILE", "value": plugin_config.FILE},
        *([{"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"}] if mig else []),
        *([{"name": "MPS_ROOT", "value": mps.ROOT}] if with_mps else []),
    ]


class DevicePlugin(Part):
    """The plugin in kube-system for GPU pools, with its configurations and the MPS daemons. Without pools it declares nothing."""

    def __init__(
        self,
        name: str,
        pools: Sequence[NodePool],
        image: str,
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:DevicePlugin", name, inside)
        if pools:
            before = self._configurations(name, pools) if plugin_config.needed(pools) else []
            self._daemon_set(name, ROLE, daemon_set_spec(pools, image, self.instance), before)
            for pool in filter(mps.shared_by_mps, pools):
                spec = mps.daemon_set_spec(pool, image, self.instance, names.object_name(self.instance, ROLE))
                self._daemon_set(f"{name}-mps-{pool.label}", f"mps-{pool.label}", spec, before)
        self.register_outputs({})

    def _configurations(self, name: str, pools: Sequence[NodePool]) -> list[pulumi.Resource]:
        """The ConfigMap, and the right to read the node's label, which names one of its keys."""
        called = names.object_name(self.instance, ROLE)
        rbac = "rbac.authorization.k8s.io"
        role = {"apiGroup": rbac, "kind": "ClusterRole", "name": called}
        account = {"kind": "ServiceAccount", "name": called, "namespace": NAMESPACE}
        return [
            self._object(f"{name}-configs", "v1", "ConfigMap", called, data=plugin_config.data(pools)),
            self._object(f"{name}-account", "v1", "ServiceAccount", called),
            self._object(
                f"{name}-role",
                f"{rbac}/v1",
                "ClusterRole",
                called,
                namespace=None,
                rules=plugin_config.cluster_role_rules(),
            ),
            self._object(
                f"{name}-binding",
                f"{rbac}/v1",
                "ClusterRoleBinding",
                called,
                namespace=None,
                roleRef=role,
                subjects=[account],
            ),
        ]

    def _daemon_set(
        self, name: str, role: str, spec: Mapping[str, Any], before: Sequence[pulumi.Resource] = ()
    ) -> None:
        self._object(name, "apps/v1", "DaemonSet", names.object_name(self.instance, role), before=before, spec=spec)

    def _object(
        self,
        name: str,
        api: str,
        kind: str,
        called: str,
        *,
        namespace: str | None = NAMESPACE,
        before: Sequence[pulumi.Resource] = (),
        **content: Any,
    ) -> Manifest:
        metadata = {"name": called, "labels": names.labels(self.instance)}
        if namespace:
            metadata["namespace"] = namespace
        manifest = {"apiVersion": api, "kind": kind, "metadata": metadata, **content}
        return Manifest(name, manifest, self.child, after=before)
