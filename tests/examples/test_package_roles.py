"""The roles that the package for users' tools moves, by the table that the cluster's policies are made from."""

from typing import Any

import pytest
from kubeflow_spot import Contract, manifests

from tests.examples.contracts import config_map

DEV = Contract.from_config_map(config_map("dev"))


def _template(gpus: int = 1) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}}


KINDS: list[tuple[dict[str, Any], dict[str, bool]]] = [
    ({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": _template()}}}}, {"template": True}),
    (
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "spec": {"tasks": [{"name": "ps", "template": _template()}, {"name": "worker", "template": _template()}]},
        },
        {"ps": False, "worker": True},
    ),
    ({"kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Master": {"template": _template()}}}}, {"Master": True}),
    (
        {
            "kind": "JobSet",
            "spec": {
                "replicatedJobs": [
                    {"name": "leader", "template": {"spec": {"template": _template()}}},
                    {"name": "actors", "template": {"spec": {"template": _template()}}},
                ]
            },
        },
        {"leader": False, "actors": True},
    ),
]


@pytest.mark.parametrize(("manifest", "moves"), KINDS)
def test_every_role_that_leads_no_others_moves(manifest: dict[str, Any], moves: dict[str, bool]) -> None:
    placed = manifests.placed({"metadata": {"name": "fit"}, **manifest}, DEV.lines("require-spot"))
    found: dict[str, bool] = {}

    def visit(part: Any, role: str) -> None:
        if isinstance(part, list):
            for item in part:
                visit(item, item.get("name", role))
        elif isinstance(part, dict) and "containers" in part:
            found[role] = "affinity" in part
        elif isinstance(part, dict):
            for key, value in part.items():
                visit(value, key if key in moves else role)

    visit(placed, "template")
    assert found == moves
