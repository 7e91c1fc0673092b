"""The package's schema: its arguments are the models of the stack file, its outputs those of
`output_types`.

https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from components import references
from components.output_types import ClusterOutputs
from config.clouds import registry
from config.model.fields import FORMS, Model, Reference
from config.model.release import Override
from config.model.spec import ClusterSpec

PACKAGE = "kubeflow-spot"
TOKEN = f"{PACKAGE}:index:KubeflowCluster"

_PLAIN = {str: "string", Reference: "string", int: "integer", float: "number", bool: "boolean"}

_AS_WRITTEN: dict[str, Any] = {
    "release": str,
    "overrides": tuple[Override, ...],
    "cloud": Union[tuple(cloud.settings for cloud in registry.registrations())],  # noqa: UP007
    "systemPool": registry.system_pool_model(),
    "pools": tuple[registry.pool_model(), ...],  # type: ignore[misc]
}
"""Types of keys that a checked stack file has in another form, for all clouds."""

SETTINGS: dict[str, Any] = {
    str(field.alias): Annotated[
        _AS_WRITTEN.get(str(field.alias), field.annotation), field.description
    ]
    for field in ClusterSpec.model_fields.values()
}
"""Type and description of each argument of the component: the top keys of a stack file."""

REQUIRED = ("release", "cloud")

_REFERENCE = "May be made by another resource, and unknown before the first update."


def document(version: str, settings: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema; `settings` are the annotations of the top keys of a stack file, each
    `Annotated` with its description.
    """
    types: dict[str, Any] = {}
    inputs = {key: _property(annotation, key, types) for key, annotation in settings.items()}
    outputs = _typed(ClusterOutputs, types)
    return {
        "name": PACKAGE,
        # Otherwise a package added by its git URL would be named after the URL's owner.
        "namespace": "pulumi",
        "version": version,
        "displayName": "Kubeflow on spot GPUs",
        "description": "A Kubeflow-ready cluster with spot GPU pools on AKS or GKE",
        "license": "Apache-2.0",
        "language": {
            language: {"respectSchemaVersion": True}
            for language in ("nodejs", "python", "csharp", "java", "go")
        },
        "resources": {
            TOKEN: {
                "isComponent": True,
                "description": "A Kubeflow-ready cluster with spot GPU pools, and what it needs around and inside it.",
                "inputProperties": inputs,
                "requiredInputs": sorted(required),
                "properties": outputs["properties"],
                "required": outputs["required"],
            }
        },
        "types": {f"{PACKAGE}:index:{name}": spec for name, spec in sorted(types.items())},
    }


def _object(model: type[Model], path: str, types: dict[str, Any]) -> None:
    fields = {str(field.alias): field for field in model.model_fields.values()}
    types[model.__name__] = {
        "type": "object",
        "description": inspect.cleandoc(model.__doc__ or ""),
        "properties": {
            key: _of_field(field, f"{path}.{key}", types) for key, field in fields.items()
        },
        "required": sorted(key for key, field in fields.items() if field.is_required()),
    }


def _typed(kind: Any, types: dict[str, Any]) -> dict[str, Any]:
    """Return the type of an output, which is a TypedDict."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": {key: _property(annotation, "", types) for key, annotation in hints.items()},
        "required": sorted(kind.__required_keys__),
    }


def _of_field(field: FieldInfo, path: str, types: dict[str, Any]) -> dict[str, Any]:
    annotation: Any = field.annotation
    if field.metadata:
        annotation = Annotated[(annotation, *field.metadata)]
    schema = _property(annotation, path, types)
    about = [_sentence(field.description), schema.get("description"), _sentence(_default(field))]
    if path in references.all_clouds():
        about.append(_REFERENCE)
    return {**schema, "description": " ".join(filter(None, about))}


def _default(field: FieldInfo) -> str | None:
    """Return a sentence, no default: rules ask whether a file sets a key."""
    default = field.get_default()
    if field.is_required() or default is None or isinstance(default, Model) or default in ((), {}):
        return None
    if isinstance(default, tuple):
        return f"Default: {', '.join(map(str, default))}"
    return f"Default: {str(default).lower() if isinstance(default, bool) else default}"


def _property(annotation: Any, path: str, types: dict[str, Any]) -> dict[str, Any]:
    """Return the type, and a description if it says more than the type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is NotRequired:
        return _property(arguments[0], path, types)
    if origin is Annotated:
        schema = _property(arguments[0], path, types)
        forms = [FORMS[pattern] for pattern in map(_pattern, arguments[1:]) if pattern in FORMS]
        notes = [item for item in arguments[1:] if isinstance(item, str)]
        about = [schema.get("description"), *map(_sentence, [*notes, *forms])]
        return _described(schema, " ".join(filter(None, about)))
    if origin in (Union, UnionType):
        return _union([option for option in arguments if option is not NoneType], path, types)
    if origin is Literal:
        if len(arguments) == 1:
            return {"type": "string", "const": arguments[0]}
        return {"type": "string", "description": f"One of: {', '.join(arguments)}."}
    if origin in (tuple, Sequence):
        items = _property(arguments[0], f"{path}[]", types)
        return _described({"type": "array", "items": _bare(items)}, items.get("description", ""))
    if origin in (dict, Mapping):
        items = _property(arguments[1], path, types)
        return _described(
            {"type": "object", "additionalProperties": _bare(items)}, items.get("description", "")
        )
    if is_typeddict(annotation):
        if annotation.__name__ not in types:
            types[annotation.__name__] = _typed(annotation, types)
        return {"$ref": f"#/types/{PACKAGE}:index:{annotation.__name__}"}
    if annotation is Any:
        return {"$ref": "pulumi.json#/Any"}
    if annotation is SecretStr:
        return {"type": "string", "secret": True}
    if isinstance(annotation, type) and issubclass(annotation, Model):
        if annotation.__name__ not in types:
            _object(annotation, path, types)
        return {"$ref": f"#/types/{PACKAGE}:index:{annotation.__name__}"}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {
            "type": "string",
            "description": f"One of: {', '.join(item.value for item in annotation)}.",
        }
    return {"type": _PLAIN[annotation]}


def _union(options: list[Any], path: str, types: dict[str, Any]) -> dict[str, Any]:
    """Return a union: of objects by their `provider`, or of forms of a text."""
    schemas = [_property(option, path, types) for option in options]
    if len(schemas) == 1:
        return schemas[0]
    if all("$ref" in option for option in schemas):
        by_provider = {
            provider: option["$ref"] for option in schemas for provider in _provider(option, types)
        }
        return {
            "oneOf": schemas,
            "discriminator": {"propertyName": "provider", "mapping": by_provider},
        }
    about = " Or: ".join(
        dict.fromkeys(option["description"] for option in schemas if "description" in option)
    )
    return _described({"type": "string"}, about)


def _provider(option: dict[str, Any], types: dict[str, Any]) -> Iterator[str]:
    yield types[option["$ref"].rpartition(":")[2]]["properties"]["provider"]["const"]


def _pattern(metadata: Any) -> str | None:
    return getattr(metadata, "pattern", None)


def _described(schema: dict[str, Any], about: str) -> dict[str, Any]:
    return {**schema, "description": about} if about else schema


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the description of an item: its list or map has it."""
    return {key: value for key, value in schema.items() if key != "description"}


def _sentence(text: str | None) -> str | None:
    if not text:
        return None
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
