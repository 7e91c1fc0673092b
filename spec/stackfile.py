"""A stack file's settings as plain data -> a checked `ClusterSpec`, or every problem at once.

One problem must not hide another: each top key and each pool is read by itself, and the rules across fields run over
whatever could be read.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from spec import releases, rules
from spec.azure import Azure
from spec.existing import Existing
from spec.fields import Model
from spec.model import (
    Cluster,
    ClusterSpec,
    DevicePluginOptions,
    ExpanderOptions,
    ImagePullSecret,
    Pool,
    Release,
    SystemPool,
)
from spec.problems import Problem
from spec.rules.draft import Draft

M = TypeVar("M", bound=Model)

_EXAMPLES = {
    "release": "{latest}",
    "cluster": "{{name: ml-dev}}",
    "cloud": "{{provider: azure, location: westeurope}}",
    "systemPool": "{{machine: Standard_D4ds_v5, maxNodes: 4}}",
    "pools": "[{{name: t4, machine: Standard_NC4as_T4_v3, capacity: spot, maxNodes: 8}}]",
    "imagePullSecrets": "[{{name: acr-auth, server: example.azurecr.io, username: ..., password: ...}}]",
    "devicePlugin": "{{install: never}}",
    "expander": "{{takeOwnership: true}}",
}
"""What to write for each top key that is missing; `{latest}` is the newest release."""

_REQUIRED = ("release", "cloud")
_REQUIRED_FOR_A_NEW_CLUSTER = ("cluster", "systemPool")

_CLOUDS: dict[str, type[Azure] | type[Existing]] = {"azure": Azure, "existing": Existing}


def read(raw: Mapping[str, Any]) -> tuple[ClusterSpec | None, list[Problem]]:
    """Check a stack file's settings, given as one value for each top key.

    Returns the spec, or None when there is an error, and all errors and warnings sorted by path.
    """
    problems: list[Problem] = []
    release = _release(raw.get("release"), problems) if "release" in raw else None
    cloud = _cloud(raw["cloud"], problems) if "cloud" in raw else None
    pools, unreadable = _pools(raw.get("pools", []), problems)
    draft = Draft(
        release,
        _object("cluster", raw, Cluster, problems),
        cloud,
        _object("systemPool", raw, SystemPool, problems),
        pools,
        unreadable,
        made_here=not _exists_already(raw.get("cloud")),
        image_pull_secrets=_list("imagePullSecrets", raw, ImagePullSecret, problems),
        device_plugin=_object("devicePlugin", raw, DevicePluginOptions, problems),
        expander=_object("expander", raw, ExpanderOptions, problems),
    )
    problems += _top_keys(raw, draft)
    problems += rules.check(draft)
    problems.sort()
    if any(not problem.warning for problem in problems):
        return None, problems
    # Each is missing only together with a problem.
    assert release is not None
    assert cloud is not None
    return (
        ClusterSpec(
            release=release,
            cluster=draft.cluster or Cluster(),
            cloud=cloud,
            systemPool=draft.system_pool,
            pools=tuple(pools.values()),
            imagePullSecrets=tuple(draft.image_pull_secrets.values()),
            devicePlugin=draft.device_plugin or DevicePluginOptions(),
            expander=draft.expander or ExpanderOptions(),
        ),
        problems,
    )


def _top_keys(raw: Mapping[str, Any], draft: Draft) -> Iterator[Problem]:
    latest = releases.names()[-1]
    for key in raw:
        if key not in _EXAMPLES:
            yield Problem(key, "is not a setting of this program", _instead(key, list(_EXAMPLES)))
    required = _REQUIRED + (_REQUIRED_FOR_A_NEW_CLUSTER if draft.made_here else ())
    for key in required:
        if key not in raw:
            yield Problem(key, "is missing", f"write for example `{key}: {_EXAMPLES[key].format(latest=latest)}`")


def _exists_already(cloud: Any) -> bool:
    """Whether the settings speak of a cluster that somebody else made, readable or not."""
    return isinstance(cloud, dict) and (cloud.get("provider") == "existing" or "existingCluster" in cloud)


def _cloud(value: Any, problems: list[Problem]) -> Azure | Existing | None:
    if not isinstance(value, dict):
        problems.append(
            Problem("cloud", f"is {_shown(value)}, not an object", "write `{provider: azure, location: westeurope}`")
        )
        return None
    provider = value.get("provider")
    if not isinstance(provider, str) or provider not in _CLOUDS:
        what = "is missing" if "provider" not in value else f"is {_shown(provider)}"
        problems.append(Problem("cloud.provider", what, f"one of: {', '.join(_CLOUDS)}"))
        return None
    return _read(value, _CLOUDS[provider], "cloud", problems)


def _release(value: Any, problems: list[Problem]) -> Release | None:
    if isinstance(value, str) and value in releases.names():
        return releases.load(value)
    problems.append(Problem("release", f"there is no release {value!r}", f"one of: {', '.join(releases.names())}"))
    return None


def _object(key: str, raw: Mapping[str, Any], model: type[M], problems: list[Problem]) -> M | None:
    return _read(raw[key], model, key, problems) if key in raw else None


def _list(key: str, raw: Mapping[str, Any], model: type[M], problems: list[Problem]) -> dict[int, M]:
    """What can be read of a list of objects, by index."""
    value = raw.get(key, [])
    if not isinstance(value, list):
        problems.append(Problem(key, f"is {_shown(value)}, not a list", "write one `- {...}` an entry"))
        return {}
    found = {index: _read(item, model, f"{key}[{index}]", problems) for index, item in enumerate(value)}
    return {index: item for index, item in found.items() if item is not None}


def _pools(value: Any, problems: list[Problem]) -> tuple[dict[int, Pool], frozenset[str | None]]:
    """The pools that can be read, by index, and the names of the others."""
    pools: dict[int, Pool] = {}
    unreadable: set[str | None] = set()
    if not isinstance(value, list):
        shown = "write one `- {name: ..., machine: ..., maxNodes: ...}` a pool"
        problems.append(Problem("pools", f"is {_shown(value)}, not a list", shown))
        return {}, frozenset({None})
    for index, item in enumerate(value):
        pool = _read(item, Pool, f"pools[{index}]", problems)
        if pool:
            pools[index] = pool
        else:
            name = item.get("name") if isinstance(item, dict) else None
            unreadable.add(name if isinstance(name, str) else None)
    return pools, frozenset(unreadable)


def _read(value: Any, model: type[M], path: str, problems: list[Problem]) -> M | None:
    """The object, or None; an unknown key is reported and dropped, so that the rules still see the rest."""
    try:
        return model.model_validate(value)
    except ValidationError as invalid:
        errors = invalid.errors()
        problems += [_problem(error, model, path) for error in errors]
        unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
        if len(unknown) < len(errors):
            return None
        return model.model_validate(_without(value, unknown))


def _without(value: Any, paths: list[tuple[int | str, ...]], at: tuple[int | str, ...] = ()) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, paths, (*at, k)) for k, v in value.items() if (*at, k) not in paths}
    if isinstance(value, list):
        return [_without(v, paths, (*at, i)) for i, v in enumerate(value)]
    return value


def _problem(error: ErrorDetails, model: type[Model], path: str) -> Problem:
    loc = error["loc"]
    where = path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc if part != "[key]")
    shown = f"is {_shown(error['input'])}"
    known = _fields(model, loc[:-1])
    field = known.get(str(loc[-1])) if loc else None
    match error["type"]:
        case "extra_forbidden":
            return Problem(where, "is not a key of this object", _instead(str(loc[-1]), list(known)))
        case "missing":
            return Problem(where, "is missing", f"add `{loc[-1]}`")
        case "model_type" | "model_attributes_type" | "dict_type":
            inside = ", ".join(_fields(model, loc))
            return Problem(
                where, f"{shown}, not an object", f"write keys: {inside}" if inside else "write `{key: value}`"
            )
        case "tuple_type":
            return Problem(where, f"{shown}, not a list", "write `[...]`, or one `- ...` a line")
        case "string_type":
            quoted = json.dumps(error["input"]) if isinstance(error["input"], bool) else error["input"]
            return Problem(where, f"{shown}, which YAML does not read as text", f'put it in quotes: "{quoted}"')
        case "enum" | "literal_error":
            return Problem(where, shown, f"one of: {error['ctx']['expected']}")
        case "string_pattern_mismatch":
            pattern = f"it must match {error['ctx']['pattern']}"
            return Problem(where, shown, f"{field.description}; {pattern}" if field and field.description else pattern)
        case _:
            return Problem(where, shown, error["msg"][:1].lower() + error["msg"][1:])


def _fields(model: type[Model], loc: tuple[int | str, ...]) -> dict[str, FieldInfo]:
    """The fields of the object at `loc` inside `model`, by key; none where no object of the model stands there."""
    current: type[Model] | None = model
    for part in loc:
        if isinstance(part, int) or current is None:
            continue
        field = _by_key(current).get(part)
        current = next(_models(field.annotation), None) if field else None
    return _by_key(current) if current else {}


def _by_key(model: type[Model]) -> dict[str, FieldInfo]:
    return {str(field.alias): field for field in model.model_fields.values()}


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models(argument)


def _instead(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return (f"did you mean `{close[0]}`? " if close else "") + f"keys here: {', '.join(known)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
