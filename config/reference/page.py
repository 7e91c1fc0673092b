"""The tables of docs/stack-file.md: one for each object of the stack file, from the models."""

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
from config.model.fields import FORMS, Model
from config.model.wording import models
from config.reference import keys
from config.reference.keys import Section, other_clouds_keys
from config.reference.schema import Node, any_case, schema

_REQUIRED = {
    "release": "yes",
    "cloud": "yes",
    "cluster": "new clusters",
    "systemPool": "new clusters",
}
_PLAIN = re.compile(r"[0-9]+[smh]|[A-Za-z_./<>@-][^:#{}\[\],&*!|>'\"%`]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null")
"""Texts that YAML reads as something else."""


def page() -> str:
    """Return the generated part of the page."""
    text = ["## Top keys", "", *_table(("key", "type", "required", "meaning"), _top_rows())]
    for section in keys.sections():
        rows = [_row(section, info) for info in section.model.model_fields.values()]
        text += ["", f"## {heading(section)}", "", _summary(section.model), ""]
        text += _table(("key", "type", "default", "meaning", "example"), rows)
    return "\n".join(text)


def heading(section: Section) -> str:
    """Return the title of an object's table: its places in the file, and its clouds if not all."""
    places = [*dict.fromkeys(path.removesuffix(_note(section)) for path in section.paths)]
    parents = {place.rpartition(".")[0] for place in places}
    shown = [f"{parents.pop()}.*"] if len(places) > 2 and len(parents) == 1 else places
    clouds = {_clouds(section, info) for info in section.model.model_fields.values()}
    only = f" ({clouds.pop()})" if len(clouds) == 1 and clouds != {""} else ""
    return ", ".join(f"`{place}`" for place in shown) + only


def anchor(section: Section) -> str:
    """Return the fragment that leads to the table."""
    return re.sub(r"[^\w\- ]", "", heading(section).lower()).replace(" ", "-")


def _top_rows() -> Iterator[list[str]]:
    for key in keys.top_keys():
        links = [
            f"[{_provider(section) or 'object'}](#{anchor(section)})"
            for section in _sections(key.models)
        ]
        shown = " or ".join(links) or "text"
        required = _REQUIRED.get(key.name, "no")
        yield [f"`{key.name}`", f"list of {shown}" if key.many else shown, required, key.meaning]


def _row(section: Section, info: FieldInfo) -> list[str]:
    node = _definitions()[section.model.__name__]["properties"][str(info.alias)]
    clouds = _clouds(section, info)
    only = f"{clouds} only. " if clouds and not heading(section).endswith(f" ({clouds})") else ""
    return [
        f"`{info.alias}`",
        _type(info, node).removeprefix("text: "),
        _default(info),
        f"{only}{info.description}",
        "" if _shows_itself(info, node) else f"`{info.alias}: {_yaml(_shown(info, node))}`",
    ]


def _shows_itself(info: FieldInfo, node: Node) -> bool:
    """Return whether type or default show what to write: values, an example, a link to a table."""
    default = not info.is_required() and _default(info)
    return bool(default or re.search(r"^(list of )?(`|\[object)|such as", _type(info, node)))


def _type(info: FieldInfo, node: Node) -> str:
    """Return the allowed values in words; for an object, a link to its table."""
    inner = tuple(models(info.annotation))
    if inner:
        (section,) = _sections(inner)
        link = f"[object](#{anchor(section)})"
        return f"list of {link}" if "array" in json.dumps(node) else link
    return _words(node)


def _words(node: Any) -> str:
    if "allOf" in node or "$ref" in node:
        return _words(_resolved(node))
    if "anyOf" in node:
        if _secret(node):
            return "secret text"
        parts = [_words(part) for part in node["anyOf"] if part.get("type") != "null"]
        return " or ".join(dict.fromkeys(parts))
    if "enum" in node or "const" in node:
        return ", ".join(f"`{value}`" for value in node.get("enum", [node.get("const")]))
    kind = node.get("type")
    if kind == "array":
        return f"list of {_words(node['items'])}"
    if kind == "object":
        values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        return "map of " + next(
            (_words(value) for value in values if isinstance(value, dict)),
            "the provider's properties",
        )
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + _bounds(node)
    return "`true`, `false`" if kind == "boolean" else _text(node)


def _text(node: Node) -> str:
    forms = {any_case(pattern): words for pattern, words in FORMS.items()}
    shown = forms.get(node.get("pattern", ""))
    return f"text: {shown}" if shown else "text"


def _secret(node: Node) -> bool:
    forms = [form for part in node.get("anyOf", []) for form in (part, *part.get("anyOf", []))]
    return any("secure" in form.get("properties", {}) for form in forms)


def _bounds(node: Node) -> str:
    low, high = node.get("minimum", node.get("exclusiveMinimum")), node.get("maximum")
    if low is not None and high is not None:
        return f", {low:g} to {high:g}"
    if low is not None:
        return f", {low:g} or more" if "minimum" in node else f", more than {low:g}"
    return f", {high:g} or less" if high is not None else ""


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "**required**"
    if info.default in (None, PydanticUndefined, (), {}) or isinstance(info.default, Model):
        return ""
    return f"`{_yaml(info.default)}`"


def _shown(info: FieldInfo, node: Node) -> Any:
    """Return a value to show: the field's example, else its default or least value."""
    if _secret(node):
        return {"secure": "v1:..."}
    if info.examples:
        return info.examples[0]
    return _resolved(node).get("minimum") if info.default is None else info.default


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


@cache
def _definitions() -> Node:
    definitions: Node = schema()["definitions"]
    return definitions


def _resolved(node: Node) -> Node:
    """Return a node behind references, and the first of several forms."""
    reference = node.get("$ref") or node.get("allOf", [{}])[0].get("$ref")
    if reference:
        return _resolved(_definitions()[reference.rpartition("/")[2]])
    return _resolved(node["anyOf"][0]) if "anyOf" in node else node


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
    return [title, f"|{'---|' * len(columns)}", *lines]
