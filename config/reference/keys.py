"""Every key of a stack file, walked from the models: top keys, and the objects below them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args, get_origin

from pydantic.fields import FieldInfo

from config.clouds import registry
from config.clouds.registry import Registration
from config.model.fields import Model
from config.model.release import Override
from config.model.spec import ClusterSpec
from config.model.structure import models
from config.rules import existing_rules


@dataclass(frozen=True)
class Key:
    """A top key of the stack file."""

    name: str
    meaning: str
    models: tuple[type[Model], ...]
    """The objects it may hold; none for plain text."""
    many: bool = False
    """Whether it holds a list of them."""


@dataclass
class Section:
    """An object of the stack file, which may stand at several places."""

    model: type[Model]
    paths: list[str] = field(default_factory=list)


def top_keys() -> list[Key]:
    """Return the top keys, in the order of the model."""
    return [_top(str(info.alias), info) for info in ClusterSpec.model_fields.values()]


def other_clouds_keys(cloud: Registration) -> list[str]:
    """Return the keys of a pool, as attributes, that a cloud does not have."""
    others = registry.keys_of_other_clouds(cloud.provider)
    # An object with a key of theirs is among those that existing nodes do not have.
    return (
        others
        if cloud.traits.makes_pools
        else [*existing_rules.DESCRIBED, *(key for key in others if "." not in key)]
    )


def _top(name: str, info: FieldInfo) -> Key:
    below: dict[str, tuple[type[Model], ...]] = {
        "release": (),
        "overrides": (Override,),
        "cloud": tuple(cloud.settings for cloud in registry.registrations()),
        "systemPool": (registry.system_pool_model(),),
        "pools": (registry.pool_model(),),
    }
    models_below = below[name] if name in below else tuple(models(info.annotation))
    assert info.description, name
    return Key(name, info.description, models_below, many=get_origin(info.annotation) is tuple)


def sections() -> list[Section]:
    """Return the objects below the top keys in reading order, each once with all its places."""
    by_model: dict[type[Model], Section] = {}
    for key in top_keys():
        for model in key.models:
            provider = next(
                (cloud.provider for cloud in registry.registrations() if cloud.settings is model),
                "",
            )
            _walk(
                model,
                f"{key.name}[]" if key.many else key.name,
                by_model,
                f" ({provider})" if provider else "",
            )
    return list(by_model.values())


def _walk(model: type[Model], path: str, by_model: dict[type[Model], Section], note: str) -> None:
    by_model.setdefault(model, Section(model)).paths.append(path + note)
    for info in model.model_fields.values():
        for inner in models(info.annotation):
            many = any(
                get_origin(part) is tuple for part in (info.annotation, *get_args(info.annotation))
            )
            _walk(inner, f"{path}.{info.alias}" + ("[]" if many else ""), by_model, note)
