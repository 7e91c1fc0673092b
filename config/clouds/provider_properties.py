"""Properties of a cloud's own resources that a stack file names itself, where it has no typed key.

Two files of a cloud's folder say what may be written: `properties.json` has the names and types of
the pinned SDK (`python -m tests.config.sdk_properties` writes it), `derived.csv` the properties
that the program sets itself, with the key to write instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic.alias_generators import to_camel

from config.base.near import HINT, bare, nearest
from config.base.problems import Problem, as_path
from config.clouds.tables import rows
from config.model.wrong_shape import shown, type_in_words

Properties: TypeAlias = dict[str, Any]
"""A provider's own property names and their values, nested as in the provider."""

Of: TypeAlias = Literal["pool", "cluster"]

_FOLDER = Path(__file__).parent
_FEW = 12
"""The most names of an object that a message lists."""
_WORDS = {
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
}


@dataclass(frozen=True)
class Derived:
    """A property that the program sets: the stack file's key for it, or why there is none."""

    key: str
    why: str

    def problem(self, path: str, given: Any = None) -> Problem:
        """Return the problem of such a property at `path`, which has the value `given`."""
        if self.key:
            what = f"is set by the program, from `{self.key}`"
            return Problem(path, what, f"remove it, and write `{self._written(given)}`")
        return Problem(path, f"is set by the program: {self.why}", "remove it")

    def _written(self, given: Any) -> str:
        """Return the key with the value that the property has, where both have the same values."""
        if self.key == "capacity" and (given is True or str(given).lower() == "spot"):
            return "capacity: spot"
        if isinstance(given, dict) and self.key == "cloud.autoscaler":
            # Both have the same names, AKS' in kebab case.
            named = (f"{to_camel(str(key).replace('-', '_'))}: {given[key]}" for key in given)
            return f"{self.key}: {{{', '.join(named)}}}"
        if isinstance(given, bool | int | float) and re.fullmatch(r"[\w.]+", self.key):
            top, _, inner = self.key.partition(".")
            value = str(given).lower()
            return f"{top}: {{{inner}: {value}}}" if inner else f"{top}: {value}"
        return self.key


@cache
def derived(provider: str, of: Of) -> Mapping[str, Derived]:
    """Return what the program sets itself, by property path; with a property, all that is below."""
    return {
        row["property"]: Derived(row["key"], row["why"])
        for row in rows(str(_FOLDER / provider / "-"), "derived")
        if row["of"] == of
    }


def problems(provider: str, of: Of, given: Properties, path: str) -> Iterator[Problem]:
    """Yield a problem for each property that the provider does not know, that has another type, or
    that the program sets itself. `path`: of the properties in the stack file.
    """
    if given:
        shapes = _Shapes(_content(provider)["shapes"], derived(provider, of))
        yield from shapes.of_object(_content(provider)["inputs"][of], given, path, "")


