"""The clouds: one line each. A cloud's modules are loaded only for a stack that uses the cloud."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name

import pulumi

from components.target import Stack, Target

TARGETS = {
    "azure": "components.azure.azure_target:AksTarget",
    "existing": "components.existing.existing_target:AnyCluster",
    "gcp": "components.gcp.gcp_target:GkeTarget",
}
"""By `cloud.provider` of the stack file, the class of the cloud's target."""


def target(stack: Stack, opts: pulumi.ResourceOptions | None) -> Target:
    """Return the target of a stack, read by the provider in the component's `opts`."""
    of_cloud: Callable[[Stack, pulumi.ResourceOptions | None], Target] = resolve_name(
        TARGETS[stack.spec.cloud.provider]
    )
    return of_cloud(stack, opts)
