"""NVIDIA's device plugin, for clouds that do not bring one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.addons import names
from components.addons.manifest import Manifest
from spec.placement import POOL_LABEL, NodePool
from spec.pods import tolerations

ROLE = "device-plugin"

_UNPRIVILEGED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_FOR_MIG = {"capabilities": {"add": ["SYS_ADMIN"]}}
"""What NVIDIA's chart sets for each (k8s-device-plugin 0.20, _helpers.tpl)."""


def daemon_set_spec(pools: Sequence[NodePool], image: str, instance: str) -> dict[str, Any]:
    """The DaemonSet: on nodes of these pools only, whatever they are tainted with.

    A plugin without the spot taint's toleration leaves spot nodes without `nvidia.com/gpu` (Azure/AKS issue 4418); on
    nodes without a GPU it would crash (its FAIL_ON_INIT_ERROR is true by default), and on those of another stack it would
    be the second.
    """
    selector = {"app.kubernetes.io/name": f"{names.PROGRAM}-{ROLE}", names.INSTANCE: instance}
    mig = any(pool.source.mig for pool in pools)
    return {
        "selector": {"matchLabels": selector},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {"labels": {**names.labels(instance), **selector}},
            "spec": {
                "priorityClassName": "system-node-critical",
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {
                                            "key": POOL_LABEL,
                                            "operator": "In",
                                            "values": sorted({pool.label for pool in pools}),
                                        }
                                    ]
                                }
                            ]
                        }
                    }
                },
                "tolerations": [toleration.as_manifest() for toleration in tolerations(pools)],
                "containers": [
                    {
                        "name": "nvidia-device-plugin",
                        "image": image,
                        **({"env": _mig_environment()} if mig else {}),
                        "securityContext": _FOR_MIG if mig else _UNPRIVILEGED,
                        "resources": {
                            "requests": {"cpu": "50m", "memory": "64Mi"},
                            "limits": {"memory": "256Mi"},
                        },
                        "volumeMounts": [{"name": "device-plugins", "mountPath": "/var/lib/kubelet/device-plugins"}],
                    }
                ],
                "volumes": [
                    {
                        "name": "device-plugins",
                        "hostPath": {"path": "/var/lib/kubelet/device-plugins", "type": "Directory"},
                    }
                ],
            },
        },
    }


def _mig_environment() -> list[dict[str, str]]:
    """`single` counts each instance as one `nvidia.com/gpu` and leaves nodes without MIG as they are (README, MIG_STRATEGY)."""
    return [
        {"name": "MIG_STRATEGY", "value": "single"},
        {"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"},
    ]


class DevicePlugin(pulumi.ComponentResource):
    """The plugin's DaemonSet in kube-system, for pools that all have GPUs. Declares nothing where there is none."""

    def __init__(
        self,
        name: str,
        pools: Sequence[NodePool],
        image: str,
        *,
        instance: str,
        opts: pulumi.ResourceOptions,
        child: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("kubeflow-spot:addons:DevicePlugin", name, None, opts)
        if pools:
            metadata: Mapping[str, Any] = {
                "name": names.object_name(instance, ROLE),
                "namespace": "kube-system",
                "labels": names.labels(instance),
            }
            Manifest(
                name,
                {
                    "apiVersion": "apps/v1",
                    "kind": "DaemonSet",
                    "metadata": metadata,
                    "spec": daemon_set_spec(pools, image, instance),
                },
                pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(parent=self)),
            )
        self.register_outputs({})
