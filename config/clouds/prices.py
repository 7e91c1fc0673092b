"""Prices of machines per hour, from `prices.csv`: retail, Linux, US dollars, without taxes and discounts, with source and date.

Nothing is estimated: a machine or region that the file does not have has no price. The sandbox reads the same file as data, and
`sandbox/cloud/prices.py` says what the sources are.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from config.model.pool import Capacity

FILE = Path(__file__).parent / "prices.csv"

_ZONE = re.compile(r"([a-z]+-[a-z]+\d+)-[a-z]")


def price(provider: str, location: str, machine: str, capacity: Capacity) -> float | None:
    """Return the US dollars an hour of a machine in a region, or in the region of a Google zone; None where no price is known."""
    # Google sells the GPUs of N1 machines apart (docs.cloud.google.com/compute/docs/gpus).
    if machine.startswith("n1-"):
        return None
    zone = _ZONE.fullmatch(location) if provider == "gcp" else None
    # Azure's names of regions are also written with capitals and spaces (learn.microsoft.com/azure/reliability/regions-list).
    region = zone[1] if zone else location.replace(" ", "").lower()
    on_demand, spot = _prices().get((provider, region, machine.lower()), (None, None))
    return {Capacity.SPOT: spot, Capacity.ON_DEMAND: on_demand}.get(capacity)


@cache
def _prices() -> dict[tuple[str, str, str], tuple[float | None, float | None]]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["provider"], row["region"], row["machine"].lower()): (
                _number(row["on_demand"]),
                _number(row["spot"]),
            )
            for row in csv.DictReader(file)
        }


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
