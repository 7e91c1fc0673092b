"""The settings of a drawn cloud."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.model.cluster import CloudSettings
from config.model.fields import Model


class ToyPool(Model):
    """Settings of a pool that only the drawn cloud has."""

    colour: Literal["red", "blue"] = Field("red", description="The colour of the nodes.")


class ToyKeys(Model):
    """Keys of a pool."""

    toy: ToyPool | None = Field(None, description="Settings of a pool that only the drawn cloud has.")


class Toy(CloudSettings):
    """A drawn cloud, which only makes new clusters."""

    provider: Literal["toy"] = Field(description="The cloud.")
    shelf: int = Field(ge=1, description="The shelf it stands on.", examples=[1])
