"""A rule: what it refuses, why, and the check of one declared resource or of the whole stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policy.declared import Declared

Settings = Mapping[str, Any]
"""A rule's configuration, with its defaults."""


@dataclass(frozen=True)
class Finding:
    """A setting of a resource that breaks a rule, with the remedy.

    `str(Finding("maxCount", "no maximum", "set one"))` is `maxCount: no maximum; set one`.
    """

    path: str
    """Path of the input by its property name, or the resource option."""
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


@dataclass(frozen=True)
class Setting:
    """A value of a rule that `--policy-pack-config` can change."""

    schema: Mapping[str, Any]
    """JSON schema, with a `default`."""


def texts(default: list[str], description: str) -> Setting:
    """Return a setting that is a list of texts."""
    items = {"type": "string"}
    return Setting(
        {"type": "array", "items": items, "default": default, "description": description}
    )


@dataclass(frozen=True)
class Rule:
    """One policy of the pack."""

    name: str
    refuses: str
    reason: str
    sources: tuple[str, ...]
    """Pages that recommend it."""
    check: Callable[[Declared, Settings], Iterable[Finding]] | None = None
    """The check of one resource; None for a rule about the stack."""
    check_stack: (
        Callable[[Sequence[Declared], Settings], Iterable[tuple[Declared, Finding]]] | None
    ) = None
    """The check of all resources together, which the engine requests after the last one."""
    production: bool = False
    """Whether the rule is for production stacks only."""
    advisory: bool = False
    """Whether the rule is advisory in every stack: not everybody has what it needs."""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The text that the engine prints above a finding."""
        return f"{self.refuses}. {self.reason}"

    def findings(self, declared: Declared, configured: Settings | None = None) -> list[Finding]:
        """Return the findings in one resource; none for a rule about the stack."""
        return list(self.check(declared, self._with_defaults(configured))) if self.check else []

    def stack_findings(
        self, resources: Sequence[Declared], configured: Settings | None = None
    ) -> list[tuple[Declared, Finding]]:
        """Return the findings in a stack's resources; none for a rule about one resource."""
        if not self.check_stack:
            return []
        return list(self.check_stack(resources, self._with_defaults(configured)))

    def _with_defaults(self, configured: Settings | None) -> Settings:
        defaults = {name: setting.schema["default"] for name, setting in self.settings.items()}
        return {**defaults, **(configured or {})}
