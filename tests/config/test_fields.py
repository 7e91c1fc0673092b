"""Every key is described, and a list with a default loses no entry in silence; every rule is in the list of its subject."""

import inspect
import types
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

from config import rules
from config.clouds import registry
from config.model.cluster import CloudSettings
from config.model.fields import Model
from config.model.release import Overridden
from config.model.spec import ClusterSpec
from config.rules import text_rules
from config.stack_file import loader, top_keys
from tests.config.stack import good, on_gke, spec
from tests.config.stack_files import edited

ONE_ENTRY: dict[str, tuple[dict[str, Any], str, str]] = {
    "Guard.platform_namespaces": (good(), "scheduling.guard.platformNamespaces", "monitoring"),
    "AzureLogs.control_plane": (good(), "cloud.monitoring.logs.controlPlane", "kube-audit-admin"),
    "GcpLogging.components": (on_gke(), "cloud.logging.components", "SCHEDULER"),
    "GcpMonitoring.components": (on_gke(), "cloud.monitoring.components", "SYSTEM_COMPONENTS"),
}
"""By list: a stack file, the list's path, and an entry of one's own."""


def fields() -> dict[str, FieldInfo]:
    """Return every field of every object of a stack file, on all clouds, by its class and name."""
    tops = [type for cloud in registry.registrations() for type in top_keys.top_key_types(cloud).values()]
    seen = {model for annotation in tops for model in below(annotation)}
    return {name: field for model in seen for name, field in fields_of(model).items()}


def fields_of(model: type[Model]) -> dict[str, FieldInfo]:
    return {f"{model.__name__}.{name}": field for name, field in model.model_fields.items()}


def below(annotation: Any) -> Iterator[type[Model]]:
    """Yield the models in an annotation and below them, collected without the generator of the reference."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
        for field in annotation.model_fields.values():
            yield from below(field.annotation)
    else:
        for part in get_args(annotation):
            yield from below(part)


def default_of(field: FieldInfo) -> Any:
    return None if field.is_required() else field.get_default(call_default_factory=True)


def entries(raw: dict[str, Any]) -> dict[str, str]:
    """Return the warnings of lists that leave out some of the default, by path."""
    spec, problems = loader.read_stack(raw)
    assert spec is not None, problems
    return {p.path: f"{p.what}; {p.remedy}" for p in problems if "takes the place of the default" in p.what}


def test_every_list_with_a_default_warns_or_is_known_to_be_safe_without() -> None:
    found = {name for name, field in fields().items() if default_of(field) and isinstance(default_of(field), tuple)}
    assert found == ONE_ENTRY.keys() | text_rules.REPLACED.keys()
    assert not ONE_ENTRY.keys() & text_rules.REPLACED.keys()


def test_no_map_has_a_default() -> None:
    # The rule would have to look at its keys.
    assert [name for name, field in fields().items() if isinstance(default_of(field), dict) and default_of(field)] == []


def test_an_object_left_out_has_the_lists_of_one_that_is_empty() -> None:
    for name, field in fields().items():
        whole = default_of(field)
        if isinstance(whole, Model):
            for inner, info in type(whole).model_fields.items():
                if isinstance(getattr(whole, inner), tuple):
                    assert getattr(whole, inner) == default_of(info), f"{name}.{inner}"


@pytest.mark.parametrize("name", ONE_ENTRY)
def test_one_entry_of_ones_own_names_all_that_the_default_had(name: str) -> None:
    raw, path, own = ONE_ENTRY[name]
    default = default_of(fields()[name])
    said = entries(edited(raw, {path: [own]}))
    for entry in default:
        assert (entry in said[path].partition(";")[0]) == (entry != own)
    # The whole default and more is no loss, and an empty list wants nothing; nobody asks for a guard of no namespace.
    assert entries(edited(raw, {path: [*dict.fromkeys([*default, own])]})) == {}
    assert bool(entries(edited(raw, {path: []}))) == (name == "Guard.platform_namespaces")


def test_further_platform_namespaces_are_guarded_with_those_of_the_default() -> None:
    further = good(scheduling={"guard": {"additionalPlatformNamespaces": ["monitoring", "auth"]}})
    guarded = spec(good()).scheduling.guard.guarded_namespaces
    assert "kubeflow" in guarded
    assert spec(further).scheduling.guard.guarded_namespaces == (*guarded, "monitoring")


def test_the_warning_names_the_key_to_use_instead() -> None:
    path = "scheduling.guard.platformNamespaces"
    said = entries(edited(good(), {path: ["monitoring"]}))[path]
    default = "auth, cert-manager, istio-system, knative-serving, kubeflow, kubeflow-system, oauth2-proxy"
    assert f"leaves out {default}" in said
    assert "additionalPlatformNamespaces" in said


KEYS = fields() | fields_of(ClusterSpec) | fields_of(CloudSettings)


def shows_itself(annotation: Any) -> bool:
    """Return whether an annotation alone tells what to write: choices, true or false, objects, and lists of those."""
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


POOL = ("path", "pool", "draft", "cloud")
LISTS = {
    ("draft", "cloud"): ("RULES",),
    ("settings", "draft", "cloud"): ("CLOUD_RULES", "NEW_CLUSTER_RULES"),
    POOL: ("POOL_RULES", "ANY_POOL_RULES"),
    # Made into rules about a file or a pool by a decorator.
    ("path", "item", "draft", "cloud"): ("RULES",),
    ("path", "number", "step", "pool", "draft", "cloud"): ("POOL_RULES",),
}
"""The list of a rule, by its parameters."""


def modules() -> Iterator[ModuleType]:
    for package in (rules.__name__, *(cloud.rules for cloud in registry.registrations())):
        for module in iter_modules(import_module(package).__path__):
            yield import_module(f"{package}.{module.name}")


def shape(function: object) -> tuple[str, ...]:
    """Return the parameters of a rule; the name of a cloud stands for its settings."""
    clouds = [cloud.provider for cloud in registry.registrations()]
    names = tuple("settings" if name in clouds else name for name in inspect.signature(function).parameters)  # type: ignore[arg-type]
    return ("path", "item", *names[2:]) if len(names) == 4 and names[:2] != POOL[:2] else names


def test_every_function_that_looks_like_a_rule_is_listed_where_it_belongs() -> None:
    count = 0
    for module in modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ != module.__name__ or function.__annotations__.get("return") != "Iterator[Problem]":
                continue
            lists = LISTS.get(shape(function), ())
            if lists:
                count += 1
                assert any(function in getattr(module, each, ()) for each in lists), f"{module.__name__}.{name}"
    assert count > 120


def test_no_list_of_a_module_is_unknown() -> None:
    known = {each for lists in LISTS.values() for each in lists}
    for module in modules():
        assert {name for name in vars(module) if name.endswith("RULES")} <= known, module.__name__
