"""The reference in docs/stack-file.md: a table for each object of the stack file, in Markdown, generated from the models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
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

HEAD = ("key", "type", "default", "meaning", "example", "cloud")


def page() -> str:
    """The generated part of the page."""
    definitions = _definitions()
    text = ["## Top keys", "", *_table(_top_rows(), ("key", "type", "required", "meaning"))]
    for section in keys.sections():
        node = definitions[section.model.__name__]
        text += ["", f"## {heading(section)}", "", _summary(section.model), ""]
        text += _table(
            [_row(section, info, node) for info in section.model.model_fields.values()], HEAD
        )
    return "\n".join(text)


@cache
def _definitions() -> Node:
    definitions: Node = schema()["definitions"]
    return definitions


def heading(section: Section) -> str:
    """The title of an object's table: where it stands in the file."""
    places = [
        path.removesuffix(f" ({name})") for path in section.paths for name in [_provider(section)]
    ]
    shown = ", ".join(f"`{place}`" for place in dict.fromkeys(places))
    provider = _provider(section)
    return shown + (f" with provider {provider}" if provider else "")


def anchor(section: Section) -> str:
    """The fragment that leads to the table."""
    return re.sub(r"[^\w\- ]", "", heading(section).lower()).replace(" ", "-")


def _top_rows() -> Iterator[list[str]]:
    for key in keys.top_keys():
        links = [
            f"[{_provider(section) or 'object'}](#{anchor(section)})"
            for section in _sections(key.models)
        ]
        shown = " or ".join(links) or "text"
        required = {
            "release": "yes",
            "cloud": "yes",
            "cluster": "new clusters",
            "systemPool": "new clusters",
        }
        yield [
            f"`{key.name}`",
            f"list of {shown}" if key.many else shown,
            required.get(key.name, "no"),
            key.meaning,
        ]


def _row(section: Section, info: FieldInfo, definition: Node) -> list[str]:
    name = str(info.alias)
    node = definition["properties"][name]
    return [
        f"`{name}`",
        _type(info, node),
        _default(info),
        info.description or _inner_summary(info),
        _example(info, node),
        _clouds(section, info),
    ]


def _type(info: FieldInfo, node: Node) -> str:
    """Allowed values, in words; an object leads to its own table."""
    inner = list(models(info.annotation))
    if inner:
        (section,) = _sections(tuple(inner))
        link = f"[object](#{anchor(section)})"
        return f"list of {link}" if "array" in json.dumps(node) else link
    return _words(node)


def _secret(node: Node) -> bool:
    forms = [form for part in node.get("anyOf", []) for form in (part, *part.get("anyOf", []))]
    return any("secure" in form.get("properties", {}) for form in forms)


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
        return "map of " + next(_words(value) for value in values if isinstance(value, dict))
    if kind in ("integer", "number"):
        return ("whole number" if kind == "integer" else "number") + _bounds(node)
    return {"boolean": "`true`, `false`"}.get(str(kind)) or _text(node)


def _text(node: Node) -> str:
    shown = {any_case(pattern): words for pattern, words in FORMS.items()}.get(
        node.get("pattern", "")
    )
    return f"text: {shown}" if shown else "text"


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
    if info.default is None or info.default is PydanticUndefined:
        return ""
    if isinstance(info.default, Model):
        return ""
    value = [*info.default] if isinstance(info.default, tuple) else info.default
    return f"`{_yaml(value)}`"


def _example(info: FieldInfo, node: Node) -> str:
    return f"`{info.alias}: {_yaml(_shown(info, node))}`"


def _shown(info: FieldInfo, node: Node) -> Any:
    """A value to show: the field's example, else one that is not the default; of an object its required keys, or one key."""
    if _secret(node):
        return {"secure": "v1:..."}
    if info.examples:
        return info.examples[0]
    inner = next(models(info.annotation), None)
    if inner is None:
        plain = _resolved(node)
        if plain.get("type") == "boolean":
            return info.default is not True
        if plain.get("type") in ("integer", "number"):
            return plain.get("minimum") if info.default is None else info.default
        values = plain.get("enum") or plain.get("items", {}).get("enum") or [plain.get("const")]
        value = next((value for value in values if value != info.default), values[0])
        return [value] if "items" in plain else value
    properties = _definitions()[inner.__name__]["properties"]
    fields = list(inner.model_fields.values())
    some = [field for field in fields if field.is_required()] or fields[:1]
    value = {str(field.alias): _shown(field, properties[field.alias]) for field in some}
    return [value] if "array" in json.dumps(node) else value


def _resolved(node: Node) -> Node:
    """A node behind references, and the first of several forms."""
    reference = node.get("$ref") or node.get("allOf", [{}])[0].get("$ref")
    if reference:
        return _resolved(_definitions()[reference.rpartition("/")[2]])
    return _resolved(node["anyOf"][0]) if "anyOf" in node else node


def _clouds(section: Section, info: FieldInfo) -> str:
    provider = _provider(section)
    clouds = registry.registrations()
    if provider:
        return next(cloud.traits.title for cloud in clouds if cloud.provider == provider)
    titles = [cloud.traits.title for cloud in clouds if _takes(cloud, section, info)]
    return "all" if len(titles) == len(clouds) else ", ".join(titles)


def _takes(cloud: Registration, section: Section, info: FieldInfo) -> bool:
    """Whether a cloud has the key, at any of the places of its object."""
    without = "|".join(re.escape(_camel(key)) for key in other_clouds_keys(cloud))
    for inner in _sections(tuple(models(info.annotation))):
        if not any(_takes(cloud, inner, field) for field in inner.model.model_fields.values()):
            return False
    return any(
        not re.search(rf"^(pools\[\]|systemPool)\.({without})(\W|$)", f"{place}.{info.alias}")
        for place in section.paths
        if cloud.traits.makes_pools or not place.startswith("systemPool")
    )


def _camel(path: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), path)


def _provider(section: Section) -> str:
    match = re.search(r" \((\w+)\)$", section.paths[0])
    return match[1] if match else ""


def _sections(of: tuple[type[Model], ...]) -> list[Section]:
    return [section for section in keys.sections() if section.model in of]


def _summary(model: type[Model]) -> str:
    """The docstring's first paragraph."""
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())


def _inner_summary(info: FieldInfo) -> str:
    inner = next(models(info.annotation), None)
    return _summary(inner).rstrip(".") if inner else ""


def _yaml(value: Any) -> str:
    """A value as one writes it in the stack file, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value not in _WORDS else json.dumps(value)
    return json.dumps(value)


_PLAIN = re.compile(r"[0-9]+[smh]|[A-Za-z_./<>@-][^:#{}\[\],&*!|>'\"%`]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null")
"""Texts that YAML reads as something else."""


def _table(rows: Any, head: tuple[str, ...]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]
