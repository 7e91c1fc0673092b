"""Objects of another shape than the file's: wrong indentation, Kubernetes' own objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from config.base.near import bare, nearest
from config.base.problems import Problem, as_path
from config.model.fields import Model, alternatives
from config.model.structure import by_key, holds_secret, models
from config.model.wrong_shape import not_an_object, shown
from config.stack_file.hints import keys_here
from config.stack_file.list_shapes import STEPS, of_pairs, of_single_keys, of_words
from config.stack_file.written_out import (
    as_yaml,
    assignments,
    fits,
    flow,
    in_flow,
    inside,
    only_number,
)

Hint = Callable[[str, type[Model], str, Collection[str], Any], tuple[str, str | None]]
"""Key, model, path, the keys beside it and its value -> the remedy for an unknown key, and the
model's key that it means, or with / before it a path from the top."""


def without_hints(
    key: str, model: type[Model], path: str, beside: Collection[str], item: Any
) -> tuple[str, str | None]:
    """Return a `Hint` by likeness alone."""
    near = nearest(key, by_key(model))
    return (f"did you mean `{near}`?" if near else keys_here(by_key(model))), near


def reindented(
    value: dict[Any, Any], fields: Mapping[str, FieldInfo]
) -> tuple[dict[Any, Any], list[tuple[str, str, str]]]:
    """Return an object with the keys that are indented one level too deep or too little at their
    places; and of each its place in the file, the right one, and the remedy.
    """
    right, empty, shifted = dict(value), "", []
    for key, item in value.items():
        if key in fields:
            empty = key if item is None else ""
        elif empty and isinstance(key, str):
            model, free = next(models(fields[empty].annotation), None), _is_map(fields[empty])
            if key in by_key(model) if model else free:
                place = as_path(empty) + as_path(key)
                shifted.append((as_path(key), place, f"indent it below `{empty}`"))
                right[empty] = {**(right[empty] or {}), key: right.pop(key)}
        held = item if key in fields and _is_map(fields[key]) and isinstance(item, dict) else {}
        for name, one in held.items():
            if name not in fields or name in value or isinstance(one, str | None):
                continue
            if isinstance(one, dict | list) or fits(one, fields[name]):
                remedy = f"indent it as `{key}`, with what stands below it"
                shifted.append((as_path(key) + as_path(name), as_path(name), remedy))
                right[name] = one
                right[key] = {k: v for k, v in right[key].items() if k != name}
    return right, shifted


