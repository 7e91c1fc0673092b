"""The component's arguments: the top keys of a stack file."""

from __future__ import annotations

from typing import Annotated, Any, Union

from config.clouds import registry
from config.model.release import Override
from config.model.spec import ClusterSpec

_AS_WRITTEN: dict[str, Any] = {
    "release": str,
    "overrides": tuple[Override, ...],
    "cloud": Union[tuple(cloud.settings for cloud in registry.registrations())],  # noqa: UP007
    "systemPool": registry.system_pool_model(),
    "pools": tuple[registry.pool_model(), ...],  # type: ignore[misc]
}
"""Types of keys that a checked stack file has in another form; they include the keys of all
clouds."""

SETTINGS: dict[str, Any] = {
    str(field.alias): Annotated[
        _AS_WRITTEN.get(str(field.alias), field.annotation), field.description
    ]
    for field in ClusterSpec.model_fields.values()
}
"""Type and description by key."""

REQUIRED = ("release", "cloud")
