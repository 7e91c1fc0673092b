"""Values as a remedy writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Annotated, Any, get_args, get_origin

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from config.base.hiding import secret_in
from config.base.near import bare
from config.base.problems import as_path
from config.model.fields import Model, alternatives
from config.model.repairs import others_word, plain_number
from config.model.structure import by_key, holds_secret, models
from config.model.units import in_unit_of, unit_in_words, unit_of_key


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


_ASSIGNMENT = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*(\"[^\"]*\"|'[^']*'|[\w.-]+)\s*")


def assignments(text: str) -> dict[str, str | int | float] | None:
    """Return the values of `machine = "a" maxNodes = 4`, as Terraform writes them; None for others."""
    if not re.fullmatch(f"({_ASSIGNMENT.pattern.replace('(', '(?:')})+", text) or secret_in(text):
        return None
    return {key: yaml.safe_load(value) for key, value in _ASSIGNMENT.findall(text)}


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


def as_here(value: Any, field: FieldInfo) -> Any:
    """Return the word of this program that another tool's plainly means, such as spot for SPOT."""
    words = [
        str(word)
        for kind in alternatives(field.annotation)
        for word in (
            kind if isinstance(kind, type) and issubclass(kind, StrEnum) else get_args(kind)
        )
        if isinstance(word, str)
    ]
    same = (word for word in words if isinstance(value, str) and bare(word) == bare(value.strip()))
    return next(same, None) or (words and others_word(value, words)) or value


def in_its_unit(item: Any, key: str, place: str, field: FieldInfo) -> str | int | None:
    """Return a value in the unit of its right place: 300 at `gracePeriodSeconds` for 5 at
    `gracePeriodMinutes`, "10m" at a text; None if the units are the same or unknown.
    """
    name, other = place.rpartition(".")[2], key.rpartition(".")[2]
    unit = unit_of_key(other)
    if type(item) is int and unit and unit_of_key(name) is None:
        return next((text for text in [f"{item}{unit[0]}"] if fits(text, field)), None)
    counted = in_unit_of(name, item, other)
    if counted is None and type(item) is int and unit and unit_of_key(name) not in (unit, None):
        return f"{item} {unit_in_words(unit)}"  # no whole number there: reading it tells so
    return None if counted == item else counted


def remove_double(place: str, there: Any, item: Any, field: FieldInfo | None) -> str:
    """Return the remedy for a key whose right place has a value, `there`, already."""
    hide = field is None or holds_secret(field.annotation) or secret_in(f"{there} {item}")
    if there == item or hide:
        return f"remove it: `{place}` stands there already"
    if not (isinstance(there, str | int | float) and isinstance(item, str | int | float)):
        return f"remove it: `{place}` stands there already, with another value; keep the right one"
    right = f"`{place}: {as_yaml(there)}`"
    return f"remove it: {right} stands there already; change that if {as_yaml(item)} is right"


def as_objects(value: Any, field: FieldInfo) -> Any:
    """Return a list of texts that mean objects, such as `sku=gpu:NoSchedule`, as those objects."""
    model = next(models(field.annotation), None)
    if model and get_origin(field.annotation) is tuple and isinstance(value, str):
        value = [value] if model.meant_by(value) else value
    if not model or not isinstance(value, list):
        return value
    fields = by_key(model)
    meant = [
        {key: as_here(one, fields[key]) for key, one in each.items()}
        if isinstance(each, dict) and each.keys() <= fields.keys()
        else model.meant_by(each)
        if isinstance(each, str)
        else None
        for each in value
    ]
    return meant if meant and all(meant) else value


