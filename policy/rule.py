"""A rule: the settings that it refuses, the reason, and the check of one declared resource, or of the stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policy.declared import Declared

Settings = Mapping[str, Any]
"""A rule's configuration, with its defaults."""


@dataclass(frozen=True)
class Finding:
    """A setting of a resource that breaks a rule, with the remedy."""

    path: str
    """Path of the input, by the names of the wire; or the option of the resource."""
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


@dataclass(frozen=True)
class Setting:
    """A value of a rule that `--policy-pack-config` can change."""

    schema: Mapping[str, Any]
    """JSON schema, with a `default`."""


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
    """The check of resources that belong together, which the engine asks for after the last one."""
    production: bool = False
    """Whether only production stacks must keep it."""
    advisory: bool = False
    """Whether no stack must keep it: it needs what not everybody can give."""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The text that the engine prints above a finding."""
        return f"{self.refuses}. {self.reason}"

    def findings(self, declared: Declared, configured: Settings | None = None) -> list[Finding]:
        """The settings of a resource that break the rule; none for a rule about the stack."""
        return list(self.check(declared, self._with_defaults(configured))) if self.check else []

    def stack_findings(
        self, resources: Sequence[Declared], configured: Settings | None = None
    ) -> list[tuple[Declared, Finding]]:
        """The settings of a stack's resources that break the rule; none for a rule about one resource."""
        return (
            list(self.check_stack(resources, self._with_defaults(configured)))
            if self.check_stack
            else []
        )

    def _with_defaults(self, configured: Settings | None) -> Settings:
        return {
            **{name: setting.schema["default"] for name, setting in self.settings.items()},
            **(configured or {}),
        }
