"""The JSON Schema of a stack file (`Pulumi.<stack>.yaml`), for editors that complete and check
keys.

Generated from models and traits, in draft 7, which every editor reads. It knows the values of one
key on the file's cloud; `config.rules` checks several keys. Source of the file's own keys: Pulumi's
workspace.ProjectStack (https://www.pulumi.com/docs/iac/concepts/projects/stack-settings-file/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from config import releases
from config.clouds import registry
from config.clouds.registry import Registration
from config.clouds.traits import Cloud
from config.model.fields import Model
from config.model.structure import models
from config.reference.keys import Key, other_clouds_keys, top_keys
from config.rules import existing_rules

Node: TypeAlias = dict[str, Any]

PROJECT = "kubeflow-spot"
_FOLDER = Path(__file__).resolve().parents[1] / "clouds"
_SECURE: Node = {
    "type": "object",
    "properties": {
        "secure": {
            "type": "string",
            "description": "set it with `pulumi config set --secret --path`",
        }
    },
    "required": ["secure"],
    "additionalProperties": False,
}


def schema() -> Node:
    """Return the whole schema."""
    keys = top_keys()
    every = [model for key in keys for model in key.models]
    _, generated = models_json_schema(
        [(model, "validation") for model in every], ref_template="#/definitions/{model}"
    )
    # Without the docstrings: an editor shows them in place of the key's own description.
    definitions = {
        name: _plain({**node, "description": None})
        for name, node in sorted(generated["$defs"].items())
    }
    for cloud in registry.registrations():
        _needs_a_place(definitions[cloud.settings.__name__])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A stack file of kubeflow-spot",
        "description": (
            "Written by python -m config.reference; the keys are explained in docs/reference/stack-file.md. "
            "It checks one key at a time. `pulumi preview` also checks what several keys make "
            "together (address ranges, fallback chains, bounds, names used twice), machines and "
            "GPUs against the catalogue, and values that examples show."
        ),
        "type": "object",
        "properties": {
            "config": _config(keys),
            "secretsprovider": {"type": "string"},
            "encryptedkey": {"type": "string"},
            "encryptionsalt": {"type": "string"},
            "environment": {},
        },
        "required": ["config"],
        "definitions": definitions,
    }


def _config(keys: list[Key]) -> Node:
    """Return the schema of `config`: this program's keys, checked, and others', unchecked."""
    properties = {_named(key.name): _top(key) for key in keys}
    return {
        "type": "object",
        "properties": properties,
        "required": [_named("release"), _named("cloud")],
        "propertyNames": {"if": {"pattern": f"^{PROJECT}:"}, "then": {"enum": list(properties)}},
        "allOf": [node for cloud in registry.registrations() for node in _of_a_cloud(cloud)],
    }


def _of_a_cloud(cloud: Registration) -> Iterator[Node]:
    """Yield the schemas of one cloud's files."""
    here = {"provider": {"const": cloud.provider}}
    yield _given(here, _narrowed(cloud))
    yield _given(here, _more(cloud.provider))
    if cloud.traits.makes_pools:
        yield _new(here)
        yield _existing(here, cloud)
    else:
        yield _given(here, _without_a_cluster())


def _top(key: Key) -> Node:
    shown: Node = {"description": key.meaning}
    if key.name == "release":
        return shown | {"enum": [*releases.names(), releases.CANDIDATE]}
    if key.name == "cloud":
        chosen = [
            {
                "if": {"properties": {"provider": {"const": cloud.provider}}},
                "then": _ref(cloud.settings.__name__),
            }
            for cloud in registry.registrations()
        ]
        provider = {
            "enum": [cloud.provider for cloud in registry.registrations()],
            "description": "the cloud",
        }
        return shown | {
            "type": "object",
            "properties": {"provider": provider},
            "required": ["provider"],
            "allOf": chosen,
        }
    item = _ref(key.models[0].__name__)
    return shown | ({"type": "array", "items": item} if key.many else {"allOf": [item]})


def _given(cloud: Mapping[str, Any], then: Node) -> Node:
    """Return a condition on `cloud`, and the schema of files that meet it."""
    condition = {"type": "object", "properties": {**cloud}, "required": list(cloud)}
    return {
        "if": {"properties": {_named("cloud"): condition}, "required": [_named("cloud")]},
        "then": then,
    }


def _existing(here: Node, cloud: Registration) -> Node:
    """Forbid keys that an existing cluster's owner decides."""
    then = _without_a_cluster()
    then["properties"][_named("cloud")] = {
        "properties": _unless(cloud.settings, cloud.traits.keys_of_added_pools)
    }
    return _given({**here, "existingCluster": {"type": "object"}}, then)


def _without_a_cluster() -> Node:
    named = {to_camel(name): False for name in existing_rules.CLUSTER}
    return {"properties": {_named("systemPool"): False, _named("cluster"): {"properties": named}}}


def _unless(model: type[Model], kept: Collection[str]) -> Node:
    """Return the keys of a model, and below it, that are not in `kept`, each forbidden."""
    first = {key.partition(".")[0] for key in kept}
    forbidden: Node = {
        str(info.alias): False for name, info in model.model_fields.items() if name not in first
    }
    for name in first:
        below = {key.partition(".")[2] for key in kept if key.startswith(f"{name}.")}
        if below:
            info = model.model_fields[name]
            forbidden[str(info.alias)] = {
                "properties": _unless(next(models(info.annotation)), below)
            }
    return forbidden


