"""An object inside the cluster, by its manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import pulumi


@cache
def _options() -> pulumi.ResourceOptions:
    """As the SDK's classes send it; to find the version takes a search of all that is installed."""
    return pulumi.ResourceOptions(version=version("pulumi-kubernetes"))


class Manifest(pulumi.CustomResource):
    """What the SDK's class of this kind declares; in the state there is no difference.

    The arguments here are manifests anyway, and the SDK's classes of `core/v1` cost a quarter of the program's time to import
    (`python -m bench`). Not for Secrets, whose class keeps their data secret.
    """

    def __init__(
        self,
        name: str,
        manifest: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
        *,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        api = manifest["apiVersion"]
        module = api if "/" in api else f"core/{api}"
        opts = pulumi.ResourceOptions.merge(_options(), opts)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(after)))
        super().__init__(f"kubernetes:{module}:{manifest['kind']}", name, dict(manifest), opts)
