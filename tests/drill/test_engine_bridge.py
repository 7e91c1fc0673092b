"""What a drill tells Karpenter, and does for it, without the program: a script that answers in its place."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from drill.play.provisioning import Engine, Provisioning
from sandbox.autoscaler.world import Decision, World
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import ScaleRefused
from tests.drill.in_memory_stack import group

SPOT = group("t4", "spot", "NC4", 1, 0, 4)

SCRIPT = """\
import json, sys
asked = json.loads({asked!r})
for line in sys.stdin:
    print(line, end="", file=open({log!r}, "a"))
    reply = asked.pop(0) if asked else {{"wake": 99, "taints": {{}}, "notes": []}}
    print(json.dumps(reply), flush=True)
"""


@dataclass
class Hands:
    """What Karpenter lets the drill do."""

    refuse: bool = False
    done: list[Any] = field(default_factory=list)

    def make(self, group: Any, zone: str) -> str:
        if self.refuse:
            raise ScaleRefused("pool t4: SkuNotAvailable: there is none")
        self.done.append(("make", group.pool, zone))
        return "t4-1"

    def refusal(self, group: Any) -> str:
        return "SkuNotAvailable: there is none"

    def remove(self, group: Any, names: list[str]) -> None:
        self.done.append(("remove", *names))

    def taint(self, names: list[str]) -> None:
        self.done += [("taint", name) for name in names]

    def untaint(self, names: list[str]) -> None:
        self.done += [("untaint", name) for name in names]

    def evict(self, pod: Any, grace: float) -> bool:
        self.done.append(("evict", pod["metadata"]["name"], grace))
        return False

    def decided(self, decision: Decision) -> None:
        self.done.append((decision.action, decision.pool))


class Fake:
    """Karpenter, whose answers are given."""

    def __init__(self, folder: Path, *asked: Any) -> None:
        self.log = folder / "log"
        program = folder / "karpenter"
        program.write_text(f"#!{sys.executable}\n" + SCRIPT.format(asked=json.dumps(asked), log=str(self.log)))
        program.chmod(0o700)
        self.engine = Provisioning(Engine(program, folder / "azure", (), {}, ()))

    @property
    def heard(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def pod(name: str, phase: str = "Pending") -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "a", "uid": name},
        "spec": {},
        "status": {"phase": phase},
    }


def node(name: str) -> dict[str, Any]:
    taints = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}, {"key": "other", "effect": "NoSchedule"}]
    return {"kind": "Node", "metadata": {"name": name, "uid": name}, "spec": {"taints": taints}, "status": {}}


def world(*bodies: dict[str, Any], nodes: tuple[str, ...] = (), failed: frozenset[str] = frozenset()) -> World:
    own = [group("t4", "spot", "NC4", 1, 0, 4)]
    object.__setattr__(own[0], "nodes", nodes)
    pods, found = [b for b in bodies if b["kind"] == "Pod"], [b for b in bodies if b["kind"] == "Node"]
    return World(groups=own, nodes=found, pods=pods, since={"one": 60.0}, failed=failed)


def test_an_object_is_told_once_until_it_changes_and_what_ended_is_gone_a_step_later(tmp_path: Path) -> None:
    fake, hands, one = Fake(tmp_path), Hands(), pod("one")
    ended = pod("one", "Succeeded")
    for number, bodies in enumerate([(one,), (one,), (ended,), (ended,), ()]):
        fake.engine.scan(float(number), world(*bodies), hands)  # type: ignore[arg-type]
    fake.engine.close()
    assert [[each["status"]["phase"] for each in step["set"]] for step in fake.heard] == [
        ["Pending"],
        [],
        ["Succeeded"],
        [],
        [],
    ]
    assert [[each["name"] for each in step["gone"]] for step in fake.heard] == [[], [], [], ["one"], []]
    assert fake.heard[0]["set"][0]["metadata"]["creationTimestamp"] == "2026-01-01T00:01:00Z"


def test_a_machine_is_made_joins_with_its_id_and_is_lost(tmp_path: Path) -> None:
    create = {"call": "create", "pool": "t4", "name": "c", "size": "NC4", "zone": "z-1", "capacityType": "spot"}
    fake, hands = Fake(tmp_path, create), Hands()
    fake.engine.scan(1.0, world(), hands)  # type: ignore[arg-type]
    fake.engine.scan(2.0, world(node("t4-1"), nodes=("t4-1",)), hands)  # type: ignore[arg-type]
    fake.engine.scan(3.0, world(), hands)  # type: ignore[arg-type]
    fake.engine.close()
    assert hands.done == [("scale-up", "t4"), ("make", "t4", "z-1")]
    _, answer, joined, lost = fake.heard
    (told,) = joined["set"]
    assert told["spec"]["providerID"] == answer["providerID"]
    # Karpenter knows its own taint.
    assert [taint["key"] for taint in told["spec"]["taints"]] == ["other"]
    assert lost["lost"] == [answer["providerID"]]
    assert fake.engine.wakes() == 99


def test_refusals_are_told_at_once_or_when_the_cloud_says_so(tmp_path: Path) -> None:
    create = {"call": "create", "pool": "t4", "name": "c", "size": "NC4", "zone": "z-1", "capacityType": "spot"}
    end = {"wake": 9, "taints": {}, "notes": []}
    fake, hands = Fake(tmp_path, create, end, create), Hands(refuse=True)
    fake.engine.scan(1.0, world(), hands)  # type: ignore[arg-type]
    hands.refuse = False
    fake.engine.scan(2.0, world(), hands)  # type: ignore[arg-type]
    fake.engine.scan(3.0, world(nodes=("t4-1",), failed=frozenset({"t4-1"})), hands)  # type: ignore[arg-type]
    fake.engine.close()
    _, refused, _, granted, later = fake.heard
    assert (refused["code"], refused["message"]) == ("SkuNotAvailable", "there is none")
    assert later["failed"] == [
        {"providerID": granted["providerID"], "code": "SkuNotAvailable", "message": "there is none"}
    ]
    assert hands.done[-2:] == [("remove", "t4-1"), ("failed", "t4")]


def test_evictions_may_be_refused_and_taints_come_and_go(tmp_path: Path) -> None:
    evict = {"call": "evict", "namespace": "a", "name": "one", "grace": 1}
    tainted = {"wake": 9, "taints": {"n": [{"key": "karpenter.sh/disrupted"}]}, "notes": ["n: goes"]}
    fake, hands = Fake(tmp_path, evict, tainted), Hands()
    fake.engine.scan(1.0, world(pod("one")), hands)  # type: ignore[arg-type]
    fake.engine.scan(2.0, world(pod("one")), hands)  # type: ignore[arg-type]
    fake.engine.close()
    assert fake.heard[1] == {"done": False}
    assert hands.done == [("evict", "one", 1.0), ("taint", "n"), ("note", ""), ("untaint", "n")]


def test_a_program_that_cannot_be_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="karpenter cannot be run: No such file"):
        Engine(tmp_path / "karpenter", tmp_path / "azure", (), {}, ()).start()
