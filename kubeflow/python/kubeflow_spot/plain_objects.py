"""Objects of SDKs as the plain objects that YAML or JSON holds: all `create` calls take these too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from kubeflow_spot.errors import ContractError

_KIND = re.compile(r".*?V\d+(?:(?:alpha|beta)\d+)?([A-Z]\w*)")
"""The kind in the name of a generated class: `V1Job`, `KubeflowOrgV1PyTorchJob`."""


def plain(value: Any) -> dict[str, Any]:
    """Return a copy as a plain object: of a mapping, of an object of the official Kubernetes client
    or of kubeflow-training, or of a pydantic model such as those of kubeflow-katib-api.

    A missing `kind` is filled in from the name of a class that has that field. Raises
    ContractError.
    """
    if isinstance(value, Mapping):
        return {key: _copied(part) for key, part in value.items()}
    result = _copied(value)
    if not isinstance(result, dict):
        raise ContractError(
            f"{type(value).__name__}: this is no manifest; give a dict, or an object of the"
            " Kubernetes client or of a Kubeflow SDK"
        )
    if (
        hasattr(value, "kind")
        and not result.get("kind")
        and (name := _KIND.fullmatch(type(value).__name__))
    ):
        result["kind"] = name[1]
    return result


def _copied(part: Any) -> Any:
    """Copy without shared parts: roles with one YAML anchor are one object, and only one may
    move."""
    if isinstance(part, Mapping):
        return {key: _copied(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_copied(item) for item in part]
    if names := getattr(part, "attribute_map", None):
        # Not by ApiClient: of kubeflow-training's objects, client 37 makes snake_case.
        named = {key: getattr(part, attribute) for attribute, key in names.items()}
        return {key: _copied(value) for key, value in named.items() if value is not None}
    if hasattr(part, "model_dump"):
        return part.model_dump(mode="json", by_alias=True, exclude_none=True)
    return part.isoformat() if isinstance(part, date) else part
