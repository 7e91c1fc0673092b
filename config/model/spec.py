"""A whole stack file, checked."""

from __future__ import annotations

from pydantic import Field, SerializeAsAny

from config.model.cluster import (
    CloudSettings,
    Cluster,
    DcgmExporter,
    DevicePluginOptions,
    ExpanderOptions,
    Growth,
    ImagePullSecret,
    Queueing,
)
from config.model.fields import Model
from config.model.pool import Pool, SystemPool
from config.model.release import Overridden, Release
from config.model.scheduling import Scheduling
from config.model.workloads import Workloads


class ClusterSpec(Model):
    """A whole stack file, checked."""

    release: SerializeAsAny[Release] = Field(
        description="The pinned bundle: Kubernetes version, images, autoscaler defaults.",
        examples=["r2026-11"],
    )
    """With the pins that the stack overrides."""
    overrides: tuple[Overridden, ...] = Field(
        (),
        description="Pins that the stack takes from elsewhere than its release, each with a reason.",
    )
    """With what the release has, for the outputs."""
    cluster: Cluster = Field(description="The cluster's name, tags and protection.")
    cloud: SerializeAsAny[CloudSettings] = Field(
        description="The cloud, and the settings that only it has."
    )
    system_pool: SerializeAsAny[SystemPool] | None = Field(
        description="The on-demand pool of the cluster's own pods. Required for a new cluster."
    )
    """None for a cluster this stack does not make."""
    pools: tuple[SerializeAsAny[Pool], ...] = Field((), description="The pools of users' pods.")
    image_pull_secrets: tuple[ImagePullSecret, ...] = Field(
        (), description="Secrets for registries that a node's identity cannot pull from."
    )
    device_plugin: DevicePluginOptions = Field(
        DevicePluginOptions(), description="NVIDIA's device plugin."
    )
    dcgm_exporter: DcgmExporter = Field(
        DcgmExporter(enabled=False),
        description="NVIDIA's exporter of GPU metrics. Default: not installed.",
    )
    expander: ExpanderOptions = Field(
        ExpanderOptions(),
        description="The ConfigMap of the cluster autoscaler's priority expander.",
    )
    growth: Growth = Field(
        Growth(), description="The order in which pools grow, where it is not the program's own."
    )
    scheduling: Scheduling = Field(Scheduling(), description="Placement by default, and the guard.")
    workloads: Workloads = Field(
        Workloads(), description="Storage for users' work, and the profiles' access to it."
    )
    queueing: Queueing = Field(
        Queueing(), description="Queues of Kueue for work that waits for GPUs."
    )

    @property
    def name(self) -> str:
        """The name of the new or existing cluster."""
        name = self.cloud.existing_name or self.cluster.name
        assert name is not None  # `config.rules` refuses a cluster without a name
        return name

    @property
    def kubernetes_version(self) -> str:
        """The version of a cluster this stack makes."""
        return self.release.kubernetes_version
