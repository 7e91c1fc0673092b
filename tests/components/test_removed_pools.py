"""Pools that an edit removes: what is refused, what only warns, and what goes; judged from set nodes and pods."""

from typing import Any

import pulumi
import pytest

from components import removed_pools, running
from components.azure.azure_live import LiveCluster as AksCluster
from components.gcp.gcp_live import LiveCluster as GkeCluster
from components.removed_pools import LivePool
from components.running import Running
from tests.components.removals import (
    AKS,
    EDITS,
    GKE,
    Edit,
    Settings,
    edited,
    judged,
    live,
    no_twin,
    pod,
    sold_as_spot,
    stack,
    without,
)

CLOUDS = pytest.mark.parametrize("before", [AKS, GKE], ids=["aks", "gke"])


@pytest.mark.parametrize(("before", "edit", "refused", "warned"), EDITS)
def test_a_pool_that_goes_with_work_is_refused_on_demand_and_warned_of_as_spot(
    before: Settings, edit: Edit, refused: dict[str, str], warned: set[str]
) -> None:
    problems = judged(before, edit)
    assert {name: problem.path for name, problem in problems.items() if not problem.warning} == refused
    assert {name for name, problem in problems.items() if problem.warning} == warned
    for name, problem in problems.items():
        assert f"pods team-a/nb-{name} on nodes node-{name}" in problem.what
    for name in refused:
        remedy = problems[name].remedy
        parts = ("put it back", f"kubectl drain -l kubeflow-spot.dev/pool={name} --ignore", f"removedPools: [{name}]")
        assert [remedy.index(part) for part in parts] == sorted(remedy.index(part) for part in parts)


@pytest.mark.parametrize(("before", "edit", "refused", "warned"), EDITS)
def test_the_same_pools_go_without_a_word_when_nothing_runs_there(
    before: Settings, edit: Edit, refused: dict[str, str], warned: set[str]
) -> None:
    drained = {name: Running() for name in (*refused, *warned)}
    assert judged(before, edit, work=drained) == {}


@pytest.mark.parametrize(("before", "edit", "refused", "warned"), EDITS)
def test_with_the_word_in_the_stack_file_they_go_with_a_warning(
    before: Settings, edit: Edit, refused: dict[str, str], warned: set[str]
) -> None:
    problems = judged(before, edit, removed=sorted(refused))
    assert {name for name, problem in problems.items() if problem.warning} == {*refused, *warned}
    assert len(problems) == len({*refused, *warned})
    for name in refused:
        assert f"team-a/nb-{name}" in problems[name].what
        assert "cluster.removedPools allows it" in problems[name].remedy


def test_the_word_is_for_the_pools_it_names_alone() -> None:
    problems = judged(AKS, lambda settings: [no_twin(settings), without("general")(settings)], removed=["gpuod"])
    assert {name: problem.warning for name, problem in problems.items()} == {"general": False, "gpuod": True}


@CLOUDS
def test_an_unread_cluster_keeps_every_on_demand_pool_that_may_have_nodes(before: Settings) -> None:
    why = "the cluster's API server, https://10.0.0.4, does not answer: timed out"
    for nodes, shown in ((3, "3 nodes"), (None, "an unknown number of nodes")):
        (problem,) = judged(before, without("general"), work=why, nodes=nodes).values()
        assert not problem.warning
        assert shown in problem.what
        assert why in problem.what
        assert "removedPools: [general]" in problem.remedy
    assert judged(before, without("general"), work=why, nodes=0) == {}
    assert judged(before, without("general"), work=why, nodes=3, removed=["general"])["general"].warning
    assert judged(before, without("big"), work=why, nodes=3)["big"].warning


def test_another_generation_is_the_users_word_for_that_pool_but_not_for_spot_in_its_place() -> None:
    def generation(settings: Settings) -> None:
        settings["pools"][0]["generation"] = "b"
        settings["pools"][1]["generation"] = "b"

    assert judged(AKS, generation) == {}
    second = edited(AKS, generation)
    assert judged(second, lambda settings: [pool.pop("generation", None) for pool in settings["pools"]]) == {}
    (problem,) = judged(second, sold_as_spot).values()
    assert (problem.path, problem.warning) == ("pools[0]", False)
    assert "removedPools: [generalb]" in problem.remedy
    assert judged(second, sold_as_spot, removed=["generalb"])["generalb"].warning


