"""The tables of docs/reference/stack-file.md: one for each object of the stack file, from the "
"models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from config.clouds import registry
from config.clouds.registry import Registration
from config.model.fields import Model
from config.model.structure import models
from config.reference import keys
from config.reference.keys import Section, other_clouds_keys
from config.reference.schema import Node
from config.reference.value_words import definitions, in_words, is_secret, resolved

_PLAIN = re.compile(r"[0-9]+[smh]|[A-Za-z_./<>@-][^:#{}\[\],&*!|>'\"%`]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null")
"""Texts that YAML reads as something else."""
_BEFORE_PROVIDER = re.compile(r"^/subscriptions/.*/providers/")
_SYSTEM_MACHINE = "Standard_D4ds_v5"
"""The example of a pool's machine has a GPU, which a system pool may not have."""
_EACH = re.compile(r"^(list|map): each ")
_FORM = re.compile(r", such as |, no |, (?=[/A-Z]|projects/)|: |; ")
"""What ends a form's short name."""
_NAMES = {
    "at most 63 letters, digits, -, _ and ., first and last a letter or digit": "a label's value",
    "a whole number with a unit of s, m or h, such as 30s, 5m or 24h (a day)": "a duration",
    "whole minutes of at most six digits, such as 10m": "whole minutes",
    "an Azure resource's whole id, /subscriptions/.../resourceGroups/.../providers/...; not its "
    'name or host (`az resource list --name NAME --query "[].id"` shows it)': "an Azure id",
}
"""Short names of forms that begin with what they may contain."""
_TIMES = 2
"""A form that stands so often is explained once, in the section Forms."""


def page() -> str:
    """Return the generated part of the page: a table for each top key, and one for the forms.

    An object has its keys in its parent's table, as `parent.key`; one that stands at several places
    has a table of its own.
    """
    forms: dict[str, int] = {}
    sections = [section for section in keys.sections() if is_root(section)]
    for section in sections:
        for _, _, info in fields(section):
            words = _EACH.sub("", _type(section, info))
            forms[words] = forms.get(words, 0) + 1
    often: list[str] = []
    for words in sorted(forms, key=lambda words: -forms[words]):
        named = words in _NAMES or _FORM.search(words)
        if forms[words] >= _TIMES and named and _short(words) not in map(_short, often):
            often.append(words)
    text = ["## Top keys", "", *_table(("key", "meaning"), _top_rows())]
    before: dict[tuple[str, ...], Section] = {}
    for section in sections:
        rows, same = [], []
        for field in fields(section):
            row = _row(section, *field, often)
            of = before.setdefault(_without_clouds(row), section)
            if of is section or of.paths != ["systemPool"] or section.paths != ["pools[]"]:
                rows.append(row)
            else:
                same.append(row[0])
        text += ["", f"## {heading(section)}", ""]
        text += [_summary(section.model), ""] if len(section.paths) > 1 else []
        text += _table(("key", "value", "meaning"), rows)
        if same:
            (system,) = (other for other in sections if other.paths == ["systemPool"])
            text += ["", f"As in [{heading(system)}](#{anchor(system)}): {', '.join(same)}."]
    rows = [[_short(words), words.removeprefix(_short(words)).lstrip(":,; ")] for words in often]
    text += ["", "## Forms", "", *_table(("in the tables", "means"), sorted(rows))]
    return "\n".join(text)


def _without_clouds(row: list[str]) -> tuple[str, ...]:
    """Return what a row says of a key, whatever other clouds have it."""
    return row[0], row[1], re.sub(r"^[A-Z, ]+ only\. ", "", row[2])


def is_root(section: Section) -> bool:
    """Return whether an object has a table of its own: a top key's, or one at several places."""
    return len(section.paths) > 1 or "." not in section.paths[0].removesuffix(_note(section))


