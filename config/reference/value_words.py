"""What a node of the JSON Schema takes, in words."""

from __future__ import annotations

from functools import cache
from typing import Any

from config.model.fields import FORMS
from config.reference.schema import Node, any_case, schema


def in_words(node: Any) -> str:
    """Return the allowed values of a node of the schema in words."""
    if "allOf" in node or "$ref" in node:
        return in_words(resolved(node))
    if "anyOf" in node:
        if is_secret(node):
            return "secret text"
        parts = [in_words(part) for part in node["anyOf"] if part.get("type") != "null"]
        return " or ".join(dict.fromkeys(parts))
    if "enum" in node or "const" in node:
        return ", ".join(f"`{value}`" for value in node.get("enum", [node.get("const")]))
    kind = node.get("type")
    if kind == "array":
        return f"list of {in_words(node['items'])}"
    if kind == "object":
        values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        return "map of " + next(
            (in_words(value) for value in values if isinstance(value, dict)),
            "the provider's own",
        )
    if kind in ("integer", "number"):
        return ("number" if kind == "integer" else "decimal number") + _bounds(node)
    return "true, false" if kind == "boolean" else _text(node)


def _text(node: Node) -> str:
    forms = {any_case(pattern): words for pattern, words in FORMS.items()}
    shown = forms.get(node.get("pattern", ""))
    return f"text: {shown}" if shown else "text"


def is_secret(node: Node) -> bool:
    """Return whether a node takes `secure: ...`."""
    forms = [form for part in node.get("anyOf", []) for form in (part, *part.get("anyOf", []))]
    return any("secure" in form.get("properties", {}) for form in forms)


def _bounds(node: Node) -> str:
    low, high = node.get("minimum", node.get("exclusiveMinimum")), node.get("maximum")
    if low is not None and high is not None:
        return f" {low:g} to {high:g}"
    if low is not None:
        return f" ≥ {low:g}" if "minimum" in node else f" > {low:g}"
    return f" ≤ {high:g}" if high is not None else ""


@cache
def definitions() -> Node:
    """Return the objects of the schema, by the names of their models."""
    definitions: Node = schema()["definitions"]
    return definitions


def resolved(node: Node) -> Node:
    """Return a node behind references, and the first of several forms."""
    reference = node.get("$ref") or node.get("allOf", [{}])[0].get("$ref")
    if reference:
        return resolved(definitions()[reference.rpartition("/")[2]])
    return resolved(node["anyOf"][0]) if "anyOf" in node else node
