"""Guesses at what a faulty value means, so that its content is checked too.

Each guess comes with a problem: nothing is accepted because it was guessed. Paths are in the
program's spelling; `Mended.written` has the user's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from config.base.hiding import secret_in
from config.base.near import nearest
from config.base.problems import MOST, Problem, as_path
from config.model.fields import Model
from config.model.structure import by_key, holds_secret
from config.model.wording import NOT_A_KEY, not_a_list, not_an_object, shown
from config.stack_file.hints import in_its_place, keys_here

Hint = Callable[[str, type[Model], str], tuple[str, str | None]]
"""Key, model and path -> the remedy for an unknown key, and the model's key that it means."""


def without_hints(key: str, model: type[Model], path: str) -> tuple[str, str | None]:
    """Return a `Hint` by likeness alone."""
    near = nearest(key, by_key(model))
    return (f"did you mean `{near}`?" if near else keys_here(by_key(model))), near


@dataclass
class Mended:
    """The guesses of a stack file."""

    problems: list[Problem] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    """The user's spelling of a path, by the program's."""
    guessed: set[str] = field(default_factory=set)
    """Objects that the user wrote in another form: what they lack is no problem of its own."""
    told: set[str] = field(default_factory=set)
    """Keys that the remedy for another key says to write: that they are missing is no news."""
    examples: dict[str, str] = field(default_factory=dict)
    """What to write in place of a wrong value, by path."""
    hint: Hint = without_hints

    def as_written(self, path: str) -> str:
        """Return a path as the user spells it."""
        return respelled(path, self.written)

    def value(self, value: Any, annotation: Any, path: str) -> Any:
        """Return the value with every guess made, for a place of this type."""
        annotation = _structure(annotation)
        if isinstance(annotation, type):
            return self._object(value, annotation, path)
        if get_origin(annotation) is tuple:
            return self._list(value, get_args(annotation)[0], path)
        return value

    def _object(self, value: Any, model: type[Model], path: str) -> Any:
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            self._add(path, *not_an_object(value, model))
            self.guessed.add(path)
            self.written[path] = f"{self.as_written(path)}[0]"
            return self._object(value[0], model, path)
        meant = model.meant_by(value) if isinstance(value, str) else None
        if meant:
            keys = ", ".join(by_key(model))
            self._add(
                path,
                f"is {shown(value)}, which is text and not an object",
                f"write `{_flow(meant)}`; keys: {keys}",
            )
            self.guessed.add(path)
            self.written |= {path + as_path(key): self.as_written(path) for key in meant}
            return meant
        if not isinstance(value, dict):
            return value
        fields = by_key(model)
        mended: dict[Any, Any] = {}
        for key, item in value.items():
            target = key
            if key not in fields and (apart := _taken_apart(str(key), fields)):
                target, item, remedy = apart
                self._add(path + as_path(str(key)), NOT_A_KEY, remedy)
                if target in value:
                    continue
            elif key not in fields:
                # A hint compares many names: none for a problem that no report shows.
                hinted = len(self.problems) < MOST
                remedy, meant_key = (
                    self.hint(str(key), model, path) if hinted else (keys_here(fields), None)
                )
                if (
                    meant_key
                    and remedy == in_its_place(meant_key)
                    and _fits(item, fields[meant_key])
                ):
                    remedy = f"write `{meant_key}: {_as_yaml(item)}` in its place"
                if meant_key and (meant_key in value or meant_key in mended):
                    remedy = f"remove it: `{meant_key}` stands there already"
                self._add(path + as_path(str(key)), NOT_A_KEY, remedy)
                self.told |= {path + as_path(name) for name in re.findall(r"`(\w+)\b", remedy)}
                if meant_key is None or meant_key in value or meant_key in mended:
                    continue
                target = meant_key
                self.written[path + as_path(target)] = self.as_written(path) + as_path(str(key))
            mended[target] = self.value(item, fields[target].annotation, path + as_path(target))
        return mended

    def _list(self, value: Any, inner: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self.value(item, inner, f"{path}[{index}]") for index, item in enumerate(value)]
        structure = _structure(inner)
        model: type[Model] | None = structure if isinstance(structure, type) else None
        if isinstance(value, dict) and model:
            return self._items(value, model, path)
        plain = model is None or (isinstance(value, str) and model.meant_by(value))
        if plain and isinstance(value, str | int | float) and not isinstance(value, bool):
            self._add(path, *not_a_list(value, model=model))
            self.written[f"{path}[0]"] = self.as_written(path)
            return [self.value(value, inner, f"{path}[0]")]
        return value

    def _items(self, value: dict[Any, Any], model: type[Model], path: str) -> list[Any]:
        """Read an object in place of a list: as its only item, or as several by their names."""
        fields = by_key(model)
        identity = next((key for key in ("name", "namespace") if key in fields), None)
        by_name = identity and all(isinstance(item, dict) for item in value.values())
        if not by_name or any(nearest(str(key), fields) for key in value):
            plain = [key for key in fields if key != identity]
            if identity and len(plain) == 1 and not any(nearest(str(key), fields) for key in value):
                first, item = next(iter(value.items()), ("team-a", 1))
                what = not_a_list(value)[0]
                self._add(
                    path, what, f"write `- {{{identity}: {first}, {plain[0]}: {item}}}`, one a line"
                )
                return []
            self._add(path, *not_a_list(value, self.examples.get(path), model))
            if not any(nearest(str(key), fields) for key in value):
                return []
            self.written[f"{path}[0]"] = self.as_written(path)
            self.guessed.add(f"{path}[0]")
            return [self.value(value, model, f"{path}[0]")]
        first = next(iter(value), "t4")
        remedy = f"write each of them as `- {identity}: {first}`, its other keys below `{identity}`"
        self._add(path, not_a_list(value)[0], remedy)
        items = []
        for index, (name, item) in enumerate(value.items()):
            self.guessed.add(f"{path}[{index}]")
            self.written[f"{path}[{index}]"] = self.as_written(path) + as_path(str(name))
            items.append(self.value({identity: str(name), **item}, model, f"{path}[{index}]"))
        return items

    def _add(self, path: str, what: str, remedy: str) -> None:
        self.problems.append(Problem(self.as_written(path), what, remedy))


