"""Manifests: objects that a cloud brings to its clusters, in files of YAML lists."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.base.errors import SandboxError

if TYPE_CHECKING:
    from sandbox.kubernetes.client import Client

Object = dict[str, Any]

_MODE = "addonmanager.kubernetes.io/mode"
_ADDON_MANAGER = "addon-manager"
_SECONDS = 30


def read(folder: Path) -> list[Object]:
    """The objects of every file in a folder, in the order of the files' names."""
    # Only here: an autoscaler's process never reads them.
    import yaml

    return [body for file in sorted(folder.glob("*.yaml")) for body in yaml.load(file.read_text(), yaml.CSafeLoader)]


def install(client: Client, objects: Iterable[Object], manager: str) -> None:
    """Apply the objects as this field manager, and wait until new kinds are served. Raises SandboxError.

    An object of the mode EnsureExists is made where it is missing, and otherwise left as users changed it.
    """
    definitions = []
    for body in objects:
        kind, metadata = (body["apiVersion"], body["kind"]), body["metadata"]
        if metadata.get("labels", {}).get(_MODE) == "EnsureExists":
            if client.get(*kind, metadata["name"], metadata.get("namespace")) is None:
                client.apply(body, _ADDON_MANAGER)
            continue
        client.apply(body, manager, force=True)
        if body["kind"] == "CustomResourceDefinition":
            definitions.append(body)
    deadline = time.monotonic() + _SECONDS
    for body in definitions:
        name = body["metadata"]["name"]
        while not _established(client.get(body["apiVersion"], body["kind"], name) or {}):
            if time.monotonic() > deadline:
                raise SandboxError(f"{name} is not served after {_SECONDS} s")
            time.sleep(0.05)


def _established(definition: Object) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)