def fields(section: Section, prefix: str = "") -> Iterator[tuple[str, type[Model], FieldInfo]]:
    """Yield the rows of a table: the key, dotted below the section, its object and its field."""
    for info in section.model.model_fields.values():
        yield f"{prefix}{info.alias}", section.model, info
        for inner in _sections(tuple(models(info.annotation))):
            if not is_root(inner):
                many = "[]" if inner.paths[0].removesuffix(_note(inner)).endswith("[]") else ""
                yield from fields(inner, f"{prefix}{info.alias}{many}.")


def heading(section: Section) -> str:
    """Return the title of an object's table: its places in the file, and its clouds if not all."""
    places = [*dict.fromkeys(path.removesuffix(_note(section)) for path in section.paths)]
    parents = {place.rpartition(".")[0] for place in places}
    shown = [f"{parents.pop()}.*"] if len(places) > 2 and len(parents) == 1 else places
    clouds = _all_clouds(section)
    return ", ".join(f"`{place}`" for place in shown) + (f" ({clouds})" if clouds else "")


def anchor(section: Section) -> str:
    """Return the fragment that leads to the table."""
    return re.sub(r"[^\w\- ]", "", heading(section).lower()).replace(" ", "-")


def _top_rows() -> Iterator[list[str]]:
    for key in keys.top_keys():
        links = [(_provider(section), anchor(section)) for section in _sections(key.models)]
        shown, meaning = f"`{key.name}`", key.meaning
        if len(links) == 1:
            shown = f"[{shown}](#{links[0][1]})"
            meaning = _together(meaning, _summary(key.models[0]))
        elif links:
            shown += " " + ", ".join(f"[{name}](#{to})" for name, to in links)
        yield [shown, meaning]


def _row(
    section: Section, key: str, model: type[Model], info: FieldInfo, often: list[str]
) -> list[str]:
    node = _node(model, info)
    (own,) = _sections((model,))
    clouds = _clouds(own, info)
    said = (_all_clouds(section), "" if model is section.model else _all_clouds(own))
    only = f"{clouds} only. " if clouds and clouds not in said else ""
    inner = _sections(tuple(models(info.annotation)))
    if inner:
        value = "list" if "array" in json.dumps(node) else ""
        if is_root(inner[0]):
            value = f"[object](#{anchor(inner[0])})"
    else:
        words = _type(section, info)
        base = _EACH.sub("", words)
        shown = words
        for form in often:
            shown = shown.replace(form, _short(form))
        value = _with_default(shown, info)
        if not _shows_itself(info, words):
            example = _yaml(_example(section, info, node))
            # What a plain word looks like stands in the section Forms.
            if base not in often or not re.fullmatch(r"[\w-]+", example):
                value = f"{value}, such as `{example}`".removeprefix("text, ")
    shown_key = f"**`{key}`**" if info.is_required() else f"`{key}`"
    meaning = info.description or ""
    if inner and not is_root(inner[0]):
        meaning = _together(meaning, _summary(inner[0].model))
    return [shown_key, value.replace(": each ", ": "), f"{only}{meaning}"]


def _together(description: str, summary: str) -> str:
    """Return what a field says; its object's longer first sentence where both say the same."""
    first, _, rest = description.partition(". ")
    words, others = (set(re.findall(r"[a-z]{4,}", text.lower())) for text in (first, summary))
    detail = "`" in first or ("order" in first and "order" not in summary)
    if detail or len(words & others) < min(len(words), len(others)) / 2:
        return description or summary
    return f"{summary} {rest}".strip() if len(summary) >= len(first) else description


def _with_default(words: str, info: FieldInfo) -> str:
    """Return the allowed values, the default in bold among them or after them."""
    if info.is_required() or info.default in (None, PydanticUndefined, (), {}):
        return words
    if isinstance(info.default, bool):
        return words.replace(_yaml(info.default), f"**{_yaml(info.default)}**")
    default = f"`{_yaml(info.default)}`"
    marked = re.sub(rf"(?<![\w`]){re.escape(default)}(?![\w`])", f"**{default}**", words, count=1)
    return marked if marked != words else f"{words}; **{default}**"


def _short(words: str) -> str:
    """Return the name of a form, without what it may contain."""
    found = _FORM.search(words)
    return _NAMES.get(words, words[: found.start()] if found else words)


