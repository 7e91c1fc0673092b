"""Values of another shape than an object or a list, in words, with what to write instead."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from config.base.hiding import hidden, secret_in
from config.model import repairs
from config.model.fields import Model, alternatives
from config.model.structure import by_key, holds_secret

_ONE_TEXT = "take away the `|` or `>` after the key: it makes one text of all that is below"


def not_an_object(given: Any, model: type[Model] | None) -> tuple[str, str]:
    """Return problem and remedy of a value in place of an object; None: one with any keys."""
    what = f"is {type_in_words(given)}, not an object"
    if isinstance(given, str) and "\n" in given:
        return what, _ONE_TEXT
    if model is None:
        return what, f"write `{_pairs(given) or '{key: value}`, such as `{team: ml}'}`"
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], dict) and given[0]:
        return what, f"write two spaces in place of the `- ` before `{next(iter(given[0]))}`"
    keys = f"keys: {', '.join(by_key(model))}"
    if model.plain and not isinstance(given, list):
        return f"is {shown(given)}, not an object", model.plain
    if repairs.means_off(given):
        off = _switched_off(model)
        return what, f"write `{off}`; {keys}" if off else f"remove it for the defaults; {keys}"
    if isinstance(given, str) and given.lstrip().startswith("{"):
        return f"{what}: it stands in quotes", f"take the quotes away; {keys}"
    if any(len(field.examples or ()) > 1 for field in by_key(model).values()):
        return what, f"write {keys}"  # each example is one cloud's
    return what, f"write for example `{_example(model, given)}`; {keys}"


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of an object and of those inside, except secrets."""
    inside = value.values() if isinstance(value, dict) else value
    for each in inside if isinstance(value, dict | list) else ():
        yield from _texts(each)
    if isinstance(value, str) and not secret_in(value):
        yield value


def _pairs(given: Any) -> str | None:
    """Return a list of `key=value`, or of objects of `key` and `value`, as one object."""
    pairs: dict[str, str] = {}
    if isinstance(given, str):
        apart = r"[,;\s]+" if re.fullmatch(r"([\w./-]+=[\w.@/-]*[,;\s]*)+", given) else ","
        given = [part.strip() for part in re.split(apart, given.strip("{}"))]
    for one in given if isinstance(given, list) and given else [None]:
        text = isinstance(one, str) and re.fullmatch(r"([\w./-]+)\s*[=:]\s*([\w.@/-]*)", one)
        if isinstance(one, dict) and all(isinstance(each, str) for each in one.values()):
            named = {key.lower(): each for key, each in one.items()}
            is_pair = {"value"} <= named.keys() <= {"key", "name", "value"} and len(named) == 2
            pairs |= {named.get("key", named.get("name", "")): named["value"]} if is_pair else one
        elif text:
            pairs[text[1]] = text[2]
        else:
            return None
    shown = "{" + ", ".join(f"{key}: {json.dumps(each)}" for key, each in pairs.items()) + "}"
    return None if secret_in(shown) or len(shown) > 3 * _LONGEST else shown


def _switched_off(model: type[Model]) -> str:
    """Return an object that switches off what a model is about; empty if its keys do not tell."""
    fields = by_key(model)
    every = all(field.annotation is bool for field in fields.values())
    off = [f"{key}: false" for key in fields if every or key == "enabled"]
    return model.off or "{" + ", ".join(off) + "}" if off or model.off else ""


def not_a_list(
    given: Any, example: str | None = None, model: type[Model] | None = None
) -> tuple[str, str]:
    """Return problem and remedy of a value in place of a list of objects of a `model`, if any."""
    what = f"is {type_in_words(given)}, not a list"
    if isinstance(given, str) and "\n" in given:
        return what, _ONE_TEXT
    if model and model.plain and not isinstance(given, dict):
        return f"is {shown(given)}, not a list", model.plain
    if given is False:
        return what, "remove it, or write `[]` for none"
    if isinstance(given, str) and given.lstrip().startswith("["):
        return f"{what}: it stands in quotes", "take the quotes away"
    if example:
        return what, f"write for example `{example}`"
    if isinstance(given, dict) and given:
        if model:
            first = next(iter(given))
            return what, f"write `- ` before its first key, `{first}`; `{{ }}` becomes `[{{ }}]`"
        held = [each for each in _texts(given) if re.search(r"[\d./@]", each)]
        if any(isinstance(each, dict | list | bool) for each in given.values()):
            return what, f"write `[{', '.join(held)}]`" if held else "write `[...]`, texts alone"
        return what, f"write `[{', '.join(map(str, given))}]`"
    if isinstance(given, str) and "," in given:
        parts = [part.strip() for part in given.split(",")]
        # A text of digits stands for a text: a zone such as "1".
        return what, f"write `[{', '.join(json.dumps(p) if p.isdigit() else p for p in parts)}]`"
    if isinstance(given, str) and given and hidden(given) == given:
        return what, f"write `[{json.dumps(given)}]`, or one `- ...` a line"
    return what, "write `[...]`, or one `- ...` a line"


def _example(model: type[Model], switch: Any = None) -> str:
    """Return an example of an object: its required keys, or else its first two; `switch` is what
    stands in its place.
    """
    fields = by_key(model)
    required = [key for key, field in fields.items() if field.is_required()]
    values = {key: _example_of(fields[key]) for key in required or list(fields)[:2]}
    if type(switch) is int and required and fields[required[0]].annotation is int:
        values[required[0]] = str(switch)
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


def _example_of(field: FieldInfo) -> str:
    for annotation in alternatives(field.annotation):
        if isinstance(annotation, type) and issubclass(annotation, Model):
            return _example(annotation)
        if annotation is bool:
            return "true"
        enum = isinstance(annotation, type) and issubclass(annotation, StrEnum)
        words = list(annotation) if enum else get_args(annotation)
        if enum or get_origin(annotation) is Literal:
            # No example switches off what the key is about.
            return str(next((word for word in words if not repairs.means_off(str(word))), words[0]))
    if isinstance(field.default, tuple) and field.default and not field.examples:
        return f"[{', '.join(map(str, field.default))}]"
    example = field.examples[0] if field.examples and not holds_secret(field.annotation) else "..."
    return f"[{', '.join(map(str, example))}]" if isinstance(example, list) else str(example)


def type_in_words(value: Any) -> str:
    """Return a value's type in words, without the value."""
    kinds = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return "empty" if value is None else kinds.get(type(value), "a number")


def shown(value: Any) -> str:
    """Return a value as a message shows it: cut, and without secrets."""
    if value is None:
        return "empty"
    if value and isinstance(value, dict | list):
        return type_in_words(value)
    text = hidden(str(value)).lower() if isinstance(value, bool) else hidden(repr(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


_LONGEST = 60
"""Characters of a value in a message."""
