"""What counts as work on a node."""

from __future__ import annotations

from typing import Any

import pytest

from components.layer import running
from components.layer.running import Running


def on(node: str | None, **also: Any) -> dict[str, Any]:
    made = {
        "metadata": {"namespace": "a", "name": also.pop("name", "p")},
        "spec": {"nodeName": node},
    }
    made["metadata"] |= also.pop("metadata", {})
    return {**made, "status": {"phase": also.pop("phase", "Running")}}


NODE = {"metadata": {"name": "n", "labels": {"kubeflow-spot.dev/pool": "x"}}}
DAEMON = {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}


@pytest.mark.parametrize(
    ("pod", "is_work"),
    [
        (on("n"), True),
        (on("n", phase="Pending"), True),
        (
            on("n", metadata={"ownerReferences": [{"kind": "StatefulSet", "controller": True}]}),
            True,
        ),
        (on("n", metadata={"ownerReferences": [{"kind": "DaemonSet"}]}), True),
        (on("n", metadata=DAEMON), False),
        (on("n", metadata={"annotations": {"kubernetes.io/config.mirror": "1"}}), False),
        (on("n", phase="Succeeded"), False),
        (on("n", phase="Failed"), False),
        (on("other"), False),
        (on(None), False),
    ],
)
def test_work_is_what_is_lost_with_a_node(pod: dict[str, Any], is_work: bool) -> None:
    found = running.on_pools(["x"], [NODE, {"metadata": {"name": "other"}}], [pod])
    assert found == {"x": Running(("n",), (pod,)) if is_work else Running()}
