"""Pods in Kubernetes objects, wherever the kind has its template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policy.declared import Declared

_LISTS = ("containers", "initContainers", "ephemeralContainers")


def declared_in(declared: Declared) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Path and spec of each pod; none for a resource that is no Kubernetes object."""
    # A PodTemplate has its pod beside `spec`, a List has whole objects.
    for key, value in declared.inputs.items() if declared.type.startswith("kubernetes:") else ():
        yield from _pods(value, key)


def containers(path: str, pod: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Path and settings of each container of a pod."""
    for key in _LISTS:
        listed = pod.get(key)
        for index, container in enumerate(listed if isinstance(listed, list) else ()):
            yield f"{path}.{key}[{index}]", container


def _pods(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if any(isinstance(value.get(key), list) for key in _LISTS):
            yield path, value
        for key, inner in value.items():
            if key not in _LISTS:
                yield from _pods(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _pods(inner, f"{path}[{index}]")
