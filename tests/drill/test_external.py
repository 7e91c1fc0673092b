"""The real cluster-autoscaler in the place of the sandbox's own: what it does to nodes. The program is played."""

import time
from pathlib import Path

import pytest

from drill.play.external import checked_program
from drill.play.machines import Active
from drill.world.scenario import Place
from sandbox.autoscaler.world import Decision
from sandbox.base.errors import SandboxError
from tests.drill.external_bench import FIRST, GOING, GROUP, MACHINE, OD_GROUP, SPOT_GROUP, ZONE, Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_first_nodes_are_those_of_the_provider_and_there_before_it_starts(bench: Bench) -> None:
    assert bench.calls == []
    bench.run(1)
    assert bench.calls == ["start with 1"]
    assert bench.cluster[FIRST]["metadata"]["annotations"][GROUP] == OD_GROUP
    assert bench.cluster[FIRST]["spec"]["providerID"] == f"kwok:{FIRST}"
    assert bench.ready(FIRST)
    assert [c["status"] for c in bench.cluster[FIRST]["status"]["conditions"] if c["type"] == "Ready"] == ["True"]
    assert [node.name for node in bench.machines.all] == [FIRST], "a first node is no request"


def test_a_node_that_it_makes_is_a_request_and_ready_after_the_boot(bench: Bench) -> None:
    bench.at(10.2, lambda: bench.make("new"))
    bench.run(30)
    assert not bench.ready("new")
    node = bench.made("new")
    assert (node.pool, node.zone, node.requested, node.registered) == ("gpuspot", ZONE, 10.5, None)
    bench.run(31)
    assert bench.ready("new")
    assert (node.registered, node.ready) == (30.5, 30.5)


def test_the_nodes_of_one_request_are_taken_together(bench: Bench) -> None:
    """The program makes them one after the other; the cloud gets one request, of the time of the decision."""

    def ask() -> None:
        bench.external._origin = time.time() - bench.clock.now
        bench.says("scale-up", SPOT_GROUP, "gpuspot", before=0, after=2)
        bench.make("a")

    bench.at(10.2, ask)
    bench.at(10.7, lambda: bench.make("b"))
    bench.run(12)
    assert [bench.made(name).requested for name in "ab"] == [pytest.approx(10.2, abs=0.1)] * 2


def test_a_machine_that_never_registers_is_deleted_when_the_request_is_given_up(bench: Bench) -> None:
    bench.machines.active.append(Active("silent", Place(capacity="spot")))
    bench.at(10, lambda: bench.make("mute"))
    bench.run(80)
    assert "mute" in bench.cluster, "it has not been given up yet"
    bench.at(80.2, lambda: bench.says("backoff", SPOT_GROUP, "gpuspot", reason="Other/timeout"))
    bench.external._origin = time.time() - 80.2
    bench.run(90)
    assert "mute" not in bench.cluster
    mute = bench.made("mute")
    assert (mute.why, mute.gone, mute.registered) == ("never registered", 80.5, None)


def test_a_node_that_it_deletes_before_it_registers_never_did(bench: Bench) -> None:
    bench.at(10, lambda: bench.make("new"))
    bench.at(20.2, lambda: bench.cluster.pop("new"))
    bench.run(40)
    assert (bench.made("new").why, bench.made("new").gone) == ("never registered", 20.5)


def test_a_request_beyond_the_capacity_is_refused_as_a_whole(bench: Bench) -> None:
    """The provider makes the nodes before anybody can say no: they go, and the next request is refused by the API server."""
    bench.machines.set_limit(MACHINE, ZONE, 1)
    bench.at(10, lambda: bench.make("a", "b"))
    bench.run(11)
    assert {"a", "b"} <= bench.cluster.keys(), "without a refusal in force it would ask again at once"
    (rule,) = bench.policies["ValidatingAdmissionPolicy"]["spec"]["validations"]
    assert SPOT_GROUP in rule["expression"]
    assert rule["message"].startswith("SkuNotAvailable")
    bench.run(15)
    assert bench.cluster.keys() == {FIRST}
    assert [node.name for node in bench.machines.all] == [FIRST]
    assert [(each.kind, each.pool, each.nodes) for each in bench.events] == [("refused", "gpuspot", 2)]
    bench.at(20, lambda: bench.says("backoff", SPOT_GROUP, "gpuspot"))
    bench.run(21)
    assert bench.policies == {}, "for one machine there is room"


