"""Conditions of role assignments, version 2.0, as far as learn.microsoft.com/azure/role-based-access-control/conditions-format
describes them for blobs: actions, suboperations, and comparisons of texts of the resource and the request.

Deliberately knows no lists of values, no tags, no principals and no times: a condition with one is refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sandbox.cloud import conditions
from sandbox.cloud.conditions import Malformed as Malformed

_TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<not>!|NOT\b)|(?P<and>AND\b|&&)|(?P<or>OR\b|\|\|)"
    r"|(?P<matches>ActionMatches|SubOperationMatches)\s*\{\s*'(?P<action>[^']*)'\s*\}"
    r"|@(?P<source>Resource|Request)\[(?P<attribute>[^\]]+)\]\s+(?P<operator>\w+)\s+'(?P<value>[^']*)')"
)


@dataclass(frozen=True)
class Asked:
    """A request, as a condition sees it. A text that the request lacks equals nothing."""

    action: str
    suboperation: str = ""
    resource: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the resource, by their whole names."""
    request: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the request."""


Condition = Callable[[Asked], bool]

_OPERATORS: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda actual, wanted: actual == wanted,
    "StringNotEquals": lambda actual, wanted: actual != wanted,
    "StringStartsWith": lambda actual, wanted: actual.startswith(wanted),
    "StringNotStartsWith": lambda actual, wanted: not actual.startswith(wanted),
    "StringLike": lambda actual, wanted: fnmatchcase(actual, wanted.replace("[", "[[]")),
}
"""Compared with their case; the names of those that do not end in IgnoreCase."""


def parse_condition(text: str) -> Condition:
    """Return a condition. Raises `Malformed` for what is none, or more than is known here."""
    return conditions.parse_condition(text, _TOKEN, _term)


def _term(token: re.Match[str]) -> Condition:
    return _matching(token["matches"], token["action"]) if token["matches"] else _comparing(token)


def _matching(name: str, action: str) -> Condition:
    if name == "SubOperationMatches":
        return lambda asked: asked.suboperation == action
    return lambda asked: fnmatchcase(asked.action.lower(), action.lower())


def _comparing(token: re.Match[str]) -> Condition:
    source, attribute, wanted = token["source"], token["attribute"], token["value"]
    if token["operator"] not in _OPERATORS:
        raise Malformed(f"the operator {token['operator']}")
    compare = _OPERATORS[token["operator"]]

    def holds(asked: Asked) -> bool:
        values = asked.resource if source == "Resource" else asked.request
        return attribute in values and compare(values[attribute], wanted)

    return holds
