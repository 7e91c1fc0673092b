"""Where the quotas of the emulated clouds are kept: in one file, as the cloud files said them.

Azure's limits stand by region at the top, as they did when there was only Azure; Google's stand below `gcp`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GCP = "gcp"

KEPT = "cloudfile.json"
"""What `sandbox.engine.cloud_file` keeps of the cloud files, beside the clouds' own memory."""


def azure(quotas: Mapping[str, Any]) -> dict[str, Any]:
    """Azure's part of all quotas."""
    return {region: limits for region, limits in quotas.items() if region != GCP}


def gcp(quotas: Mapping[str, Any]) -> Any:
    """Google's part of all quotas, as it was written."""
    return quotas.get(GCP, {})


def kept(folder: Path) -> dict[str, Any]:
    """All quotas of the emulated clouds in this folder; empty where none were ever said."""
    try:
        found: dict[str, Any] = json.loads((folder / KEPT).read_text())["quotas"] or {}
    except FileNotFoundError:
        return {}
    return found
