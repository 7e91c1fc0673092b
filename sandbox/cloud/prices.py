"""Prices of machines per hour, from `prices.csv`: retail, Linux, US dollars, without taxes and discounts.

No price is estimated: a machine, region or capacity that the file does not have has no price.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CURRENCY = "USD"

FILE = Path(__file__).resolve().parents[2] / "config" / "clouds" / "prices.csv"
"""An empty price was not read, or the machine is not sold that way. `source` is a key of SOURCES, `date` that of the prices."""

SOURCES = {
    "GPR": "Azure Retail Prices API, as kept by github.com/sidparty/gpupricing (providers/azure)",
    "KPA": "Azure Retail Prices API, as kept by github.com/Azure/karpenter-provider-azure at 352646f (pricing)",
    "KPG": "Cloud Billing API of Google, as kept by github.com/cloudpilot-ai/karpenter-provider-gcp at 373e2ba (pricing)",
}

_ZONE = re.compile(r"([a-z]+-[a-z]+\d+)-[a-z]")


@dataclass(frozen=True)
class Price:
    """The prices of one machine in one region."""

    on_demand: float | None
    spot: float | None
    """Changes: on Google Cloud up to once a day (cloud.google.com/spot-vms/pricing), on Azure with demand."""
    source: str
    """The source, with its day or month."""


def price(provider: str, location: str, machine: str) -> Price | None:
    """Return the price of a machine in a region, or in the region of a Google zone; None for an unknown price."""
    zone = _ZONE.fullmatch(location) if provider == "gcp" else None
    # Azure's names of regions are also written with capitals and spaces (learn.microsoft.com/azure/reliability/regions-list).
    region = zone[1] if zone else location.replace(" ", "").lower()
    return _prices().get((provider, region, machine.lower()))


def node_price(provider: str, location: str, machine: str, *, gpus: bool) -> Price | None:
    """Return the price of a node, with `gpus` or without; None for an unknown price."""
    # Google sells the GPUs of N1 machines apart (docs.cloud.google.com/compute/docs/gpus); the file has whole machines only.
    if provider == "gcp" and machine.startswith("n1-") and gpus:
        return None
    return price(provider, location, machine)


@cache
def _prices() -> dict[tuple[str, str, str], Price]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["provider"], row["region"], row["machine"].lower()): Price(
                on_demand=_number(row["on_demand"]),
                spot=_number(row["spot"]),
                source=f"{SOURCES[row['source']]}, {row['date']}",
            )
            for row in csv.DictReader(file)
        }


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
