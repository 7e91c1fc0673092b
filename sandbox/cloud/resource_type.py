"""Resource types of an emulated cloud, by the entries of its table (`data/types.toml`).

A table's entry is named by the type's token in Pulumi. Every cloud's entries have `path`, the form of the type's ids with
parameters in braces; `service`, the values that the service chooses where a request leaves a property out; and `added`, the
properties that the service computes, as templates. The rest is one cloud's own.
"""

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from sandbox.cloud.facts import filled
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Record, Resources

Facts = Mapping[str, Any]
"""One entry of a cloud's table."""

_PARAMETER = re.compile(r"\{(\w+)\}")


class ResourceType:
    """One resource type. Methods that raise `Refused` speak for the cloud."""

    spelling = re.NOFLAG
    """The comparison of ids: `re.IGNORECASE` where a cloud takes any case."""

    def __init__(self, token: str, facts: Facts) -> None:
        self.token, self.facts = token, facts
        self.path: str = facts["path"]

    @property
    def service(self) -> Body:
        """The values that the service chooses, to be changed by the caller."""
        values: Body = copy.deepcopy(self.facts.get("service", {}))
        return values

    @cached_property
    def parameters(self) -> list[str]:
        """The parameters of the type's ids, in order."""
        return list(dict.fromkeys(_PARAMETER.findall(self.path)))

    def pattern(self, parameter: str) -> str:
        """Return the regular expression of a parameter's values."""
        return str(self.facts.get("patterns", {}).get(parameter, "[^/]+"))

    @cached_property
    def _form(self) -> re.Pattern[str]:
        return re.compile(form(self.path, self.pattern), self.spelling)

    def matches(self, id: str) -> dict[str, str] | None:
        """Return the parameters in an id of this type; None when it is of another type."""
        match = self._form.fullmatch(id)
        return match.groupdict() if match else None

    def added(self, words: Mapping[str, Any]) -> Body:
        """Return the properties that the service computes; `words` are what their templates name."""
        properties: Body = filled(self.facts.get("added", {}), words)
        return properties

    def check_delete(self, resources: Resources, id: str) -> None:
        """Raise `Refused` when this must not go."""

    def removed(self, resources: Resources, record: Record) -> None:
        """Remove what goes with a resource and has no id below its."""

    def view(self, resources: Resources, record: Record) -> Body:
        """Return the answer to a GET of a stored record."""
        return copy.deepcopy(record.body)


def form(path: str, pattern: Callable[[str], str]) -> str:
    """Return the regular expression of ids of this form, with a named group for each parameter."""
    known: set[str] = set()

    def group(name: str) -> str:
        if name in known:
            return f"(?P={name})"
        known.add(name)
        return f"(?P<{name}>{pattern(name)})"

    parts = _PARAMETER.split(path)
    return "".join(group(part) if index % 2 else re.escape(part) for index, part in enumerate(parts))


def fill(path: str, values: Mapping[str, Any]) -> str:
    """Return a path with its parameters replaced. Raises KeyError for one without a value."""
    return _PARAMETER.sub(lambda match: str(values[match[1]]), path)


T = TypeVar("T", bound=ResourceType)


class Types(dict[str, T]):
    """The emulated types of one cloud, by token. To look up another raises `Refused`."""

    def __init__(self, types: Iterable[T]) -> None:
        super().__init__({type.token: type for type in types})

    def __missing__(self, token: str) -> T:
        raise Refused(f"the sandbox does not emulate {token}; it knows {', '.join(sorted(self))}")
