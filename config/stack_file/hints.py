"""Remedies for keys that a stack file does not have where they stand: another spelling, another level, another tool's name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

from config.base.near import alike, nearest, opposite
from config.clouds import registry
from config.clouds.foreign_keys import ForeignKey
from config.model.fields import Model
from config.model.wording import by_key, models
from config.stack_file.mending import instead

_MOST = 2
"""Places that a remedy names."""


Places: TypeAlias = Mapping[str, list[str]]
"""The paths that end in a key, by this key."""


@dataclass(frozen=True)
class Hints:
    """Remedies for unknown keys of a file whose top keys have these types."""

    top: Mapping[str, Any]

    def __call__(self, key: str, model: type[Model], path: str) -> tuple[str, str | None]:
        """The remedy for an unknown key of the object at `path`, and the key of the object that it surely means."""
        fields = by_key(model)
        keys = f"keys here: {', '.join(fields)}"
        foreign = _foreign(key, path)
        own = foreign.key if foreign else None
        if near := nearest(key, fields):
            return _meant([near]), near
        if key in model.absent or own in model.absent:
            return model.absent.get(key) or model.absent[own or ""], None
        if foreign and foreign.remedy:
            return foreign.remedy, None
        if other := opposite(key, fields):
            return (
                f"write `{other}: false` for `{key}: true`: the meaning is the other way round",
                None,
            )
        if own and own in fields:
            return _meant([own]), own
        if inside := [own] if own else _shallowest(key, _by_name(model)):
            return _meant(inside), None
        places = _shallowest(key, self._everywhere)
        return (f"{_meant(places)} {keys}" if places else instead(key, fields)), None

    def of_the_file(self, key: str, prefix: str) -> tuple[str, str | None]:
        """The remedy for an unknown top key, and the top key that it surely means. `prefix` goes before a top key."""
        foreign = _foreign(key, "")
        own = foreign.key if foreign else None
        near = nearest(key, self.top) or (own if own in self.top else None)
        if foreign and foreign.remedy:
            return foreign.remedy, None
        places = [own] if own else _shallowest(key, self._everywhere)
        if near:
            return _meant([near]) + (f" write `{prefix}{near}`" if prefix else ""), near
        return (
            f"{_meant(places)} keys here: {', '.join(self.top)}"
            if places
            else instead(key, self.top)
        ), None

    @cached_property
    def _everywhere(self) -> Places:
        return _named(
            place
            for top, annotation in self.top.items()
            for model in models(annotation)
            for place in _places(
                model, f"{top}[]." if get_origin(annotation) is tuple else f"{top}."
            )
        )


def _meant(places: Iterable[str]) -> str:
    named = " or ".join(f"`{place}`" for place in places)
    return f"did you mean {named}?"


def _foreign(key: str, path: str) -> ForeignKey | None:
    """Another tool's name of a key of the object at `path`."""
    place = "pool" if re.fullmatch(r"pools\[\d+\]|systemPool", path) else path
    clouds = registry.registrations()
    return next((own for cloud in clouds if (own := cloud.foreign_keys().get((place, key)))), None)


def _places(model: type[Model], path: str) -> Iterator[str]:
    """The paths of all keys in an object, those of objects inside it as well."""
    for key, field in by_key(model).items():
        yield f"{path}{key}"
        for inner in models(field.annotation):
            yield from _places(inner, f"{path}{key}{'[]' if _is_list(field.annotation) else ''}.")


@cache
def _by_name(model: type[Model]) -> Places:
    return _named(_places(model, ""))


def _named(paths: Iterable[str]) -> Places:
    places: dict[str, list[str]] = {}
    for path in paths:
        places.setdefault(path.rpartition(".")[2], []).append(path)
    return places


def _is_list(annotation: Any) -> bool:
    several = (
        get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    )
    return any(get_origin(one) is tuple for one in several)


def _shallowest(key: str, places: Places) -> list[str]:
    """The least deep of these places that have the key, or else one that is like it."""
    found = places.get(key) or [place for name in alike(key, places) for place in places[name]]
    least = min((place.count(".") for place in found), default=0)
    return list(dict.fromkeys(place for place in found if place.count(".") == least))[:_MOST]
