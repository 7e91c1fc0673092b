"""Resources and calls of a cloud by the names of their types, without the SDKs' classes.

The SDKs' modules hold argument and output classes of hundreds of resources that this program does not use, and to import them
takes longer than everything else the program does (docs/adr/0012, 0034). Inputs have the names of the wire. A test
compares the requests with those of the SDKs' classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar

import pulumi

# Pulumi keeps the mapping between Python's names and the wire's in its classes, and has no public function for it. The SDK's
# version is pinned, and tests compare.
from pulumi import _types

T = TypeVar("T")


@cache
def _version(token: str) -> str:
    """The provider's version as the SDK's classes send it; another one would be another provider."""
    return version(f"pulumi-{token.partition(':')[0]}")


class Declared(pulumi.CustomResource):
    """A resource of a cloud. The engine and the state see no difference from the SDK's class of this type."""

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
        """`outputs`: names of those that are read later."""
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=_version(type)), opts)
        super().__init__(type, name, {**dict.fromkeys(outputs), **dict(inputs)}, opts)

    def output(self, name: str) -> pulumi.Output[Any]:
        """One of these outputs, with the names of the wire inside."""
        output: pulumi.Output[Any] = getattr(self, name)
        return output


def wire(value: Any) -> Any:
    """Return arguments of an SDK's class, or the answer of its function, as plain data with the names of the wire.

    Properties without a value are left out. A live resource and the wanted one are compared in this form; the names are those of
    the SDK's own classes.
    """
    kind: Any = type(value)
    if _types.is_input_type(kind):
        return {name: wire(item) for name, item in _types.input_type_to_dict(value).items()}
    if _types.is_output_type(kind):
        items = {name: pulumi.get(value, own) for own, name, _ in _types._py_properties(kind)}
        return {name: wire(item) for name, item in items.items() if item is not None}
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [wire(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def from_wire(kind: type[T], content: Mapping[str, Any]) -> T:
    """Return arguments of an SDK's class with this content, which has the names of the wire; what it does not know is left out."""
    names = _types.input_type_py_to_pulumi_names(kind)
    return kind(**{own: content[name] for own, name in names.items() if content.get(name) is not None})


def reading(opts: pulumi.ResourceOptions | None, package: str) -> pulumi.InvokeOptions:
    """Options of a function that reads a cloud by the provider of a component with `opts`.

    The component's own provider comes before its parent's. `package` is the provider's, such as gcp.
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
    answer: dict[str, Any] = _whole_numbers(pulumi.runtime.invoke(token, dict(arguments), opts=options).value)
    return answer


def call_later(token: str, arguments: Mapping[str, Any], parent: pulumi.Resource) -> pulumi.Output[dict[str, Any]]:
    """The same for arguments that are outputs, by the parent's provider: the function is called once they are known."""
    options = pulumi.InvokeOutputOptions(version=_version(token), parent=parent)
    return pulumi.runtime.invoke_output(token, dict(arguments), opts=options)


def outputs_of(stack: str) -> Mapping[str, Any]:
    """Outputs of a stack, `organization/project/stack`, as of its last update. Raises plain `Exception` for every refusal."""
    answer: dict[str, Any] = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": stack}).value
    outputs: Mapping[str, Any] = answer["outputs"]
    return outputs


def _whole_numbers(value: Any) -> Any:
    """The answer with whole numbers as int; the engine sends every number as a float."""
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
