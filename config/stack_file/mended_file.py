"""The faulty objects of a stack file as they read when every remedy is followed.

A remedy is followed as its reader would, by its words. What comes of it is read again, and an
object without an error of its own is written out: one text to copy for several problems.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import yaml

from config.base.hiding import secret_in
from config.base.problems import Problem
from config.model.structure import by_key, holds_secret, models
from config.model.wording import NO_SUCH_SETTING, NOT_A_KEY

Read = Callable[[dict[str, Any]], Iterable[Problem]]
"""The settings of a file -> the errors in them."""

Place = tuple[str | int, ...]

_ROUNDS = 4
"""Readings in which remedies are followed: mending one mistake may show the next."""

_DEPTH_OF_A_KEY = 2
"""Parts of the place of a key in a top key's object, which remains when it is empty."""

_FEW = 2
"""Errors of an object that are read one by one, if each says what to write."""

_PART = re.compile(r'\[(\d+)\]|\["([^"]*)"\]|([^.\[\]]+)')
_SNIPPET = re.compile(r"`(?:[\w-]+:)?([\w.]+: [^`]+)`")
_SNIPPETS = re.compile(r"(?:write|add)(?: for example)? (`[^`]+`(?:(?:,| and|, and) `[^`]+`)*)")
_VALUE = re.compile(
    r"(?:[^;:`]*: )?(?:write(?: for example)?|did you mean|use|put it in quotes:|add a unit:)"
    r" [`']?(\"[^\"]*\"|\[[^`]*\]|\{[^`]*\}|[\w./+:-]*\w)[`']?(?=$|[?;,]| \()"
)
_OF_A_KEY = re.compile(
    r"is not a (key|setting) of|is no property of|is not a valid key|in the namespace|is a key without"
)
_KEY = re.compile(
    r"(?:write(?: for example)?|did you mean) `?(?:[\w-]+:)?([\w./-]*\w)`?(?=$|\?| in its)"
)
"""A remedy that is another key for the same value."""
_BOUND = re.compile(r"(-?\d+) or (?:more|less)$")
_UNDER = re.compile(r"[^`]* under `(?:[\w-]+:)?([\w.]+)`")
_CHOICE = re.compile(r"(?:,|;|`)? or (?!more|less)")
_OPEN = re.compile(r"\.\.\.|[A-Z]{3,}-?NAME|NAME|PROJECT|ADDRESS|<|\bID\b|\bN\b")
"""What a remedy leaves to its reader."""
_ONE_OF_SEVERAL = re.compile(
    r"for example|such as|did you mean|or (?:more|less)|with (?:yours?|what)\b"
)
_MORE = re.compile(r"(?:; |\band |: )(?:[^`;]*\b)?(?:write|add)\b[^`;]* `")
"""A further step of a remedy, which is not followed."""


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

    def __str__(self) -> str:
        notes = [
            f"{verb} {', '.join(names)}"
            for names, verb in ((self.examples, "an example:"), (self.left_out, "without"))
            if names
        ]
        with_notes = f" ({'; '.join(notes)})" if notes else ""
        return f"mended, {self.path} reads{with_notes}:\n{indent(self.text, '    ')}"


def mended_objects(
    raw: Mapping[str, Any],
    settings: Mapping[str, Any],
    types: Mapping[str, Any],
    prefix: str,
    errors: Sequence[Problem],
    read: Read,
) -> list[MendedObject]:
    """Return the faulty objects of `raw`, a file's settings with these `errors`, as they read when
    all are mended: each top key and pool whose errors do not show what to write by themselves.

    `settings` are those of `raw` with every key at its right place, as far as it is known.
    """
    mended = copy.deepcopy(dict(settings))
    examples: set[Place] = set()
    for each in errors:
        if each.what == NOT_A_KEY:
            follow(mended, each, examples, only_new=True)
    for place in [*_empty(mended)]:
        if value_in(raw, place) != {}:  # what stood in it has no place here
            _remove(mended, place)
    left = list(read(mended))
    for _ in range(_ROUNDS):
        # The last entry of a list first: removing one leaves the others at their places.
        if not [each for each in reversed(left) if follow(mended, each, examples)]:
            break
        left = list(read(mended))
    unclear = [place_of(each.path) for each in left]
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
            tuple(sorted({str(each[-1]) for each in examples if _in(each, place)})),
            tuple(
                str(place_of(each.path)[-1])
                for each in errors
                if each.remedy.startswith(NO_SUCH_SETTING) and _in(place_of(each.path), place)
            ),
        )
        for place in wanted
    )
    return [each for each in found if not secret_in(each.text)]


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
    if of_file is None:  # from elsewhere in the file, as it is or in another form
        same = (now in each if isinstance(each, list) else now == each for each in raw.values())
        return isinstance(now, dict) and bool(now) and not any(same)
    told = [each for each in errors if now and _in(place_of(each.path), place)]
    whole = bool(told) and not any(_MORE.search(each.remedy) for each in told)
    say = [any(form.search(each.remedy) for form in (_SNIPPET, _KEY, _VALUE)) for each in told]
    return whole and not leaves(now) <= leaves(of_file) and (len(told) > _FEW or not all(say))