def _taken_apart(key: str, fields: Container[str]) -> tuple[str, Any, str] | None:
    """Return key, value and remedy for `key:value` without a space, or with one that YAML does not
    know; None for other keys.
    """
    name, colon, text = key.replace("\u00a0", " ").partition(":")
    if not colon or name.strip() not in fields:
        return None
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    strange = "\u00a0" in key
    why = "a non-breaking space (U+00A0) stands in it: type" if strange else "write"
    return name, value, f"{why} `{name}: {text.strip()}`, with a space after the colon"


def _fits(value: Any, field: FieldInfo) -> bool:
    """Return whether a message may show a value that the field accepts as it is."""
    if not isinstance(value, str | int | float) or holds_secret(field.annotation):
        return False
    if isinstance(value, str) and secret_in(value):
        return False
    try:
        form: Any = (
            Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        )
        TypeAdapter(form).validate_python(value, strict=not isinstance(value, str))
    except ValidationError:
        return False
    return True


def _as_yaml(value: Any) -> str:
    return _quoted(value) if isinstance(value, str) else str(value).lower()


def respelled(path: str, spelling: dict[str, str]) -> str:
    """Return the path with its longest known beginning replaced."""
    for end in range(len(path), 0, -1):
        if (end == len(path) or path[end] in ".[") and path[:end] in spelling:
            return spelling[path[:end]] + path[end:]
    return path


def _structure(annotation: Any) -> Any:
    """Return an annotation's model or list type, if it has one."""
    if get_origin(annotation) is Annotated:
        return _structure(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        several = [_structure(inner) for inner in get_args(annotation) if inner is not type(None)]
        return several[0] if len(several) == 1 else None
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return annotation if get_origin(annotation) is tuple else None


def _flow(meant: dict[str, Any]) -> str:
    """Return an object of texts as YAML."""
    return "{" + ", ".join(f"{key}: {_quoted(value)}" for key, value in meant.items()) + "}"


_WORDS_OF_YAML = ("true", "false", "null", "yes", "no", "on", "off")


def _quoted(text: str) -> str:
    # Plain words and names; not those that YAML reads as a number, or as true or false.
    plain = re.fullmatch(r"[A-Za-z][\w./-]*", text) and text.lower() not in _WORDS_OF_YAML
    return text if plain else json.dumps(text)
