"""The clouds: one line each. A cloud's modules are loaded only for a stack that uses the cloud."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import pulumi

from components.target import Stack, Target

MODULES = {
    "azure": "components.azure.target",
    "existing": "components.existing.target",
    "gcp": "components.gcp.target",
}
"""By `cloud.provider` of the stack file, a module with a function `target`."""


def target(stack: Stack, opts: pulumi.ResourceOptions | None) -> Target:
    """The target of a stack. An existing cluster is read by the provider that the component's options `opts` name.

    Raises `pulumi.RunError` for a cluster that is missing, cannot be read or cannot take the pools.
    """
    of_cloud: Callable[[Stack, pulumi.ResourceOptions | None], Target]
    of_cloud = import_module(MODULES[stack.spec.cloud.provider]).target
    return of_cloud(stack, opts)
