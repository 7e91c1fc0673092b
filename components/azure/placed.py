"""The place of the resources beside a cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class Placed:
    """The cluster's name, and the inputs that all resources beside it share."""

    cluster: str
    resource_group: pulumi.Input[str]
    location: str
    tags: dict[str, str]
