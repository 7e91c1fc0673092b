"""An object inside the cluster, by its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi


class Manifest(pulumi.CustomResource):
    """What the SDK's class of this kind declares; in the state there is no difference.

    The arguments here are manifests anyway, and the SDK's classes of `core/v1` cost a quarter of the program's time to import
    (`python -m bench`). Not for Secrets, whose class keeps their data secret.
    """

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        api = manifest["apiVersion"]
        module = api if "/" in api else f"core/{api}"
        # As the SDK's classes send it.
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=version("pulumi-kubernetes")), opts)
        super().__init__(f"kubernetes:{module}:{manifest['kind']}", name, dict(manifest), opts)
