"""A list of the stack file that has a default loses none of its entries in silence: a new one cannot be added undecided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic.fields import FieldInfo

from config.clouds import registry
from config.model.fields import Model
from config.rules import text_rules
from config.stack_file import loader, top_keys
from tests.config.stack import good, on_gke

ONE_ENTRY: dict[str, tuple[dict[str, Any], str]] = {
    "Guard.platform_namespaces": (
        good(scheduling={"guard": {"platformNamespaces": ["monitoring"]}}),
        "scheduling.guard.platformNamespaces",
    ),
    "AzureLogs.control_plane": (
        good(
            cloud={
                "provider": "azure",
                "location": "westeurope",
                "monitoring": {"logs": {"controlPlane": ["kube-audit-admin"]}},
            }
        ),
        "cloud.monitoring.logs.controlPlane",
    ),
    "GcpLogging.components": (on_gke(logging={"components": ["SCHEDULER"]}), "cloud.logging.components"),
    "GcpMonitoring.components": (
        on_gke(monitoring={"components": ["SYSTEM_COMPONENTS"]}),
        "cloud.monitoring.components",
    ),
}
"""By list: a stack file with one entry of its own in it, and the list's path."""


def fields() -> dict[str, FieldInfo]:
    """Yield every field of every object of a stack file, on all clouds, by its class and name."""
    tops = [type for cloud in registry.registrations() for type in top_keys.top_key_types(cloud).values()]
    seen = {model for annotation in tops for model in below(annotation)}
    return {f"{model.__name__}.{name}": field for model in seen for name, field in model.model_fields.items()}


def below(annotation: Any) -> Iterator[type[Model]]:
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
    raw, path = ONE_ENTRY[name]
    default = default_of(fields()[name])
    (written,) = reach(raw, path)
    for entry in default:
        assert (entry in entries(raw)[path]) == (entry != written)


@pytest.mark.parametrize("name", ONE_ENTRY)
def test_the_whole_default_and_more_is_no_loss_and_an_empty_list_wants_nothing(name: str) -> None:
    raw, path = ONE_ENTRY[name]
    (written,) = reach(raw, path)
    default = [*default_of(fields()[name])]
    assert entries(replaced(raw, path, [*dict.fromkeys([*default, written])])) == {}
    # Nobody asks for a guard that guards no namespace.
    assert bool(entries(replaced(raw, path, []))) == (name == "Guard.platform_namespaces")


def test_further_platform_namespaces_are_guarded_with_those_of_the_default() -> None:
    spec, problems = loader.read_stack(
        good(scheduling={"guard": {"additionalPlatformNamespaces": ["monitoring", "auth"]}})
    )
    assert spec is not None, problems
    default = loader.read_stack(good())[0]
    assert default is not None
    guarded = default.scheduling.guard.guarded_namespaces
    assert "kubeflow" in guarded
    assert spec.scheduling.guard.guarded_namespaces == (*guarded, "monitoring")


def test_the_warning_names_the_key_to_use_instead() -> None:
    said = entries(ONE_ENTRY["Guard.platform_namespaces"][0])["scheduling.guard.platformNamespaces"]
    assert (
        "leaves out auth, cert-manager, istio-system, knative-serving, kubeflow, kubeflow-system, oauth2-proxy" in said
    )
    assert "additionalPlatformNamespaces" in said


def reach(raw: dict[str, Any], path: str) -> Any:
    value: Any = raw
    for key in path.split("."):
        value = value[key]
    return value


def replaced(raw: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    key, _, rest = path.partition(".")
    return {**raw, key: replaced(raw[key], rest, value) if rest else value}