def all_at_once(item: Any, remedies: Mapping[str, str], where: str) -> str | None:
    """Return one remedy for a small object around settings, from those of its keys by path; None
    if a key has another than a value to write.
    """
    found = []
    for key, value in item.items() if isinstance(item, dict) and len(item) <= _SMALL else ():
        remedy = remedies.get(where + as_path(str(key)))
        plain = isinstance(value, str | int | float) and not secret_in(str(value))
        if bare(str(key)) in ("enabled", "enable"):
            continue
        if remedy is None and plain:
            found.append(f"`{key}: {as_yaml(value)}`")
        elif remedy and (snippet := re.match(r"write (`\w+: [^`]+`)", remedy)):
            found.append(snippet[1])
        else:
            return None
    return f"write {' and '.join(found)} in its place" if found else None


_SMALL = 3
"""Keys of an object that one remedy writes out."""


def keys_to_write(remedy: str, path: str) -> set[str]:
    """Return the places of the keys that a remedy for an object at `path` says to write."""
    if not remedy.startswith("write"):
        return set()
    names, outer = re.findall(r"`(\w+)`", remedy), re.findall(r"under `(\w+)`", remedy)
    around = {f"{one}.{name}" for name, one in product(names, outer)}
    here = {path + as_path(name) for name in re.findall(r"`(\w+)\b", remedy)}
    return here | around | {f"{path}.{place}" for place in around}


_LEAST = 0.05
"""The least share of a number that a remedy proposes: less is a slip."""


def with_values(remedy: str, item: Any) -> str:
    """Return a remedy with the values that it asks for (`config.clouds.tables.ForeignKey`)."""

    def value(asked: re.Match[str]) -> str:
        paths, _, parts = asked[1].partition("/")
        found = next(
            (one for path in paths.split("|") if (one := _at(item, path)) is not None), None
        )
        if parts:
            share = (plain_number(found) or 0) / int(parts)
            return f"{share:.2g}" if share > _LEAST else asked[2]
        if isinstance(found, bool):
            return asked[2]
        if asked[2].isdigit() and (number := re.fullmatch(r"(\d+)( ?m(in(utes?)?)?)?", str(found))):
            return number[1]
        plain = isinstance(found, str | int) and re.fullmatch(r"[\w:./-]{1,200}", str(found))
        if asked[2].isdigit() or not plain or secret_in(str(found)):
            return asked[2]
        return str(found)

    opposite = re.match(r"write `([\w.]+): false` where it is true(, .*)?: (.*)", remedy)
    if opposite and isinstance(item, bool):
        more = (opposite[2] or "") if item else ""
        return f"write `{opposite[1]}: {as_yaml(not item)}` in its place{more}: {opposite[3]}"
    return re.sub(r"<([\w.|/]*) or ([^>]+)>", value, remedy)


def without_what_is_there(remedy: str, beside: Any) -> str:
    """Return a remedy that names what a key needs beside it without that, where it is there."""
    needed = re.search(r", beside ((?:`[^`]+`(?: or )?)+)", remedy)
    names = re.findall(r"`(?:\w+\.)?(\w+)", needed[1]) if needed else []
    there = any(inside(beside, name) is not None for name in names)
    return remedy.replace(needed[0], "") if needed and there else remedy


def _at(item: Any, path: str) -> Any:
    """Return the value at a path of names, the first one of a list; None without one."""
    for name in filter(None, path.split(".")):
        item = inside(item, name)
    return item[0] if isinstance(item, list) and item else item


def inside(item: Any, name: str) -> Any:
    """Return the value of a key, of one that ends with it, or of one in an object inside."""
    entries = item if isinstance(item, list) else [item]
    pairs = [pair for each in entries if isinstance(each, dict) for pair in each.items()]
    same = (value for key, value in pairs if bare(str(key)).endswith(bare(name)))
    inner = (inside(value, name) for _, value in pairs)
    return next((each for each in (*same, *inner) if each is not None), None)


def written_out(place: str, value: str, above: str = "") -> str:
    """Return a value at its place as YAML: `gcp: {diskType: pd-ssd}`. `above`: the first object of
    the place, if the file has it already.
    """
    *outer, last = place.split(".")
    text = f"{last}: {value}"
    if above:
        return f"`{text}` under `{'.'.join(outer)}` in its place"
    for name in reversed(outer):
        text = f"{name}: {{{text}}}"
    return f"`{text}` in its place"


