"""The faulty objects of a stack file as they read when every remedy is followed.

What comes of the remedies (`followed_remedies`) is read again, and an object without an error of
its own is written out: one text to copy for several problems.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any

import yaml

from config.base.hiding import secret_in
from config.base.problems import Problem
from config.model.structure import by_key, holds_secret, models
from config.model.wording import NO_SUCH_SETTING, NOT_A_KEY, OF_AN_EXAMPLE
from config.stack_file.followed_remedies import (
    KEY,
    SNIPPET,
    VALUE,
    Place,
    follow,
    leaves_open,
    place_of,
    remove,
    unfollowed,
    value_in,
)

Read = Callable[[dict[str, Any]], Iterable[Problem]]
"""The settings of a file -> the errors in them."""

_ROUNDS = 4
"""Readings in which remedies are followed: mending one mistake may show the next."""

_FEW = 1
"""Errors of an object that are read one by one, if each says what to write."""


@dataclass(frozen=True)
class MendedObject:
    """An object of a file with all its mistakes mended."""

    path: str
    text: str
    """As YAML."""
    examples: tuple[str, ...] = ()
    """Keys whose value is one of several that are right."""
    left_out: tuple[str, ...] = ()
    """Keys of the file that mean nothing here."""
    name: str = ""
    """What a message calls a pool."""

    def __str__(self) -> str:
        notes = [
            f"{verb} {', '.join(names)}"
            for names, verb in ((self.examples, "an example:"), (self.left_out, "without"))
            if names
        ]
        with_notes = f" ({'; '.join(notes)})" if notes else ""
        subject = self.name or self.path
        verb = "read" if " and " in subject else "reads"
        return f"mended, {subject} {verb}{with_notes}:\n{indent(self.text, '    ')}"


@dataclass(frozen=True)
class MendedFile:
    """What a faulty file reads when its mistakes are mended."""

    objects: tuple[MendedObject, ...] = ()
    further: tuple[Problem, ...] = ()
    """Problems that only show in what is mended."""


def mended_file(
    raw: Mapping[str, Any],
    settings: Mapping[str, Any],
    types: Mapping[str, Any],
    prefix: str,
    errors: Sequence[Problem],
    read: Read,
) -> MendedFile:
    """Return the faulty objects of `raw`, a file's settings with these `errors`, as they read when
    all are mended: each top key and pool whose errors do not show what to write by themselves; and
    the problems that are left, as far as no error speaks of their place.

    `settings` are those of `raw` with every key at its right place, as far as it is known.
    """
    mended = copy.deepcopy(dict(settings))
    examples: set[Place] = set()
    for each in reversed(errors):  # the last entry of a list first, see below
        if each.what == NOT_A_KEY or "; a pool has one machine: " in each.remedy:
            follow(mended, each, examples, only_new=True)
        elif each.what.startswith(f"{NOT_A_KEY}, and is "):
            follow(mended, each, examples)  # its value is wrong as well
        elif each.remedy == "remove it":
            remove(mended, place_of(each.path))
    for place in [*_empty(mended)]:
        if value_in(raw, place) != {}:  # what stood in it has no place here
            remove(mended, place)
    left = list(read(mended))
    for _ in range(_ROUNDS):
        # The last entry of a list first: removing one leaves the others at their places.
        if not [each for each in reversed(left) if follow(mended, each, examples)]:
            break
        left = list(read(mended))
    unclear = [place_of(each.path) for each in left if not _of_an_example(each)]
    unclear += [place_of(p.path) for p in errors if p.what == NOT_A_KEY and leaves_open(p)]
    right = [
        place
        for place in _objects(mended)
        if not any(_in(each, place) for each in unclear)
        and not holds_secret(types.get(str(place[0])))
    ]
    moved = [place for place in right if len(place) == 1 and place[0] not in raw]
    wanted = [
        place
        for place in right
        if (len(moved) > 1 and place in moved) or _says_more(place, raw, mended, examples, errors)
    ]
    pools = [place for place in wanted if len(place) > 1]
    if len(pools) > 1 and len(pools) == len(mended["pools"]):
        wanted = [place for place in wanted if place not in pools] + [("pools",)]
    found = (
        MendedObject(
            str(place[0]) + "".join(f"[{index}]" for index in place[1:]),
            _as_yaml(place, value_in(mended, place), types, prefix),
            tuple(sorted({_key(each) for each in examples if _in(each, place)})),
            tuple(
                str(place_of(each.path)[-1])
                for each in errors
                if each.remedy.startswith(NO_SUCH_SETTING) and _in(place_of(each.path), place)
            ),
            f'pool "{value_in(mended, place).get("name")}"' if len(place) > 1 else "",
        )
        for place in wanted
    )
    known = [place_of(each.path) for each in errors]
    further = tuple(_further(left, known, examples, settings, mended))
    return MendedFile(
        _together([each for each in found if not secret_in(each.text)], types), further
    )


def _together(found: list[MendedObject], types: Iterable[str]) -> tuple[MendedObject, ...]:
    """Return the objects in their usual order, several top keys as one text."""
    usual = [*types]
    tops = [each for each in found if not each.name]
    tops.sort(key=lambda each: usual.index(each.path) if each.path in usual else len(usual))
    if len(tops) > 1:
        whole = MendedObject(
            tops[0].path,
            "\n".join(each.text for each in tops),
            tuple(key for each in tops for key in each.examples),
            tuple(key for each in tops for key in each.left_out),
            ", ".join(each.path for each in tops[:-1]) + f" and {tops[-1].path}",
        )
        return (whole, *(each for each in found if each.name))
    return tuple(found)


def _further(
    left: Iterable[Problem],
    known: Sequence[Place],
    examples: set[Place],
    settings: Mapping[str, Any],
    mended: Mapping[str, Any],
) -> Iterator[Problem]:
    """Yield the problems that are left of values in `settings`, where no error and no example of
    ours is. `mended`: the settings when the errors are mended.
    """
    renamed = {
        value_in(settings, place): value_in(mended, place)
        for place in examples
        if place[-1] == "name" and isinstance(value_in(settings, place), str)
    }
    for each in left:
        place = place_of(each.path)
        of_an_error = any(_in(place, one) or _in(one, place) for one in known)
        of_ours = any(_in(place, one) for one in examples) or value_in(settings, place) is None
        if _of_an_example(each):
            yield each
        elif place[-1:] == ("pool",) and (old := f"{value_in(settings, place)}") in renamed:
            remedy = f"write `pool: {renamed[old]}`"
            yield replace(each, what=f"names {old!r}, which gets another name", remedy=remedy)
        elif not of_an_error and not of_ours:
            yield replace(each, what=f"when the others are mended: {each.what}")


def _says_more(
    place: Place,
    raw: Mapping[str, Any],
    settings: Mapping[str, Any],
    examples: set[Place],
    errors: Sequence[Problem],
) -> bool:
    """Return whether an object shows what its errors, read one by one, do not."""
    if any(_in(place, each) for each in examples):
        return False  # all of it is the example that the remedy shows
    now, of_file = value_in(settings, place), value_in(raw, place)
    same = (now in each if isinstance(each, list) else now == each for each in raw.values())
    if of_file is None:  # from elsewhere in the file, as it is or in another form
        shown = (f"{place[0]}: {{" in each.remedy for each in errors)
        return isinstance(now, dict) and bool(now) and not any(same) and not any(shown)
    told = [each for each in errors if now and _in(place_of(each.path), place)]
    changed = not leaves(now) <= leaves(of_file)
    if not told:  # something from elsewhere belongs to it
        return bool(now) and changed and not any(same)
    whole = not any(unfollowed(each.remedy) for each in told)
    say = [any(form.search(each.remedy) for form in (SNIPPET, KEY, VALUE)) for each in told]
    more = (
        len(told) > _FEW
        or not all(say)
        or any("a pool has one machine" in each.remedy for each in told)
    )
    return whole and changed and more


def _of_an_example(problem: Problem) -> bool:
    """Return whether a value is right but for its being an example's."""
    return problem.what.startswith("has ") and problem.what.endswith(OF_AN_EXAMPLE)


