"""Changes to pods that an API server can make by itself."""

from __future__ import annotations

import re

FIRST_VERSION = "1.36"
"""The first Kubernetes with MutatingAdmissionPolicy `v1` (KEP-3962)."""


def mutates(version: str) -> bool:
    """Whether an API server of this version, such as 1.36 or v1.36.2-gke.100, has MutatingAdmissionPolicy."""
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    first = tuple(map(int, FIRST_VERSION.split(".")))
    # An unknown version counts as a new one, which refuses what it does not know.
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= first
