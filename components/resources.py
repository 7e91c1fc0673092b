"""Helpers for Pulumi's SDKs: plain data, providers of reads, outputs of stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, TypeVar

import pulumi

# The SDK's classes map Python's names to property names, without a public function for it. The
# version is pinned and tests compare.
from pulumi import _types
from tenacity import retry, stop_after_attempt, wait_exponential

T = TypeVar("T")


def wire(value: Any) -> Any:
    """Return an SDK's arguments, or the answer of its function, as plain data keyed by the cloud's
    property names.

    Properties without a value are left out. Live and wanted resources are compared in this form.
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
    """Return an SDK's arguments from data keyed by property name, without unknown keys."""
    names = _types.input_type_py_to_pulumi_names(kind)
    return kind(
        **{own: content[name] for own, name in names.items() if content.get(name) is not None}
    )


def reading(opts: pulumi.ResourceOptions | None, package: str) -> pulumi.InvokeOptions:
    """Return the options of a function that reads a cloud with the provider of a component's
    `opts`.

    The component's own provider comes before its parent's. `package`: the provider's, such as gcp.
    """
    if opts is None:
        return pulumi.InvokeOptions()
    many = opts.providers or ()
    if isinstance(many, pulumi.ProviderResource):
        many = (many,)
    given = [opts.provider, *(many.values() if isinstance(many, Mapping) else many)]
    own = next((provider for provider in given if provider and provider.package == package), None)
    return pulumi.InvokeOptions(provider=own, parent=opts.parent)


_FORBIDDEN = ("AuthorizationFailed", "Error 403", "PERMISSION_DENIED")
"""Codes for a missing right; Google's also mean an API that is not enabled."""


@contextmanager
def explain_refusal(what: str, right: str) -> Iterator[None]:
    """Raise `pulumi.RunError` for a refused read of `what`, which needs `right`."""
    try:
        yield
    except pulumi.RunError:
        raise
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        answer = " ".join(str(failed).split())
        why = f": the login lacks {right}" if any(code in answer for code in _FORBIDDEN) else ""
        raise pulumi.RunError(f"{what} cannot be read{why}\n  {answer}") from None


# On a `file://` backend the engine writes a state's attributes (`.attrs`) in two steps, just as the
# program starts. A read between them ends in "failed to load checkpoint: EOF"
# (gocloud.dev/blob/fileblob, setAttrs).
@retry(stop=stop_after_attempt(6), wait=wait_exponential(multiplier=0.05), reraise=True)
def outputs_of(stack: str) -> Mapping[str, Any]:
    """Return the outputs of a stack, `organization/project/stack`, as of its last update.

    Repeat a refused read for 1.5 seconds. Raise plain `Exception` for every refusal after that.
    """
    return dict(
        pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": stack}).value["outputs"]
    )