def _key(place: Place) -> str:
    """Return the last key of a place."""
    return next(each for each in reversed(place) if isinstance(each, str))


def _in(inner: Place, place: Place) -> bool:
    return inner[: len(place)] == place


def _objects(settings: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the places of the top keys, and of the entries of `pools`."""
    for key, value in settings.items():
        if key == "pools" and isinstance(value, list):
            yield from ((key, index) for index in range(len(value)))
        else:
            yield (key,)


def leaves(value: Any, place: Place = ()) -> set[tuple[Place, str]]:
    """Return the plain values in a value, each with its place."""
    inside = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    if not inside:
        return {(place, repr(value))}
    return {leaf for key, item in inside for leaf in leaves(item, (*place, key))}


def _empty(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the places of empty objects inside of objects."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if item == {} and place:
            yield (*place, key)
        yield from _empty(item, (*place, key))


def _as_yaml(place: Place, value: Any, types: Mapping[str, Any], prefix: str) -> str:
    """Return an object as YAML, its keys in the order of the reference."""
    model = next(models(types.get(str(place[0]))), None)
    entries = value if isinstance(value, list) else [value]
    for number, entry in enumerate(entries):
        if model and isinstance(entry, dict):
            entries[number] = {key: entry[key] for key in by_key(model) if key in entry}
    shown = entries if isinstance(value, list) or len(place) > 1 else entries[0]
    whole = shown if len(place) > 1 else {f"{prefix}{place[0]}": shown}
    flow = None if isinstance(shown, dict | list) else False
    return yaml.dump(
        whole, Dumper=_Dumper, sort_keys=False, default_flow_style=flow, width=_WIDE
    ).rstrip()


_WIDE = 1000
_SHORT = 3
"""Keys of an object that stands in one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_mapping(
        self, tag: str, mapping: Any, flow_style: bool | None = None
    ) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        node.flow_style = node.flow_style and len(mapping) <= _SHORT
        return node
