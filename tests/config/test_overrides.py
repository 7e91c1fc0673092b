"""What a stack takes from elsewhere than its release: applied in one place, and told with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from config import releases, stackfile
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
    ],
)
def test_one_pin_is_the_stacks_own_and_all_others_are_the_releases(pin: str, value: str, attribute: str) -> None:
    found = spec(good(overrides=override(pin, value)))
    own = releases.load("r2026-11")
    assert getattr(found.release, attribute) == value
    assert found.release.model_copy(update={attribute: getattr(own, attribute)}) == own
    assert [one.as_output() for one in found.overrides] == [
        {"pin": pin, "value": value, "instead": getattr(own, attribute), "reason": WHY}
    ]


def test_the_clusters_own_version_is_told_in_the_same_way() -> None:
    cluster = {"name": "ml-test", "kubernetesVersion": "1.35", "reason": WHY}
    found = spec(good(cluster=cluster))
    overridden = spec(good(overrides=override("kubernetesVersion", "1.35")))
    assert found.overrides == overridden.overrides
    assert found.kubernetes_version == overridden.kubernetes_version == "1.35"


def test_without_any_there_is_nothing_to_tell() -> None:
    assert spec(good()).overrides == ()


def test_whatever_follows_from_the_version_follows_from_the_overridden_one() -> None:
    pool: dict[str, Any] = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 4}
    raw = on_gke([{**pool, "fallback": [{"onDemand": {"maxNodes": 1}}]}])
    assert class_name(spec(raw)) == "kubeflow-spot"
    assert class_name(spec({**raw, "overrides": override("kubernetesVersion", "1.35")})) is None


def test_a_version_that_is_none_is_one_mistake_and_no_rule_goes_by_it() -> None:
    found, problems = stackfile.read(on_gke() | {"overrides": override("kubernetesVersion", "latest")})
    assert found is None
    assert [problem.path for problem in problems] == ["overrides[0].value"]
