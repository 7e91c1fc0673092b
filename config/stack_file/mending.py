"""Guesses at what a faulty value means, so that its content is checked too.

Each guess comes with a problem: nothing is accepted because it was guessed. Paths are in the
program's spelling; `Mended.written` has the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from itertools import product
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from config.base.near import nearest
from config.base.problems import MOST, Problem, as_path
from config.model.fields import Model, alternatives
from config.model.structure import by_key, field_at, holds_secret
from config.model.wording import NOT_A_KEY, not_a_list, not_an_object, shown
from config.stack_file.hints import HERE, in_its_place, keys_here
from config.stack_file.written_out import as_here, fits, flow, taken_apart, with_values, written_out

Hint = Callable[[str, type[Model], str, Container[str]], tuple[str, str | None]]
"""Key, model, path and the keys beside it -> the remedy for an unknown key, and the model's key
that it means."""


def without_hints(
    key: str, model: type[Model], path: str, beside: Container[str]
) -> tuple[str, str | None]:
    """Return a `Hint` by likeness alone."""
    near = nearest(key, by_key(model))
    return (f"did you mean `{near}`?" if near else keys_here(by_key(model))), near


@dataclass
class Mended:
    """The guesses of a stack file."""

    problems: list[Problem] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    """The user's spelling of a path, by the program's."""
    guessed: set[str] = field(default_factory=set)
    """Objects that the user wrote in another form: what they lack is no problem of its own."""
    told: set[str] = field(default_factory=set)
    """Keys that the remedy for another key says to write: that they are missing is no news."""
    examples: dict[str, str] = field(default_factory=dict)
    """What to write in place of a wrong value, by path."""
    own_taints: Container[str] = ()
    """Keys of taints that the program sets on spot pools."""
    hint: Hint = without_hints

    def as_written(self, path: str) -> str:
        """Return a path as the user spells it."""
        return respelled(path, self.written)

    def value(self, value: Any, annotation: Any, path: str) -> Any:
        """Return the value with every guess made, for a place of this type."""
        annotation = _structure(annotation)
        if isinstance(annotation, type):
            return self._object(value, annotation, path)
        if get_origin(annotation) is tuple:
            return self._list(value, get_args(annotation)[0], path)
        if isinstance(value, dict) and [*value] == ["matchLabels"]:
            inner = value["matchLabels"]
            if isinstance(inner, dict) and all(isinstance(one, str) for one in inner.values()):
                self._add(path, "has `matchLabels` around its labels", f"write `{flow(inner)}`")
                return inner
        return value

    def _object(self, value: Any, model: type[Model], path: str) -> Any:
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            self._add(path, *not_an_object(value, model))
            self.guessed.add(path)
            self.written[path] = f"{self.as_written(path)}[0]"
            return self._object(value[0], model, path)
        meant = model.meant_by(value) if isinstance(value, str) else None
        if meant:
            fields_of = by_key(model)
            keys = ", ".join(fields_of)
            remedy = f"write `{flow(meant)}`; keys: {keys}"
            what = f"is {shown(value)}, which is text and not an object"
            if "effect" in fields_of and meant.get("key") in self.own_taints:
                what, remedy = (
                    f"is {shown(value)}, a taint that the program sets itself",
                    "remove it",
                )
            self._add(path, what, remedy)
            self.guessed.add(path)
            self.written |= {path + as_path(key): self.as_written(path) for key in meant}
            return meant
        if not isinstance(value, dict):
            return value
        fields = by_key(model)
        mended = {
            key: self.value(item, fields[key].annotation, path + as_path(key))
            for key, item in value.items()
            if key in fields
        }
        for key, item in value.items():
            if key not in fields:
                self._unknown(
                    str(key), item, model, path, mended, self.as_written(path), beside=value
                )
        return mended

    def _unknown(
        self,
        key: str,
        item: Any,
        model: type[Model],
        path: str,
        mended: dict[Any, Any],
        user: str,
        beside: Container[str] = (),
    ) -> None:
        """Report an unknown key, and read its value at the place that the key means, if any.

        `mended` is the object at `path`, `user` the user's path of the object that has the key,
        `beside` that object's keys, if it is the object at `path`.
        """
        where, meant = user + as_path(key), None
        if apart := taken_apart(key, by_key(model)):
            remedy, meant, item = apart
        elif len(self.problems) < MOST:
            remedy, meant = self.hint(key, model, path, beside or mended)
            remedy = with_values(remedy, item)
        else:  # a hint compares many names: none for a problem that no report shows
            remedy, meant = keys_here(by_key(model)), None
        field = field_at(model, meant) if meant else None
        if meant == HERE:
            self.problems.append(Problem(where, NOT_A_KEY, remedy))
            for inner, one in item.items() if isinstance(item, dict) else ():
                self._unknown(str(inner), one, model, path, mended, where)
            return
        if meant is None or field is None:
            self._tell(where, remedy, path)
            return
        if bool in alternatives(field.annotation) and isinstance(item, dict):
            item = item.get("enabled", item)  # a switch, to other tools an object
        *outer, last = meant.split(".")
        around, place, above = mended, path, ""
        for name in outer:
            above = above or (name if name in around else "")
            inside = around.get(name, {})
            if not isinstance(inside, dict):
                self._tell(where, f"remove it: `{name}` stands there already", path)
                return
            around[name] = around = dict(inside)
            place += as_path(name)
        place += as_path(last)
        if remedy == in_its_place(meant):
            item = as_here(item, field)
        if remedy == in_its_place(meant) and fits(item, field):
            remedy = f"write {written_out(meant, item, above)}"
        there = last in around
        if there and not (isinstance(item, dict) and isinstance(around[last], dict)):
            self._tell(where, f"remove it: `{meant}` stands there already", path)
            return
        if there:
            remedy = f"write what it holds under `{meant}`"
        self._tell(where, remedy, path)
        before = self.written.get(place)
        self.written[place] = where
        read = self.value(item, field.annotation, place)
        if there:
            # What the object had keeps its own place in the file.
            self.written.pop(place)
            self.written |= {place: before} if before else {}
            new = {name: one for name, one in read.items() if name not in around[last]}
            self.written |= {place + as_path(name): where + as_path(name) for name in new}
            read = {**around[last], **new}
        around[last] = read

    def _tell(self, where: str, remedy: str, path: str) -> None:
        self.problems.append(Problem(where, NOT_A_KEY, remedy))
        if not remedy.startswith("write"):
            return
        self.told |= {path + as_path(name) for name in re.findall(r"`(\w+)\b", remedy)}
        for name, inside in product(
            re.findall(r"`(\w+)`", remedy), re.findall(r"under `(\w+)`", remedy)
        ):
            self.told |= {f"{inside}.{name}", f"{path}.{inside}.{name}"}

    def _list(self, value: Any, inner: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self.value(item, inner, f"{path}[{index}]") for index, item in enumerate(value)]
        structure = _structure(inner)
        model: type[Model] | None = structure if isinstance(structure, type) else None
        if isinstance(value, dict) and model:
            return self._items(value, model, path)
        plain = model is None or (isinstance(value, str) and model.meant_by(value))
        if plain and isinstance(value, str | int | float) and not isinstance(value, bool):
            self._add(path, *not_a_list(value, model=model))
            self.written[f"{path}[0]"] = self.as_written(path)
            return [self.value(value, inner, f"{path}[0]")]
        return value

    def _items(self, value: dict[Any, Any], model: type[Model], path: str) -> list[Any]:
        """Read an object in place of a list: as its only item, or as several by their names."""
        fields = by_key(model)
        identity = next((key for key in ("name", "namespace", "pin") if key in fields), None)
        by_name = identity and all(isinstance(item, dict) for item in value.values())
        if not by_name or any(nearest(str(key), fields) for key in value):
            plain = [key for key in fields if key != identity]
            if identity and plain and not any(nearest(str(key), fields) for key in value):
                plainly = [pair for pair in value.items() if isinstance(pair[1], str | int)]
                first, item = next(iter([*plainly, *value.items()]), ("team-a", 1))
                others = "".join(
                    f", {name}: ..." for name in plain[1:] if fields[name].is_required()
                )
                if isinstance(item, str | int) and not holds_secret(model):
                    pair = flow({identity: str(first), plain[0]: item})[:-1]
                    what = not_a_list(value)[0]
                    self._add(path, what, f"write `- {pair}{others}}}`, one a line")
                    return []
            what, remedy = not_a_list(value, self.examples.get(path), model)
            if named := get_args(fields[identity].annotation) if identity else ():
                remedy += f"; {identity} is one of: {', '.join(named)}"
            self._add(path, what, remedy)
            if not any(nearest(str(key), fields) for key in value):
                return []
            self.written[f"{path}[0]"] = self.as_written(path)
            self.guessed.add(f"{path}[0]")
            return [self.value(value, model, f"{path}[0]")]
        first = next(iter(value), "t4")
        remedy = f"write each of them as `- {identity}: {first}`, its other keys below `{identity}`"
        self._add(path, not_a_list(value)[0], remedy)
        items = []
        for index, (name, item) in enumerate(value.items()):
            self.guessed.add(f"{path}[{index}]")
            self.written[f"{path}[{index}]"] = self.as_written(path) + as_path(str(name))
            items.append(self.value({identity: str(name), **item}, model, f"{path}[{index}]"))
        return items

    def _add(self, path: str, what: str, remedy: str) -> None:
        self.problems.append(Problem(self.as_written(path), what, remedy))


def respelled(path: str, spelling: dict[str, str]) -> str:
    """Return the path with its longest known beginning replaced."""
    for end in range(len(path), 0, -1):
        if (end == len(path) or path[end] in ".[") and path[:end] in spelling:
            return spelling[path[:end]] + path[end:]
    return path


def _structure(annotation: Any) -> Any:
    """Return an annotation's model or list type, if it has one."""
    if get_origin(annotation) is Annotated:
        return _structure(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        several = [_structure(inner) for inner in get_args(annotation) if inner is not type(None)]
        return several[0] if len(several) == 1 else None
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return annotation if get_origin(annotation) is tuple else None
