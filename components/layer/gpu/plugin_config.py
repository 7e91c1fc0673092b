"""The configurations of NVIDIA's device plugin, one for each pool, and the parts of a pod that
choose among them.

A node's label names the configuration of its pool, and NVIDIA's config-manager, beside the plugin,
follows the label (k8s-device-plugin README, "Multiple Config File Example"). Names and environment
as in its chart 0.20.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi_kubernetes as k8s
import yaml

from components.layer.gpu.node_agent import NODE_NAME, UNPRIVILEGED
from config.model.cluster import GpuSharing
from config.placement.node_pools import (
    GPU_TAINT,
    PLUGIN_CONFIG_LABEL,
    PREFIX,
    NodePool,
    has_plugin_config,
)

DIGEST = f"{PREFIX}/config-digest"
"""Annotation of a pod template that restarts pods: the plugin reads its file only at its start."""

DEFAULT = "_default"
"""The key for nodes without the label; no pool's name begins like this."""

FILE = "/config/config.yaml"

_DIRECTORY = "/available-configs"

MOUNTS = [
    k8s.core.v1.VolumeMountArgs(name="available-configs", mount_path=_DIRECTORY),
    k8s.core.v1.VolumeMountArgs(name="config", mount_path="/config"),
]
"""The file is a link into the other directory, so every container needs both."""


def needed(pools: Iterable[NodePool]) -> bool:
    """Return whether any of these pools partitions or shares GPUs."""
    return any(has_plugin_config(pool) for pool in pools)


def config(pool: NodePool | None) -> dict[str, Any]:
    """Return a pool's configuration (api/config/v1/config.go); for None that of whole GPUs."""
    # `single` counts each instance as one nvidia.com/gpu (README, MIG_STRATEGY).
    flags = {"migStrategy": "single" if pool and pool.mig else "none"}
    content: dict[str, Any] = {"version": "v1", "flags": flags}
    if pool and pool.gpu_sharing:
        content["sharing"] = _sharing(pool.gpu_sharing)
    return content


def _sharing(sharing: GpuSharing) -> dict[str, Any]:
    return {
        {"time-slicing": "timeSlicing", "mps": "mps"}[sharing.strategy]: {
            # Two replicas may be on one GPU and give no more than one, so such a pod is refused.
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": GPU_TAINT.key, "replicas": sharing.replicas}],
        }
    }


def data(pools: Sequence[NodePool]) -> dict[str, str]:
    """Return the ConfigMap's content, for pools of whole GPUs too: nodes keep older labels."""
    return {
        DEFAULT: _written(config(None)),
        **{pool.label: _written(config(pool)) for pool in pools},
    }


def _written(config: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(config, sort_keys=False))


def digest(data: Mapping[str, str]) -> str:
    """Return a short hash of the content."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def volumes(config_map: str) -> list[k8s.core.v1.VolumeArgs]:
    """Return the volumes of `MOUNTS`."""
    source = k8s.core.v1.ConfigMapVolumeSourceArgs(name=config_map)
    return [
        k8s.core.v1.VolumeArgs(name="available-configs", config_map=source),
        k8s.core.v1.VolumeArgs(name="config", empty_dir=k8s.core.v1.EmptyDirVolumeSourceArgs()),
    ]


def manager(name: str, image: str, *, signals: str | None = None) -> k8s.core.v1.ContainerArgs:
    """Return a container that links the node's configuration once or, with `signals`, at each
    change of the label.

    `signals`: the process that then gets a SIGHUP.
    """
    environment = {
        "ONESHOT": "false" if signals else "true",
        "NODE_LABEL": PLUGIN_CONFIG_LABEL,
        "CONFIG_FILE_SRCDIR": _DIRECTORY,
        "CONFIG_FILE_DST": FILE,
        "DEFAULT_CONFIG": DEFAULT,
        "SEND_SIGNAL": "true" if signals else "false",
        **({"SIGNAL": "1", "PROCESS_TO_SIGNAL": signals} if signals else {}),
    }
    return k8s.core.v1.ContainerArgs(
        name=name,
        image=image,
        command=["config-manager"],
        env=[
            NODE_NAME,
            *(k8s.core.v1.EnvVarArgs(name=key, value=value) for key, value in environment.items()),
        ],
        security_context=UNPRIVILEGED,
        resources=k8s.core.v1.ResourceRequirementsArgs(
            requests={"cpu": "10m", "memory": "32Mi"}, limits={"memory": "128Mi"}
        ),
        volume_mounts=MOUNTS,
    )


RULES = [
    k8s.rbac.v1.PolicyRuleArgs(api_groups=[""], resources=["nodes"], verbs=["get", "list", "watch"])
]
"""Rights of config-manager: it watches its own node, which RBAC cannot name."""
