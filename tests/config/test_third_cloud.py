"""A third cloud is a folder and one line of `config.clouds.registry`: its stack file loads, places pods and gets its errors."""

from typing import Any

import pytest

from config.clouds import registry
from config.model.scheduling import Placement
from config.placement import contract, pods
from config.stack_file import loader
from tests.config.stack import good, grown, placed, placed_pools, spec
from tests.config.stack_files import edited

STACK: dict[str, Any] = {
    "release": "r2026-11",
    "cluster": {"name": "playroom"},
    "cloud": {"provider": "toy", "shelf": 2},
    "systemPool": {"machine": "toy-cpu", "maxNodes": 2},
    "pools": [
        {"name": "general", "machine": "toy-cpu", "maxNodes": 4, "zones": ["top"], "toy": {"colour": "blue"}},
        {
            "name": "training",
            "machine": "toy-gpu",
            "capacity": "spot",
            "maxNodes": 3,
            "fallback": [{"onDemand": {"maxNodes": 1}}],
        },
    ],
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "CLOUDS", (*registry.CLOUDS, "tests.config.toy"))


def toy(**sets: Any) -> dict[str, Any]:
    """Return the stack file with other values of its second pool."""
    return edited(STACK, {f"pools[1].{key}": value for key, value in sets.items()})


def errors(raw: dict[str, Any]) -> list[str]:
    return [f"{problem.path}: {problem.what}" for problem in loader.read_stack(raw)[1] if not problem.warning]


def test_its_stack_file_loads_and_its_pools_are_placed() -> None:
    stack = spec(STACK)
    pools = placed(STACK)
    assert list(pools) == ["general", "training", "trainingod"]
    assert pools["general"].source == stack.pools[0]
    assert pools["training"].labels == {
        "kubeflow-spot.dev/accelerator": "nvidia-toy",
        "kubeflow-spot.dev/capacity": "spot",
        "kubeflow-spot.dev/pool": "training",
        "toy.example/lent": "yes",
    }
    assert [*map(str, pools["training"].taints)] == [
        "nvidia.com/gpu=present:NoSchedule",
        "toy.example/lent=yes:NoSchedule",
    ]
    assert [*map(str, pools["trainingod"].taints)] == ["nvidia.com/gpu=present:NoSchedule"]
    assert grown(stack) == ("general", "system", "training", "trainingod")


def test_the_contract_tells_pods_how_to_get_onto_its_spot_machines() -> None:
    pools = placed_pools(STACK)
    keys = [toleration.key for toleration in pods.tolerations(pods.usable(pools, Placement.PREFER_SPOT, gpu=True))]
    assert keys == ["nvidia.com/gpu", "toy.example/lent"]
    snippets = contract.snippets(pools)
    assert snippets["pool-training"]["nodeSelector"] == {"kubeflow-spot.dev/pool": "training"}
    assert {"gpu-prefer-spot", "gpu-require-spot", "gpu-on-demand"} <= snippets.keys()


MISTAKES = {
    # Problems of its own rules, which run by registration alone.
    "cloud.shelf: is 9, out of reach": edited(STACK, {"cloud.shelf": 9}),
    "pools[1].toy.colour: is blue, and GPUs are red": toy(toy={"colour": "blue"}),
    # Problems of its models.
    "cloud.shelf: is missing": edited(STACK, {}, ["cloud.shelf"]),
    "pools[1].toy.colour: is 'green'": toy(toy={"colour": "green"}),
    # Problems of the rules for every cloud, by its traits.
    "cluster.name: 'Playroom' is not a valid name for a Toybox cluster": edited(STACK, {"cluster.name": "Playroom"}),
    "pools[1].maxNodes: is 10": toy(maxNodes=10),
    "pools[1].zones[0]: '1' is not a zone of Toybox": toy(zones=["1"]),
    "pools[1].gcp: is set, but Toybox has no such setting": toy(gcp={}),
    "pools[1].subnet: is set, but Toybox has no such setting": toy(subnet="gpu"),
    "pools[1].spot.maxPrice: is set, but Toybox has no such setting": toy(spot={"maxPrice": 1}),
    "pools[1].machine: 'g2-standard-8' is a machine of GKE, not of Toybox": toy(machine="g2-standard-8"),
    "pools[1].capacity: is preemptible, which Toybox does not have": toy(capacity="preemptible"),
}  # fmt: skip


@pytest.mark.parametrize("problem", MISTAKES)
def test_its_mistakes_are_reported_with_their_paths(problem: str) -> None:
    assert errors(MISTAKES[problem]) == [problem]


def test_the_other_clouds_know_of_it() -> None:
    raw = edited(good(), {"pools[0].toy": {"colour": "red"}, "systemPool.machine": "toy-cpu"})
    assert errors(raw) == [
        "pools[0].toy: is set, but AKS has no such setting",
        "systemPool.machine: 'toy-cpu' is a machine of Toybox, not of AKS",
    ]


def test_remedies_are_in_its_words() -> None:
    (problem,) = loader.read_stack(edited(STACK, {}, ["systemPool"]))[1]
    assert problem.remedy == "write for example `kubeflow-spot:systemPool: {machine: toy-cpu, maxNodes: 2}`"
    (problem,) = loader.read_stack(edited(STACK, {"cloud": {"provider": "tyo"}}))[1]
    assert problem.remedy == "did you mean `toy`? one of: azure, gcp, existing, toy"


def test_without_its_line_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert "cloud.provider: is 'toy'" in errors(STACK)
