"""Images of containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policy.declared import Declared, at
from policy.rule import Finding, Rule, Settings

_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")
_LISTS = ("containers", "initContainers", "ephemeralContainers")


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    if declared.type.startswith("kubernetes:"):
        for path in _undigested(declared.get("spec"), "spec"):
            yield Finding(path, "an image by its tag alone", "add the digest: name:tag@sha256:...")


def _undigested(value: Any, path: str) -> Iterator[str]:
    """The paths of images without a digest, wherever the kind has its pod template."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _LISTS and isinstance(inner, list):
                yield from _in_containers(inner, f"{path}.{key}")
            else:
                yield from _undigested(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _undigested(inner, f"{path}[{index}]")


def _in_containers(containers: list[Any], path: str) -> Iterator[str]:
    for index, container in enumerate(containers):
        image = at(container, "image")
        if isinstance(image, str) and not _DIGEST.fullmatch(image):
            yield f"{path}[{index}].image"


IMAGES = Rule(
    name="image-without-digest",
    refuses="A container whose image is not named by its digest",
    reason="A tag may be moved: what was reviewed and tested is not what a new node pulls",
    sources=("https://kubernetes.io/docs/concepts/containers/images/#image-pull-policy",),
    check=_check,
)
