"""What the models of a stack file are made of: the base of all objects, and text with a fixed form."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

LabelKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
    ),
]
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set"""

LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$")]
"""Same page as `LabelKey`: at most 63 characters, may be empty."""

Cidr = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]
"""An IPv4 range such as `10.0.0.0/16`; `spec.rules` checks that it is one."""

Zone = Literal["1", "2", "3"]
Seconds = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*s$")]
"""Such as `10s`."""
Minutes = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*m$")]
"""Such as `10m`."""
Duration = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]*)(s|m|h)$")]
"""Such as `30s`, `5m` or `1h`."""


class Model(BaseModel):
    """A frozen object with camelCase keys; a key it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, strict=False)
