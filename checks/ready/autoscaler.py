"""The autoscaler's own status, as it writes it into the ConfigMap `cluster-autoscaler-status`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from checks.ready.snapshot import Object

_UPDATED = "cluster-autoscaler.kubernetes.io/last-updated"
"""The annotation with the time of the status (kubernetes/autoscaler 1.36.1,
clusterstate/utils/status.go)."""


@dataclass(frozen=True)
class Group:
    """A node group in the status."""

    name: str
    """The name without Google Cloud's address before it."""
    health: str
    scale_up: str
    """`NoActivity`, `InProgress`, `Backoff` and the like."""
    why: str
    """The error that caused a back-off."""
    target: int
    most: int
    """The largest number of nodes."""


class Starting(ValueError):
    """The autoscaler has not looked at the cluster yet."""

    def __init__(self, since: str) -> None:
        super().__init__("the autoscaler says Initializing")
        self.since = since
        """The time at which it wrote that, in ISO 8601; empty where it does not say it."""


def read_config_map(config_map: Object) -> tuple[Group, ...]:
    """Return the groups in a ConfigMap. Raises as `read_status`."""
    annotations = (config_map.get("metadata") or {}).get("annotations") or {}
    return read_status(
        str((config_map.get("data") or {}).get("status", "")), annotations.get(_UPDATED, "")
    )


def read_status(text: str, updated: str = "") -> tuple[Group, ...]:
    """Return the groups in a status since 1.30, which is YAML (kubernetes/autoscaler 1.36.1,
    clusterstate/api/types.go).

    `updated`: the status' time, if known beside the text. Raises `ValueError` for another text,
    such as older versions', and `Starting`.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        content = None
    if not isinstance(content, dict) or "autoscalerStatus" not in content:
        raise ValueError("it is not the YAML that cluster-autoscaler 1.30 and newer write")
    if content["autoscalerStatus"] == "Initializing":
        raise Starting(_time(updated) or _time(content.get("time")))
    if content["autoscalerStatus"] != "Running":
        raise ValueError(f"the autoscaler says {content['autoscalerStatus']}")
    return tuple(_group(item) for item in content.get("nodeGroups") or ())


def _time(written: object) -> str:
    """Convert Go's `2026-11-23 10:52:04.558615784 +0000 UTC` to ISO 8601."""
    found = re.match(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)", str(written))
    return f"{found[1]}T{found[2]}+00:00" if found else ""


def _group(item: Object) -> Group:
    health, grows = item.get("health") or {}, item.get("scaleUp") or {}
    cause = grows.get("backoffInfo") or {}
    message = str(cause.get("errorMessage", ""))
    # Azure's SDK puts the address before the code, and the status cuts off what follows
    # (azure-sdk-for-go, sdk/azcore, internal/exported/response_error.go).
    if code := re.search(r"^ERROR CODE: (\w+)$", message, re.MULTILINE):
        message = code[1]
    return Group(
        str(item.get("name", "")).rpartition("/")[2],
        str(health.get("status", "")),
        str(grows.get("status", "")),
        f"{cause.get('errorCode', '')} {message}".strip(),
        int(health.get("cloudProviderTarget") or 0),
        int(health.get("maxSize") or 0),
    )
