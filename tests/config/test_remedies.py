"""Whoever writes what a remedy says is not refused for it."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from config.base.problems import Problem
from config.stack_file import loader
from tests.config.stack_files import ERRORS, edited, place_of, replaced, without
from tests.config.test_at_once import TOLD, switches
from tests.config.test_hints import HINTS
from tests.config.test_mistakes import MISTAKES
from tests.fuzz.corpus import Place

FILES = (
    [row.settings() for row in ERRORS]
    + [raw for raw, *_ in (*MISTAKES, *HINTS, *TOLD)]
    + [raw for raw, _ in switches()]
)

_KEY = re.compile(r"(?:write|did you mean|add) `([\w.]+)`(?! and)")
_SNIPPET = re.compile(r"(?:write|add|write for example) `(?:kubeflow-spot:)?([^`]+)`(?! and)")
_UNDER = re.compile(r"[^`]*`[^`]+` under `(?:kubeflow-spot:)?([\w.]+)`")
_NAME = re.compile(r"(?:one of:|did you mean|use|write) '?([A-Za-z][\w.-]*\d[\w.-]*|\w+(?=[?]|, without))(?!, \w+,)")
_BOUND = re.compile(r"(?:at most (-?\d+)|(-?\d+) or (?:more|less))$")
_OPEN = re.compile(r"\.\.\.|NAME|PROJECT|\bN\b|^- ")


def mended(raw: dict[str, Any], found: Problem) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield the file with the first way of the remedy, and the place written; nothing for mere advice."""
    remedy, place = found.remedy, place_of(found.path)
    value: Any = raw
    for part in place:
        try:
            value = value[part]
        except (KeyError, TypeError, IndexError):
            value = None
            break
    if remedy.startswith(("remove it", "leave it out")):
        if value is not None:
            yield without(raw, place), place
    elif remedy.startswith(("remove this", "remove the line")):
        index = max(number for number, part in enumerate(place) if isinstance(part, int))
        yield without(raw, place[: index + 1]), place[: index + 1]
    elif (key := _KEY.match(remedy)) and found.what.startswith("is not a") and value is not None:
        parts = key[1].split(".")
        if parts[0] not in loader.top_keys.EXAMPLES:
            new = (*place[:-1], *parts)
            yield replaced(without(raw, place), new, value), new
    elif (snippet := _SNIPPET.match(remedy)) and not _OPEN.search(snippet[1]):
        written = yaml.safe_load(snippet[1])
        if isinstance(written, dict) and not snippet[1].startswith("{"):
            path, content = next(iter(written.items()))
            parts = path.split(".")
            new = place if place[-1] == parts[-1] else (*place[:-1], *parts)
            if around := _UNDER.match(remedy):
                outer = around[1].split(".")
                base = () if outer[0] in loader.top_keys.EXAMPLES else place[:-1]
                new = (*base, *outer, *parts)
            drop = [found.path] if new != place and value is not None and "in its place" in remedy else []
            yield replaced(edited(raw, {}, drop), new, content), new
        elif ":" in snippet[1]:
            yield replaced(raw, place, written), place
    elif (bound := _BOUND.search(remedy)) and isinstance(value, int | float):
        yield replaced(raw, place, int(bound[1] or bound[2])), place
    elif name := _NAME.match(remedy):
        plain = isinstance(value, str) and "without quotes" not in remedy
        yield replaced(raw, place, name[1] if plain else yaml.safe_load(name[1])), place


def test_no_remedy_is_refused_by_the_next_check() -> None:
    tried, refused = 0, []
    for raw in FILES:
        before = [problem for problem in loader.read_stack(raw)[1] if not problem.warning]
        for found in before:
            for after, place in mended(raw, found):
                tried += 1
                left = [problem for problem in loader.read_stack(after)[1] if not problem.warning]
                new = [p for p in left if place_of(p.path)[: len(place)] == place and (p not in before or p == found)]
                refused += [f"{found}\n  => {problem}" for problem in new]

    assert refused == []
    assert tried > 150
