"""Kubernetes quantities as numbers
(kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity)."""

from __future__ import annotations

import re

_SUFFIXES = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
}
_SUFFIXES |= {f"{letter}i": 1024.0 ** (power + 1) for power, letter in enumerate("KMGTPE")}
_QUANTITY = re.compile(r"([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)([a-zA-Z]*)")

GI = 1024.0**3


def number(quantity: object) -> float:
    """Return the value of a quantity: 0.25 for `250m`, 0 for other texts."""
    read = _QUANTITY.fullmatch(str(quantity or "0").strip())
    return float(read[1]) * _SUFFIXES.get(read[2], 0.0) if read else 0.0
