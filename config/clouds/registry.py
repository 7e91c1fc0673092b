"""The clouds that a stack file may name. Each is a folder, and one line here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from pydantic import create_model

from config.base.near import bare, nearest
from config.clouds.tables import ForeignKeys
from config.clouds.traits import Cloud
from config.model.cluster import CloudSettings
from config.model.fields import Model
from config.model.pool import Pool, SystemPool
from config.model.release import Release, ReleaseFile
from config.model.structure import models

M = TypeVar("M", bound=Model)

CLOUDS = (
    "config.clouds.azure",
    "config.clouds.gcp",
    "config.clouds.existing",
)
"""Packages with a module `<name>_registration`. A file that names no cloud gets the first."""


_OTHERS = frozenset(
    {"aws", "amazon", "eks", "ec2", "digitalocean", "hetzner", "openstack", "vsphere"}
)
"""Clouds that this program makes no cluster in: none is a misspelt one of ours."""

_ALIKE = 0.75
"""The likeness (`difflib`) from which a wrong provider is read as the cloud that it resembles."""


@dataclass(frozen=True, eq=False)
class Registration:
    """Everything that the program knows a cloud by."""

    provider: str
    """The value of `cloud.provider`."""
    settings: type[CloudSettings]
    """The model of `cloud`."""
    traits: Cloud
    rules: str
    """The package whose modules have the cloud's own rules (`config.rules`)."""
    machine_form: str = ""
    """Regular expression of machine sizes, unknown ones too; empty for a cloud without machines."""
    pool_keys: type[Model] | None = None
    """This cloud's fields of every pool, new ones or richer ones in place of shared fields."""
    system_pool_keys: type[Model] | None = None
    """The same of the system pool."""
    pins: type[Model] | None = None
    """Fields that every release has for this cloud."""
    examples: Mapping[str, str] = field(default_factory=dict)
    """Examples of top keys, for remedies, where clouds differ."""
    also_called: tuple[str, ...] = ()
    """Other names of the cloud, which somebody may write for its provider."""
    foreign_keys: ForeignKeys = dict
    """Names that other tools have for keys of the stack file."""


def registrations() -> tuple[Registration, ...]:
    """Return all clouds, in a fixed order."""
    return _registrations(CLOUDS)


def registration(provider: object) -> Registration | None:
    """Return the cloud by its name in a stack file; None for an unknown name."""
    return next((cloud for cloud in registrations() if cloud.provider == provider), None)


def cloud_of(settings: CloudSettings) -> Cloud:
    """Return the traits of the cloud with these settings."""
    return next(cloud.traits for cloud in registrations() if isinstance(settings, cloud.settings))


def with_machine(size: str) -> Cloud | None:
    """Return the cloud with machine sizes of this form; None if no cloud has any."""
    return next(
        (cloud.traits for cloud in registrations() if re.fullmatch(cloud.machine_form, size)), None
    )


def likely_cloud(sizes: Iterable[str]) -> Cloud:
    """Return the cloud that fits most of these machine sizes; the first if none does."""
    sizes = tuple(sizes)
    with_machines = [cloud for cloud in registrations() if cloud.machine_form]
    return max(
        with_machines,
        key=lambda cloud: sum(re.fullmatch(cloud.machine_form, size) is not None for size in sizes),
    ).traits


def is_another(provider: object) -> bool:
    """Return whether a provider is a cloud that this program makes no cluster in."""
    return isinstance(provider, str) and bare(provider) in _OTHERS


def named_like(provider: str) -> Registration | None:
    """Return the cloud that a wrong provider means; None if none is like it."""
    names = {
        name: cloud for cloud in registrations() for name in (cloud.provider, *cloud.also_called)
    }
    if is_another(provider):
        return None
    close = nearest(provider, names, _ALIKE)
    return names[close] if close else None


def most_alike(sizes: Iterable[str]) -> Registration | None:
    """Return the cloud that fits most of these machine sizes; None if none does."""
    fits = [
        cloud
        for size in sizes
        for cloud in registrations()
        if re.fullmatch(cloud.machine_form, size)
    ]
    return max(fits, key=fits.count) if fits else None


def pool_model() -> type[Pool]:
    """Return the model of a pool, with the keys of all clouds: a foreign key gets its own error."""
    return _with_keys(Pool, tuple(cloud.pool_keys for cloud in registrations()))


def system_pool_model() -> type[SystemPool]:
    """Return the model of the system pool, with the keys of all clouds."""
    return _with_keys(SystemPool, tuple(cloud.system_pool_keys for cloud in registrations()))


def keys_of_other_clouds(provider: str) -> list[str]:
    """Return the keys of a pool that only other clouds have, such as `spot.max_price`."""
    others = [cloud.pool_keys for cloud in registrations() if cloud.provider != provider]
    return [key for own in others if own for key in _keys(own, Pool)]


def release_model() -> type[Release]:
    """Return the model of a release, with the pins of all clouds."""
    return _with_keys(Release, tuple(cloud.pins for cloud in registrations()))


def release_file_model() -> type[ReleaseFile]:
    """Return the model of a release's file, with the pins of all clouds."""
    return _with_keys(ReleaseFile, tuple(cloud.pins for cloud in registrations()))


@cache
def _registrations(packages: tuple[str, ...]) -> tuple[Registration, ...]:
    return tuple(
        import_module(f"{package}.{package.rpartition('.')[2]}_registration").REGISTRATION
        for package in packages
    )


@cache
def _with_keys(model: type[M], own: tuple[type[Model] | None, ...]) -> type[M]:
    """Return the model with the clouds' own fields."""
    # pydantic takes the fields of the last base first.
    bases: tuple[type[Any], ...] = (*filter(None, reversed(own)), model)
    return create_model(model.__name__, __base__=bases, __doc__=model.__doc__)


def _keys(own: type[Model], shared: type[Model]) -> Iterator[str]:
    """Yield the keys of a cloud's model, and of objects in it, that the shared model lacks."""
    for name, info in own.model_fields.items():
        if name not in shared.model_fields:
            yield name
            continue
        for inner, less in zip(
            models(info.annotation), models(shared.model_fields[name].annotation), strict=True
        ):
            yield from (f"{name}.{key}" for key in _keys(inner, less))
