"""Guesses at what a faulty list means, or a value in place of one."""

from __future__ import annotations

import re
from typing import Any, Protocol, get_args

from config.base.near import nearest
from config.base.problems import Problem, as_path
from config.model.fields import Model
from config.model.structure import by_key, holds_secret
from config.model.wrong_shape import not_a_list
from config.stack_file import list_shapes, shapes
from config.stack_file.written_out import flow


class Guesses(Protocol):
    """The guesses of a stack file (`mending.Mended`), as far as lists need them."""

    problems: list[Problem]
    written: dict[str, str]
    guessed: set[str]
    examples: dict[str, str]

    def as_written(self, path: str) -> str:
        """Return a path as the user spells it."""

    def value(self, value: Any, annotation: Any, path: str) -> Any:
        """Return the value with every guess made, for a place of this type."""

    def add(self, path: str, what: str, remedy: str) -> None:
        """Report a problem of a place in the program's spelling."""


_AS_TEXTS = "write `[{}]`; for names write one `- ...` a line, and the name behind a ` #`"


def read_list(mended: Guesses, value: Any, inner: Any, path: str) -> Any:
    form = shapes.structure(inner)
    model: type[Model] | None = form if isinstance(form, type) else None
    if isinstance(value, list):
        value, split, places = shapes.joined_entries(value, model, path)
        mended.problems += split
        mended.written |= places
        if model is None and (texts := list_shapes.addresses(value)):
            mended.add(path, "holds objects, not texts", _AS_TEXTS.format(", ".join(texts)))
            mended.written |= {
                f"{path}[{index}]": mended.as_written(path) for index in range(len(texts))
            }
            return texts
        return [mended.value(item, inner, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict) and model:
        return _items(mended, value, model, path)
    plain = model is None or (isinstance(value, str) and model.meant_by(value))
    if plain and isinstance(value, str | int | float) and not isinstance(value, bool):
        mended.add(path, *not_a_list(value, model=model))
        parts = re.split(r"\s*,\s*", value.strip()) if isinstance(value, str) else [value]
        mended.written |= {
            f"{path}[{index}]": mended.as_written(path) for index in range(len(parts))
        }
        return [mended.value(part, inner, f"{path}[{index}]") for index, part in enumerate(parts)]
    return value


def _items(mended: Guesses, value: dict[Any, Any], model: type[Model], path: str) -> list[Any]:
    """Read an object in place of a list: as its only item, or as several by their names."""
    fields = by_key(model)
    identity = next((key for key in ("name", "namespace", "pin") if key in fields), None)
    by_name = identity and all(isinstance(item, dict) for item in value.values())
    sure = by_name and len(value) > 1 and shapes.mostly_known(value.values(), fields)
    if not by_name or (not sure and any(nearest(str(key), fields) for key in value)):
        plain = [key for key in fields if key != identity]
        if identity and plain and not any(nearest(str(key), fields) for key in value):
            plainly = [pair for pair in value.items() if isinstance(pair[1], str | int)]
            first, item = next(iter([*plainly, *value.items()]), ("team-a", 1))
            others = "".join(f", {name}: ..." for name in plain[1:] if fields[name].is_required())
            if isinstance(item, str | int) and not holds_secret(model):
                pair = flow({identity: str(first), plain[0]: item})[:-1]
                what = not_a_list(value)[0]
                mended.add(path, what, f"write `- {pair}{others}}}`, one a line")
                return []
        what, remedy = not_a_list(value, mended.examples.get(path), model)
        steps, known, text = shapes.written_items(value, model)
        remedy = text or remedy
        if named := get_args(fields[identity].annotation) if identity else ():
            remedy += f"; {identity} is one of: {', '.join(named)}"
        mended.add(path, what, remedy)
        if not any(nearest(str(key), fields) for key in value):
            return []
        steps = steps if known else [value]
        for index in range(len(steps)):
            mended.written[f"{path}[{index}]"] = mended.as_written(path)
            mended.guessed.add(f"{path}[{index}]")
        return [mended.value(one, model, f"{path}[{i}]") for i, one in enumerate(steps)]
    first = next(iter(value), "t4")
    remedy = f"write each of them as `- {identity}: {first}`, its other keys below `{identity}`"
    mended.add(path, not_a_list(value)[0], remedy)
    items = []
    for index, (name, item) in enumerate(value.items()):
        mended.guessed.add(f"{path}[{index}]")
        mended.written[f"{path}[{index}]"] = mended.as_written(path) + as_path(str(name))
        items.append(mended.value({identity: str(name), **item}, model, f"{path}[{index}]"))
    return items
