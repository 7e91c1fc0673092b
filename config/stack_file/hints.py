"""Remedies for unknown keys: what the key means here, on this cloud, at this place.

In this order: another spelling of a key that is valid here, another tool's name for one
(`foreign_keys.csv`), a key that is nearly the same, the same key at another place of the file.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.alias_generators import to_camel

from config.base.near import HINT, NEAR, bare, nearest, opposite
from config.clouds import registry
from config.clouds.provider_properties import place_of
from config.clouds.registry import Registration
from config.clouds.tables import ForeignKey
from config.model.fields import Model
from config.model.structure import by_key, models

HERE = "."
"""The object that has the key itself: what the key holds belongs to it."""

_MOST = 2
"""Places that a remedy names."""

_SURELY = 0.9
"""The likeness that counts more than the same key at another place."""

_POOL_OBJECT = re.compile(r"^pool\b")

_TELLING = 6
"""Letters of another tool's key that means the same at every place; `min` does not."""

_GENERAL = ("enabled", "enable", "version", "config", "metadata", "template", "schedule", "sharing")
"""Keys that mean something else in each object."""

_POOL = re.compile(r"pools\[\d+\]|systemPool")


class Hints:
    """Remedies for unknown keys of a file: `Hints(registration, types)`.

    `registration` is the file's cloud, None if unknown: then keys of all clouds are valid. `types`
    are those of the top keys.
    """

    def __init__(
        self, registration: Registration | None, types: Mapping[str, Any], prefix: str = ""
    ) -> None:
        self._registration, self._types, self._prefix = registration, types, prefix
        self._clouds = [registration] if registration else registry.registrations()

    def __call__(
        self, key: str, model: type[Model], path: str, beside: Container[str] = ()
    ) -> tuple[str, str | None]:
        """Return the remedy for an unknown key of the object at `path`, which has the keys
        `beside`, and the key it means.
        """
        fields = self.valid_keys(model, path)
        if same := _same(key, fields):
            return in_its_place(same), same
        foreign = self._foreign(key, path)
        own = foreign.key if foreign else ""
        if absent := model.absent.get(key) or model.absent.get(own):
            return absent, None
        if foreign and foreign.beside and foreign.beside in beside:
            return foreign.then, None
        if foreign:
            remedy = foreign.remedy or in_its_place(own)
            follows = not foreign.remedy or own == HERE
            return remedy, own if follows and own else None
        places = _shallowest(key, _places(model, "")) or _shallowest(key, self._everywhere)
        if near := nearest(key, fields, _SURELY if places else NEAR):
            return f"did you mean `{near}`?", near
        if key in self._types:
            return f"its place is `{self._prefix}{key}`, beside the others", None
        if other := opposite(key, fields):
            remedy = f"write `{other}: false` for `{key}: true`: the meaning is the other way round"
            return remedy, None
        elsewhere = self._of_another_cloud(key, model, path)
        if elsewhere and not nearest(key, fields, HINT):
            return elsewhere, None
        if not places and (
            place := place_of(key, path, [cloud.provider for cloud in self._clouds])
        ):
            places = [place]
        if path.startswith("pools["):
            places = [place for place in places if place.startswith("pools[")] or places
        if not places and (near := nearest(key, fields, HINT)):
            return f"did you mean `{near}`? {keys_here(fields)}", None
        if not places and (known := self._foreign_elsewhere(key, path)):
            return known, None
        return _move_it(places) if places else keys_here(fields), None

    def of_the_file(self, key: str, given: Container[str]) -> tuple[str, str | None]:
        """Return the remedy for an unknown top key, and the top key that it means. `given`: the
        right top keys of the file.
        """
        if key.startswith("x-"):
            return "remove it: define an anchor where its value is used first", None
        foreign = None if _same(key, self._types) else self._foreign(key, "")
        if foreign and foreign.remedy:
            return foreign.remedy, None
        near = foreign.key if foreign else nearest(key, self._types)
        if near in self._types:
            if near in given:
                return f"remove it: `{self._prefix}{near}` stands there already", None
            return f"did you mean `{near}`? write `{self._prefix}{near}`", near
        places = [near] if near else _shallowest(key, self._everywhere)
        return _move_it(places) if places else keys_here(self._types), None

    def valid_keys(self, model: type[Model], path: str) -> list[str]:
        """Return the keys of the object at `path` that the file's cloud has."""
        pool = _POOL.match(path)
        if not pool or not self._registration:
            return list(by_key(model))
        inside = path[pool.end() + 1 :]
        others = {
            ".".join(map(to_camel, key.split(".")))
            for key in registry.keys_of_other_clouds(self._registration.provider)
        }
        prefix = f"{inside}." if inside else ""
        return [key for key in by_key(model) if f"{prefix}{key}" not in others]

    def _foreign(self, key: str, path: str) -> ForeignKey | None:
        """Return the meaning of another tool's key of the object at `path`."""
        place = re.sub(r"\[\d+\]", "", _POOL.sub("pool", path, count=1))
        found = (cloud.foreign_keys().get((place, bare(key))) for cloud in self._clouds)
        return next(filter(None, found), None)

    def _foreign_elsewhere(self, key: str, path: str) -> str | None:
        """Return the remedy for another tool's key that belongs to another object."""
        if len(bare(key)) < _TELLING:
            return None
        for cloud in self._clouds:
            for (place, name), foreign in cloud.foreign_keys().items():
                if name != bare(key) or not place:
                    continue
                if bare(key) in _GENERAL or foreign.key == HERE:
                    continue
                if foreign.remedy.startswith("remove it") or " under `" in foreign.remedy:
                    return foreign.remedy
                there = _POOL_OBJECT.sub("pools[]", place)
                if foreign.remedy:
                    return f"remove it here, and under `{there}` {foreign.remedy}"
                if f"{there}.{foreign.key}" == path:
                    return "take the key away, and write what it holds one level higher"
                return _move_it([f"{there}.{foreign.key}"])
        return None

    def _of_another_cloud(self, key: str, model: type[Model], path: str) -> str | None:
        """Return the remedy for a key that the same object has on another cloud."""
        mine, (top, *inside) = self._registration, path.split(".")
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

    @cached_property
    def _everywhere(self) -> list[str]:
        return [
            place
            for top, annotation in self._types.items()
            for model in models(annotation)
            for place in _places(
                model, f"{top}[]." if get_origin(annotation) is tuple else f"{top}."
            )
        ]