def _in(inner: Place, place: Place) -> bool:
    return inner[: len(place)] == place


def place_of(path: str) -> Place:
    """Return the keys and indices of a path."""
    return tuple(
        int(index) if index else quoted or key for index, quoted, key in _PART.findall(path)
    )


def value_in(settings: Any, place: Place) -> Any:
    """Return the value at a place; None if there is none."""
    for part in place:
        if isinstance(settings, list) and isinstance(part, int) and part < len(settings):
            settings = settings[part]
        else:
            settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


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


def follow(
    settings: dict[str, Any], problem: Problem, examples: set[Place], only_new: bool = False
) -> bool:
    """Do what a remedy says, if it says one thing; return whether it does. `only_new`: leave what
    has a value as it is.
    """
    remedy, place = problem.remedy, place_of(problem.path)
    first = remedy.partition("; ")[0]
    if re.match(r"remove (it|them)(?!, or)|leave it out(?!, or)", first):
        return not only_new and _remove(settings, place)
    if _OPEN.search(first) or _CHOICE.search(first):
        return False
    wrong_key = not only_new and _OF_A_KEY.search(problem.what) is not None
    there = value_in(settings, place)
    if wrong_key and (key := _KEY.match(first)) and there is not None:
        _remove(settings, place)
        return _put(settings, (*place[:-1], *key[1].split(".")), there)
    written = list(_written(place, first, there, only_new or wrong_key))
    for where, value in written:
        if only_new and (
            value_in(settings, where) is not None or value_in(settings, where[:-1]) is None
        ):
            continue
        if not _put(settings, where, value):
            return False
        if _ONE_OF_SEVERAL.search(first):
            examples.add(where)
    if written and (wrong_key or " in place of `" in first):
        _remove(settings, place)
    return bool(written)


def _written(
    place: Place, remedy: str, there: Any, keys_alone: bool
) -> Iterator[tuple[Place, Any]]:
    """Yield the values that a remedy says to write, with their places; `keys_alone`: those that it
    names a key for.
    """
    if said := _SNIPPETS.match(remedy):
        around = _UNDER.match(remedy)
        for key, value in (pair for text in _SNIPPET.findall(said[1]) for pair in _pairs(text)):
            names = tuple(key.split("."))
            if around:
                outer = tuple(around[1].split("."))
                yield (*(outer if outer[0] == place[0] else (*place[:-1], *outer)), *names), value
            elif names[-1] == place[-1]:
                yield place, value
            elif isinstance(there, dict) and len(place) == 1:
                yield (*place, *names), value
            else:
                yield (*place[:-1], *names), value
        if _SNIPPET.search(said[1]):
            return
    if keys_alone:
        return
    if bound := _BOUND.search(remedy):
        yield place, int(bound[1])
    elif value := _VALUE.match(remedy):
        yield place, yaml.safe_load(value[1])


def _pairs(text: str) -> Iterator[tuple[str, Any]]:
    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        return
    yield from read.items() if isinstance(read, dict) else ()


def _remove(settings: dict[str, Any], place: Place) -> bool:
    around = value_in(settings, place[:-1])
    is_there = isinstance(around, dict) and place[-1] in around
    if isinstance(around, list) and isinstance(place[-1], int):
        is_there = place[-1] < len(around)
    if is_there:
        del around[place[-1]]
    if is_there and not around and len(place) > _DEPTH_OF_A_KEY:
        _remove(settings, place[:-1])
    return is_there


def _put(settings: dict[str, Any], place: Place, value: Any) -> bool:
    """Write a value at a place, with the objects around it."""
    around: Any = settings
    for part in place[:-1]:
        is_object = isinstance(around, dict)
        around = around.setdefault(part, {}) if is_object else value_in(around, (part,))
    fits = isinstance(around, dict) or value_in(around, place[-1:]) is not None
    if fits:
        around[place[-1]] = value
    return fits


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
