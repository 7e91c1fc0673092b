"""Remedies for unknown keys: what the key means here, on this cloud, at this place.

In this order: another spelling of a key that is valid here, another tool's name for one
(`foreign_keys.csv`), a key that is nearly the same, the same key at another place of the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, get_origin

from pydantic.alias_generators import to_camel

from config.base.near import HINT, NEAR, bare, nearest, opposite
from config.clouds import registry
from config.clouds.provider_properties import place_of
from config.clouds.registry import Registration
from config.clouds.tables import ForeignKey
from config.model.fields import Model
from config.model.structure import by_key, field_at, models
from config.model.units import same_but_for_its_unit
from config.model.wording import NO_SUCH_SETTING
from config.stack_file.foreign_objects import of_a_count, of_a_pool
from config.stack_file.places import (
    field_in,
    has_shape,
    likeliest,
    move_it,
    of_another_cloud,
    places_in,
    shallowest,
)
from config.stack_file.written_out import fits, with_values

HERE = "."
"""The object that has the key itself: what the key holds belongs to it."""

_SURELY = 0.9
"""The likeness that counts more than the same key at another place."""

_AROUND = (
    *("metadata", "spec", "forprovider", "template", "config", "settings", "properties"),
    *("parameters", "values", "autoscaling", "scaling", "scalingconfig"),
)
"""Keys of other tools around the settings of an object, in lower case without _ and -."""

_ONE_LEVEL_HIGHER = "delete this line, and write what it holds one level higher"
_SEE_BELOW = "delete this line; what to do with what it holds, is told with each"
_ADDONS = "criticalAddonsOnly"
_POOL_OBJECT = re.compile(r"^pool\b")
_TELLING = 6
"""Letters of another tool's key that means the same at every place; `min` does not."""

_GENERAL = ("enabled", "enable", "version", "config", "metadata", "template", "schedule", "sharing")
"""Keys that mean something else in each object."""

_POOL = re.compile(r"pools\[\d*\]|systemPool")

_ADDS_NOTHING = ("ref", "time", "type", "name", "value", "date", "block", "mode", "level", "number")
"""Ends of other tools' keys that ours go without: `startTime` for `start`."""

_SAME_BEGINNING = 8
"""Letters with which a key of the same object begins as well, before another object's is named."""

