"""Conditions of bindings: the part of the Common Expression Language that docs.cloud.google.com/iam/docs, page
conditions-attribute-reference, gives for names and types of resources, and for attributes of a request.

Deliberately knows no times, no addresses, no `extract` and no functions of lists: a condition with one is refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox.cloud import conditions
from sandbox.cloud.conditions import Malformed as Malformed

_TEXT = r"\"([^\"\\]*)\"|'([^'\\]*)'"
_TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<not>!(?!=))|(?P<and>&&)|(?P<or>\|\|)|(?P<constant>true|false)\b"
    rf"|(?:(?P<resource>resource\.(?:name|type|service))|api\.getAttribute\(\s*(?P<key>{_TEXT})\s*,\s*(?P<default>{_TEXT})\s*\))"
    rf"\s*(?:\.(?P<method>startsWith|endsWith)\(\s*(?P<argument>{_TEXT})\s*\)|(?P<compare>==|!=)\s*(?P<value>{_TEXT})))"
)


@dataclass(frozen=True)
class Asked:
    """A request, as a condition sees it."""

    resource: Mapping[str, str]
    """`name`, `type` and `service` of the resource."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the request, for `api.getAttribute`."""


Condition = Callable[[Asked], bool]


def read(text: str) -> Condition:
    """A condition. Raises `Malformed` for what is none, or more than is known here."""
    return conditions.read(text, _TOKEN, _term)


def _term(token: re.Match[str]) -> Condition:
    return _of_text(token) if token["constant"] is None else lambda asked: token["constant"] == "true"


def _of_text(token: re.Match[str]) -> Condition:
    name = (token["resource"] or "").removeprefix("resource.")

    def value(asked: Asked) -> str:
        if name:
            return asked.resource[name]
        return asked.attributes.get(_plain(token["key"]), _plain(token["default"]))

    if token["compare"]:
        wanted = _plain(token["value"])
        return lambda asked: (value(asked) == wanted) is (token["compare"] == "==")
    argument = _plain(token["argument"])
    if token["method"] == "startsWith":
        return lambda asked: value(asked).startswith(argument)
    return lambda asked: value(asked).endswith(argument)


def _plain(quoted: str) -> str:
    return quoted[1:-1]
