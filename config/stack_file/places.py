"""Places of keys in a stack file, for a key that stands somewhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from config.base.near import bare
from config.clouds import registry
from config.clouds.registry import Registration
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


def has_shape(item: Any, field: FieldInfo | None) -> bool:
    """Return whether a value has the shape of a field: an object, a list of objects or of texts."""
    if field is None or item is None:
        return True
    holds, of_a_list = next(models(field.annotation), None), _is_list(field.annotation)
    if isinstance(item, list):
        objects = [isinstance(each, dict) for each in item]
        return of_a_list and (any(objects) if holds else not any(objects))
    if isinstance(item, dict):
        return holds is not None or get_origin(field.annotation) is dict
    return holds is None


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


def of_another_cloud(key: str, path: str, mine: Registration | None) -> str | None:
    """Return the remedy for a key that the same object of `cloud` has on another cloud."""
    top, *inside = path.split(".")
    if mine is None or top != "cloud":
        return None
    for cloud in registry.registrations():
        there: type[Model] | None = cloud.settings
        for part in inside:
            field = by_key(there).get(part) if there else None
            there = next(models(field.annotation), None) if field else None
        if cloud is not mine and there and key in by_key(there):
            return (
                f"remove it: {mine.traits.title} has no such setting; it is one of `provider: "
                f"{cloud.provider}`"
            )
    return None


def move_it(places: list[str], types: Mapping[str, Any]) -> str:
    """Return a remedy that names places, and what each is for if they differ in it."""
    fields = {place: field_in(types, place) for place in places}
    abouts = {
        place: (field.description or "").partition(". ")[0].rstrip(".")
        for place, field in fields.items()
        if field and any(models(field.annotation))
    }
    differ = len({*abouts.values()}) > 1
    words = [
        f"`{place}`" + (f" ({about[0].lower()}{about[1:]})" if differ and about else "")
        for place, about in ((place, abouts.get(place, "")) for place in places)
    ]
    return f"its place is {' or '.join(words)}"
