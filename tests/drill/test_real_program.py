"""The program that `SANDBOX_AUTOSCALER` names, on a control plane of its own."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from drill.play.real_autoscaler import RealAutoscaler, named_program
from drill.play.real_provider import first_nodes, refusal_policy
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.node_objects import opened
from sandbox.tests import planes
from sandbox.tests.autoscaler.objects import GPU, ONE_GPU, SPOT, on_demand
from sandbox.tests.autoscaler.objects import spot as spot_group
from tests.drill.external_bench import OD_GROUP, SPOT_GROUP
from tests.drill.test_real_autoscaler import SETTINGS, awaited


def pod(name: str) -> dict[str, Any]:
    containers = [
        {"name": "main", "image": "train", "resources": {"requests": ONE_GPU, "limits": {"nvidia.com/gpu": "1"}}}
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, "tolerations": [SPOT, GPU]},
    }


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.skipif(named_program(os.environ) is None, reason="SANDBOX_AUTOSCALER names no cluster-autoscaler")
def test_the_program_itself_asks_spot_first_and_leaves_its_nodes(tmp_path: Path) -> None:
    """Room for two on spot, then one on demand; a later request there is refused."""
    program = named_program(os.environ)
    assert program
    settings = {**SETTINGS, "expander": "priority", "scanInterval": "5s"}
    groups = [with_capacity(spot_group(2)), with_capacity(replace(on_demand(8), nodes=(f"{OD_GROUP}000000",), least=1))]
    with planes.running(tmp_path / "plane") as plane, opened(plane.admin_kubeconfig) as client:
        for body in [priorities(f'50: ["^{SPOT_GROUP}$"]\n10: [".*"]\n'), *first_nodes(groups[1])]:
            client.apply(body, "test")
        autoscaler = RealAutoscaler(program, plane, groups, settings, tmp_path / "drill")
        autoscaler.start()
        try:
            begin = datetime.now(UTC).timestamp()
            for number in range(4):
                client.apply(pod(f"train-{number}"), "test")
            first, second = awaited(autoscaler, 2)[:2]
            # The oldest GPU pod must be 30 s old, by a timestamp in whole seconds; a scan is 5 s.
            assert 28 < first.at - begin < 37
            assert (first.action, first.pool, first.before, first.after) == ("scale-up", "gpuspot", 0, 2)
            assert (second.action, second.pool, second.before, second.after) == ("scale-up", "gpuod", 1, 2)
            sleep(10)  # a loop at once after a scale-up may ask for one more
            known, nodes = len(autoscaler.decisions()), client.list("v1", "Node")
            for body in refusal_policy({OD_GROUP: "SkuNotAvailable: none here"}):
                client.apply(body, "test")
            for number in range(4):
                client.apply(pod(f"late-{number}"), "test")
            plan, backoff, failed = awaited(autoscaler, known + 3)[known : known + 3]
            assert (plan.action, plan.pool) == ("scale-up", "gpuod")
            assert (backoff.action, backoff.reason) == ("backoff", "Other/cloudProviderError")
            assert backoff.until == pytest.approx(backoff.at + 300, abs=2)
            assert failed.reason.endswith("SkuNotAvailable: none here")
        finally:
            autoscaler.stop()
        left = client.list("v1", "Node")
    assert autoscaler.version.startswith("1.36")
    assert len(nodes) == len(left) >= 4
    assert all(node["metadata"]["labels"]["kubernetes.io/hostname"] == node["metadata"]["name"] for node in left)


def priorities(text: str) -> dict[str, Any]:
    metadata = {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"priorities": text}}


def with_capacity(known: NodeGroup) -> NodeGroup:
    status = known.template["status"]
    return replace(known, template={**known.template, "status": {**status, "capacity": status["allocatable"]}})
