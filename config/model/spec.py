"""A whole stack file, checked."""

from __future__ import annotations

from pydantic import Field, SerializeAsAny

from config.model.alerts import Alerts
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
from config.model.fields import Model, optional
from config.model.pool import Pool, SystemPool
from config.model.release import Overridden, Release, has_mutating_policies
from config.model.scheduling import Scheduling
from config.model.workloads import Workloads


class ClusterSpec(Model):
    """A whole stack file, checked."""

    release: SerializeAsAny[Release] = Field(
        description="The pinned bundle: Kubernetes version, images, autoscaler defaults.",
        examples=["r2026-11"],
    )
    """With the pins that the stack overrides."""
    overrides: tuple[Overridden, ...] = optional(
        (), "Pins that differ from the release's, each with a reason."
    )
    """With what the release has, for the outputs."""
    cluster: Cluster = Field(description="The cluster's name, tags and protection.")
    cloud: SerializeAsAny[CloudSettings] = Field(
        description="The cloud, and the settings that only it has."
    )
    system_pool: SerializeAsAny[SystemPool] | None = Field(
        description="The on-demand pool of the cluster's own pods."
    )
    """None for a cluster this stack does not make."""
    pools: tuple[SerializeAsAny[Pool], ...] = optional((), "The pools of users' pods.")
    image_pull_secrets: tuple[ImagePullSecret, ...] = optional(
        (), "Secrets for registries that a node's identity cannot pull from."
    )
    device_plugin: DevicePluginOptions = optional(DevicePluginOptions(), "NVIDIA's device plugin.")
    dcgm_exporter: DcgmExporter = optional(
        DcgmExporter(enabled=False), "NVIDIA's exporter of GPU metrics. Default: not installed."
    )
    expander: ExpanderOptions = optional(
        ExpanderOptions(), "The ConfigMap of the cluster autoscaler's priority expander."
    )
    growth: Growth = optional(
        Growth(), "The order in which pools grow, where it is not the program's."
    )
    scheduling: Scheduling = optional(Scheduling(), "Placement by default, and the guard.")
    workloads: Workloads = optional(
        Workloads(), "Storage for users' work, and the profiles' access to it."
    )
    queueing: Queueing = optional(Queueing(), "Queues of Kueue for work that waits for GPUs.")
    alerts: Alerts | None = optional(None, "Alerts of the stack's pools. Default: none.")

    @property
    def name(self) -> str:
        """The name of the new or existing cluster."""
        name = self.cloud.existing_name or self.cluster.name
        assert name is not None  # `config.rules` refuses a cluster without a name
        return name

    @property
    def alerts_in_cloud(self) -> bool:
        """Whether the stack declares its alerts for the cloud's own Prometheus."""
        return self.alerts is not None and self.alerts.declare == "cloud"

    @property
    def moves_pods(self) -> bool:
        """Whether running pods go to cheaper nodes, with a policy that keeps the others."""
        able = has_mutating_policies(self.kubernetes_version)
        return not self.cloud.autoscaled and self.scheduling.enabled and able

    @property
    def kubernetes_version(self) -> str:
        """The version of a cluster this stack makes."""
        return self.release.kubernetes_version
