"""Resources and calls of a cloud by the names of their types, without the SDKs' classes.

The SDKs' modules hold argument and output classes of hundreds of resources that this program does not use, and to import them
takes longer than all else the program does (docs/adr/0012). Inputs have the names of the wire. A test compares what is sent with
what the SDKs' classes send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import pulumi

from components.links import resolved


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
        super().__init__(type, name, {**dict.fromkeys(outputs), **resolved(dict(inputs))}, opts)

    def output(self, name: str) -> pulumi.Output[Any]:
        """One of the outputs asked for, with the names of the wire inside."""
        found: pulumi.Output[Any] = getattr(self, name)
        return found


def reading(opts: pulumi.ResourceOptions | None, package: str) -> pulumi.InvokeOptions:
    """Options of a function that reads what a component with `opts` is about to declare: by the same provider.

    A component's own provider stands before its parent's. `package` is the provider's, such as gcp.
    """
    if opts is None:
        return pulumi.InvokeOptions()
    many = opts.providers or ()
    if isinstance(many, pulumi.ProviderResource):
        many = (many,)
    given = [opts.provider, *(many.values() if isinstance(many, Mapping) else many)]
    own = next((provider for provider in given if provider and provider.package == package), None)
    return pulumi.InvokeOptions(provider=own, parent=opts.parent)


def call(token: str, arguments: Mapping[str, Any], reading: pulumi.InvokeOptions | None = None) -> dict[str, Any]:
    """The answer of a provider's function, with the names of the wire. Raises plain `Exception` for every refusal."""
    options = pulumi.InvokeOptions.merge(pulumi.InvokeOptions(version=_version(token)), reading)
    found: dict[str, Any] = _whole_numbers(pulumi.runtime.invoke(token, dict(arguments), opts=options).value)
    return found


def call_later(token: str, arguments: Mapping[str, Any], parent: pulumi.Resource) -> pulumi.Output[dict[str, Any]]:
    """The same for arguments that are outputs, by the parent's provider: the function is called once they are known."""
    options = pulumi.InvokeOutputOptions(version=_version(token), parent=parent)
    return pulumi.runtime.invoke_output(token, resolved(dict(arguments)), opts=options)


def outputs_of(stack: str) -> Mapping[str, Any]:
    """Outputs of a stack, `organization/project/stack`, as of its last update. Raises plain `Exception` for every refusal."""
    found: dict[str, Any] = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": stack}).value
    outputs: Mapping[str, Any] = found["outputs"]
    return outputs


def _whole_numbers(value: Any) -> Any:
    """The answer with whole numbers as int; the engine sends every number as a float."""
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
