"""What the cloud writes into nodes, and what it leaves to others."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.kubernetes import node_objects
from sandbox.kubernetes.node_objects import AT_REGISTRATION

Object = dict[str, Any]

TAINT = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "machine"},
    "spec": {"providerID": "azure:///machine"},
    "status": {"capacity": {"cpu": "4"}},
    AT_REGISTRATION: {"taints": [TAINT]},
}


class Recorder:
    """An API server that keeps the nodes it is told of, and who applied what."""

    def __init__(self) -> None:
        self.nodes: list[Object] = []
        self.applied: list[tuple[str, Object]] = []
        self.age = 1.0

    def list(self, *kind: str) -> list[Object]:
        return self.nodes

    def apply(self, body: Object, manager: str, *, force: bool = False) -> None:
        self.applied.append((manager, body))
        status = {"conditions": [{"type": "Ready", "status": "False"}]}
        joined = (datetime.now(UTC) - timedelta(seconds=self.age)).isoformat()
        self.nodes = [{**body, "metadata": {**body["metadata"], "creationTimestamp": joined}, "status": status}]


def test_what_a_kubelet_registers_is_applied_once_and_by_another_manager() -> None:
    server = Recorder()
    node_objects.apply(server, [NODE])  # type: ignore[arg-type]
    node_objects.apply(server, [NODE])  # type: ignore[arg-type]
    taints = [(manager, body["spec"].get("taints")) for manager, body in server.applied]
    # Without them in the cloud's own name, what others make of them stays.
    assert taints == [("kubelet", [TAINT]), ("sandbox-nodes", None), ("sandbox-nodes", None)]
    assert all(AT_REGISTRATION not in body for _, body in server.applied)


def test_a_node_that_is_long_not_ready_is_told_so_that_nobody_waits_for_it() -> None:
    server = Recorder()
    assert node_objects.apply(server, [NODE]) == set()  # type: ignore[arg-type]
    assert node_objects.apply(server, [NODE]) == set()  # type: ignore[arg-type]
    server.age = 3600.0
    node_objects.apply(server, [NODE])  # type: ignore[arg-type]
    assert node_objects.apply(server, [NODE]) == {"machine"}  # type: ignore[arg-type]
