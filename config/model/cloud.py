"""The settings under `cloud`: each cloud has a model of its own in its folder."""

from __future__ import annotations

from pydantic import Field

from config.model.fields import Model


class CloudSettings(Model):
    """Settings that all clouds share."""

    provider: str = Field(description="The cloud.")

    @property
    def existing_name(self) -> str | None:
        """The name of the existing cluster that the stack adds to; None for a cluster that this stack makes."""
        return None

    @property
    def place(self) -> str | None:
        """The region or zone of the cluster; None where the stack file does not say."""
        return None

    @property
    def zone_count(self) -> int:
        """The zones of a pool that names none."""
        return 1
