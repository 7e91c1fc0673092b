"""StorageClasses that a cloud brings to its clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sandbox.kubernetes.client import Client, Object

_VERSION, _KIND = "storage.k8s.io/v1", "StorageClass"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_MANAGER = "addon-manager"

FIRST_CONSUMER, IMMEDIATE = "WaitForFirstConsumer", "Immediate"


def storage_class(
    name: str,
    provisioner: str,
    parameters: Mapping[str, str],
    binding: str,
    *,
    default: bool = False,
    labels: Mapping[str, str] | None = None,
) -> Object:
    """A class whose volumes go with their claims and may grow, as all that the clouds bring."""
    return {
        "apiVersion": _VERSION,
        "kind": _KIND,
        "metadata": {
            "name": name,
            "labels": {"addonmanager.kubernetes.io/mode": "EnsureExists", **(labels or {})},
            **({"annotations": {_DEFAULT: "true"}} if default else {}),
        },
        "provisioner": provisioner,
        "parameters": dict(parameters),
        "reclaimPolicy": "Delete",
        "volumeBindingMode": binding,
        "allowVolumeExpansion": True,
    }


def ensure(client: Client, classes: Iterable[Object]) -> None:
    """Make those that are not there. One that somebody has changed stays so: that is what the mode EnsureExists says."""
    there = {found["metadata"]["name"] for found in client.list(_VERSION, _KIND)}
    for body in classes:
        if body["metadata"]["name"] not in there:
            client.apply(body, _MANAGER)
