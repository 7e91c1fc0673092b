"""Plain data -> an object of the vocabulary, and a problem for everything about it that is wrong.

A faulty object is made without the fields that cannot be read: a rule that asks for one of those stops
(`config.model.fields.Unreadable`), and all others still run.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, cast, get_origin

from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from config.model.fields import FORMS, Model
from config.problems import Problem

M = TypeVar("M", bound=Model)


def read(value: Any, model: type[M], path: str, problems: list[Problem]) -> M | None:
    """The object at `path` as far as it can be read; None when it is none at all. Adds to `problems`."""
    try:
        return model.model_validate(value)
    except ValidationError as invalid:
        errors: dict[str, list[Problem]] = {}
        for error in invalid.errors():
            problem = _problem(error, model, path)
            errors.setdefault(problem.path, []).append(problem)
        problems += map(_combined, errors.values())
        return _partial(value, model)


def instead(key: str, known: list[str]) -> str:
    """A remedy for an unknown key."""
    close = difflib.get_close_matches(key, known, n=1)
    return (f"did you mean `{close[0]}`? " if close else "") + f"keys here: {', '.join(known)}"


def type_in_words(value: Any) -> str:
    """A value's type in words, without the value."""
    kinds = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return "empty" if value is None else kinds.get(type(value), "a number")


def _combined(same: list[Problem]) -> Problem:
    """A value that fits none of several forms gives an error for each."""
    return Problem(same[0].path, same[0].what, "; or ".join(dict.fromkeys(problem.remedy for problem in same)))


def _partial(value: Any, model: type[M]) -> M | None:
    if not isinstance(value, dict):
        return None
    kept: dict[str, Any] = {}
    lost: list[str] = []
    for name, field in model.model_fields.items():
        if field.alias in value:
            values = list(_readable(value[field.alias], _adapter(model, name), field.annotation))
            if values:
                kept[name] = values[0]
            else:
                lost.append(name)
    given = {name for name, field in model.model_fields.items() if field.alias in value}
    partial = cast(M, model.model_construct(_fields_set=given, **kept))
    for name in lost:
        partial.__dict__.pop(name, None)
    return partial


def _readable(value: Any, adapter: TypeAdapter[Any], annotation: Any) -> Iterator[Any]:
    """The field's value or, of an object or a list or map of such, what can be read of it; nothing when nothing can."""
    try:
        yield adapter.validate_python(value)
        return
    except ValidationError:
        inner = next(_models(annotation), None)
    many = get_origin(annotation)
    if many is dict and isinstance(value, dict):
        entries = ([*_readable({key: item}, adapter, None)] for key, item in value.items())
        yield {key: item for entry_values in entries for entry in entry_values for key, item in entry.items()}
    elif many is tuple and inner and isinstance(value, list) and all(isinstance(item, dict) for item in value):
        yield tuple(_partial(item, inner) for item in value)
    elif many is not tuple and inner and isinstance(value, dict):
        yield _partial(value, inner)


@cache
def _adapter(model: type[Model], name: str) -> TypeAdapter[Any]:
    field = model.model_fields[name]
    form: Any = Annotated[(field.annotation, *field.metadata, model.in_bounds(name))]
    return TypeAdapter(form)


def _problem(error: ErrorDetails, model: type[Model], path: str) -> Problem:
    place = _Place(model, error["loc"])
    where = path + place.path
    given = error["input"]
    context = error.get("ctx", {})
    shown = f"is {type_in_words(given) if place.secret else _shown(given)}"
    match error["type"]:
        case "extra_forbidden":
            return Problem(where, "is not a key of this object", instead(str(error["loc"][-1]), place.keys))
        case "missing":
            return Problem(where, "is missing", f"add `{error['loc'][-1]}`")
        case "model_type" | "model_attributes_type" | "dict_type":
            inside = ", ".join(place.keys)
            remedy = f"write keys: {inside}" if inside else "write `{key: value}`"
            return Problem(where, f"is {type_in_words(given)}, not an object", remedy)
        case "tuple_type":
            return Problem(where, f"is {type_in_words(given)}, not a list", "write `[...]`, or one `- ...` a line")
        case "string_type" if given is None or isinstance(given, dict | list):
            return Problem(
                where, f"is {type_in_words(given)}, not text", "write one text; `key: |` goes before several lines"
            )
        case "string_type":
            quoted = "put it in quotes" + ("" if place.secret else f': "{_shown(given)}"')
            return Problem(where, f"{shown}, which YAML does not read as text", quoted)
        case "string_pattern_mismatch":
            example = "".join(f"write for example {_shown(example)}; " for example in place.examples[:1])
            # The first sentence says what it is.
            meaning = f"{place.description.partition('. ')[0].rstrip('.')}; " if place.description else ""
            if meaning[1:2].islower():
                meaning = meaning[0].lower() + meaning[1:]
            must = f"{example}{meaning}it must match {context['pattern']}"
            return Problem(where, shown, FORMS.get(context["pattern"], must))
        case known if known in _REMEDIES:
            return Problem(where, shown, _REMEDIES[known].format(**context))
        case _:
            return Problem(where, shown, error["msg"][:1].lower() + error["msg"][1:])


_REMEDIES = {
    "enum": "one of: {expected}",
    "literal_error": "one of: {expected}",
    "greater_than_equal": "{ge:g} or more",
    "greater_than": "more than {gt:g}",
    "less_than_equal": "{le:g} or less",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "too_short": "at least {min_length} entries",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "int_from_float": "write a whole number",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "finite_number": "write a finite number",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
}


class _Place:
    """The place of a value in an object of a model."""

    def __init__(self, model: type[Model], loc: tuple[int | str, ...]) -> None:
        self.path = ""
        self.description: str | None = None
        self.examples: list[Any] = []
        self._annotation: Any = model
        self.keys = list(_by_key(model))
        for part in loc:
            if isinstance(part, int):
                self.path += f"[{part}]"
                continue
            field = _by_key(next(_models(self._annotation))).get(part) if self.keys else None
            if field is None and not self.keys and get_origin(self._annotation) is not dict:
                return  # pydantic's name for one of several forms
            self.path += f".{part}" if re.fullmatch(r"\w+", part) else f'["{part}"]'
            if field is None and self.keys:
                return  # an unknown key
            self.description = field.description if field else None
            self.examples = (field.examples or []) if field else []
            self._annotation = field.annotation if field else None
            inner = next(_models(self._annotation), None)
            self.keys = list(_by_key(inner)) if inner else []

    @property
    def secret(self) -> bool:
        """Whether the value may be a secret, which no message shows."""
        return _holds_secret(self._annotation)


def _by_key(model: type[Model]) -> Mapping[str, FieldInfo]:
    return {str(field.alias): field for field in model.model_fields.values()}


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models(argument)


def _holds_secret(annotation: Any) -> bool:
    if annotation is SecretStr:
        return True
    inside = [field.annotation for model in _models(annotation) for field in model.model_fields.values()]
    return any(map(_holds_secret, (*inside, *getattr(annotation, "__args__", ()))))


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if value and isinstance(value, dict | list):
        return type_in_words(value)
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
