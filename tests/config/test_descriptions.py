"""Every key of a stack file is described, with an example where its type does not show what to write."""

from __future__ import annotations

import types
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

from config.clouds import registry
from config.model.fields import Model
from config.model.release import Overridden, Override, Release
from config.model.spec import ClusterSpec


def models(annotation: Any) -> Iterator[type[Model]]:
    """The models in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for argument in get_args(annotation):
        yield from models(argument)


def keys(model: type[Model], seen: set[type[Model]]) -> Iterator[tuple[str, FieldInfo]]:
    """The keys of a model and of the models in it, each once."""
    if model in seen or issubclass(model, Release):
        return
    seen.add(model)
    for field in model.model_fields.values():
        yield f"{model.__name__}.{field.alias}", field
        for inner in models(field.annotation):
            yield from keys(inner, seen)


CLOUDS = tuple(cloud.settings for cloud in registry.registrations())
TOP = (ClusterSpec, Override, registry.pool_model(), registry.system_pool_model(), *CLOUDS)
SEEN: set[type[Model]] = set()
KEYS = dict(key for model in TOP for key in keys(model, SEEN))


def shows_itself(annotation: Any) -> bool:
    """Whether an annotation alone tells what to write: choices, true or false, objects, and lists of those."""
    if get_origin(annotation) is Annotated:
        return shows_itself(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType, tuple):
        return all(shows_itself(part) for part in get_args(annotation) if part is not Ellipsis)
    if get_origin(annotation) is Literal or annotation in (bool, type(None), SecretStr, Overridden):
        return True
    return isinstance(annotation, type) and issubclass(annotation, (Enum, Model))


def test_every_key_is_described_in_sentences() -> None:
    assert len(KEYS) > 200
    for name, field in KEYS.items():
        description = field.description or ""
        assert description.startswith("`") or description[:1].isupper(), name
        assert description.endswith("."), name


def test_a_key_has_an_example_unless_its_type_or_its_default_shows_what_to_write() -> None:
    def default_shows(field: FieldInfo) -> bool:
        return field.annotation in (int, float) and isinstance(field.default, int | float)

    unclear = [name for name, field in KEYS.items() if not field.examples and not shows_itself(field.annotation)]
    # Each cloud's own model sets its provider.
    assert [name for name in unclear if not default_shows(KEYS[name])] == ["CloudSettings.provider"]


def test_an_example_is_what_the_key_takes() -> None:
    # A release is written by its name and read from its file.
    for name, field in KEYS.items():
        for example in (field.examples or []) if name != "ClusterSpec.release" else []:
            TypeAdapter(field.rebuild_annotation()).validate_python(example)