def _is_map(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is dict


_LONGEST = 200
"""Characters of a list that a remedy writes out."""


def written_items(
    value: dict[Any, Any], model: type[Model]
) -> tuple[list[dict[Any, Any]], bool, str]:
    """Return the items that an object in place of their list means, whether all its keys are known,
    and the remedy that writes them out; empty if a message cannot show them.
    """
    fields = by_key(model)
    needed = [] if model.one_key else [key for key in fields if fields[key].is_required()]
    known = all(key in fields for key in value) and all(key in value for key in needed)
    if not known:
        return [value], False, ""
    steps = [{key: one} for key, one in value.items()] if model.one_key else [value]
    steps = sorted(steps, key=lambda step: "onDemand" in step)
    last = (
        "; on demand is the last step" if model.one_key and next(iter(value)) == "onDemand" else ""
    )
    shown = [in_flow(step, model) for step in steps]
    texts = [text[1:-1] if model.one_key else text for text in shown if text]
    whole = len(texts) == len(steps) and len("".join(texts)) < _LONGEST
    if not whole:
        return steps, True, ""
    return steps, True, f"write {' and below it '.join(f'`- {t}`' for t in texts)}{last}"


def pairs(value: Any) -> list[tuple[Any, Any]]:
    """Return the keys and values of an object, or of the only one in a list; none of others."""
    only = value[0] if isinstance(value, list) and len(value) == 1 else value
    return list(only.items()) if isinstance(only, dict) else []


def mostly_known(objects: Iterable[Mapping[Any, Any]], known: Container[Any]) -> bool:
    """Return whether more than half of the keys of some objects are known."""
    keys = [key in known for each in objects for key in each]
    return sum(keys) * 2 > len(keys)


def match_labels(value: Any) -> dict[str, str] | None:
    """Return the labels of Kubernetes' `{matchLabels: {...}}`; None for others."""
    inner = value.get("matchLabels") if isinstance(value, dict) and len(value) == 1 else None
    texts = isinstance(inner, dict) and all(isinstance(one, str) for one in inner.values())
    return inner if texts else None


def meant_object(
    value: Any, model: type[Model], own_taints: Container[str], pool: Any
) -> tuple[str, str, dict[str, Any]] | None:
    """Return problem, remedy and meaning of a text, a number or a list of words in place of an
    object; None for others. `own_taints`: keys of taints that the program sets; `pool`: what has
    the object.
    """
    fields = by_key(model)
    if isinstance(value, list):
        if whole := of_single_keys(value, fields):
            return "is a list, not an object", "write its keys without `- ` before each", whole
        meant = of_pairs(value, fields) or of_words(value, model)
        what = "is a list, not an object"
        return (what, f"write `{in_flow(meant, model)}`", meant) if meant else None
    if isinstance(value, str) and (pairs := of_pairs(re.split(r"[,\s]+", value), fields)):
        return not_an_object(value, model)[0], f"write `{in_flow(pairs, model)}`", pairs
    if "onDemand" in fields and isinstance(value, str) and bare(value) == "ondemand":
        most = pool.get("maxNodes", 2) if isinstance(pool, dict) else 2
        step = {"onDemand": {"maxNodes": most}}
        what = f"is {shown(value)}, which is text and not an object"
        return what, f"write `{in_flow(step, None)}`", step
    if isinstance(value, str) and (meant := model.meant_by(value)):
        if "effect" in fields and meant.get("key") in own_taints:
            what = f"is {shown(value)}, a taint that the program sets itself"
            return what, "remove it", dict(meant)
        what = f"is {shown(value)}, which is text and not an object"
        shown_as = (in_flow(_with_needed(meant, model), None) or flow(meant)).replace(
            '"..."', "..."
        )
        return what, f"write `{shown_as}`; keys: {', '.join(fields)}", dict(meant)
    if (
        isinstance(value, str)
        and value in fields
        and bool in alternatives(fields[value].annotation)
    ):
        return not_an_object(value, model)[0], f"write `{{{value}: true}}`", {value: True}
    if isinstance(value, str) and not holds_secret(model):
        pair = re.fullmatch(r"(\w+)\s+([\w.-]+)", value)
        if pair and pair[1] in fields:
            what = f"is text, for a colon is missing after `{pair[1]}`"
            return what, f"write `{pair[1]}: {pair[2]}`", {pair[1]: yaml.safe_load(pair[2])}
        fitting = [key for key, each in fields.items() if fits(value, each)]
        plain = re.fullmatch(r"[\w.:/-]+", value) and not re.fullmatch(r"[a-z]+", value)
        needed = {key for key in fields if fields[key].is_required()}
        fitting = ["name"] if "name" in fitting and needed <= {"name"} else fitting
        if len(fitting) == 1 and plain:
            what = f"is {shown(value)}, which is text and not an object"
            return what, f"write `{{{fitting[0]}: {value}}}`", {fitting[0]: value}
        if assigned := assignments(value):
            lines = " and ".join(f"`{key}: {as_yaml(one)}`" for key, one in assigned.items())
            return "is text, for its lines have `=` in place of `:`", f"write {lines}", assigned
    if type(value) is int and (number := only_number(model)):
        return not_an_object(value, model)[0], f"write `{{{number}: {value}}}`", {number: value}
    return None


def _with_needed(meant: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """Return an object with `...` for each key that an object in it needs."""
    inner = {
        key: next(models(field.annotation), None)
        for key, field in by_key(model).items()
        if isinstance(meant.get(key), dict)
    }
    needed = {
        key: {name: "..." for name, field in by_key(found).items() if field.is_required()}
        for key, found in inner.items()
        if found
    }
    return {
        **meant,
        **{key: {**meant[key], **lacks, **meant[key]} for key, lacks in needed.items()},
    }


def joined_entries(
    value: list[Any], model: type[Model] | None, path: str
) -> tuple[list[Any], list[Problem], dict[str, str]]:
    """Return a list of pools with each entry that a dash too many cut off joined to the one above,
    the problems, and the places in the file of the entries that move.
    """
    fields = by_key(model) if model else {}
    if "machine" not in fields:
        return value, [], {}
    entries: list[Any] = []
    problems, places = [], {}
    for index, item in enumerate(value):
        above = entries[-1] if entries else None
        if isinstance(item, dict) and isinstance(above, dict) and {*item} in STEPS:
            what = "is a step of a `fallback`, and no pool"
            remedy = f"indent it below `fallback:` of {shown(above.get('name'))} above"
            problems.append(Problem(f"{path}[{index}]", what, remedy))
            steps = above.get("fallback") or []
            if isinstance(steps, list):
                places[f"{path}[{len(entries) - 1}].fallback[{len(steps)}]"] = f"{path}[{index}]"
                entries[-1] = {**above, "fallback": [*steps, item]}
            continue
        if (
            isinstance(item, dict)
            and isinstance(above, dict)
            and item.keys() <= fields.keys() - {"name", "machine"} - above.keys()
            and item
        ):
            what = "is an entry of its own, without `name` and `machine`"
            name = shown(above.get("name"))
            remedy = f"take away its `- `, and indent it as the other keys of {name} above"
            problems.append(Problem(f"{path}[{index}]", what, remedy))
            entries[-1] = {**above, **item}
            continue
        if len(entries) < index:
            places[f"{path}[{len(entries)}]"] = f"{path}[{index}]"
        entries.append(item)
    return entries, problems, places


def kubernetes_form(
    value: dict[Any, Any], fields: Mapping[str, FieldInfo], mended: Mapping[str, Any], dash: str
) -> tuple[str, dict[str, Any]]:
    """Return the remedy for an object of Kubernetes, and what it says to write here, after a `dash`
    in a list: what of it belongs here, as far as `mended` holds it.
    """
    form = {}
    for key, field in fields.items():
        item = mended.get(key, inside(value, key) or inside(value, key.removesuffix("s")))
        number = int in alternatives(field.annotation) and str(item).isdigit()
        item = int(item) if number else item
        if fits(item, field):
            form[key] = item
    remedy = f"write `{dash}{flow(form)}`" if form else keys_here(fields)
    own = "; its owner stays in Kubeflow's Profile, which you apply" * (value["kind"] == "Profile")
    return f"{remedy} in place of apiVersion, kind and what is beside them{own}", form


def object_at(settings: dict[str, Any], place: str) -> dict[Any, Any] | None:
    """Return the object at a place, made where it is missing; None if something else is there."""
    around: Any = settings
    for key in re.findall(r"[^.\[\]]+", place):
        if isinstance(around, list):
            around = around[int(key)] if key.isdecimal() and int(key) < len(around) else None
        elif isinstance(around, dict):
            around = around.setdefault(key, {}) if around is not settings else around.get(key)
    return around if isinstance(around, dict) else None


def structure(annotation: Any) -> Any:
    """Return an annotation's model or list type, if it has one."""
    if get_origin(annotation) is Annotated:
        return structure(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        several = [structure(inner) for inner in get_args(annotation) if inner is not type(None)]
        return several[0] if len(several) == 1 else None
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return annotation if get_origin(annotation) is tuple else None


def respelled(path: str, spelling: dict[str, str]) -> str:
    """Return the path with its longest known beginning replaced."""
    for end in range(len(path), 0, -1):
        if (end == len(path) or path[end] in ".[") and path[:end] in spelling:
            return spelling[path[:end]] + path[end:]
    return path
