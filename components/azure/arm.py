"""A resource of azure-native by the name of its type, for modules of the SDK that cost more than they bring."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi


class Resource(pulumi.CustomResource):
    """What the SDK's class of this type declares; to the engine and in the state there is no difference.

    `pulumi_azure_native.network` takes as long to import as all other SDKs of this program together: 88 000 lines of argument
    and output classes for the few resources used here (`python -m bench`). Inputs have the names of the wire; that the
    SDK's class has them too is tested.
    """

    name: pulumi.Output[str]

    def __init__(self, type: str, name: str, inputs: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        # The provider's version as the SDK's classes send it; another one would be another provider.
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=version("pulumi-azure-native")), opts)
        super().__init__(f"azure-native:{type}", name, {"name": None, **inputs}, opts)
