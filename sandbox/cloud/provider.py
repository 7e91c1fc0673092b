"""Resource providers in plain Python values: an emulated cloud implements `Provider`.

Source: https://github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

# Differences of two plain property values, as Pulumi property paths.
#
# Deliberately knows nothing of any resource type: each provider decides which differences force a replacement.

_IDENTIFIER = re.compile(r"^[A-Za-z_$][\w$]*$")


class Kind(StrEnum):
    """The change of one property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


def join(path: str, key: str | int) -> str:
    """Append a key to a property path: `a.b`, `a[0]`, `a["k8s.io/b"]`.

    Source: https://www.pulumi.com/docs/iac/concepts/miscellaneous/property-paths/
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not _IDENTIFIER.match(key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Kind]]:
    """Yield every path at which `new` differs from `old`; an absent key and a null are the same thing."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), join(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            yield from differences(
                old[index] if index < len(old) else None, new[index] if index < len(new) else None, join(path, index)
            )
    elif old is None and new is not None:
        yield path, Kind.ADD
    elif old is not None and new is None:
        yield path, Kind.DELETE
    elif type(old) is not type(new) or old != new:
        yield path, Kind.UPDATE


def top_level(path: str) -> str:
    """Return the first key of a property path: `nodeLabels["a.b"]` is in `nodeLabels`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The wire's stand-in for a value that is not known before the update."""

Props = dict[str, Any]


class Refused(Exception):
    """The refusal of a request: nothing was made or changed. The text is shown to the user as it is.

    `confirmed` is false where no source shows that the cloud refuses such a request with this code and these words; the text
    then ends in a mark.
    """

    confirmed = True

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.confirmed else f"{text} (as the sandbox reads it)"

    def as_read(self) -> Self:
        """Return the same refusal, marked as not confirmed."""
        self.confirmed = False
        return self


class InitFailed(Exception):
    """The resource exists but did not become usable; the engine keeps it in the state and reports the reasons."""

    def __init__(self, id: str, outputs: Props, reasons: Iterable[str]) -> None:
        super().__init__("; ".join(reasons))
        self.id, self.outputs, self.reasons = id, outputs, list(reasons)


@dataclass(frozen=True)
class Failure:
    """One property that `check` refuses."""

    property: str
    reason: str


@dataclass
class Diff:
    """The effect of an update: paths with the kind of change, and the paths that force a replacement."""

    changes: dict[str, Kind] = field(default_factory=dict)
    replaces: set[str] = field(default_factory=set)
    delete_before_replace: bool = False


@dataclass(frozen=True)
class Resource:
    """A resource as a request names it. `id` and the old values are empty where the request has none."""

    type: str
    name: str
    urn: str
    id: str = ""
    inputs: Props = field(default_factory=dict)
    old_inputs: Props = field(default_factory=dict)
    old_outputs: Props = field(default_factory=dict)
    preview: bool = False


class Provider:
    """One configured instance of a provider. Every method may raise `Refused`."""

    sdk: str
    """The Python package whose resources this provider serves; the provider reports its version to the engine."""

    def check_config(self, inputs: Props) -> list[Failure]:
        return []

    def diff_config(self, old: Props, new: Props) -> Diff:
        return Diff(dict(differences(old, new)))

    def configure(self, inputs: Props) -> None:
        """Take the provider's own settings."""

    def check(self, resource: Resource) -> tuple[Props, list[Failure]]:
        """Return the inputs with the provider's defaults, and what is wrong with them."""
        raise NotImplementedError

    def diff(self, resource: Resource) -> Diff:
        """Compare `old_inputs` (and, where the real provider does, `old_outputs`) with `inputs`."""
        raise NotImplementedError

    def create(self, resource: Resource) -> tuple[str, Props]:
        """Make the resource: its id and outputs. In a preview nothing is made and the id is empty. May raise `InitFailed`."""
        raise NotImplementedError

    def read(self, resource: Resource) -> tuple[Props, Props] | None:
        """Return the resource as it is now, as (inputs, outputs); None when it is gone."""
        raise NotImplementedError

    def id_read(self, resource: Resource) -> str:
        """Return the id of what a read found: a provider may take others for an import than it gives."""
        return resource.id

    def update(self, resource: Resource) -> Props:
        """Change it in place: the new outputs. May raise `InitFailed`."""
        raise NotImplementedError

    def delete(self, resource: Resource) -> None:
        """Delete it; a resource that is gone already is no error."""
        raise NotImplementedError

    def invoke(self, token: str, args: Props) -> Props:
        raise Refused(f"unknown function {token}")

    def close(self) -> None:
        """End the connections; the last call."""


class CloudProvider(Provider):
    """A provider over an emulated cloud: the id of an existing resource follows from the inputs."""

    def id_of(self, type: str, inputs: Props) -> str:
        """Return the id of what a create with these inputs makes. Raises `Refused`."""
        raise NotImplementedError


def contains_unknown(value: Any) -> bool:
    """Return whether any part of a plain value is unknown."""
    if isinstance(value, dict):
        return any(contains_unknown(v) for v in value.values())
    if isinstance(value, list):
        return any(contains_unknown(v) for v in value)
    return bool(value == UNKNOWN)


# Secret values as Pulumi writes them in a state or a request: an object with a signature of its own.
#
# https://github.com/pulumi/pulumi/blob/master/sdk/python/lib/pulumi/runtime/rpc.py

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"


def is_secret(value: Any) -> bool:
    """Return whether a value is secret."""
    return isinstance(value, dict) and value.get(SIGNATURE) == SECRET


def has_secret(value: Any) -> bool:
    """Return whether a value is secret or something in it is."""
    if isinstance(value, dict):
        return is_secret(value) or any(map(has_secret, value.values()))
    return isinstance(value, list) and any(map(has_secret, value))
