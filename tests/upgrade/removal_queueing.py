"""Keys of `queueing`, taken out again: the stacks that have them, and the cases of both clouds (`tests.upgrade.removal`)."""

from __future__ import annotations

from tests.upgrade.case import Config
from tests.upgrade.removal import Removal

_QUEUEING = {"enabled": True, "namespaces": ["team-a"]}

AKS_STACKS: dict[str, Config] = {
    "queued": {
        "release": "r2026-11",
        "cluster": {"name": "lab"},
        "cloud": {"provider": "azure", "location": "westeurope"},
        "systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 3},
        "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "maxNodes": 2}],
        "queueing": _QUEUEING,
    }
}
GKE_STACKS: dict[str, Config] = {
    "queued": {
        "release": "r2026-11",
        "cluster": {"name": "lab"},
        "cloud": {"provider": "gcp", "project": "example-lab", "location": "europe-west4"},
        "systemPool": {"machine": "e2-standard-4", "maxNodes": 3},
        "pools": [{"name": "l4", "machine": "g2-standard-8", "maxNodes": 2}],
        "queueing": _QUEUEING,
    }
}

CASES = [
    Removal(key, "queued", nothing="an output alone changes (tests/docs/test_outputs.py)")
    for key in ("queueing.enabled", "queueing.namespaces")
]
