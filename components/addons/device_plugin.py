"""NVIDIA's device plugin, for clouds that do not bring one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_kubernetes import apps

from spec.placement import ACCELERATOR_LABEL, NodePool, tolerations

NAME = "kubeflow-spot-nvidia-device-plugin"


def daemon_set_spec(pools: Sequence[NodePool], image: str) -> dict[str, Any]:
    """The DaemonSet: on nodes of GPU pools only, whatever those pools are tainted with.

    A plugin without the spot taint's toleration leaves spot nodes without `nvidia.com/gpu` (Azure/AKS issue 4418), and on
    nodes without a GPU it would crash (its FAIL_ON_INIT_ERROR is true by default).
    """
    labels = {"app.kubernetes.io/name": NAME}
    gpu_pools = [pool for pool in pools if pool.gpus]
    return {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "priorityClassName": "system-node-critical",
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": ACCELERATOR_LABEL, "operator": "Exists"}]}
                            ]
                        }
                    }
                },
                "tolerations": [toleration.model_dump(mode="json") for toleration in tolerations(gpu_pools)],
                "containers": [
                    {
                        "name": "nvidia-device-plugin",
                        "image": image,
                        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
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


class DevicePlugin(pulumi.ComponentResource):
    """The plugin's DaemonSet in kube-system. Declares nothing where no pool has a GPU."""

    def __init__(
        self,
        name: str,
        pools: Sequence[NodePool],
        image: str,
        *,
        opts: pulumi.ResourceOptions,
        child: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("kubeflow-spot:addons:DevicePlugin", name, None, opts)
        if any(pool.gpus for pool in pools):
            apps.v1.DaemonSet(
                name,
                metadata={"name": NAME, "namespace": "kube-system"},
                spec=daemon_set_spec(pools, image),
                opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(parent=self)),
            )
        self.register_outputs({})