@cache
def _content(provider: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((_FOLDER / provider / "properties.json").read_text())
    return content


@dataclass(frozen=True)
class _Shapes:
    """The objects of an SDK: a shape is a JSON type, `[item]`, `{"*": item}` for a map, `{"=":
    values}`, or the number of an object, whose required names end in `!`.
    """

    all: list[dict[str, Any]]
    derived: Mapping[str, Derived]

    def of_object(self, number: int, value: Properties, path: str, place: str) -> Iterator[Problem]:
        fields = {name.removesuffix("!"): shape for name, shape in self.all[number].items()}
        for name, item in value.items():
            where = path + as_path(str(name))
            inner = f"{place}.{name}".removeprefix(".")
            if name not in fields:
                yield Problem(where, "is no property of the provider here", _hint(name, fields))
            elif inner in self.derived:
                yield self.derived[inner].problem(where, item)
            else:
                yield from self.of_value(fields[name], item, where, inner)
        for name in self.all[number]:
            bare = name.removesuffix("!")
            # The program may write the rest of an object that it sets in part.
            if (
                name != bare
                and bare not in value
                and f"{place}.{bare}" not in self.derived
                and place
            ):
                yield Problem(path + as_path(bare), "is missing", f"add `{bare}`")

    def of_value(self, shape: Any, value: Any, path: str, place: str) -> Iterator[Problem]:
        expected = _json_type(shape)
        if expected and not _is(expected, value):
            words = _WORDS[expected]
            quotes = expected == "string" and isinstance(value, int | float)
            remedy = f'put it in quotes: "{shown(value)}"' if quotes else f"write {words}"
            simple = value in (None, "") or (isinstance(value, dict | list) and value)
            what = (
                type_in_words(value)
                if simple
                else f"{shown(value)}, which is {type_in_words(value)}"
            )
            yield Problem(path, f"is {what}", remedy)
        elif isinstance(shape, list):
            for index, item in enumerate(value):
                yield from self.of_value(shape[0], item, f"{path}[{index}]", f"{place}[]")
        elif isinstance(shape, int):
            yield from self.of_object(shape, value, path, place)
        elif isinstance(shape, dict) and "*" in shape:
            for name, item in value.items():
                inner = f"{place}.{name}"
                if inner in self.derived:
                    yield self.derived[inner].problem(path + as_path(str(name)), item)
                else:
                    yield from self.of_value(shape["*"], item, path + as_path(str(name)), inner)
        elif isinstance(shape, dict) and value not in shape["="]:
            yield Problem(path, f"is {shown(value)}", f"one of: {', '.join(shape['='])}")


def _json_type(shape: Any) -> str:
    """Return the JSON type of a shape; empty for any."""
    if isinstance(shape, dict):
        return "string" if "=" in shape else "object"
    if isinstance(shape, str):
        return "" if shape == "any" else shape
    return "array" if isinstance(shape, list) else "object"


def _is(expected: str, value: Any) -> bool:
    kinds: dict[str, Any] = {"string": str, "boolean": bool, "array": list, "object": dict}
    if expected in kinds:
        return isinstance(value, kinds[expected])
    numbers = int if expected == "integer" else int | float
    return isinstance(value, numbers) and not isinstance(value, bool)


def _hint(name: Any, fields: Mapping[str, Any]) -> str:
    close = nearest(str(name), fields, HINT)
    few = f"names here: {', '.join(sorted(fields))}" if len(fields) <= _FEW else ""
    guess = f"did you mean `{close}`? " if close else ""
    return f"{guess}{few}".strip() or "write the provider's name, as its API reference has it"


def place_of(key: str, path: str, known: Collection[str]) -> str | None:
    """Return where in `properties` a provider's property goes that a file has at `path` itself,
    relative to the object there; None if none of these providers knows it, or the program sets it.
    """
    top, _, inside = path.partition(".")
    if not re.fullmatch(r"cloud|systemPool|pools\[\d+\]", top):
        return None
    of: Of = "cluster" if top == "cloud" else "pool"
    providers = {file.parent.name for file in _FOLDER.glob("*/properties.json")}
    for provider in sorted(providers & set(known)):
        place = _found(_content(provider), of, bare(key)) if inside in ("", provider) else None
        if place and not any(f"{place}.".startswith(f"{own}.") for own in derived(provider, of)):
            folder = "" if of == "cluster" or inside else f"{provider}."
            return f"{folder}properties.{place}"
    return None


def _found(content: Mapping[str, Any], of: Of, name: str) -> str | None:
    """Return the shortest path that ends in a name, outside of lists."""
    level: list[tuple[str, int]] = [("", content["inputs"][of])]
    seen = {level[0][1]}
    while level:
        below = []
        for place, number in level:
            for key, shape in content["shapes"][number].items():
                path = f"{place}.{key.removesuffix('!')}".removeprefix(".")
                if bare(path.rpartition(".")[2]) == name:
                    return path
                if isinstance(shape, int) and shape not in seen:
                    seen.add(shape)
                    below.append((path, shape))
        level = below
    return None


def leaves(given: Properties, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of each property that is no object."""
    for name, value in given.items():
        path = f"{place}.{name}".removeprefix(".")
        if isinstance(value, dict) and value:
            yield from leaves(value, path)
        else:
            yield path, value


@dataclass(frozen=True)
class Edit:
    """A property that the stack file now has otherwise; None stands for one that it lacks."""

    path: str
    before: Any
    now: Any
    fixed: bool
    """Whether the cloud never changes it."""
    kept: bool
    """Whether its value stays when the file drops it, since a request then says nothing of it."""


def edits(
    provider: str,
    of: Of,
    before: Properties,
    now: Properties,
    declared: Properties | None = None,
) -> Iterator[Edit]:
    """Yield the edits of properties since the last update, by `lasting.csv` of the cloud's folder.

    With a property that is fixed all below it is, but for a property with a row of its own.
    `declared`: all that the program declares, which may have a value of its own for a dropped one.
    """
    table = _lasting(provider, of)
    was, has, all_now = (dict(leaves(each or {})) for each in (before, now, declared or now))
    partly = () if declared else derived(provider, of)
    for path in sorted(was.keys() | has.keys()):
        value = has.get(path, all_now.get(path))
        if was.get(path) != value:
            kept = value is None and _is_kept(table, path, {*all_now, *partly})
            yield Edit(path, was.get(path), value, bool(_row(table, path)["fixed"]), kept)


@cache
def _lasting(provider: str, of: Of) -> Mapping[str, Mapping[str, str]]:
    """Return the rows of properties that are fixed or kept, by property; `*` is any other."""
    table = rows(str(_FOLDER / provider / "-"), "lasting")
    return {row["property"]: row for row in table if row["of"] == of}


def _row(table: Mapping[str, Mapping[str, str]], path: str) -> Mapping[str, str]:
    """Return the row of a property, or of the nearest object that it is in."""
    parts = path.split(".")
    above = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    nothing = {"fixed": "", "kept": ""}
    return next((table[place] for place in above if place in table), table.get("*", nothing))


def _is_kept(table: Mapping[str, Mapping[str, str]], path: str, has: Collection[str]) -> bool:
    """Return whether the outermost object that is dropped, or the property itself, is kept.

    A `map` is kept while no request has it, and else sent whole.
    """
    parts = path.split(".")
    places = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    missing = [
        place for place in places if not any(f"{other}.".startswith(f"{place}.") for other in has)
    ]
    if "*" not in table:
        return bool(missing and table.get(missing[0], {}).get("kept"))
    kept = _row(table, path)["kept"]
    return kept == "yes" or (kept == "map" and missing[:1] == places[:1])
