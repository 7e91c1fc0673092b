"""Amounts of resources as Kubernetes writes them
(kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity)."""

from __future__ import annotations

import re
from decimal import Decimal

_BINARY = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1)}
_DECIMAL |= {letter: Decimal(1000**power) for power, letter in enumerate("kMGTPE", 1)}
_FORM = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?)((?:[KMGTPE]i)|[numkMGTPE]?|[eE][+-]?[0-9]+)")


def amount(text: str) -> Decimal:
    """Return the number that a quantity means: `3300m` is 3.3, `20Gi` 21474836480.

    Raises ValueError.
    """
    match = _FORM.fullmatch(str(text))
    if not match:
        raise ValueError(f"{text!r} is no quantity; write one such as 500m, 2 or 20Gi")
    number, unit = match.groups()
    if unit[:1] in ("e", "E") and len(unit) > 1 and unit != "Ei":
        return Decimal(number + unit)
    return Decimal(number) * (_BINARY[unit] if unit in _BINARY else _DECIMAL[unit])
