"""A remedy followed as its reader would, by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from config.base.problems import Problem

Place = tuple[str | int, ...]

_DEPTH_OF_A_KEY = 2
"""Parts of the place of a key in a top key's object, which remains when it is empty."""

_PART = re.compile(r'\[(\d+)\]|\["([^"]*)"\]|([^.\[\]]+)')
SNIPPET = re.compile(r"`(?:[\w-]+:)?([\w.]+: [^`]+)`")
_SNIPPETS = re.compile(r"(?:write|add)(?: for example)? (`[^`]+`(?:(?:,| and|, and) `[^`]+`)*)")
VALUE = re.compile(
    r"(?:[^;:`]*: )?(?:write(?: for example)?|did you mean|use|put it in quotes:|add a unit:)"
    r" [`']?(\"[^\"]*\"|\[[^`]*\]|\{[^`]*\}|[\w./+:-]*\w)[`']?(?=$|[?;,]| \()"
)
_OF_A_KEY = re.compile(
    r"is not a (key|setting) of|is no property of|is one key|is not a valid key|in the namespace|is a key without"
)
KEY = re.compile(
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
_AND_REMOVED = re.compile(r"remove it(?: here)?, and (?=write `[^`]+` under)")
_NEW_POOLS = re.compile(r"add ((?:`- \{[^`]*\}`(?: and )?)+) below")
_NEW_STEPS = re.compile(
    r", and ((?:`- pool: [\w-]+`(?: and )?)+) first under this pool's `fallback`"
)
_MORE = re.compile(r"(?:; |\band |: )(?:[^`;]*\b)?(?:write|add)\b[^`;]* `")
"""A further step of a remedy."""


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


def follow(
    settings: dict[str, Any], problem: Problem, examples: set[Place], only_new: bool = False
) -> bool:
    """Do what a remedy says, if it says one thing; return whether it does. `only_new`: leave what
    has a value as it is.
    """
    remedy, place = _AND_REMOVED.sub("", problem.remedy), place_of(problem.path)
    _add_pools(settings, place, remedy)
    first = remedy.partition("; ")[0]
    if re.match(r"remove (it|them)(?!, or)|leave it out(?!, or)", first):
        return not only_new and remove(settings, place)
    if _OPEN.search(first) or _CHOICE.search(first):
        return False
    wrong_key = not only_new and _OF_A_KEY.search(problem.what) is not None
    there = value_in(settings, place)
    if wrong_key and (key := KEY.match(first)) and there is not None:
        remove(settings, place)
        return _put(settings, (*place[:-1], *key[1].split(".")), there)
    written = list(_written(place, first, there, only_new or wrong_key))
    for where, value in written:
        before = value_in(settings, where)
        if where[-1] == "fallback" and isinstance(before, list) and isinstance(value, list):
            value = [*before, *(step for step in value if [*step] not in map(list, before))]
        if only_new and isinstance(before, dict) and isinstance(value, dict):
            value = {**value, **before}
        elif only_new and (before is not None or value_in(settings, where[:-1]) is None):
            continue
        if not _put(settings, where, value):
            return False
        if _ONE_OF_SEVERAL.search(first):
            examples.add(where)
    if written and (wrong_key or " in place of `" in first):
        remove(settings, place)
    return bool(written)


def leaves_open(problem: Problem) -> bool:
    """Return whether a remedy for a wrong key is a choice, or wants something of its reader."""
    first = problem.remedy.partition("; ")[0]
    kept = KEY.match(first) or re.match(r"remove|its place is", first)
    return not kept and (_OPEN.search(first) or _CHOICE.search(first)) is not None


def unfollowed(remedy: str) -> bool:
    """Return whether a remedy has a further step that is not followed."""
    for form in (_AND_REMOVED, _NEW_POOLS, _NEW_STEPS):
        remedy = form.sub("", remedy)
    return _MORE.search(remedy) is not None


def _add_pools(settings: dict[str, Any], place: Place, remedy: str) -> None:
    """Add the pools that the remedy for a key of a pool adds, and the steps to them."""
    found, steps, pools = (
        _NEW_POOLS.search(remedy),
        _NEW_STEPS.search(remedy),
        settings.get("pools"),
    )
    if not found or place[0] != "pools" or not isinstance(pools, list):
        return
    names = [each.get("name") for each in pools if isinstance(each, dict)]
    added = [dict(_pairs(text)) for text in re.findall(r"`- ([^`]+)`", found[1])]
    pools += [each for each in added if each.get("name") not in names]
    pool = value_in(settings, place[:2])
    after = (pool.get("fallback") or []) if isinstance(pool, dict) else None
    if steps and isinstance(pool, dict) and isinstance(after, list):
        first = [dict(_pairs(text)) for text in re.findall(r"`- ([^`]+)`", steps[1])]
        pool["fallback"] = [*(step for step in first if step not in after), *after]


def _written(
    place: Place, remedy: str, there: Any, keys_alone: bool
) -> Iterator[tuple[Place, Any]]:
    """Yield the values that a remedy says to write, with their places; `keys_alone`: those that it
    names a key for.
    """
    if said := _SNIPPETS.match(remedy):
        around = _UNDER.match(remedy, said.end())
        for key, value in (pair for text in SNIPPET.findall(said[1]) for pair in _pairs(text)):
            names = tuple(str(key).split("."))
            if around:
                outer = tuple(around[1].split("."))
                yield (*(outer if outer[0] == place[0] else (*place[:-1], *outer)), *names), value
            elif names[-1] == place[-1]:
                yield place, value
            elif isinstance(there, dict) and len(place) == 1:
                yield (*place, *names), value
            else:
                yield (*place[:-1], *names), value
        if SNIPPET.search(said[1]):
            return
    if keys_alone:
        return
    if bound := _BOUND.search(remedy):
        yield place, int(bound[1])
    elif value := VALUE.match(remedy):
        yield place, yaml.safe_load(value[1])


def _pairs(text: str) -> Iterator[tuple[str, Any]]:
    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        return
    yield from read.items() if isinstance(read, dict) else ()


def remove(settings: dict[str, Any], place: Place) -> bool:
    around = value_in(settings, place[:-1])
    is_there = isinstance(around, dict) and place[-1] in around
    if isinstance(around, list) and isinstance(place[-1], int):
        is_there = place[-1] < len(around)
    if is_there:
        del around[place[-1]]
    if is_there and not around and len(place) > _DEPTH_OF_A_KEY:
        remove(settings, place[:-1])
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
