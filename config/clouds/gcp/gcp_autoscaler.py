"""The settings of GKE's cluster autoscaler, and what a release pins of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.model.fields import Model, optional
from config.model.release import Release, all_of


class GcpAutoscaler(Model):
    """Settings of GKE's cluster autoscaler (page cluster-autoscaler). Unset: the release's."""

    profile: Literal["balanced", "optimize-utilization"] | None = optional(
        None,
        "When nodes are removed: `optimize-utilization` removes them sooner and sets pods' "
        "schedulerName, which Kueue and Volcano notice. GKE's default: balanced.",
    )


class GcpPins(Model):
    """The pins of a release for GKE."""

    gcp_autoscaler: GcpAutoscaler = Field(
        title="GKE's cluster autoscaler",
        description="what a stack does not set in cloud.autoscaler",
        json_schema_extra=all_of(GcpAutoscaler),
    )


def pinned_autoscaler(release: Release) -> GcpAutoscaler:
    """Return the autoscaler's settings that a release pins."""
    assert isinstance(release, GcpPins)
    return release.gcp_autoscaler