def test_a_pool_that_is_bought_otherwise_under_its_name_is_not_removed() -> None:
    alone = edited(AKS, lambda settings: settings["pools"][1].update(fallback=[]))
    assert judged(alone, lambda settings: settings["pools"][2].pop("capacity")) == {}


def test_the_system_pool_under_another_name_is_warned_of() -> None:
    problems = judged(GKE, lambda settings: settings["systemPool"].update(name="base"))
    assert {name: (problem.path, problem.warning) for name, problem in problems.items()} == {
        "system": ("systemPool", True)
    }


def test_pods_that_no_other_pool_takes_are_named_and_the_pools_that_take_others() -> None:
    assert "(its pods can go to gpuod)" in judged(AKS, without("serving"))["serving"].remedy
    assert judged(AKS, without("big"))["big"].remedy == "its pods can go to gpu, gpuod, serving"
    nothing = judged(AKS, lambda settings: settings.update(pools=settings["pools"][:1]))
    assert nothing["big"].remedy == "no declared pool takes team-a/nb-big: write one first, or stop them"


def test_many_pods_and_nodes_are_counted() -> None:
    (general,) = (pool for pool in stack(AKS).node_pools if pool.name == "general")
    many = Running(tuple(f"n{i}" for i in range(6)), tuple(pod(general, f"p{i}") for i in range(9)))
    (problem,) = judged(AKS, without("general"), work={"general": many}).values()
    assert "team-a/p3-general and 5 more on nodes n0, n1, n2, n3 and 2 more" in problem.what
    assert "p4" not in problem.what


def test_only_the_stacks_own_pools_are_its_pools() -> None:
    labels = {"kubeflow-spot.dev/pool": "x"}
    after = stack(AKS, {"pools": {"remembered": "remembered", "theirs": "theirs", "gone": "gone"}})
    pools = [
        LivePool("remembered", labels, spot=False, nodes=1),
        LivePool("byhand", labels, spot=False, nodes=1),
        # Tags of an existing cluster decide, whatever is remembered: a failed `up` may have made a pool.
        LivePool("theirs", labels, spot=False, nodes=1, stack="prod"),
        LivePool("unfinished", labels, spot=False, nodes=1, stack="dev"),
    ]
    assert [pool.name for pool in removed_pools.removed(after, pools)] == ["remembered", "unfinished"]


def test_a_pool_that_a_failed_update_left_is_judged_again() -> None:
    first = removed_pools.remembered(stack(AKS), [])
    after = stack(edited(AKS, no_twin), {"pools": first})
    assert removed_pools.remembered(after, ["gpuod", "byhand"]) == first
    assert removed_pools.remembered(after, ["general"]) == {k: v for k, v in first.items() if k != "gpuod"}


def test_a_word_without_its_pool_is_warned_of() -> None:
    after = stack(AKS, removedPools=["long-gone"])
    (problem,) = removed_pools.unused(after, [])
    assert (problem.path, problem.warning, problem.remedy) == ("cluster.removedPools[0]", True, "remove the line")


def test_the_cluster_is_read_only_when_a_pool_goes_and_a_refused_login_is_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kubeconfig() -> str:
        raise pulumi.RunError("cloud: the kubeconfig of cluster 'ml' cannot be read: the login lacks a right\n  403")

    monkeypatch.setattr(running, "read_running", lambda *_: pytest.fail("read though there is no kubeconfig"))
    before = stack(AKS)
    pools = [live(pool) for pool in before.node_pools]
    last = {"pools": removed_pools.remembered(before, [])}
    assert removed_pools.problems(stack(AKS, last), pools, "cluster", kubeconfig) == []
    (problem,) = removed_pools.problems(stack(edited(AKS, no_twin), last), pools, "cluster", kubeconfig)
    assert "whose pods cannot be listed (cloud: the kubeconfig of cluster 'ml' cannot be read" in problem.what


