"""What `sandbox up` says of an update: the engine's count of resources, and the outputs that changed."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.cli.outputs import summary

BEFORE: dict[str, Any] = {"release": "r2026-11", "pools": [{"name": "t4"}], "queueing": {}}


@pytest.mark.parametrize(
    ("counts", "before", "after", "said"),
    [
        ({"same": 25}, BEFORE, BEFORE, "nothing changed"),
        ({"same": 25}, BEFORE, BEFORE | {"queueing": {"items": []}}, "changed outputs: queueing"),
        ({"same": 25}, BEFORE, {"release": "r2026-11", "new": None}, "changed outputs: new, pools, queueing"),
        ({"update": 1, "create": 2}, BEFORE, BEFORE | {"pools": []}, "2 create, 1 update, changed outputs: pools"),
        ({"update": 1}, BEFORE, BEFORE, "1 update"),
        # All outputs of a first update are new.
        ({"create": 25}, {}, BEFORE, "25 create"),
    ],
)
def test_resources_are_counted_and_changed_outputs_are_named(
    counts: dict[str, int], before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    assert summary(counts, before, after) == said
