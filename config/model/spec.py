"""A whole stack file, checked."""

from __future__ import annotations

from pydantic import SerializeAsAny

from config.model.cloud import CloudSettings
from config.model.cluster import Cluster
from config.model.fields import Model
from config.model.gpu import DcgmExporter, DevicePluginOptions
from config.model.growth import ExpanderOptions, Growth
from config.model.image_pull_secret import ImagePullSecret
from config.model.pool import Pool, SystemPool
from config.model.release import Overridden, Release
from config.model.scheduling import Scheduling


class ClusterSpec(Model):
    """A whole stack file, checked."""

    release: SerializeAsAny[Release]
    """With the pins that the stack overrides."""
    overrides: tuple[Overridden, ...] = ()
    """Pins that are not the release's own, for the outputs."""
    cluster: Cluster
    cloud: SerializeAsAny[CloudSettings]
    system_pool: SerializeAsAny[SystemPool] | None
    """None for a cluster this stack does not make."""
    pools: tuple[SerializeAsAny[Pool], ...] = ()
    image_pull_secrets: tuple[ImagePullSecret, ...] = ()
    device_plugin: DevicePluginOptions = DevicePluginOptions()
    dcgm_exporter: DcgmExporter = DcgmExporter(enabled=False)
    expander: ExpanderOptions = ExpanderOptions()
    growth: Growth = Growth()
    scheduling: Scheduling = Scheduling()

    @property
    def name(self) -> str:
        """The cluster's name, whoever makes it."""
        name = self.cloud.existing_name or self.cluster.name
        assert name is not None  # `config.rules` refuses a cluster without a name
        return name

    @property
    def kubernetes_version(self) -> str:
        """The version of a cluster this stack makes."""
        return self.release.kubernetes_version
