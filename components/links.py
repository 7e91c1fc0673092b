"""Settings that another resource makes: the text that the checks read, and the output that resources take instead.

The settings are checked as plain values before anything is declared. In a program that uses the component package
(`components.package`) a setting may be another resource's output. Such a text is a `Linked` in the settings: the checks and
comparisons see text, `components.resources` sends the output, with its dependencies, and unknown while it is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pulumi

from config.model.fields import Model

M = TypeVar("M", bound=Model)


class Linked(str):
    """A text with the output that it comes from. An f-string of it is plain text: use `output(...)` instead."""

    output: pulumi.Output[str]
    placeholder: bool
    """Whether the text is made up: the value is not known yet, and was not known at the last update."""

    def __new__(cls, text: str, output: pulumi.Output[str], *, placeholder: bool = False) -> Linked:
        linked = super().__new__(cls, text)
        linked.output, linked.placeholder = output, placeholder
        return linked


def output(text: pulumi.Input[str]) -> pulumi.Output[str]:
    """The output behind a text of the settings; that text where nothing is behind it."""
    return text.output if isinstance(text, Linked) else pulumi.Output.from_input(text)


def resolved(value: Any) -> Any:
    """Inputs of a resource with each linked text replaced by its output."""
    if isinstance(value, Linked):
        return value.output
    if isinstance(value, dict):
        return {key: resolved(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item) for item in value]
    return value


def is_placeholder(*texts: str | None) -> bool:
    """Whether one of the texts is made up, so that the cloud cannot be asked about it."""
    return any(isinstance(text, Linked) and text.placeholder for text in texts)


def put(spec: M, links: Mapping[tuple[str | int, ...], Linked]) -> M:
    """The settings with these texts in place of their plain ones, each at a path of keys and indexes."""
    for path, link in links.items():
        spec = _put(spec, path, link)
    return spec


def _put(whole: Any, path: Sequence[str | int], link: Linked) -> Any:
    if not path:
        return link
    part, *rest = path
    if isinstance(whole, Model):
        name = next(name for name, field in type(whole).model_fields.items() if field.alias == part)
        return whole.model_copy(update={name: _put(getattr(whole, name), rest, link)})
    assert isinstance(part, int)
    return (*whole[:part], _put(whole[part], rest, link), *whole[part + 1 :])
