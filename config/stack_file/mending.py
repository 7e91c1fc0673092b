"""Guesses at what a faulty value means, so that its content is checked too.

Each guess comes with a problem: nothing is accepted because it was guessed. Paths are in the
program's spelling; `Mended.written` has the user's.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from config.base.problems import MOST, Problem, as_path
from config.model.fields import Model, alternatives
from config.model.structure import by_key, field_at, models
from config.model.wording import NOT_A_KEY
from config.model.wrong_shape import not_an_object, shown
from config.stack_file import list_shapes, mended_lists, shapes
from config.stack_file.hints import HERE, in_its_place, keys_here
from config.stack_file.places import field_in, value_at
from config.stack_file.shapes import Hint, without_hints
from config.stack_file.written_out import (
    all_at_once,
    as_here,
    as_objects,
    as_yaml,
    fits,
    flow,
    in_flow,
    in_its_unit,
    keys_to_write,
    remove_double,
    taken_apart,
    with_values,
    without_what_is_there,
    written_out,
)

_LONGEST = 80
"""Characters of an object or list that a remedy shows."""


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
    file: Mapping[str, Any] = field(default_factory=dict)
    """The settings as the file has them."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """The types of the top keys."""
    places: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The right place of a wrong key, and the object above it that the file has already."""
    _moved: list[tuple[str, str, Any]] = field(default_factory=list)
    """What stands at a wrong place: the user's path, the right place, the value."""

    def as_written(self, path: str) -> str:
        """Return a path as the user spells it."""
        return shapes.respelled(path, self.written)

    def value(self, value: Any, annotation: Any, path: str) -> Any:
        """Return the value with every guess made, for a place of this type."""
        annotation = shapes.structure(annotation)
        if isinstance(annotation, type):
            return self._object(value, annotation, path)
        if get_origin(annotation) is tuple:
            return mended_lists.read_list(self, value, get_args(annotation)[0], path)
        if inner := shapes.match_labels(value):
            self.add(path, "has `matchLabels` around its labels", f"write `{flow(inner)}`")
        return inner or value

    def _object(self, value: Any, model: type[Model], path: str) -> Any:
        pool = value_at(self.file, path.partition(".")[0])
        if path == "cloud.fallback" and (first := list_shapes.chain_of(value, self.file)):
            what = "is a list of steps, which belong to a pool"
            names = ", ".join(name for _, name in first)
            remedy = f"move it, as `fallback`, below the pool that it is for: {names}"
            self._moved += [
                (self.as_written(path), f"pools[{index}].fallback", value) for index, _ in first
            ]
            self.add(path, what, remedy)
            return {}
        if meant := shapes.meant_object(value, model, self.own_taints, pool):
            what, remedy, found = meant
            self.add(path, what, remedy)
            self.guessed |= {path} | {path + as_path(key) for key in found}
            whole = self.as_written(path)
            self.written |= {path: whole} | {path + as_path(key): whole for key in found}
            return self._object(found, model, path)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            self.add(path, *not_an_object(value, model))
            self.guessed.add(path)
            self.written[path] = f"{self.as_written(path)}[0]"
            return self._object(value[0], model, path)
        if not isinstance(value, dict):
            return value
        fields, before = by_key(model), len(self.problems)
        value, shifted = shapes.reindented(value, fields)
        for where, place, remedy in shifted:
            deeper = len(where) < len(place)
            what = NOT_A_KEY if deeper else "is a key of the object around this one"
            self.add(path + where, what, remedy)
            self.written[path + place] = self.as_written(path + where)
        value, further = self._switches(value, fields, path)
        mended = {
            key: self.value(item, fields[key].annotation, path + as_path(key))
            for key, item in value.items()
            if key in fields
        }
        for switch, key, item in further:
            where = self.as_written(path + as_path(switch))
            self._unknown(str(key), item, model, path, mended, where)
        for key, item in value.items():
            if key == "gpus" and isinstance(mended.get(key), dict | list):
                remedy, _ = self.hint(key, model, path, mended, mended.pop(key))
                self._tell(path + as_path(key), remedy, path, "is an object, not a number")
                self.guessed.add(path)
            elif key not in fields:
                self._unknown(
                    str(key), item, model, path, mended, self.as_written(path), beside=value
                )
        if {"apiVersion", "kind"} <= value.keys() - fields.keys():
            del self.problems[before:]
            remedy, mended = shapes.kubernetes_form(
                value, fields, mended, "- " if path.endswith("]") else ""
            )
            self.add(path, f"is an object of Kubernetes ({shown(value['kind'])})", remedy)
            self.guessed.add(path)
        return mended

    def _switches(
        self, value: dict[Any, Any], fields: Mapping[str, FieldInfo], path: str
    ) -> tuple[dict[Any, Any], list[tuple[str, Any, Any]]]:
        """Return an object with true or false for each object `{enabled: true}` of another tool,
        and what else such an object has, with its key.
        """
        right, further = dict(value), []
        for key, item in value.items():
            kinds = set(alternatives(fields[key].annotation)) if key in fields else set()
            if bool not in kinds or len(kinds) > 1 or not isinstance(item, dict):
                continue
            if isinstance(item.get("enabled"), bool):
                right[key] = item["enabled"]
                remedy = f"write `{key}: {as_yaml(right[key])}`"
                self.add(path + as_path(key), "is an object, not true or false", remedy)
                further += [(key, name, one) for name, one in item.items() if name != "enabled"]
        return right, further

    def _unknown(
        self,
        key: str,
        item: Any,
        model: type[Model],
        path: str,
        mended: dict[Any, Any],
        user: str,
        beside: Collection[str] = (),
    ) -> None:
        """Report an unknown key, and read its value at the place that the key means, if any.

        `mended` is the object at `path`, `user` the user's path of the object that has the key,
        `beside` that object's keys, if it is the object at `path`.
        """
        where, meant = user + as_path(key), None
        if key.endswith("Ref") and isinstance(item, dict):
            item = item.get("name", item)
        if apart := taken_apart(key, by_key(model)):
            remedy, meant, item = apart
        elif len(self.problems) < MOST:
            near = beside or mended
            if isinstance(near, dict) and "." not in path:
                near = {**near, **mended}  # with what stood one level too deep
            remedy, meant = self.hint(key, model, path, near, item)
            remedy = without_what_is_there(with_values(remedy, item), near)
        else:  # a hint compares many names: none for a problem that no report shows
            remedy, meant = keys_here(by_key(model)), None
        field = field_at(model, meant) if meant and not meant.startswith("/") else None
        if meant == HERE:
            before = len(self.problems)
            self._take_out(item, model, path, mended, where)
            told = self.problems[before:]
            whole = all_at_once(item, {each.path: each.remedy for each in told}, where)
            self.problems[before:] = [
                Problem(where, NOT_A_KEY, whole or remedy),
                *told * (not whole),
            ]
            return
        if meant and meant.startswith("/"):
            self.elsewhere(where, meant[1:], item, remedy)
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
            within = around.get(name) or {}
            if not isinstance(within, dict):  # itself told
                self._tell(where, remedy, path)
                return
            around[name] = around = dict(within)
            place += as_path(name)
        place += as_path(last)
        item, remedy = self._with_value(where, meant, item, field, above, remedy)
        there = last in around
        if there and not (isinstance(item, dict) and isinstance(around[last], dict)):
            self._tell(where, remove_double(meant, around[last], item, field), path)
            return
        self._tell(where, f"write what it holds under `{meant}`" if there else remedy, path)
        self._put(around, last, item, field.annotation, place, where)

    def _take_out(
        self, item: Any, model: type[Model], path: str, mended: dict[Any, Any], where: str
    ) -> None:
        """Read what stands in an object that another tool has around its settings."""
        fields = by_key(model)
        for key, value in shapes.pairs(item):
            if key not in fields or (key in mended and mended[key] != value):
                self._unknown(str(key), value, model, path, mended, where)
            elif key not in mended:
                place = path + as_path(key)
                self._put(mended, key, value, fields[key].annotation, place, where)
                self.written[place] = where + as_path(key)

    def _with_value(
        self, where: str, meant: str, item: Any, field: FieldInfo, above: str, remedy: str
    ) -> tuple[Any, str]:
        """Return the value in our words, and the remedy with it, if that names the place alone."""
        counted = in_its_unit(item, where, meant, field)
        if counted is not None:
            self.places[where] = meant, above
            return counted, f"write {written_out(meant, as_yaml(counted), above)}"
        *outer, last = meant.split(".")
        under = f"write `{last}` under `{'.'.join(outer)}`"
        if remedy not in (in_its_place(meant), f"its place is `{meant}`", under):
            return item, remedy
        self.places[where] = meant, above
        item = as_objects(as_here(item, field), field)
        shown = in_flow(item, field.annotation) if item and isinstance(item, dict | list) else None
        if fits(item, field) or (shown and len(shown) <= _LONGEST):
            remedy = f"write {written_out(meant, shown or as_yaml(item), above)}"
        return item, remedy

    def elsewhere(
        self, where: str, place: str, item: Any, remedy: str, what: str = NOT_A_KEY
    ) -> None:
        """Report a key whose place is elsewhere in the file, and keep its value for there."""
        there, field = value_at(self.file, place), field_in(self.types, place)
        if there is not None and not (isinstance(there, dict) and isinstance(item, dict)):
            return self._tell(where, remove_double(place, there, item, field), "", what)
        top = place.split(".")[0]
        if field and item == field.default and isinstance(item, bool | int):
            remedy = f"remove it: {as_yaml(item)} is the default of `{place}`"
            return self._tell(where, remedy, "", what)
        if field:
            above = top if top in self.file else ""
            item, remedy = self._with_value(where, place, item, field, above, remedy)
        self._tell(where, remedy, "", what)
        if "` in place of `" in remedy:
            self.guessed.add(where.rpartition(".")[0])
        self._moved.append((where, place, item))

    def settle(self, settings: dict[str, Any]) -> None:
        """Read the values that stand at a wrong place at their right one."""
        for where, place, item in self._moved:  # reading one may find more
            top, *below = place.split(".")
            outer, _, last = place.rpartition(".")
            field = field_in(self.types, place)
            model = next(models(self.types[top]), None) if top in self.types else None
            if model and below and not any(f.is_required() for f in by_key(model).values()):
                settings.setdefault(top, {})
            around = shapes.object_at(settings, outer)
            if around is None or isinstance(around.get(last), str | list | int):
                continue
            annotation = field.annotation if field else self.types.get(place)
            self._put(around, last, item, annotation, place, where)

    def _put(
        self, around: dict[Any, Any], last: str, item: Any, annotation: Any, place: str, where: str
    ) -> None:
        """Read a value at the place that it means, beside what an object there has."""
        there, before = around.get(last), self.written.get(place)
        self.written[place] = where
        read = self.value(item, annotation, place)
        if isinstance(there, dict) and isinstance(read, dict):
            self.written.pop(place)
            self.written |= {place: before} if before else {}
            new = {name: one for name, one in read.items() if name not in there}
            self.written |= {place + as_path(name): where + as_path(name) for name in new}
            read = {**there, **new}
        around[last] = read

    def _tell(self, where: str, remedy: str, path: str, what: str = NOT_A_KEY) -> None:
        self.problems.append(Problem(where, what, remedy))
        if remedy.startswith("remove the whole entry"):
            self.guessed.add(path)
        self.told |= keys_to_write(remedy, path)

    def add(self, path: str, what: str, remedy: str) -> None:
        """Report a problem of a place in the program's spelling."""
        self.problems.append(Problem(self.as_written(path), what, remedy))
