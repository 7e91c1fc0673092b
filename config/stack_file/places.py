"""Places of keys in a stack file, for a key that stands somewhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from config.base.near import bare
from config.model.fields import Model
from config.model.structure import by_key, field_at, models

MOST = 2
"""Places that a remedy names."""


def places_in(model: type[Model], path: str) -> Iterator[str]:
    """Yield the paths of all keys in an object and in the objects inside it."""
    for key, field in by_key(model).items():
        yield f"{path}{key}"
        for inner in models(field.annotation):
            inside = "[]." if _is_list(field.annotation) else "."
            yield from places_in(inner, f"{path}{key}{inside}")


def _is_list(annotation: Any) -> bool:
    several = (
        get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    )
    return any(get_origin(one) is tuple for one in several)


def shallowest(key: str, places: Iterable[str]) -> list[str]:
    """Return the least deep places of a key; none if there are more than a remedy names."""
    found = [place for place in places if bare(place.rpartition(".")[2]) == bare(key)]
    least = min((place.count(".") for place in found), default=0)
    shallow = list(dict.fromkeys(place for place in found if place.count(".") == least))
    return shallow if len(shallow) <= MOST else []


def likeliest(
    places: list[str],
    item: Any,
    field_of: Callable[[str], FieldInfo | None],
    is_key: Callable[[str, str], object],
    given: Collection[str],
) -> list[str]:
    """Return the place that the value fits best; several if that cannot be told.

    `is_key` tells whether an object at a place knows another tool's key; `given` are keys of the
    file: a place in an object that it has is likelier.
    """

    def likeness(place: str) -> tuple[int, bool]:
        field, found = field_of(place), 0
        model = next(models(field.annotation), None) if field else None
        entries = item if isinstance(item, list) else [item]
        if model:
            keys = [str(key) for entry in entries if isinstance(entry, dict) for key in entry]
            found = sum(key in by_key(model) or bool(is_key(key, place)) for key in keys)
        elif field and isinstance(item, str):
            # Ids of two kinds differ in a part of their examples.
            parts = [part for example in field.examples or () for part in str(example).split("/")]
            found = sum(part in parts for part in item.split("/"))
        return found, re.split(r"[.\[]", place)[0] in given

    scores = {place: likeness(place) for place in places}
    return [place for place in places if scores[place] == max(scores.values())]


def value_at(settings: Any, place: str) -> Any:
    """Return the value at a place of a file, such as `pools[1].spot`; None if there is none."""
    found = settings
    for key in re.findall(r"[^.\[\]]+", place):
        if isinstance(found, list):
            found = found[int(key)] if key.isdecimal() and int(key) < len(found) else None
        else:
            found = found.get(key) if isinstance(found, dict) else None
    return found


def field_in(types: Mapping[str, Any], place: str) -> FieldInfo | None:
    """Return the field at a place of a file, below its top key; None if there is none."""
    top, _, inside = place.partition(".")
    annotation = types.get(re.sub(r"\[\d*\]", "", top))
    found = (
        field_at(model, re.sub(r"\[\d*\]", "", inside))
        for model in models(annotation)
        if inside and annotation is not None
    )
    return next(filter(None, found), None)
