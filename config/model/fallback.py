"""The chain that is tried when a spot pool cannot grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from config.model.fields import Model


class OnDemand(Model):
    """The on-demand twin of a spot pool: a pool of the same machine, bought on demand, that grows when spot cannot."""

    absent: ClassVar[Mapping[str, str]] = {
        "reservation": "remove it: write an on-demand pool with `reservation` under `pools`, and name it as a step: `{pool: NAME}`"
    }

    max_nodes: int = Field(ge=1, description="Most nodes of the twin.", examples=[2])
    name: str | None = Field(
        None,
        min_length=1,
        description="The twin's name. Default: the spot pool's name, cut to fit, with `od`.",
        examples=["t4ondemand"],
    )


class Fallback(Model):
    """One step of the chain that is tried when a spot pool cannot grow: another pool, or the on-demand twin."""

    pool: str | None = Field(
        None,
        min_length=1,
        description="The name of another spot pool, of a flex-start pool, or of an on-demand pool with a `reservation`.",
        examples=["t4big"],
    )
    on_demand: OnDemand | None = Field(
        None, description="The on-demand twin; the last step of a chain."
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """A pool's name."""
        return {"pool": text} if text else None
