"""Values as a remedy writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from config.base.hiding import secret_in
from config.model.fields import alternatives
from config.model.structure import holds_secret


def taken_apart(key: str, fields: Mapping[str, FieldInfo]) -> tuple[str, str, Any] | None:
    """Return remedy, key and value for `key:value` without a space, or with one that YAML does not
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
    shown = "..." if holds_secret(fields[name.strip()].annotation) else text.strip()
    return f"{why} `{name}: {shown}`, with a space after the colon", name, value


def fits(value: Any, field: FieldInfo) -> bool:
    """Return whether a message may show a value that the field accepts as it is."""
    if not isinstance(value, str | int | float) or holds_secret(field.annotation):
        return False
    if isinstance(value, str) and secret_in(value):
        return False
    kinds = set(alternatives(field.annotation))
    if isinstance(value, str) and kinds & {int, float, bool} and str not in kinds:
        return False
    try:
        form: Any = (
            Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        )
        TypeAdapter(form).validate_python(value, strict=not isinstance(value, str))
    except ValidationError:
        return False
    return True


def written_out(place: str, value: Any, above: str = "") -> str:
    """Return a value at its place as YAML: `gcp: {diskType: pd-ssd}`. `above`: the first object of
    the place, if the file has it already.
    """
    *outer, last = place.split(".")
    text = f"{last}: {_as_yaml(value)}"
    if above:
        return f"`{text}` under `{'.'.join(outer)}` in its place"
    for name in reversed(outer):
        text = f"{name}: {{{text}}}"
    return f"`{text}` in its place"


def _as_yaml(value: Any) -> str:
    return _quoted(value) if isinstance(value, str) else str(value).lower()


def flow(meant: Mapping[str, Any]) -> str:
    """Return an object of texts as YAML."""
    return "{" + ", ".join(f"{key}: {_as_yaml(value)}" for key, value in meant.items()) + "}"


_WORDS_OF_YAML = ("true", "false", "null", "yes", "no", "on", "off")


def _quoted(text: str) -> str:
    # Plain words and names; not those that YAML reads as a number, or as true or false.
    plain = re.fullmatch(r"[A-Za-z][\w./-]*", text) and text.lower() not in _WORDS_OF_YAML
    return text if plain else json.dumps(text)
