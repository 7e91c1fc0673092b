"""The structure of models: their fields by key, and the place of a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from config.base.problems import as_path
from config.model.fields import Model


class Place:
    """The place of a value in an object of a model."""

    def __init__(self, model: type[Model], loc: tuple[int | str, ...]) -> None:
        self.path = ""
        self.description: str | None = None
        self.examples: list[Any] = []
        self._annotation: Any = model
        self._field: FieldInfo | None = None
        self.keys = list(by_key(model))
        self.model: type[Model] | None = model
        self.around = model
        for part in loc:
            if isinstance(part, int):
                self.path += f"[{part}]"
                if get_origin(self._annotation) is tuple:
                    self._annotation = get_args(self._annotation)[0]
                continue
            field = by_key(next(models(self._annotation))).get(part) if self.keys else None
            if field is None and not self.keys and get_origin(self._annotation) is not dict:
                return  # pydantic's name for one of several forms
            self.path += as_path(part)
            self.around = self.model or self.around
            self.description = field.description if field else None
            self.examples = (field.examples or []) if field else []
            self._annotation = field.annotation if field else None
            self._field = field
            inner = next(models(self._annotation), None)
            self.keys = list(by_key(inner)) if inner else []
            self.model = inner

    @property
    def secret(self) -> bool:
        """Whether the value may be a secret, which no message shows."""
        return holds_secret(self._annotation)

    @property
    def may_be_left_out(self) -> bool:
        """Whether the stack file may omit the key, and then has no value."""
        return self._field is not None and self._field.default is None

    @property
    def left_out(self) -> str:
        """The remedy for a value that means none."""
        default = re.search(r"Default: ([^.]+)\.", self.description or "")
        return (
            f"remove it; the default is then: {default[1]}"
            if default
            else "remove it: without it there is none"
        )

    @property
    def example(self) -> str:
        """The example of the value, after its key; empty without one."""
        # Of several, each is one cloud's.
        shown = self.examples[0] if len(self.examples) == 1 and not self.secret else None
        # Some examples are refused as values of a stack: they would be copied.
        made_up = re.search(r"my-project|example|0{8}", str(shown))
        return f": {shown}" if isinstance(shown, str | int) and not made_up else ""

    @property
    def forms(self) -> list[str]:
        """The patterns of the text."""
        parts = [*(self._field.metadata if self._field else ()), *_metadata(self._annotation)]
        return [str(part.pattern) for part in parts if getattr(part, "pattern", None)]


def _metadata(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    elif get_origin(annotation) in (Union, UnionType):
        # One of several forms may match.
        several = [inner for inner in get_args(annotation) if inner is not type(None)]
        if len(several) == 1:
            yield from _metadata(several[0])


def by_key(model: type[Model]) -> Mapping[str, FieldInfo]:
    """Return the fields of a model by their keys in a stack file."""
    return {str(field.alias): field for field in model.model_fields.values()}


def field_at(model: type[Model], place: str) -> FieldInfo | None:
    """Return the field at a dotted path in a model; None if there is none."""
    inside: type[Model] | None = model
    field = None
    for name in place.split("."):
        field = by_key(inside).get(name) if inside else None
        inside = next(models(field.annotation), None) if field else None
    return field


def models(annotation: Any) -> Iterator[type[Model]]:
    """Yield the models in an annotation, not those inside of models."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from models(argument)


def holds_secret(annotation: Any) -> bool:
    """Return whether a value of this type is or holds a secret."""
    if annotation is SecretStr:
        return True
    inside = [
        field.annotation for model in models(annotation) for field in model.model_fields.values()
    ]
    return any(map(holds_secret, (*inside, *getattr(annotation, "__args__", ()))))
