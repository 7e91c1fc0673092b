"""The releases a stack may name."""

from __future__ import annotations

import re

import pytest

from spec import releases


def test_there_is_a_release_for_each_supported_kubernetes() -> None:
    assert {releases.load(name).kubernetes_version for name in releases.names()} == {"1.35", "1.36"}


@pytest.mark.parametrize("name", releases.names())
def test_a_release_is_complete_and_pins_its_images_by_digest(name: str) -> None:
    release = releases.load(name)
    # A bare number would be read as one by YAML, which turns 2026.10 into 2026.1.
    assert re.fullmatch(r"r\d{4}-\d{2}", release.name)
    for image in (release.device_plugin_image, release.dcgm_exporter_image):
        assert re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", image)
    assert None not in release.azure_autoscaler.model_dump().values()


def test_an_unknown_release_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        releases.load("../r2026-11")
