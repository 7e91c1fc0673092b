"""Plain data -> an object of the vocabulary, and a problem for everything wrong with it.

A faulty object lacks its unreadable fields: a rule that reads one of them stops
(`config.model.fields.Unreadable`), and all others still run. A list of plain values keeps its
readable ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, TypeVar, cast, get_origin

from pydantic import BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from config.base.problems import Problem, as_path
from config.model import repairs
from config.model.fields import Model, Some
from config.model.structure import models
from config.model.wording import KEY_ALONE, NOT_A_KEY, problem_of_error
from config.stack_file.mending import Mended
from config.stack_file.shapes import respelled
from config.stack_file.written_out import with_right_value

M = TypeVar("M", bound=Model)


def read_object(value: Any, model: type[M], path: str, problems: list[Problem]) -> M | None:
    """Return the object at `path` without its unreadable fields; None if it is not an object."""
    reading = Reading()
    read_object = reading.object(value, model, path)
    problems += reading.problems()
    return read_object


@dataclass
class Reading:
    """The objects of a file as far as they can be read, and what is wrong with them."""

    mended: Mended = field(default_factory=Mended)
    _errors: list[Problem] = field(default_factory=list)
    meant: set[str] = field(default_factory=set)
    """Places of values that have the wrong form and one meaning, which rules judge."""
    _kept: dict[str, str] = field(default_factory=dict)
    """The place of an item of a list in the file, by its place among the readable ones."""

    def object(self, value: Any, model: type[M], path: str) -> M | None:
        """Return the object at `path`, in the program's spelling; None if it is not an object."""
        value = self.mended.value(value, model, path)
        try:
            return model.model_validate(value)
        except ValidationError as invalid:
            for error in invalid.errors():
                if error["type"] == "too_short" and error["input"]:
                    continue  # its entries are wrong, and each is a problem
                found = problem_of_error(error, model, path)
                if self.follows_a_guess(found):
                    continue
                self._errors.append(replace(found, path=self.mended.as_written(found.path)))
            return self._without_unreadable(value, model, path) if isinstance(value, dict) else None

    def problems(self) -> list[Problem]:
        """Return what is wrong so far; one problem a path."""
        by_path: dict[str, list[Problem]] = {}
        for found in [*self.mended.problems, *self._errors]:
            by_path.setdefault(found.path, []).append(found)
        return [_combined(same, self.mended.places.get(same[0].path)) for same in by_path.values()]

    def follows_a_guess(self, found: Problem) -> bool:
        """Return whether it reports a missing field that another problem speaks of."""
        return found.what.startswith("is missing") and (
            found.path.rpartition(".")[0] in self.mended.guessed or found.path in self.mended.told
        )

    def tells(self, end: str) -> bool:
        """Return whether the remedy for another key says to write one whose path ends so."""
        return any(path.endswith(end) for path in self.mended.told)

    def of_rule(self, found: Problem) -> Problem:
        """Return a rule's problem with the path in the user's spelling."""
        return replace(found, path=self.mended.as_written(respelled(found.path, self._kept)))

    def _without_unreadable(self, value: dict[str, Any], model: type[M], path: str) -> M:
        kept: dict[str, Any] = {}
        lost: list[str] = []
        for name, info in model.model_fields.items():
            if info.alias in value:
                inside = path + as_path(str(info.alias))
                values = list(
                    self._readable(
                        value[info.alias], _adapter(model, name), info.annotation, inside
                    )
                )
                if values:
                    kept[name] = values[0]
                else:
                    lost.append(name)
        given = {name for name, info in model.model_fields.items() if info.alias in value}
        partial = cast(M, model.model_construct(_fields_set=given, **kept))
        for name in lost:
            partial.__dict__.pop(name, None)
        return partial

    def _readable(
        self, value: Any, adapter: TypeAdapter[Any], annotation: Any, path: str
    ) -> Iterator[Any]:
        """Yield the field's value, or the readable part of an object, list or map, if any."""
        try:
            yield adapter.validate_python(value)
            return
        except ValidationError as invalid:
            inner, errors = next(models(annotation), None), invalid.errors()
        if inner is None:
            for read, place in _meant(value, adapter, errors):
                self.meant.add(self.mended.as_written(path + place))
                yield read
                return
        many = get_origin(annotation)
        if many is dict and isinstance(value, dict):
            entries = (
                [*self._readable({key: item}, adapter, None, path)] for key, item in value.items()
            )
            yield {
                key: item
                for entry_values in entries
                for entry in entry_values
                for key, item in entry.items()
            }
        elif many is tuple and isinstance(value, list):
            yield from self._items(value, adapter, inner, path)
        elif many is not tuple and inner and isinstance(value, dict):
            yield self._without_unreadable(value, inner, path)

    def _items(
        self, value: list[Any], adapter: TypeAdapter[Any], inner: type[Model] | None, path: str
    ) -> Iterator[tuple[Any, ...]]:
        """Yield all objects of a list as far as readable, or its readable plain values."""
        if inner:
            yield tuple(
                self._without_unreadable(item, inner, f"{path}[{index}]")
                if isinstance(item, dict)
                else unreadable(inner)
                for index, item in enumerate(value)
            )
            return
        numbered = [
            (index, item)
            for index, one in enumerate(value)
            for (item,) in self._readable([one], adapter, None, f"{path}[{index}]")
        ]
        for place, (index, _) in enumerate(numbered):
            self._kept[f"{path}[{place}]"] = f"{path}[{index}]"
        if numbered:
            every = tuple if len(numbered) == len(value) else Some
            yield every(item for _, item in numbered)


