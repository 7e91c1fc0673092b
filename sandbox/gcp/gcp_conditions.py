"""Conditions of bindings: the part of the Common Expression Language that docs.cloud.google.com/iam/docs, page
conditions-attribute-reference, gives for names and types of resources.

Deliberately knows no times, no addresses, no `extract` and no functions of lists: a condition with one is refused. So is
`api.getAttribute`: Google's pages show storage.googleapis.com/objectListPrefix in Credential Access Boundaries (iam:
downscoping-short-lived-credentials), not in bindings. UNCONFIRMED for bindings.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox.cloud import conditions
from sandbox.cloud.conditions import Malformed as Malformed

_TEXT = r"\"([^\"\\]*)\"|'([^'\\]*)'"
_TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<not>!(?!=))|(?P<and>&&)|(?P<or>\|\|)|(?P<constant>true|false)\b"
    rf"|(?P<resource>resource\.(?:name|type|service))"
    rf"\s*(?:\.(?P<method>startsWith|endsWith)\(\s*(?P<argument>{_TEXT})\s*\)|(?P<compare>==|!=)\s*(?P<value>{_TEXT})))"
)


@dataclass(frozen=True)
class Asked:
    """A request, as a condition sees it."""

    resource: Mapping[str, str]
    """`name`, `type` and `service` of the resource."""


Condition = Callable[[Asked], bool]


def parse_condition(text: str) -> Condition:
    """Return a condition. Raises `Malformed` for what is none, or more than is known here."""
    return conditions.parse_condition(text, _TOKEN, _term)


def _term(token: re.Match[str]) -> Condition:
    return _of_text(token) if token["constant"] is None else lambda asked: token["constant"] == "true"


def _of_text(token: re.Match[str]) -> Condition:
    name = token["resource"].removeprefix("resource.")

    def value(asked: Asked) -> str:
        return asked.resource[name]

    if token["compare"]:
        wanted = _plain(token["value"])
        return lambda asked: (value(asked) == wanted) is (token["compare"] == "==")
    argument = _plain(token["argument"])
    if token["method"] == "startsWith":
        return lambda asked: value(asked).startswith(argument)
    return lambda asked: value(asked).endswith(argument)


def _plain(quoted: str) -> str:
    return quoted[1:-1]
