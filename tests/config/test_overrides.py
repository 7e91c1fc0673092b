"""Overrides of a release's pins: applied in one place, and listed with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from config import releases
from config.stack_file import loader
from tests.config.stack import good, on_gke, spec
from tests.config.test_compute_class import class_name

IMAGE = "registry.example.com/mirror/plugin:v1@sha256:" + 64 * "a"
WHY = "our mirror has nothing else"


def override(pin: str, value: str) -> list[dict[str, str]]:
    return [{"pin": pin, "value": value, "reason": WHY}]


@pytest.mark.parametrize(
    ("pin", "value", "attribute"),
    [
        ("kubernetesVersion", "1.35", "kubernetes_version"),
        ("devicePluginImage", IMAGE, "device_plugin_image"),
        ("dcgmExporterImage", IMAGE, "dcgm_exporter_image"),
        ("kueueVersion", "0.15.2", "kueue_version"),
    ],
)
def test_an_override_changes_one_pin_and_no_other(pin: str, value: str, attribute: str) -> None:
    stack = spec(good(overrides=override(pin, value)))
    own = releases.load("r2026-11")
    assert getattr(stack.release, attribute) == value
    assert stack.release.model_copy(update={attribute: getattr(own, attribute)}) == own
    assert [entry.as_output() for entry in stack.overrides] == [
        {"pin": pin, "value": value, "instead": getattr(own, attribute), "reason": WHY}
    ]


def test_the_clusters_own_version_is_listed_like_an_override() -> None:
    cluster = {"name": "ml-test", "kubernetesVersion": "1.35", "reason": WHY}
    stack = spec(good(cluster=cluster))
    overridden = spec(good(overrides=override("kubernetesVersion", "1.35")))
    assert stack.overrides == overridden.overrides
    assert stack.kubernetes_version == overridden.kubernetes_version == "1.35"


def test_without_overrides_none_are_listed() -> None:
    assert spec(good()).overrides == ()


def test_placement_follows_the_overridden_version() -> None:
    pool: dict[str, Any] = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 4}
    raw = on_gke([{**pool, "fallback": [{"onDemand": {"maxNodes": 1}}]}])
    assert class_name(spec(raw)) == "kubeflow-spot"
    assert class_name(spec({**raw, "overrides": override("kubernetesVersion", "1.35")})) is None


def test_a_text_that_is_no_version_is_one_mistake_and_no_rule_uses_it() -> None:
    stack, problems = loader.read_stack(on_gke() | {"overrides": override("kubernetesVersion", "latest")})
    assert stack is None
    assert [problem.path for problem in problems] == ["overrides[0].value"]
