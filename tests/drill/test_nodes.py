"""Nodes of a drill: outages of their kubelets, upgrades, and evictions that a budget refuses."""

from collections.abc import Collection
from typing import Any

import pytest

from drill.play.kubelet import START
from drill.play.nodes import PLUGIN, Nodes
from drill.play.outages import UNNOTICED, tolerated
from drill.play.upgrades import REPLACED
from drill.world import record
from drill.world.scenario import Place
from drill.world.workloads import GPUS, ROLE, RUN_FOR, WORK
from sandbox.kubernetes.client import Object
from tests.drill.machine_bed import AZURE, GCP, Server
from tests.drill.machine_bed import Bed as Cloud


class Settling:
    nodes: Collection[str] = {}


class Bed(Cloud):
    """Nodes of a cloud with a clock. A node with GPUs reports them some seconds after it registered."""

    def __init__(self, facts: Any = AZURE, *, evicts: bool = True) -> None:
        super().__init__(facts)
        self.server = Server(self.clock, evicts=evicts)
        self.nodes = Nodes(self.clock, self.server, self.server, self.machines, Settling(), facts)  # type: ignore[arg-type]
        self.server.seen = self.nodes.kubelets.note_change
        self.machines.join = self._join

    def _join(self, node: Object) -> None:
        super()._join(node)
        if hasattr(self, "nodes"):
            name = node["metadata"]["name"]
            self.nodes.join({"spec": {}, "status": {}, **node})
            self.clock.after(PLUGIN, lambda: self.nodes._is_ready(name))

    def pod(self, name: str, node: str, needs: float = 10_000) -> record.Pod:
        notes = {ROLE: "training", WORK: name, GPUS: "1", RUN_FOR: f"{needs}"}
        unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
        pod = {
            "metadata": {"uid": name, "name": name, "namespace": "team-a", "annotations": notes, "ownerReferences": []},
            "spec": {"containers": [], "nodeName": node, "tolerations": [{**unreachable, "tolerationSeconds": 300}]},
            "status": {"phase": "Pending"},
        }
        self.server.pods[name] = pod
        self.nodes.kubelets.note_change(None, pod)
        return self.nodes.kubelets.pods[-1]

    def spot(self, count: int) -> list[str]:
        """New spot nodes that are ready."""
        self.grow(count)
        self.until(self.clock.now + 200)
        return list(self.machines.group("t4").nodes)


def test_a_pod_on_a_node_that_is_not_ready_is_deleted_and_goes_when_the_kubelet_answers() -> None:
    bed, place = Bed(), Place()
    (node,) = bed.spot(1)
    pod = bed.pod("a", node, needs=250)
    bed.until(300)
    bed.nodes.unready(place, ready=False)
    bed.until(2000)
    assert pod.ended is None, "it cannot report that it has finished"
    assert bed.server.times("Ready Unknown") == [300 + UNNOTICED]
    assert bed.server.times("DisruptionTarget True") == [300 + UNNOTICED + 300]
    assert bed.server.times("asked to end") == [300 + UNNOTICED + 300]
    assert bed.server.nodes[node]["spec"]["taints"][0]["key"] == "node.kubernetes.io/unreachable"
    bed.nodes.unready(place, ready=True)
    assert bed.server.times("Ready True") == [2000]
    assert bed.server.nodes[node]["spec"]["taints"] == []
    assert pod.ended == 2000


def test_a_short_outage_costs_a_pod_nothing() -> None:
    bed, place = Bed(), Place()
    (node,) = bed.spot(1)
    pod = bed.pod("a", node, needs=500)
    bed.until(300)
    bed.nodes.unready(place, ready=False)
    bed.until(600)
    bed.nodes.unready(place, ready=True)
    bed.until(2000)
    assert (pod.how, pod.ended) == ("succeeded", 200 + START + 500)
    assert bed.server.times("asked to end") == []


