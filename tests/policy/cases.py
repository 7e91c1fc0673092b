"""For every rule: resources that break it, by which input, and resources that keep it.

`cases.yaml` has good resources, and for each rule rows NAME: [RESOURCE, PATCH, PATH, alone]. The merge patch spoils one
input, or changes the resource without harm; PATH is the input that is reported, missing where the rule is kept. A resource
that breaks a rule breaks no other. All go through the rules and, in one stack, through the engine, which is not asked where
`alone` says that it meets the rule in another case of the same type.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.merge_patch import patched

_FILE = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text())

TYPES: Mapping[str, str] = {name: resource["type"] for name, resource in _FILE["resources"].items()}

UNKNOWN = {"unknown": True}
"""A value that a preview does not know; `{"secret": value}` is one that the engine hides."""


@dataclass(frozen=True)
class Case:
    """One resource."""

    rule: str
    what: str
    resource: str
    patch: Mapping[str, Any]
    breaks: str | None = None
    """The path that is said to break the rule; None for a resource that keeps it."""
    alone: str = ""

    @property
    def type(self) -> str:
        return TYPES[self.resource]

    @property
    def inputs(self) -> dict[str, Any]:
        return good(self.resource, **{key: value for key, value in self.patch.items() if key != "protect"})

    @property
    def protect(self) -> bool:
        return bool(self.patch.get("protect", True))

    @property
    def engine(self) -> bool:
        """Whether the engine is asked as well: the sandbox knows the type, and the rule is not met elsewhere."""
        return not self.alone and _FILE["resources"][self.resource].get("emulated", True)

    @property
    def name(self) -> str:
        return f"{self.rule}-{self.what}"

    def declared(self) -> dict[str, Any]:
        """Return the case for the program that declares it."""
        return {"type": self.type, "name": self.name, "inputs": self.inputs, "protect": self.protect}


def good(resource: str, **patch: Any) -> dict[str, Any]:
    """Return the inputs of a resource that keeps every rule, patched."""
    inputs: dict[str, Any] = patched(_FILE["resources"][resource].get("inputs", {}), patch)
    return inputs


CASES = tuple(Case(rule, what, *row) for rule, rows in _FILE["cases"].items() for what, row in rows.items())
BREAKING = tuple(case for case in CASES if case.breaks)
KEEPING = tuple(case for case in CASES if not case.breaks)