def _new(here: Node) -> Node:
    """Return the keys that a new cluster requires."""
    condition = _given(here, {})["if"]
    condition["properties"][_named("cloud")]["not"] = {"required": ["existingCluster"]}
    properties = {
        _named("cluster"): {"required": ["name"]},
        _named("expander"): {"properties": {"takeOwnership": {"const": False}}},
    }
    return {
        "if": condition,
        "then": {"required": [_named("cluster"), _named("systemPool")], "properties": properties},
    }


def _narrowed(registration: Registration) -> Node:
    """Return the narrower values of one cloud."""
    cloud = registration.traits
    nodes: Node = {
        "machine": _machine(registration),
        "zones": {"items": {"pattern": _whole(cloud.zone_form)}},
    }
    for path in other_clouds_keys(registration):
        _forbid(nodes, path)
    capacities = [*(str(capacity) for capacity in cloud.added), "on-demand"]
    pool = {
        **nodes,
        "name": {"pattern": _whole(cloud.pool_name)},
        "capacity": {"enum": capacities},
        "labels": {"propertyNames": {"not": _reserved(cloud)}},
    }
    bounded: Node = {"required": ["maxNodes"]}
    if cloud.max_nodes_are_of_a_zone:
        per_zone = {
            "required": [cloud.provider],
            "properties": {cloud.provider: {"required": ["maxNodesPerZone"]}},
        }
        bounded = {"anyOf": [bounded, per_zone]}
    return {
        "properties": {
            _named("pools"): {"items": {"properties": pool, **bounded}},
            _named("systemPool"): {
                "properties": {**nodes, "name": {"pattern": _whole(cloud.pool_name)}}
            },
            _named("cluster"): {"properties": {"name": {"pattern": _whole(cloud.cluster_name)}}},
        }
    }


def _more(provider: str) -> Node:
    """Return narrower schemas of single keys, from `narrowed.json` in the cloud's folder."""
    file = _FOLDER / provider / "narrowed.json"
    properties: Node = json.loads(file.read_text())["properties"] if file.exists() else {}
    return {"properties": {_named(key): node for key, node in properties.items()}}


def _machine(cloud: Registration) -> Node:
    """Return the schema of a machine: of the cloud or unknown, and not retired."""
    if not cloud.machine_form:
        return {}
    others = [
        other.machine_form
        for other in registry.registrations()
        if other.machine_form and other is not cloud
    ]
    retired = sorted(
        machine.size for machine in cloud.traits.machines.values() if machine.status == "retired"
    )
    foreign = {"not": {"anyOf": [{"pattern": _whole(form)} for form in others]}} if others else {}
    return {
        "anyOf": [{"pattern": _whole(cloud.machine_form)}, foreign],
        **({"not": {"enum": retired}} if retired else {}),
    }


def _reserved(cloud: Cloud) -> Node:
    """Return the label keys that the cloud or this program reserve, without those of spot pools."""
    prefixes = "|".join(prefix.replace(".", r"\.") for prefix in cloud.reserved_label_prefixes)
    own = sorted({key for added in cloud.added.values() for key in added.labels})
    return {
        "anyOf": [
            {"pattern": rf"^{PROJECT}\.dev/"},
            {"enum": sorted(cloud.reserved_labels - set(own)) or [""]},
            {"allOf": [{"pattern": rf"^([^/]*\.)?({prefixes})/"}, {"not": {"enum": own or [""]}}]}
            if prefixes
            else False,
        ]
    }


def _forbid(properties: Node, path: str) -> None:
    """Take the key at a path of attributes, such as `spot.max_price`, away."""
    *parents, last = map(to_camel, path.split("."))
    for parent in parents:
        properties = properties.setdefault(parent, {}).setdefault("properties", {})
    properties[last] = False


def _needs_a_place(settings: Node) -> None:
    """Require a location for a new cluster; an existing one has one."""
    if {"existingCluster", "location"} <= set(settings["properties"]):
        settings["if"] = {"not": {"required": ["existingCluster"]}}
        settings["then"] = {"required": ["location"]}


def _plain(node: Any) -> Any:
    """Return pydantic's schema in draft 7, without noise in an editor."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("format") == "password":
        text = {
            key: value for key, value in node.items() if key in ("type", "minLength", "pattern")
        }
        return {"description": node.get("description", "a secret"), "anyOf": [text, _SECURE]}
    plain = {
        key: _plain(value) if key not in ("default", "examples", "enum", "const") else value
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key in ("default", "description") and value in (None, {}, []))
    }
    if isinstance(plain.get("pattern"), str):
        plain["pattern"] = any_case(plain["pattern"])
    if isinstance(plain.get("default"), dict):
        del plain["default"]
    if "patternProperties" in plain and "properties" not in plain:
        plain.setdefault("additionalProperties", False)
    if "$ref" in plain and len(plain) > 1:
        plain["allOf"] = [{"$ref": plain.pop("$ref")}]  # in draft 7 a reference has no neighbours
    return plain


def any_case(pattern: str) -> str:
    """Return a pattern without `(?i)`, which ECMAScript lacks: with both cases of each letter."""
    if not pattern.startswith("(?i)"):
        return pattern

    def both(match: re.Match[str]) -> str:
        part = match[0]
        if part[0] == "[":
            ranges = "".join(
                f"{a.upper()}-{b.upper()}" for a, b in re.findall(r"([a-z])-([a-z])", part)
            )
            return f"{part[:-1]}{ranges}]"
        return part if part[0] == "\\" else f"[{part.lower()}{part.upper()}]"

    return re.sub(r"\\.|\[[^\]]*\]|[A-Za-z]", both, pattern.removeprefix("(?i)"))


def _whole(pattern: str) -> str:
    return f"^(?:{any_case(pattern)})$"


def _ref(name: str) -> Node:
    return {"$ref": f"#/definitions/{name}"}


def _named(key: str) -> str:
    return f"{PROJECT}:{key}"
