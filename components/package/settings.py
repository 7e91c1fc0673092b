"""The component's arguments: the top keys of a stack file."""

from __future__ import annotations

from typing import Annotated, Any

from config.clouds.azure.settings import Azure
from config.clouds.existing.settings import Existing
from config.clouds.gcp.settings import Gcp
from config.model.gpu import DcgmExporter
from config.model.scheduling import Scheduling
from config.model.stack import Cluster, DevicePluginOptions, ExpanderOptions, Growth, ImagePullSecret, Pool, SystemPool
from config.releases.release import Override

SETTINGS: dict[str, Any] = {
    "release": Annotated[str, "the pinned bundle, such as r2026-11"],
    "cluster": Annotated[Cluster, "the cluster's name and protection; required for a new cluster"],
    "cloud": Annotated[Azure | Gcp | Existing, "where the cluster is, and what is the cloud's own"],
    "systemPool": Annotated[SystemPool, "the pool of the cluster's own pods; required for a new cluster"],
    "pools": Annotated[tuple[Pool, ...], "the pools that the autoscaler grows and shrinks"],
    "imagePullSecrets": Annotated[tuple[ImagePullSecret, ...], "credentials of registries"],
    "devicePlugin": Annotated[DevicePluginOptions, "NVIDIA's device plugin"],
    "dcgmExporter": Annotated[DcgmExporter, "NVIDIA's exporter of GPU metrics"],
    "expander": Annotated[ExpanderOptions, "the priority expander's ConfigMap"],
    "growth": Annotated[Growth, "the order in which pools grow"],
    "scheduling": Annotated[Scheduling, "placement by default, and the guard"],
    "overrides": Annotated[tuple[Override, ...], "pins that differ from the release's"],
}
"""Type and description by key."""

REQUIRED = ("release", "cloud")
