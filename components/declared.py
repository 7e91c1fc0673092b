"""Resources and calls of a cloud by the names of their types, for SDKs that cost more than they bring.

`pulumi_azure_native.network` takes as long to import as all other SDKs of this program together, and the few classes of
`pulumi_gcp` that are used here take seven seconds: argument and output classes of hundreds of resources that are not
(docs/adr/0012). Inputs have the names of the wire; that the SDKs' classes have them too is tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import pulumi


@cache
def _version(token: str) -> str:
    """The provider's version as the SDK's classes send it; another one would be another provider."""
    return version(f"pulumi-{token.partition(':')[0]}")


class Declared(pulumi.CustomResource):
    """What the SDK's class of this type declares; to the engine and in the state there is no difference."""

    name: pulumi.Output[str]

    def __init__(
        self,
        type: str,
        name: str,
        inputs: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
        *,
        outputs: Sequence[str] = ("name",),
    ) -> None:
        """`outputs`: those that are asked for later."""
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=_version(type)), opts)
        super().__init__(type, name, {**dict.fromkeys(outputs), **inputs}, opts)

    def output(self, name: str) -> pulumi.Output[Any]:
        """One of the outputs asked for, with the names of the wire inside."""
        found: pulumi.Output[Any] = getattr(self, name)
        return found


def call(token: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a provider's function, with the names of the wire. Raises plain `Exception` for every refusal."""
    options = pulumi.InvokeOptions(version=_version(token))
    found: dict[str, Any] = pulumi.runtime.invoke(token, dict(arguments), opts=options).value
    return found