def _shows_itself(info: FieldInfo, words: str) -> bool:
    """Return whether values or default show what to write."""
    default = not info.is_required() and info.default not in (None, PydanticUndefined, (), {})
    return bool(
        default
        or info.alias in ("reason", "name", "username", "server", "publicKey", "keyId")
        or re.search(r"^(list of )?`|^true|such as|^number|@|^a key of |an Azure res", words)
        or "such as" in str(info.description)
    )


def _node(model: type[Model], info: FieldInfo) -> Node:
    found: Node = definitions()[model.__name__]["properties"][str(info.alias)]
    return found


def _type(section: Section, info: FieldInfo) -> str:
    """Return the allowed values in words; empty for an object."""
    if tuple(models(info.annotation)):
        return ""
    (model,) = {model for _, model, field in fields(section) if field is info}
    words = in_words(_node(model, info))
    return re.sub(r"(list|map) of text: ", r"\1: each ", words).replace("text: ", "")


def _example(section: Section, info: FieldInfo, node: Node) -> Any:
    """Return a value to show: the field's example, else its default or least value."""
    if is_secret(node):
        return {"secure": "v1:..."}
    if section.paths == ["systemPool"] and info.alias == "machine":
        return _SYSTEM_MACHINE
    if info.examples:
        shown = info.examples[0]
        return _BEFORE_PROVIDER.sub(".../", shown) if isinstance(shown, str) else shown
    return resolved(node).get("minimum") if info.default is None else info.default


def _all_clouds(section: Section) -> str:
    """Return the titles of the clouds that have any key of an object; empty for all."""
    named = [_clouds(section, info) for info in section.model.model_fields.values()]
    if "" in named:
        return ""
    titles = [cloud.traits.title for cloud in registry.registrations()]
    having = {title for clouds in named for title in clouds.split(", ")}
    return "" if having == {*titles} else ", ".join(title for title in titles if title in having)


def _clouds(section: Section, info: FieldInfo) -> str:
    """Return the titles of the clouds that have the key; empty for all."""
    clouds = registry.registrations()
    own = [cloud for cloud in clouds if cloud.provider == _provider(section)]
    having = own or [cloud for cloud in clouds if _takes(cloud, section.model, info)]
    return "" if len(having) == len(clouds) else ", ".join(cloud.traits.title for cloud in having)


@cache
def _takes(cloud: Registration, model: type[Model], info: FieldInfo) -> bool:
    """Return whether a cloud has the key, at any of the places of its object."""
    without = "|".join(re.escape(_camel(key)) for key in other_clouds_keys(cloud))
    for inner in _sections(tuple(models(info.annotation))):
        fields = inner.model.model_fields.values()
        if not any(_takes(cloud, inner.model, field) for field in fields):
            return False
    (section,) = _sections((model,))
    return any(
        not re.search(rf"^(pools\[\]|systemPool)\.({without})(\W|$)", f"{place}.{info.alias}")
        for place in section.paths
        if cloud.traits.makes_pools or not place.startswith("systemPool")
    )


def _camel(path: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), path)


def _note(section: Section) -> str:
    match = re.search(r" \(\w+\)$", section.paths[0])
    return match[0] if match else ""


def _provider(section: Section) -> str:
    return _note(section).strip(" ()")


def _sections(of: tuple[type[Model], ...]) -> list[Section]:
    return [section for section in _all_sections() if section.model in of]


@cache
def _all_sections() -> list[Section]:
    return keys.sections()


def _summary(model: type[Model]) -> str:
    """Return the first paragraph of the docstring."""
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())


def _yaml(value: Any) -> str:
    """Return a value on one line, as one writes it in the stack file."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value not in _WORDS:
        return str(value)
    return json.dumps(value)


def _table(head: tuple[str, ...], rows: Iterable[list[str]]) -> list[str]:
    """Return the lines of a table without its empty columns."""
    columns = [column for column in zip(head, *rows, strict=True) if any(column[1:])]
    title, *lines = (
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
        for row in zip(*columns, strict=True)
    )
    return [title, f"|{'-|' * len(columns)}", *lines]
