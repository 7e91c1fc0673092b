"""The device plugin that GKE brings: a DaemonSet in `kube-system` on every GPU node that does not keep it away.

After GoogleCloudPlatform/container-engine-accelerators, cmd/nvidia_gpu/device-plugin.yaml, which calls itself "not the source
of truth", and the page gpus (the label).
"""

from __future__ import annotations

from typing import Any

NAME = "nvidia-gpu-device-plugin"

_WHERE = {
    "matchExpressions": [
        {"key": "cloud.google.com/gke-accelerator", "operator": "Exists"},
        {"key": "gke-no-default-nvidia-gpu-device-plugin", "operator": "NotIn", "values": ["true"]},
    ]
}
_LABELS = {"k8s-app": NAME}

DAEMON_SET: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": NAME, "namespace": "kube-system", "labels": _LABELS},
    "spec": {
        "selector": {"matchLabels": _LABELS},
        "template": {
            "metadata": {"labels": _LABELS},
            "spec": {
                "priorityClassName": "system-node-critical",
                "affinity": {
                    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_WHERE]}}
                },
                "tolerations": [
                    {"operator": "Exists", "effect": "NoExecute"},
                    {"operator": "Exists", "effect": "NoSchedule"},
                ],
                "containers": [
                    {
                        "name": NAME,
                        "image": f"gke.gcr.io/{NAME}",
                        "resources": {"requests": {"cpu": "50m", "memory": "50Mi"}, "limits": {"memory": "50Mi"}},
                    }
                ],
            },
        },
    },
}