def test_without_capacity_and_in_a_refusing_cloud_no_node_is_made(bench: Bench) -> None:
    bench.machines.set_limit(MACHINE, ZONE, 0)
    bench.at(10, lambda: bench.machines.set_limit(MACHINE, ZONE, None))
    fault = Active("refuse", Place(capacity="*"))
    bench.at(20, lambda: bench.machines.active.append(fault))
    bench.at(30, lambda: bench.machines.active.remove(fault))

    def refused() -> list[str]:
        rules = bench.policies.get("ValidatingAdmissionPolicy", {"spec": {"validations": []}})["spec"]["validations"]
        return [rule["expression"].split('"')[-2] for rule in rules]

    bench.run(1)
    assert refused() == [SPOT_GROUP]
    bench.run(11)
    assert refused() == []
    bench.run(21)
    assert refused() == [OD_GROUP, SPOT_GROUP]
    bench.run(31)
    assert refused() == []


def test_a_node_that_it_deletes_is_a_machine_given_back(bench: Bench) -> None:
    bench.at(10, lambda: bench.make("new"))
    bench.run(40)
    bench.cluster["new"]["spec"]["taints"] = [GOING]
    bench.run(41)
    assert bench.nodes.kubelets.leaving["new"] == "drained"
    bench.cluster["new"]["spec"]["taints"] = []
    bench.run(42)
    assert "new" not in bench.nodes.kubelets.leaving, "it is kept after all"
    del bench.cluster["new"]
    bench.run(43)
    assert (bench.made("new").why, bench.made("new").gone) == ("scale-down", 42.5)


def test_an_evicted_machine_is_no_scale_down(bench: Bench) -> None:
    bench.at(10, lambda: bench.make("new"))
    bench.run(40)
    bench.nodes.evict(bench.made("new"))
    bench.run(80)
    assert (bench.made("new").why, bench.made("new").gone) == ("evicted", 70)
    assert "new" not in bench.cluster


def test_its_decisions_are_events_at_their_own_times(bench: Bench) -> None:
    bench.run(40)
    begin = time.time()
    bench.external._origin = begin - 33
    bench.said.append(Decision(begin, "scale-up", SPOT_GROUP, "gpuspot", 1, 4))
    bench.said.append(Decision(begin + 1, "backoff", SPOT_GROUP, "gpuspot", until=begin + 27, reason="Other/timeout"))
    bench.run(42)
    assert [(round(each.at, 3), each.kind, each.pool, each.text, each.nodes) for each in bench.events] == [
        (33, "scale-up", "gpuspot", "1 -> 4 nodes", 3),
        (34, "backoff", "gpuspot", "Other/timeout, until 1.0 min", 0),
    ]


def test_a_restarted_program_begins_anew(bench: Bench) -> None:
    bench.first_words = [Decision(time.time(), "scale-up", SPOT_GROUP, "gpuspot", after=1)]
    bench.at(10.2, bench.external.restarted)
    bench.run(20)
    assert bench.calls == ["start with 1", "stop", "start with 1"]
    assert [each.nodes for each in bench.events] == [1, 1]
    bench.external.stop()
    bench.external.stop()
    assert bench.calls == ["start with 1", "stop", "start with 1", "stop"]


def test_which_program_decides_is_chosen_before_anything_starts(tmp_path: Path) -> None:
    program = tmp_path / "cluster-autoscaler"
    environment = {"SANDBOX_AUTOSCALER": str(program)}
    assert checked_program({}, "azure", 5.0) is None
    with pytest.raises(SandboxError, match="does not exist"):
        checked_program(environment, "azure", None)
    program.touch(0o755)
    assert checked_program(environment, "azure", None) == checked_program(environment, "azure", 1.0) == program
    words = r"--factor 5: .* runs in real time; leave the option out, or unset SANDBOX_"
    with pytest.raises(SandboxError, match=words):
        checked_program(environment, "azure", 5.0)
    with pytest.raises(SandboxError, match="SANDBOX_AUTOSCALER is for stacks on AKS"):
        checked_program(environment, "gcp", None)
