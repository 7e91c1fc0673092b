"""Settings that another resource of a program may make (`config.model.fields.Reference`).

Settings are checked before anything is declared. In a program that uses the component package
(`components.package`) a setting may be another resource's output. The checks read a text; resources
take the output, with its dependencies.

Each cloud lists its own references in its module `<cloud>_references`, by property path with `[]`
for any index. Beside each stands a well-formed text, which the checks read while the value is
unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

import pulumi

from components import clouds
from config.model.fields import Model, Reference

M = TypeVar("M", bound=Model)


def output(value: Reference | pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the output of a reference, or a plain value as a known output."""
    if not isinstance(value, Reference):
        return pulumi.Output.from_input(value)
    return pulumi.Output.from_input(value.text) if value.source is None else value.source


def with_references(spec: M, links: Mapping[tuple[str | int, ...], Reference]) -> M:
    """Return the settings with these references, each at a path of keys and indexes."""
    for path, link in links.items():
        spec = _with(spec, path, link)
    return spec


def _with(whole: Any, path: Sequence[str | int], link: Reference) -> Any:
    if not path:
        return link
    part, *rest = path
    if isinstance(whole, Model):
        name = next(name for name, field in type(whole).model_fields.items() if field.alias == part)
        return whole.model_copy(update={name: _with(getattr(whole, name), rest, link)})
    assert isinstance(part, int)
    return (*whole[:part], _with(whole[part], rest, link), *whole[part + 1 :])


NAME = "unknown-{0}"
"""A name that every cloud accepts; the number makes it unique."""


@cache
def all_clouds() -> Mapping[str, str]:
    """Return the references of all clouds. Equal paths have equal texts."""
    folders = [target.rpartition(".")[0] for target in clouds.TARGETS.values()]
    return {
        path: text
        for folder in folders
        for path, text in import_module(
            f"{folder}.{folder.rpartition('.')[2]}_references"
        ).REFERENCES.items()
    }