def _meant(
    value: Any, adapter: TypeAdapter[Any], errors: Iterable[ErrorDetails]
) -> Iterator[tuple[Any, str]]:
    """Yield the value, or the only entry of a list or map, as it was meant, and its place inside."""
    for error in errors:
        for meant in repairs.meanings(error):
            whole, place = meant, ""
            if isinstance(value, dict | list):
                if len(value) != 1 or len(error["loc"]) != 1:
                    continue
                key = error["loc"][0]
                whole = [meant] if isinstance(value, list) else {key: meant}
                place = "" if isinstance(value, list) else as_path(str(key))
            try:
                yield adapter.validate_python(whole), place
            except ValidationError:
                continue


def unreadable(model: type[M]) -> M:
    """Return an object without any readable field."""
    empty = cast(M, model.model_construct(_fields_set=set(model.model_fields)))
    for name in model.model_fields:
        empty.__dict__.pop(name, None)
    return empty


_OF_A_TYPE = re.compile(r"is (an object|a list|text|true or false|a number|empty)\b")
"""Beginnings of what is wrong with a value that no message shows."""


def _combined(same: list[Problem], place: tuple[str, str] | None) -> Problem:
    """Join the errors of a value that fits none of several forms, or of a wrong key, with its right
    `place`, and a wrong value.
    """
    same = [each for each in same if each.what == KEY_ALONE] or same
    if same[0].what.endswith("not a list"):
        same = same[:1]  # its text has none of its items' form
    first, *others = dict.fromkeys(found.remedy for found in same)
    path, what = same[0].path, same[0].what
    if place and others:
        if same[1].what != what and not _OF_A_TYPE.match(same[1].what):
            what = f"{what}, and {same[1].what}"
        return Problem(path, what, with_right_value(first, *place, "; or ".join(others)))
    between = " its value: " if first.endswith("?") else "; its value: "
    between = between if what == NOT_A_KEY else "; or "
    return Problem(path, what, between.join([first, "; or ".join(others)][: 1 + bool(others)]))


@cache
def _adapter(model: type[Model], name: str) -> TypeAdapter[Any]:
    info = model.model_fields[name]
    form: Any = Annotated[(info.annotation, *info.metadata, BeforeValidator(model.number(name)))]
    return TypeAdapter(form)
