"""Settings: what a provider of Pulumi reads by itself, the stack file before the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.findings import Unasked
from checks.stack import ENCRYPTED


@dataclass(frozen=True)
class Settings:
    """The settings of one provider."""

    provider: str
    """Its namespace in a stack file, such as `gcp`."""
    file: Mapping[str, str]
    """The stack file's settings of other programs, by their whole key."""
    environ: Mapping[str, str]

    def written(self, key: str) -> bool:
        """Return whether the stack file has the setting, plain or encrypted."""
        return bool(self.file.get(f"{self.provider}:{key}"))

    def get(self, key: str, *variables: str) -> str:
        """Return a setting, else its first variable with a value, else an empty text.

        Raises `Unasked` if the file encrypts it and no variable has it.
        """
        written = self.file.get(f"{self.provider}:{key}", "")
        if written and written != ENCRYPTED:
            return written
        named = next((self.environ[name] for name in variables if self.environ.get(name)), "")
        if written and not named:
            raise Unasked(
                f"{self.provider}:{key} is encrypted in the stack file, and only Pulumi can read"
                f" it: set {variables[0]} to"
                " the same value for this command"
            )
        return named