_VALUE = re.compile(
    r"(?:did you mean|write(?: for example)?|use) `?(?:\w+: )?"
    r"(\"[^\"]*\"|-?[\w./+-]*\w|\[[^`]*\]|\{[^`]*\})`?"
    r"(?:$|(?=[;,?])|(?= or more)|(?= with(?:out)? ))"
)
"""A remedy that begins with the value to write."""
_SAID = re.compile(r"^(, with(out)? quotes| or more|\?)")
"""What needs no saying where the remedy shows the value in its place."""


def says_value(remedy: str) -> bool:
    """Return whether a remedy begins with the value to write."""
    return _VALUE.match(remedy) is not None


def with_right_value(remedy: str, place: str, above: str, of_value: str) -> str:
    """Return the remedy for a wrong key whose value is wrong as well: key and value at once, if
    `of_value`, what to do about the value, says what to write. `place` and `above`: as in
    `written_out`.
    """
    if unit := re.fullmatch(
        r"(.*: )?write (a whole number without a unit), such as (\d+)", of_value
    ):
        return f"write {written_out(place, unit[3], above)}, {unit[2]}"
    if found := _VALUE.match(of_value):
        rest = _SAID.sub("", of_value[found.end() :]).lstrip("; ")
        rest = rest if rest.startswith(",") or not rest else f"; {rest}"
        return f"write {written_out(place, found[1], above)}{rest}"
    if " in place of `" in of_value:
        return of_value
    key = place.rpartition(".")[2]
    bare_remedy = re.sub(r"`[^`]*\b(\w+): [^`]*`", lambda _: f"`{place}`", remedy)
    if above:
        bare_remedy = re.sub(r"`[^`]*` under", f"`{key}` under", remedy)
    return f"{bare_remedy}{' ' if bare_remedy.endswith('?') else '; '}its value: {of_value}"


def as_yaml(value: Any) -> str:
    """Return a text, a number, true or false as YAML."""
    return _quoted(value) if isinstance(value, str) else str(value).lower()


def in_flow(value: Any, annotation: Any) -> str | None:
    """Return a value as YAML in one line, with a number as the only number that its object needs;
    None if a message cannot show it.
    """
    model = next(models(annotation), None)
    if holds_secret(annotation) or (isinstance(value, str) and secret_in(value)):
        return None
    number = only_number(model) if model else None
    if number and type(value) is int:
        value = {number: value}
    if isinstance(value, dict):
        fields = by_key(model) if model else {}
        if model and not fields.keys() >= value.keys():
            return None
        shown = {
            key: in_flow(one, fields[key].annotation if model else None)
            for key, one in value.items()
        }
        inner = ", ".join(f"{key}: {text}" for key, text in shown.items())
        return None if None in shown.values() else f"{{{inner}}}"
    if isinstance(value, list):
        texts = [in_flow(one, annotation) for one in value]
        return None if None in texts else f"[{', '.join(map(str, texts))}]"
    return as_yaml(value) if isinstance(value, str | int | float) else None


def only_number(model: type[Model]) -> str | None:
    """Return the key that an object needs, if it needs one alone, a number."""
    needed = [key for key, field in by_key(model).items() if field.is_required()]
    return needed[0] if len(needed) == 1 and by_key(model)[needed[0]].annotation is int else None


def flow(meant: Mapping[str, Any]) -> str:
    """Return an object of texts as YAML."""
    return "{" + ", ".join(f"{key}: {as_yaml(value)}" for key, value in meant.items()) + "}"


_WORDS_OF_YAML = ("true", "false", "null", "yes", "no", "on", "off")


def _quoted(text: str) -> str:
    # Plain words and names; not those that YAML reads as a number, or as true or false.
    plain = re.fullmatch(r"[A-Za-z][\w./-]*", text) and text.lower() not in _WORDS_OF_YAML
    return text if plain else json.dumps(text)
