"""A preview says where a pod that has a volume cannot run on GKE."""

from __future__ import annotations

from typing import Any

import pytest

from tests.config.test_gcp import L4, a, system, warnings

G4 = {**L4, "machine": "g4-standard-48"}

CASES = [
    (a(G4, capacity="on-demand"), "pools[0].machine"),
    (a(G4, fallback=[{"onDemand": {"maxNodes": 2}}]), "pools[0].machine"),
    # Databases and notebooks do not run on spot.
    (a(G4), None),
    (a(L4, capacity="on-demand"), None),
    (system(machine="n4-standard-8"), "systemPool.machine"),
    (system(machine="c4-standard-8"), "systemPool.machine"),
    (system(machine="n2-standard-8"), None),
]


@pytest.mark.parametrize(("raw", "path"), CASES)
def test_databases_and_notebooks_have_no_disk_on_a_machine_that_takes_hyperdisks_alone(
    raw: dict[str, Any], path: str | None
) -> None:
    said = [warning.path for warning in warnings(raw) if "Hyperdisks alone" in warning.what]
    assert said == ([path] if path else [])
