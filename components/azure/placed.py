"""The place of the resources beside a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import pulumi


class Inputs(TypedDict):
    """The inputs that all resources beside a cluster share."""

    resource_group_name: pulumi.Input[str]
    location: str
    tags: dict[str, str]


@dataclass(frozen=True)
class Placed:
    """The cluster's name, and those inputs: `network.VirtualNetwork(name, **placed.inputs)`."""

    cluster: str
    resource_group: pulumi.Input[str]
    location: str
    tags: dict[str, str]

    @property
    def inputs(self) -> Inputs:
        """The inputs."""
        return {
            "resource_group_name": self.resource_group,
            "location": self.location,
            "tags": self.tags,
        }
