"""A few drawn stacks on both clouds through the real engine: the scheduler puts the same pods on equivalent nodes."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from sandbox.cluster import clusters
from sandbox.tests.api import Api
from sandbox.tests.stack import Stack, eventually
from tests.admission.corpus import corpus
from tests.admission.posting import decision
from tests.parity.drawn import Settings, neutral, on_aks, on_gke
from tests.parity.test_parity import Side, landings, portable

pytestmark = pytest.mark.slow

NAMES = ("job-gpu", "job-gpu-require-spot", "job-gpu-on-demand", "notebook-gpu", "kfp-executor-cpu", "kserve-raw-gpu")
"""Golden pods: training with GPUs of each placement, a notebook and a predictor with one, and a step without."""
POOL = "kubeflow-spot.dev/pool"
TEAM = "team-a"
NODE = {"apiVersion": "v1", "kind": "Node"}
PROFILE = {"app.kubernetes.io/part-of": "kubeflow-profile"}


@given(neutral())
@settings(
    max_examples=10,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
def test_pods_land_on_equivalent_nodes_on_both_clouds(
    tmp_path_factory: pytest.TempPathFactory, drawn: Settings
) -> None:
    aks, gke = on_aks(drawn), on_gke(drawn)
    sides = {"aks": Side.of(aks), "gke": Side.of(gke)}
    assert [portable(p) for p in sides["aks"].pools] == [portable(p) for p in sides["gke"].pools]
    outcomes = {}
    for name, raw in (("aks", aks), ("gke", gke)):
        with up(raw, tmp_path_factory.mktemp(name)) as stack:
            outcomes[name] = landed(stack, sides[name])
    assert outcomes["aks"] == outcomes["gke"]


@contextmanager
def up(raw: Settings, folder: Path) -> Iterator[Stack]:
    """Yield the stack in a sandbox of its own, with a node in every pool that may have one."""
    stack = Stack.copy(folder)
    stack.write(raw)
    try:
        stack.run("up")
        for pool in stack.outputs()["pools"]:
            if pool["minNodes"] == 0:
                stack.run("scale", pool["name"], "1")
        yield stack
    finally:
        stack.run("down")
        shutil.rmtree(folder)


def landed(stack: Stack, side: Side) -> dict[str, str]:
    """Return the capacity of each pod's node, or that the pod waits; its pool must be an allowed one."""
    (plane,) = clusters.planes(stack.home / stack.name / "clusters")
    api = Api(plane)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": PROFILE}})
    editor = {"name": "default-editor", "namespace": TEAM}
    api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": editor})
    eventually(lambda: len(api.list("v1", "ServiceAccount", TEAM)) == 2, "the namespace has its service account")
    result = {}
    for name in NAMES:
        golden = corpus()[name]
        api.create(golden.object)
        decided = eventually(lambda: decisions(api), f"the scheduler has decided on {name}")[0]
        if decided == "pending":
            # The scheduler may not know yet that the pod before is deleted; it then tries again.
            with suppress(AssertionError):
                decided = eventually(lambda: [node for node in decisions(api) if node != "pending"], "another try", 3)[
                    0
                ]
        node = {} if decided == "pending" else api.get({**NODE, "metadata": {"name": decided}})["metadata"]["labels"]
        assert not node or node[POOL] in {*landings(golden, side), *(() if golden.gpu else ("system",))}, name
        result[name] = node.get("kubeflow-spot.dev/capacity", "pending")
        api.delete(golden.object)
        api.clear("v1", "Pod", TEAM)
        eventually(lambda: not api.list("v1", "Pod", TEAM), f"{name} is gone")
    return result


def decisions(api: Api) -> list[str]:
    """Return the node of each pod, or `pending`, for pods that the scheduler has tried."""
    return [decided for pod in api.list("v1", "Pod", TEAM) if (decided := decision(pod))]
