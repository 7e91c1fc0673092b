"""The settings of GPUs that pods share, of the device plugin, and of what measures them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.model.fields import Model


class GpuSharing(Model):
    """Sharing of a pool's GPUs by NVIDIA's device plugin: each GPU counts as several nvidia.com/gpu.

    https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
    """

    strategy: Literal["time-slicing", "mps"] = Field(
        description="`time-slicing`: pods take turns, with no limit on memory; `mps`: each pod gets its share of memory and "
        "cores."
    )
    replicas: int = Field(
        ge=2, description="Pods that a GPU, or a MIG instance, takes at a time.", examples=[4]
    )


class DevicePluginOptions(Model):
    """NVIDIA's device plugin."""

    install: Literal["auto", "never"] = Field(
        "auto",
        description="`auto`: on every GPU pool that no other device plugin in the cluster reaches; `never`: nowhere.",
    )


class DcgmExporter(Model):
    """NVIDIA's exporter of GPU metrics for Prometheus, on port 9400."""

    enabled: bool = Field(description="Whether the exporter runs on GPU nodes.")