def test_the_end_of_an_outage_heals_the_nodes_that_fell_and_those_alone() -> None:
    bed, two, all_nodes = Bed(), Place(nodes=2), Place()
    first, second, third = bed.spot(3)
    bed.nodes.unready(two, ready=False)
    assert set(bed.nodes.kubelets.silent) == {first, second}
    bed.machines.lose([first], "evicted")
    bed.nodes.end_node(first, "evicted")
    bed.nodes.unready(two, ready=True)
    assert [name for _, what, name in bed.server.sent if what == "Ready True"] == [second]
    bed.nodes.unready(two, ready=False)
    bed.nodes.unready(all_nodes, ready=False)
    bed.nodes.unready(two, ready=True)
    assert set(bed.nodes.kubelets.silent) == {second, third}, "another outage holds them"


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0.0),
        ([{"operator": "Exists"}], float("inf")),
        ([{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}], 300.0),
        ([{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}], 0.0),
        ([{"operator": "Exists"}, {"operator": "Exists", "tolerationSeconds": 20}], 20.0),
    ],
)
def test_a_pod_stays_for_as_long_as_it_tolerates(tolerations: list[Object], seconds: float) -> None:
    assert tolerated({"spec": {"tolerations": tolerations}}) == seconds


@pytest.mark.parametrize(("facts", "wait"), [(AZURE, AZURE.notice), (GCP, REPLACED)])
def test_an_upgrade_replaces_each_node_once_when_the_one_before_is_back(facts: Any, wait: float) -> None:
    bed = Bed(facts)
    old = bed.spot(3)
    begin = bed.clock.now
    bed.nodes.upgrade(Place())
    bed.until(5000)
    upgraded = [node for node in bed.machines.all if node.why == "upgraded"]
    step = wait + 100 + PLUGIN  # 100 s until a machine registers
    assert [node.gone for node in upgraded] == [begin + wait + number * step for number in range(3)]
    assert [node.name.partition("#")[0] for node in upgraded] == old
    assert len(bed.machines.group("t4").nodes) == 3
    assert sum(node.pool == "t4" for node in bed.machines.all) == 6, "a machine more than was replaced"
    assert all(node.ready is not None for node in bed.machines.nodes.values() if node.pool == "t4")


@pytest.mark.parametrize(
    ("facts", "pool", "how"),
    [(AZURE, "t4", "evicted"), (GCP, "t4", "drained"), (AZURE, "t4od", "drained"), (GCP, "t4od", "drained")],
)
def test_an_upgrade_of_spot_gives_notice_on_aks_and_all_others_drain(facts: Any, pool: str, how: str) -> None:
    bed = Bed(facts)
    bed.grow(1, pool)
    bed.until(200)
    node = bed.machines.all[-1]
    pod = bed.pod("a", node.name)
    bed.nodes.upgrade(Place(capacity="*", pool=pool))
    bed.until(1000)
    assert (node.why, pod.how) == ("upgraded", how)
    assert (node.noticed is not None) == (how == "evicted")


def test_an_upgrade_goes_on_when_a_new_machine_is_lost_before_it_is_ready() -> None:
    bed = Bed()
    bed.spot(2)
    bed.nodes.upgrade(Place())
    bed.until(bed.clock.now + AZURE.notice + 10)
    new = next(name for name, node in bed.machines.nodes.items() if node.registered is None and node.pool == "t4")
    bed.nodes.evict(bed.machines.nodes[new])
    bed.until(5000)
    assert sum(node.why == "upgraded" for node in bed.machines.all) == 2


@pytest.mark.parametrize(("evicts", "how"), [(True, "drained"), (False, "removed")])
def test_a_pod_whose_budget_refuses_its_eviction_ends_for_another_reason(evicts: bool, how: str) -> None:
    for at_once in (True, False):
        bed = Bed(evicts=evicts)
        (node,) = bed.spot(1)
        pod = bed.pod("a", node)
        body = bed.server.pods["a"]
        if at_once:
            assert bed.nodes.evict_now(body, 600.0, "drained") is evicts
        else:
            bed.nodes.evict_pod(body, 600.0, "drained")
        bed.until(bed.clock.now + 10)
        if not evicts:
            bed.server.delete("v1", "Pod", "a", "team-a")
            bed.until(bed.clock.now + 10)
        assert pod.how == how