_UNDER = re.compile(r"write `(\w+)\b.* under `(?:[\w-]+:)?([\w.]+)`")
"""A remedy that names the place of a key."""


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
        self.given: Collection[str] = ()
        """Top keys of the file."""

    def __call__(
        self,
        key: str,
        model: type[Model],
        path: str,
        beside: Collection[str] = (),
        item: Any = None,
    ) -> tuple[str, str | None]:
        """Return the remedy for an unknown key of the object at `path`, which has the keys
        `beside`, and the key it means, with / before it if it is a path from the top. `item` is
        the key's value.
        """
        fields = self.valid_keys(model, path)
        pool = beside if isinstance(beside, Mapping) else {}
        cloud = self._registration.traits if self._registration else None
        if _POOL.fullmatch(path) and (object_remedy := of_a_pool(key, item, pool, cloud)):
            return object_remedy, None
        inner = key.removeprefix(f"{path}.")
        if "." in key and field_at(model, inner):
            return in_its_place(inner), inner
        if same := _same(key, fields) or same_but_for_its_unit(key, fields):
            return in_its_place(same), same
        foreign = self._foreign(key, path)
        own = foreign.key if foreign else ""
        if absent := model.absent.get(key) or model.absent.get(own):
            only = f"{_ADDONS}: true"  # the one taint that a system pool may have
            named = _ADDONS in fields and bare(_ADDONS) in bare(str(item))
            return f"write `{only}` in its place" if named else absent, None
        if own == HERE or self._is_around(key, fields, item, path):
            held = [str(each) for each in item] if isinstance(item, dict) else []
            right = any(_same(each, fields) for each in held)
            return _ONE_LEVEL_HIGHER if right or not held else _SEE_BELOW, HERE
        counts = foreign and "`minNodes: " in foreign.then
        most = counts and any("max" in str(each) for each in beside)
        if foreign and foreign.beside and (foreign.beside in beside or most):
            spot = (
                isinstance(beside, Mapping) and beside.get("capacity", "on-demand") != "on-demand"
            )
            least = any(bare(str(each)).startswith("min") for each in beside)
            if "`minNodes: " in foreign.then and (spot or least):
                return of_a_count(item, beside, spot), None
            return foreign.then, None
        if foreign:
            remedy = foreign.remedy or in_its_place(own)
            if foreign.remedy:
                return remedy, self._under(key, remedy, model, item)
            return remedy, own if own.split(".")[0] in ("", *fields) else f"/{own}"
        if short := self._as_here(key, model, fields, item):
            return in_its_place(short), short
        inside = shallowest(key, places_in(model, ""))
        places = inside or [
            place
            for place in shallowest(key, self._everywhere)
            if has_shape(item, field_in(self._types, place))
        ]
        if near := nearest(key, fields, _SURELY if places else NEAR):
            return f"did you mean `{near}`?", near
        if key in self._types:
            once = ", once for all pools" * path.startswith("pools[")
            return f"its place is `{self._prefix}{key}`, beside the others{once}", f"/{key}"
        if other := opposite(key, fields):
            how = "the meaning is the other way round"
            return f"write `{other}: false` where it is true: {how}", None
        elsewhere = of_another_cloud(key, path, self._registration)
        if elsewhere and not nearest(key, fields, HINT):
            return elsewhere, None
        if not places and (
            place := place_of(key, path, [cloud.provider for cloud in self._clouds])
        ):
            places = [place]
        if path.startswith("pools["):
            places = [place for place in places if place.startswith("pools[")] or places
        numbers = re.search(r"\d", str(item)) is not None
        near = nearest(key, fields, HINT) or (_begins_as(key, fields) if numbers else None)
        if near and not places:
            return f"did you mean `{near}`? {keys_here(fields)}", None
        if not places and (known := self._foreign_elsewhere(key, path)):
            place = re.sub(r"^its place is `([\w.]+)`$", r"/\1", known)
            return known, place if place != known else None
        if not places:
            return f"{NO_SUCH_SETTING}; {keys_here(fields)}", None
        if inside:
            places = likeliest(
                places,
                item,
                lambda place: field_at(model, place),
                lambda name, place: self._foreign(name, f"{path}.{place}"),
                beside,
            )
            return move_it(places, self._types), places[0] if len(places) == 1 else None
        return self._moved(places, item, path, self.given, alone=[*beside] == [key])

    def _moved(
        self,
        places: list[str],
        item: Any,
        path: str,
        given: Collection[str],
        alone: bool = False,
    ) -> tuple[str, str | None]:
        """Return remedy and meaning of a key whose place is elsewhere in the file; `alone`: it is
        the only one of its object.
        """
        places = likeliest(
            places, item, lambda place: field_in(self._types, place), self._foreign, given
        )
        place, pool = places[0], _POOL.match(path)
        mine = place.replace("pools[]", pool[0], 1) if pool else place
        if mine != place and field_in(self._types, mine):
            place = mine
            above, key = place.rpartition(".")[::2]
            if path.startswith(f"{above}."):
                levels = path[len(above) :].count(".")
                higher = "one level" if levels == 1 else f"{levels} levels"
                beside = re.split(r"[.\[]", path[len(above) + 1 :])[0]
                if alone and levels == 1 and "[" not in path[len(above) :]:
                    return f"write `{key}` in place of `{beside}`", f"/{place}"
                return f"its place is {higher} higher: indent it as `{beside}`", f"/{place}"
        return move_it(places, self._types), f"/{place}" if len(
            places
        ) == 1 and "[]" not in place else None

    def of_the_file(
        self, key: str, given: Collection[str], item: Any = None
    ) -> tuple[str, str | None]:
        """Return the remedy for an unknown top key with the value `item`, and the top key that it
        means, or a path with / before it. `given`: the right top keys of the file.
        """
        if key.startswith("x-"):
            return "remove it: define an anchor where its value is used first", None
        foreign = None if _same(key, self._types) else self._foreign(key, "")
        if foreign and foreign.remedy:
            return with_values(foreign.remedy, item), None
        near = foreign.key if foreign else nearest(key, self._types)
        if near in self._types:
            if near in given:
                return f"remove it: `{self._prefix}{near}` stands there already", None
            return f"did you mean `{near}`? write `{self._prefix}{near}`", near
        places = [near] if near else shallowest(key, self._everywhere)
        of_cloud = f"cloud.{key}"
        if not places and has_shape(item, field_in(self._types, of_cloud)):
            places = [place for place in self._everywhere if place == of_cloud]
        return self._moved(places, item, "", given) if places else (keys_here(self._types), None)

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
        place = re.sub(r"\[\d*\]", "", _POOL.sub("pool", path, count=1))
        found = (cloud.foreign_keys().get((place, bare(key))) for cloud in self._clouds)
        return next(filter(None, found), None)

    def _is_around(self, key: str, fields: list[str], item: Any, path: str) -> bool:
        """Return whether a key is what other tools put around an object's settings."""
        inner = [str(each) for each in item] if isinstance(item, dict) else []
        known = (_same(each, fields) or bare(each) in _AROUND for each in inner)
        foreign = (self._foreign(each, path) for each in inner)
        return bare(key) in _AROUND and (any(known) or any(foreign))

    def _under(self, key: str, remedy: str, model: type[Model], item: Any) -> str | None:
        """Return the place that a remedy names, if the value belongs there as it is."""
        named = _UNDER.match(remedy)
        if not named:
            return None
        name, around = named.groups()
        of_the_file = around.split(".")[0] in self._types
        place = f"{around}.{name}"
        field = field_in(self._types, place) if of_the_file else field_at(model, place)
        alike = bare(key) in bare(name) or bare(name) in bare(key)
        if field is None or not (alike or fits(item, field)):
            return None
        return f"/{place}" if of_the_file else place

    def _as_here(self, key: str, model: type[Model], fields: list[str], item: Any) -> str | None:
        """Return the key of this object that another tool's means, by its name in another object,
        or with an end that adds nothing.
        """
        for cloud in self._clouds:
            for (_, name), foreign in cloud.foreign_keys().items():
                if name == bare(key) and foreign.key in fields and not foreign.remedy:
                    return foreign.key
        ends = (bare(key).removesuffix(end) for end in _ADDS_NOTHING if bare(key).endswith(end))
        short = next(filter(None, (_same(each, fields) for each in ends)), None)
        return short if short and fits(item, by_key(model)[short]) else None

    def _foreign_elsewhere(self, key: str, path: str) -> str | None:
        """Return the remedy for another tool's key that belongs to another object."""
        if len(bare(key)) < _TELLING:
            return None
        for cloud in self._clouds:
            for (place, name), foreign in cloud.foreign_keys().items():
                if name != bare(key) or not place or name in _GENERAL or foreign.key == HERE:
                    continue
                there = _POOL_OBJECT.sub("pools[]", place)
                kinds = {re.split(r"[.[]", each)[0] for each in (there, path)}
                if len(kinds) > 1 and kinds != {"cloud", "cluster"}:
                    continue  # an object of another kind
                if foreign.remedy.startswith("remove it") or " under `" in foreign.remedy:
                    return foreign.remedy
                if foreign.remedy:
                    return f"remove it here, and under `{there}` {foreign.remedy}"
                if f"{there}.{foreign.key}" == path:
                    return "take the key away, and write what it holds one level higher"
                of_the_file = foreign.key.split(".")[0] in self._types
                place = foreign.key if of_the_file else f"{there}.{foreign.key}"
                return move_it([place], self._types)
        return None

    @cached_property
    def _everywhere(self) -> list[str]:
        return [
            place
            for top, annotation in self._types.items()
            for model in models(annotation)
            for place in places_in(
                model, f"{top}[]." if get_origin(annotation) is tuple else f"{top}."
            )
        ]


def keys_here(known: Iterable[str]) -> str:
    """Return a remedy that names all keys of an object."""
    return f"keys here: {', '.join(known)}"


def in_its_place(key: str) -> str:
    """Return the remedy for a key that has another name here."""
    return f"write `{key}` in its place"


def _begins_as(key: str, known: Iterable[str]) -> str | None:
    """Return the known key that begins with the same letters, if there are many."""
    return next(
        (each for each in known if bare(each)[:_SAME_BEGINNING] == bare(key)[:_SAME_BEGINNING]),
        None,
    )


def _same(key: str, known: Iterable[str]) -> str | None:
    """Return the known key that differs in capitals, `_` and `-` alone."""
    return next((each for each in known if bare(each) == bare(key)), None)
