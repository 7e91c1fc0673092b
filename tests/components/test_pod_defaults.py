"""Kubeflow's PodDefaults where Kubernetes has no mutating policy, and the messages about them."""

from typing import Any

import pytest
from hypothesis import given

from components.layer.scheduling import pod_defaults
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.model.scheduling import Placement, Profile, Scheduling
from config.placement import node_pools as placement
from config.placement import pods
from config.placement.node_pools import NodePool
from tests.components.features import plain
from tests.components.program import declare
from tests.config.stack import good, spec
from tests.config.test_placement import pool_lists

TEAMS = (Profile(namespace="team-a"), Profile(namespace="team-b", gpus=2))
WITH_TEAMS = Scheduling(profiles=TEAMS)


def node_pools(*pools: dict[str, Any]) -> tuple[NodePool, ...]:
    return placement.node_pools(spec(good(pools=list(pools))), Aks())


POOLS = node_pools({"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 8})
ONLY_CPU = node_pools({"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 8})


def untainted() -> tuple[NodePool, ...]:
    """Return a spot pool of an existing cluster, with the taint of GPUs alone."""
    cloud = {"provider": "existing", "name": "lab", "kubeconfig": {"file": "x"}}
    pool = {"name": "lent", "machine": "rack", "gpus": 1, "capacity": "spot", "maxNodes": 2}
    return placement.node_pools(spec({"release": "r2026-09", "cloud": cloud, "pools": [pool]}), ExistingCluster())


@pytest.mark.program
def test_pods_with_the_label_get_the_spot_taints_toleration_in_every_profile() -> None:
    older = {"kubernetesVersion": "1.35", "reason": "not ready for 1.36"}
    settings = plain({}, cluster=older, pool={"machine": "Standard_NC4as_T4_v3", "capacity": "spot"})
    settings["kubeflow-spot:scheduling"] = {"profiles": [{"namespace": "team-a"}, {"namespace": "team-b", "gpus": 2}]}
    declared = declare(settings).of("kubernetes:kubeflow.org/v1alpha1:PodDefault")
    first, second = (declared[f"lab-pod-defaults-{team}"].inputs for team in ("team-a", "team-b"))
    assert len(declared) == 2
    assert first["metadata"]["name"] == "kubeflow-spot-test-prefer-spot"
    assert (first["metadata"]["namespace"], second["metadata"]["namespace"]) == ("team-a", "team-b")
    assert first["spec"]["selector"] == {"matchLabels": {"kubeflow-spot.dev/placement": "prefer-spot"}}
    assert first["spec"]["tolerations"] == [
        {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"}
    ]
    assert first["spec"] == second["spec"]


@given(pool_lists())
def test_they_are_those_of_the_policy_but_for_the_gpus_own(pools: list[dict[str, Any]]) -> None:
    placed = node_pools(*pools)
    wanted = [
        toleration.as_manifest()
        for toleration in pods.tolerations(pods.usable(placed, Placement.PREFER_SPOT, gpu=True))
    ]
    pod_default = pod_defaults.pod_default_spec(placed)
    given = [toleration for toleration in wanted if toleration["key"] != "nvidia.com/gpu"]
    assert (pod_default["tolerations"] if pod_default else []) == given
    assert bool(pod_default) == bool(given)


@pytest.mark.parametrize("pools", [ONLY_CPU, untainted()])
def test_nothing_is_declared_where_a_pod_needs_no_toleration_of_ours(pools: tuple[NodePool, ...]) -> None:
    assert pod_defaults.pod_default_spec(pools) is None


@pytest.mark.parametrize(
    ("scheduling", "pools", "version", "expected"),
    [
        (Scheduling(), POOLS, "1.36", tuple(Placement)),
        (Scheduling(), POOLS, "1.36.2", tuple(Placement)),
        (WITH_TEAMS, POOLS, "1.35.4", (Placement.PREFER_SPOT,)),
        (Scheduling(), POOLS, "1.35", ()),
        (WITH_TEAMS, untainted(), "1.35", ()),
    ],
)
def test_the_values_of_the_label_that_do_something(
    scheduling: Scheduling, pools: tuple[NodePool, ...], version: str, expected: tuple[Placement, ...]
) -> None:
    assert pod_defaults.heeded(scheduling, pools, version) == expected


@pytest.mark.parametrize(
    ("scheduling", "pools", "instead"),
    [
        (WITH_TEAMS, POOLS, "instead: in team-a, team-b a pod labelled kubeflow-spot.dev/placement: prefer-spot gets"),
        (Scheduling(), POOLS, "instead: nothing yet. Once Kubeflow is installed, write its profiles' namespaces under"),
        (WITH_TEAMS, untainted(), "instead: nothing; pods carry the lines of the contract"),
    ],
)
def test_a_shortfall_is_reported_with_its_replacement(
    scheduling: Scheduling, pools: tuple[NodePool, ...], instead: str
) -> None:
    lost, fallback = pod_defaults.shortfall(scheduling, pools, "1.35.4")
    assert lost.startswith("Kubernetes 1.35.4 has no MutatingAdmissionPolicy (1.36 is the first)")
    assert fallback.startswith(instead)


@pytest.mark.parametrize(("scheduling", "version"), [(Scheduling(), "1.36.0"), (Scheduling(enabled=False), "1.35")])
def test_without_a_shortfall_there_is_no_message(scheduling: Scheduling, version: str) -> None:
    assert pod_defaults.shortfall(scheduling, POOLS, version) == []
