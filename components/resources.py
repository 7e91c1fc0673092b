"""What every cloud needs of Pulumi's SDKs: the names of the wire, the provider of a question, and outputs of a stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, TypeVar

import pulumi

# Pulumi keeps the mapping between Python's names and the wire's in its classes, and has no public function for it. The SDK's
# version is pinned, and tests compare.
from pulumi import _types
from tenacity import retry, stop_after_attempt, wait_exponential

T = TypeVar("T")


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
    return kind(
        **{own: content[name] for own, name in names.items() if content.get(name) is not None}
    )


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


_FORBIDDEN = ("AuthorizationFailed", "Error 403", "PERMISSION_DENIED")
"""ARM's code, and Google's, for a login without the right; Google's is also that of an API that the project has not enabled."""


@contextmanager
def explain_refusal(what: str, right: str) -> Iterator[None]:
    """Raise `pulumi.RunError` for a refused read of `what`, such as `cloud: cluster 'ml'`, which needs `right`."""
    try:
        yield
    except pulumi.RunError:
        raise
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        answer = " ".join(str(failed).split())
        why = f": the login lacks {right}" if any(code in answer for code in _FORBIDDEN) else ""
        raise pulumi.RunError(f"{what} cannot be read{why}\n  {answer}") from None


# On a `file://` backend the engine truncates a state's attributes (`.attrs`) and writes them in two steps: a read between them ends
# in "failed to load checkpoint: EOF" (gocloud.dev/blob/fileblob, setAttrs). The stack's own state is written as the program starts.
@retry(stop=stop_after_attempt(6), wait=wait_exponential(multiplier=0.05), reraise=True)
def outputs_of(stack: str) -> Mapping[str, Any]:
    """Return the outputs of a stack, `organization/project/stack`, as of its last update.

    Repeat a refused read for 1.5 seconds. Raise plain `Exception` for every refusal after that.
    """
    return dict(
        pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": stack}).value["outputs"]
    )
