"""What an API server can do to pods by itself."""

from __future__ import annotations

import re

FIRST_VERSION = "1.36"
"""The first Kubernetes with MutatingAdmissionPolicy `v1` (KEP-3962)."""


def mutates(version: str) -> bool:
    """Whether an API server of this version, such as 1.36 or v1.36.2-gke.100, has MutatingAdmissionPolicy."""
    found = re.match(r"v?(\d+)\.(\d+)", version)
    first = tuple(map(int, FIRST_VERSION.split(".")))
    # One that does not say its version is taken for a new one, which refuses what it does not know.
    return found is None or (int(found[1]), int(found[2])) >= first
