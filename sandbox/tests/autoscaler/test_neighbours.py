"""Rules between pods: nodes for pods that keep apart, together or evenly spread, and pods that need the same port of a host."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from .objects import JOB, Steps, decisions, group, node, pod, sized

PLAIN = group("general", 6, gpu="0", cpu="16")
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_NUMBERS = itertools.count()


def required(kind: str, key: str = HOST, app: str = "train", **term: Any) -> Any:
    each = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **term}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [each]}}}


def spread(key: str = HOST, when: str = "DoNotSchedule", **constraint: Any) -> Any:
    selector = {"matchLabels": {"app": "train"}}
    each = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector, **constraint}
    return {"topologySpreadConstraints": [each]}


def hosts(*groups: Any) -> list[Any]:
    """Return the nodes of groups with their host label."""
    bodies = [node(each, name) for each in groups for name in each.nodes]
    for body in bodies:
        body["metadata"]["labels"] = {**body["metadata"]["labels"], HOST: body["metadata"]["name"]}
    return bodies


APART, BESIDE = required("podAntiAffinity"), required("podAffinity")
SOFT = {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}}


def port(**port: Any) -> Any:
    return {"containers": [{"resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 80, **port}]}]}


def pods(count: int, spec: Any, app: str = "train", namespace: str = "default", **more: Any) -> list[Any]:
    found = []
    for _ in range(count):
        body = pod(f"{app}-{next(_NUMBERS)}", {"cpu": "1"}, **{**spec, **more})
        body["metadata"] |= {"labels": {"app": app}, "namespace": namespace}
        found.append(body)
    return found


@pytest.mark.parametrize(
    ("waiting", "nodes"),
    [
        (pods(3, {}), 1),
        (pods(3, APART), 3),
        (pods(3, SOFT), 1),
        (pods(9, APART), 6),  # the pool's most
        (pods(3, required("podAntiAffinity", app="other")), 1),
        # Who is not about to be kept apart has room beside.
        ([*pods(2, APART), *pods(4, {}, "other")], 2),
        # Nor may a pod without rules come to one that wants its kind elsewhere.
        ([*pods(1, required("podAntiAffinity", app="other"), "lone"), *pods(2, {}, "other")], 2),
        ([*pods(1, APART), *pods(1, APART, namespace="team")], 1),
        ([*pods(1, required("podAntiAffinity", namespaces=["team"])), *pods(1, {}, namespace="team")], 2),
        ([*pods(1, required("podAntiAffinity", namespaceSelector={})), *pods(1, {}, namespace="team")], 2),
        # Together: the first may be anywhere, and no node helps a pod whose mate is not there.
        (pods(3, BESIDE), 1),
        (pods(1, required("podAffinity", app="nobody")), 0),
        # As many nodes as the pods fill: a new node is a new domain.
        (pods(3, spread()), 1),
        (pods(20, spread()), 2),
        (pods(3, spread(minDomains=2)), 2),
        (pods(4, spread(minDomains=3)), 3),
        # The last new node is ahead, the first takes more.
        (pods(6, spread(minDomains=2)), 2),
        (pods(3, spread(when="ScheduleAnyway", minDomains=2)), 1),
        (pods(3, port()), 3),
        ([*pods(1, port(protocol="TCP")), *pods(1, port(protocol="UDP"))], 1),
        ([*pods(1, port(hostIP="10.0.0.1")), *pods(1, port(hostIP="10.0.0.2"))], 1),
        ([*pods(1, port(hostIP="10.0.0.1")), *pods(1, port())], 2),
    ],
)  # fmt: skip
def test_new_nodes_for_pods_with_rules(waiting: list[Any], nodes: int) -> None:
    assert decisions([PLAIN], waiting) == ([("general", 0, nodes)] if nodes else [])


@pytest.mark.parametrize(
    ("running", "waiting", "nodes"),
    [
        (pods(1, {}), pods(1, {}), 1),
        (pods(1, {}), pods(1, APART), 2),
        (pods(1, APART), pods(1, {}), 2),
        (pods(1, APART), pods(1, {}, "other"), 1),
        (pods(1, {}), pods(2, BESIDE), 1),
        # The mate's node is full.
        (pods(1, {}), pods(1, BESIDE, containers=[{"resources": {"requests": {"cpu": "16"}}}]), 1),
        (pods(1, {}), pods(2, spread()), 1),
        (pods(1, port()), pods(1, port()), 2),
    ],
)  # fmt: skip
def test_pods_that_run_count(running: list[Any], waiting: list[Any], nodes: int) -> None:
    pool = sized(PLAIN, 1)
    placed = [{**body, "spec": {**body["spec"], "nodeName": pool.nodes[0]}, "status": {}} for body in running]
    grown = decisions([pool], [*placed, *waiting], nodes=hosts(pool))
    assert (grown[-1][-1] if grown else 1) == nodes


@pytest.mark.parametrize(("key", "nodes"), [("app", 2), ("revision", 1)])
def test_a_pod_is_kept_from_its_like_of_the_same_value(key: str, nodes: int) -> None:
    waiting = pods(2, required("podAntiAffinity", matchLabelKeys=[key]))
    for number, body in enumerate(waiting):
        body["metadata"]["labels"] = {"app": "train", "revision": str(number)}
    assert decisions([PLAIN], waiting) == [("general", 0, nodes)]


@pytest.mark.parametrize(("going", "grown"), [({"deletionTimestamp": "now"}, []), ({}, [("general", 2, 3)])])
def test_pods_that_are_being_deleted_are_not_spread(going: Any, grown: Any) -> None:
    pool = sized(PLAIN, 2)
    nodes = hosts(pool)
    full = pod("full", {"cpu": "16"}, nodeName=pool.nodes[1])
    (other,) = pods(1, {}, nodeName=pool.nodes[0])
    other["metadata"] |= going
    assert decisions([pool], [full, other, *pods(1, spread())], nodes=nodes) == grown


@pytest.mark.parametrize(("policy", "nodes"), [({}, 3), ({"nodeTaintsPolicy": "Honor"}, 1)])
def test_a_node_that_takes_no_pods_is_a_domain_unless_the_constraint_honours_taints(policy: Any, nodes: int) -> None:
    """So pods spread over hosts get a node each beside a tainted pool: the usual surprise."""
    tainted = {"key": "only", "value": "system", "effect": "NoSchedule"}
    system = replace(sized(group("system", 1, [tainted], gpu="0"), 1), most=None, least=None)
    assert decisions([system, PLAIN], pods(3, spread(**policy)), nodes=hosts(system)) == [("general", 0, nodes)]


def test_pods_spread_over_zones_get_a_pool_in_each() -> None:
    zones = [group(f"zone{number}", 6, gpu="0", cpu="2") for number in (1, 2)]
    for number, each in enumerate(zones):
        each.template["metadata"]["labels"][ZONE] = f"westeurope-{number}"
    started = [sized(each, 1) for each in zones]
    grown = decisions(started, pods(8, spread(ZONE)), nodes=hosts(*started))
    # Each request is for the one pod by which a zone may be ahead of the other.
    assert sorted(grown) == [("zone1", 1, 2), ("zone2", 1, 2)]
    # Without any node there is one zone only.
    ((_, before, after),) = decisions(zones, pods(8, spread(ZONE)))
    assert (before, after) == (0, 4)


def test_daemon_sets_take_ports_of_new_nodes() -> None:
    agent = {"metadata": {"namespace": "kube-system"}, "spec": {"template": {"spec": port()}}}
    assert decisions([PLAIN], pods(1, port()), daemon_sets=[agent]) == []
    assert decisions([PLAIN], pods(1, port(hostPort=81)), daemon_sets=[agent]) == [("general", 0, 1)]


@pytest.mark.parametrize(("spec", "goes"), [({}, True), (APART, False), (spread(minDomains=2), False)])
def test_pods_with_rules_keep_a_node_whose_pods_have_no_other_place(spec: Any, goes: bool) -> None:
    pool = sized(PLAIN, 2)
    placed = [
        {**body, "metadata": {**body["metadata"], **JOB}, "status": {}, "spec": {**body["spec"], "nodeName": name}}
        for body, name in zip(pods(2, spec), pool.nodes, strict=True)
    ]
    nodes = hosts(pool)
    steps = Steps(pool, scaleDownDelayAfterAdd="0s")
    for now in (0, 60):
        steps.at(now, *placed, nodes=nodes)
    assert (len(steps.cloud.calls) > 0) is goes
