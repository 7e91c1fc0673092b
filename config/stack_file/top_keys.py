"""The top keys of a stack file: their types, and remedies for unknown keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

from config.base.near import alike, bare, nearest, opposite
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.provider_properties import place_of
from config.clouds.registry import Registration
from config.clouds.tables import ForeignKey
from config.model.cluster import (
    Cluster,
    DcgmExporter,
    DevicePluginOptions,
    ExpanderOptions,
    Growth,
    ImagePullSecret,
    Queueing,
)
from config.model.fields import Model
from config.model.release import Override
from config.model.scheduling import Scheduling
from config.model.wording import by_key, models
from config.model.workloads import Workloads
from config.stack_file.mending import Mended, instead

_MOST = 2
"""Places that a remedy names."""


Places: TypeAlias = Mapping[str, list[str]]
"""The paths that end in a key, by this key."""


@dataclass(frozen=True)
class Hints:
    """Remedies for unknown keys of a file whose top keys have these types."""

    top: Mapping[str, Any]

    def __call__(self, key: str, model: type[Model], path: str) -> tuple[str, str | None]:
        """Return the remedy for an unknown key of the object at `path`, and its meaning."""
        fields = by_key(model)
        keys = f"keys here: {', '.join(fields)}"
        foreign = _foreign(key, path)
        own = foreign.key if foreign else None
        if near := nearest(key, fields):
            return _meant([near]), near
        if key in model.absent or own in model.absent:
            return model.absent.get(key) or model.absent[own or ""], None
        if foreign and foreign.remedy:
            return foreign.remedy, None
        if other := opposite(key, fields):
            return (
                f"write `{other}: false` for `{key}: true`: the meaning is the other way round",
                None,
            )
        if own and own in fields:
            return _meant([own]), own
        if inside := [own] if own else _shallowest(key, _by_name(model)):
            return _meant(inside), None
        places = _shallowest(key, self._everywhere)
        if not places and (place := place_of(key, path)):
            return _meant([place]), None
        return (f"{_meant(places)} {keys}" if places else instead(key, fields)), None

    def of_the_file(self, key: str, prefix: str) -> tuple[str, str | None]:
        """Return the remedy for an unknown top key, and the top key that it means."""
        foreign = _foreign(key, "")
        own = foreign.key if foreign else None
        near = nearest(key, self.top) or (own if own in self.top else None)
        if foreign and foreign.remedy:
            return foreign.remedy, None
        places = [own] if own else _shallowest(key, self._everywhere)
        if near:
            return _meant([near]) + (f" write `{prefix}{near}`" if prefix else ""), near
        return (
            f"{_meant(places)} keys here: {', '.join(self.top)}"
            if places
            else instead(key, self.top)
        ), None

    @cached_property
    def _everywhere(self) -> Places:
        return _named(
            place
            for top, annotation in self.top.items()
            for model in models(annotation)
            for place in _places(
                model, f"{top}[]." if get_origin(annotation) is tuple else f"{top}."
            )
        )


def _meant(places: Iterable[str]) -> str:
    named = " or ".join(f"`{place}`" for place in places)
    return f"did you mean {named}?"


def _foreign(key: str, path: str) -> ForeignKey | None:
    """Return the meaning of another tool's key of the object at `path`."""
    place = "pool" if re.fullmatch(r"pools\[\d+\]|systemPool", path) else path
    clouds = registry.registrations()
    return next((own for cloud in clouds if (own := cloud.foreign_keys().get((place, key)))), None)


def _places(model: type[Model], path: str) -> Iterator[str]:
    """Yield the paths of all keys in an object and in the objects inside it."""
    for key, field in by_key(model).items():
        yield f"{path}{key}"
        for inner in models(field.annotation):
            yield from _places(inner, f"{path}{key}{'[]' if _is_list(field.annotation) else ''}.")


@cache
def _by_name(model: type[Model]) -> Places:
    return _named(_places(model, ""))


def _named(paths: Iterable[str]) -> Places:
    places: dict[str, list[str]] = {}
    for path in paths:
        places.setdefault(path.rpartition(".")[2], []).append(path)
    return places


def _is_list(annotation: Any) -> bool:
    several = (
        get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    )
    return any(get_origin(one) is tuple for one in several)


def _shallowest(key: str, places: Places) -> list[str]:
    """Return the least deep places that have the key, or else one like it."""
    found = places.get(key) or [place for name in alike(key, places) for place in places[name]]
    least = min((place.count(".") for place in found), default=0)
    return list(dict.fromkeys(place for place in found if place.count(".") == least))[:_MOST]


