"""Reference: a setting that another resource of a program may make, such as the name of a network.

Settings are checked as plain values before anything is declared. A program that uses the component package may pass another
resource's output: the checks then read a text, and resources take the output (`components.links`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True)
class Reference:
    """Such a setting: `Reference("ml-network")`.

    It is no text, and cannot be formatted: a text made of it would lose its output, and show what was made up in a preview.
    """

    text: str
    """The value, for checks and messages; made up while the value is unknown and was unknown at the last update."""
    made_up: bool = False
    source: Any = field(default=None, compare=False)
    """The output; None for a plain value."""

    @property
    def known(self) -> str | None:
        """The text; None while it is made up."""
        return None if self.made_up else self.text

    def __format__(self, spec: str) -> str:
        raise TypeError(
            f"{self!r} cannot be formatted: write its `text`, or a resource's input by `components.links`"
        )

    def __str__(self) -> str:
        return format(self)


@dataclass(frozen=True)
class Text:
    """The form of a reference's text, for `Annotated[Reference, Text(NetworkName)]`."""

    annotation: Any

    @property
    def pattern(self) -> str | None:
        """The regular expression of the text, as in `pydantic.StringConstraints`."""
        return next(
            (getattr(item, "pattern", None) for item in get_args(self.annotation)[1:]), None
        )

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            Reference, handler.generate_schema(self.annotation)
        )
