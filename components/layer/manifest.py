"""An object inside the cluster, by its manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import pulumi

_SECRET = ("data", "stringData")
"""Keys of a Secret whose values are secret."""


@cache
def sdk_version() -> str:
    """The version as the SDK's classes send it, cached: a look-up searches all installed packages."""
    return version("pulumi-kubernetes")


class Manifest(pulumi.CustomResource):
    """An object inside the cluster. The state shows no difference from the SDK's class of its kind (docs/adr/0012).

    The data of Secrets is always kept secret.
    """

    def __init__(
        self,
        name: str,
        manifest: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
        *,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        api, kind = manifest["apiVersion"], manifest["kind"]
        module = api if "/" in api else f"core/{api}"
        secret = _SECRET if (module, kind) == ("core/v1", "Secret") else ()
        inputs = {key: pulumi.Output.secret(value) if key in secret else value for key, value in manifest.items()}
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=sdk_version()), opts)
        opts = pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(depends_on=list(after), additional_secret_outputs=list(secret) or None)
        )
        super().__init__(f"kubernetes:{module}:{kind}", name, inputs, opts)