EXAMPLES = {
    "release": "{latest}",
    "cluster": "{name: ml-dev}",
    "cloud": "",
    "systemPool": "",
    "pools": "",
    "imagePullSecrets": "",
    "devicePlugin": "{install: never}",
    "dcgmExporter": "{enabled: true}",
    "expander": "{takeOwnership: true}",
    "growth": "{order: [t4, a100]}",
    "scheduling": "{guard: {mode: warn}}",
    "workloads": "{checkpoints: {name: mldevcheckpoints}, profiles: [{namespace: team-a}]}",
    "queueing": "{enabled: true, namespaces: [team-a]}",
    "overrides": '[{pin: kubernetesVersion, value: "1.35", reason: our Istio is tested up to 1.35}]',
}
"""Every top key and its example; `{latest}` is the newest release, "" each cloud's own."""


_SAME_NAMESPACE = 0.9
"""The likeness from which a namespace is the project's with a letter or two wrong."""


def top_key_types(cloud: Registration | None) -> dict[str, Any]:
    """Return the type of each top key, None for a text; any cloud's settings without `cloud`."""
    clouds = [cloud] if cloud else registry.registrations()
    return {
        "release": None,
        "cluster": Cluster,
        "cloud": Union[tuple(one.settings for one in clouds)],  # noqa: UP007
        "systemPool": registry.system_pool_model(),
        "pools": tuple[registry.pool_model(), ...],  # type: ignore[misc]
        "imagePullSecrets": tuple[ImagePullSecret, ...],
        "devicePlugin": DevicePluginOptions,
        "dcgmExporter": DcgmExporter,
        "expander": ExpanderOptions,
        "growth": Growth,
        "scheduling": Scheduling,
        "workloads": Workloads,
        "queueing": Queueing,
        "overrides": tuple[Override, ...],
    }


def own_setting(key: str, project: str) -> str | None:
    """Return the program's own name of a key of Pulumi's configuration; None for another program's
    key.

    A key in a misspelt namespace of ours keeps it. Other programs have similar namespaces
    (`kubeflow`, kubeflow-spot-eu): their keys, and all that are unlike ours, are theirs.
    """
    namespace, _, name = key.rpartition(":")
    if namespace == project:
        return name
    misspelt = bare(namespace) == bare(project) or (
        _words(namespace) <= _words(project)
        and nearest(namespace, [project], _SAME_NAMESPACE) is not None
    )
    return key if namespace and misspelt and nearest(name, EXAMPLES) else None


def _words(name: str) -> int:
    return len(re.split("[-_]", name))


def read_top_keys(
    raw: Mapping[str, Any], outside: Mapping[str, Any], prefix: str, mended: Mended
) -> dict[str, Any]:
    """Return the settings by their right keys; read a wrong key as the one that it means."""
    settings = {key: value for key, value in raw.items() if key in EXAMPLES}
    hints = Hints(top_key_types(None))
    for key, value in [*raw.items(), *outside.items()]:
        namespace, _, name = key.rpartition(":")
        if key in settings and key not in outside:
            continue
        remedy, target = (
            (f"write `{prefix}{name}`", name)
            if name in EXAMPLES
            else hints.of_the_file(name, prefix)
        )
        what = "is not a setting of this program"
        if key in outside:
            what, remedy = (
                "stands beside `config`, where Pulumi drops it",
                f"move it below `config:`; {remedy}",
            )
        elif namespace:
            what = f"is in the namespace {namespace}, which this program does not read"
        mended.problems.append(Problem(key, what, remedy))
        if target and target not in settings:
            settings[target] = value
            mended.written[target] = key
    return settings


def likely_provider(cloud: Mapping[str, Any], settings: Mapping[str, Any]) -> Registration | None:
    """Return the cloud that a file with a wrong or missing provider means; None if unknown."""
    # The key may be misspelt as well.
    written = next((value for key, value in cloud.items() if nearest(str(key), ["provider"])), None)
    named = registry.named_like(written) if isinstance(written, str) else None
    pools = settings.get("pools")
    listed = [settings.get("systemPool"), *(pools if isinstance(pools, list) else [])]
    sizes = [
        pool["machine"]
        for pool in listed
        if isinstance(pool, dict) and isinstance(pool.get("machine"), str)
    ]
    return named or registry.most_alike(sizes)