def on_node(node: str | None, **also: Any) -> dict[str, Any]:
    made = {"metadata": {"namespace": "a", "name": also.pop("name", "p")}, "spec": {"nodeName": node}}
    made["metadata"] |= also.pop("metadata", {})
    return {**made, "status": {"phase": also.pop("phase", "Running")}}


NODE = {"metadata": {"name": "n", "labels": {"kubeflow-spot.dev/pool": "x"}}}
DAEMON = {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}


@pytest.mark.parametrize(
    ("pod", "is_work"),
    [
        (on_node("n"), True),
        (on_node("n", phase="Pending"), True),
        (on_node("n", metadata={"ownerReferences": [{"kind": "StatefulSet", "controller": True}]}), True),
        (on_node("n", metadata={"ownerReferences": [{"kind": "DaemonSet"}]}), True),
        (on_node("n", metadata=DAEMON), False),
        (on_node("n", metadata={"annotations": {"kubernetes.io/config.mirror": "1"}}), False),
        (on_node("n", phase="Succeeded"), False),
        (on_node("n", phase="Failed"), False),
        (on_node("other"), False),
        (on_node(None), False),
    ],
)
def test_work_is_what_is_lost_with_a_node(pod: dict[str, Any], is_work: bool) -> None:
    found = running.on_pools(["x"], [NODE, {"metadata": {"name": "other"}}], [pod])
    assert found == {"x": Running(("n",), (pod,)) if is_work else Running()}


LABELS = {"kubeflow-spot.dev/pool": "x"}


@pytest.mark.parametrize(
    ("profile", "pool"),
    [
        ({"count": 2}, LivePool("x", {}, spot=False, nodes=2)),
        ({"nodeLabels": LABELS, "count": 0}, LivePool("x", LABELS, spot=False, nodes=0)),
        ({"scaleSetPriority": "Regular", "count": 1}, LivePool("x", {}, spot=False, nodes=1)),
        ({"scaleSetPriority": "Spot"}, LivePool("x", {}, spot=True, nodes=None)),
        ({"tags": {"kubeflow-spot-stack": "dev"}}, LivePool("x", {}, spot=False, nodes=None, stack="dev")),
        # The cluster lists its system pool itself, and no update of the stack deletes it.
        ({"mode": "System", "count": 2}, None),
    ],
)
def test_a_pool_of_aks(profile: dict[str, Any], pool: LivePool | None) -> None:
    assert AksCluster({"x": {"name": "x", "mode": "User", **profile}}).user_pools == ([pool] if pool else [])


ONE, THREE = ["europe-west4-a"], ["europe-west4-a", "europe-west4-b", "europe-west4-c"]


@pytest.mark.parametrize(
    ("nodes", "answer", "pool"),
    [
        ({"labels": LABELS}, {"nodeCount": 2, "nodeLocations": ONE}, LivePool("x", LABELS, spot=False, nodes=2)),
        # Of two nodes in three zones the provider says 0.
        ({}, {"nodeCount": 0, "nodeLocations": THREE}, LivePool("x", {}, spot=False, nodes=None)),
        ({}, {"nodeCount": 0, "nodeLocations": ONE}, LivePool("x", {}, spot=False, nodes=0)),
        ({}, {}, LivePool("x", {}, spot=False, nodes=None)),
        ({"spot": True}, {}, LivePool("x", {}, spot=True, nodes=None)),
        ({"preemptible": True}, {}, LivePool("x", {}, spot=True, nodes=None)),
        ({"flexStart": True, "spot": False}, {}, LivePool("x", {}, spot=False, nodes=None)),
        (
            {"resourceLabels": {"kubeflow-spot-stack": "dev"}},
            {},
            LivePool("x", {}, spot=False, nodes=None, stack="dev"),
        ),
    ],
)
def test_a_pool_of_gke(nodes: dict[str, Any], answer: dict[str, Any], pool: LivePool) -> None:
    assert GkeCluster({"nodePools": [{"name": "x", "nodeConfigs": [nodes], **answer}]}).live_pools == [pool]