def keys_here(known: Iterable[str]) -> str:
    """Return a remedy that names all keys of an object."""
    return f"keys here: {', '.join(known)}"


def in_its_place(key: str) -> str:
    """Return the remedy for a key that has another name here."""
    return f"write `{key}` in its place"


def _move_it(places: Iterable[str]) -> str:
    return f"its place is {' or '.join(f'`{place}`' for place in places)}"


def _same(key: str, known: Iterable[str]) -> str | None:
    """Return the known key that differs in capitals, `_` and `-` alone."""
    return next((each for each in known if bare(each) == bare(key)), None)


def _places(model: type[Model], path: str) -> Iterator[str]:
    """Yield the paths of all keys in an object and in the objects inside it."""
    for key, field in by_key(model).items():
        yield f"{path}{key}"
        for inner in models(field.annotation):
            yield from _places(inner, f"{path}{key}{'[]' if _is_list(field.annotation) else ''}.")


def _is_list(annotation: Any) -> bool:
    several = (
        get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    )
    return any(get_origin(one) is tuple for one in several)


def _shallowest(key: str, places: Iterable[str]) -> list[str]:
    """Return the least deep places of a key; none if there are more than a remedy names."""
    found = [place for place in places if bare(place.rpartition(".")[2]) == bare(key)]
    least = min((place.count(".") for place in found), default=0)
    shallow = list(dict.fromkeys(place for place in found if place.count(".") == least))
    return shallow if len(shallow) <= _MOST else []
