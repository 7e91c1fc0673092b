"""Node auto-provisioning in a drill on AKS: Karpenter's own code by the drill's clock.

The program `karpenter simulate` (tools/karpenter) has the controllers of sigs.k8s.io/karpenter
v1.14.1 and, of Azure/karpenter-provider-azure v1.14.0, the sizes, the choice of an offering and the
judgement of refusals. It asks this module for machines and evictions.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from drill.play.scaling import Hands
from drill.play.source import CopiedCloud
from drill.world.node_groups import machine_of
from sandbox.autoscaler.growth import Growth
from sandbox.autoscaler.world import Decision, World
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import NodeGroup, ScaleRefused
from sandbox.cluster import plugins
from sandbox.kubernetes.client import Object

HOUR = 3600.0
"""Seconds for which the provider leaves a refused offering alone (offerings/commonerrorhandlers.go,
AllocationFailureTTL, SKUNotAvailableSpotTTL)."""

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""The time at which a drill begins, in tools/karpenter (simulated_clock.go)."""
_ENDED = ("Succeeded", "Failed")
_OWN_GRACE = 10.0**6
"""Seconds; more than any pod's own grace."""


@dataclass(frozen=True)
class Engine:
    """What starts Karpenter for a drill: `engine_of(copy, program, folder).start()`."""

    program: Path
    socket: Path
    """The emulated Azure: sizes and prices."""
    arguments: Sequence[str]
    settings: Mapping[str, str]
    objects: tuple[Object, ...]
    """The NodePools and their classes, as the stack declares them."""
    left_alone: float = HOUR

    def start(self) -> Provisioning:
        """Start it. Raises SandboxError."""
        return Provisioning(self)

    @property
    def pools(self) -> set[str]:
        """The names of the NodePools."""
        return {each["metadata"]["name"] for each in self._node_pools}

    @property
    def _node_pools(self) -> list[Object]:
        return [each for each in self.objects if each["kind"] == "NodePool"]

    @property
    def shown(self) -> dict[str, str]:
        """The settings as a report shows them, by the stack file's keys."""
        found: dict[str, set[str]] = {}
        for spec in (each["spec"] for each in self._node_pools):
            nodes = [each["nodes"] for each in spec["disruption"]["budgets"]]
            found.setdefault("consolidateAfter", set()).add(spec["disruption"]["consolidateAfter"])
            found.setdefault("disruptionBudget", set()).update(nodes[1:])
            found.setdefault("expireAfter", set()).add(spec["template"]["spec"]["expireAfter"])
        after = {"a refused machine is left alone": f"{self.left_alone / 60:.0f}m"}
        return {key: ", ".join(sorted(values)) for key, values in found.items()} | after


def engine_of(copy: CopiedCloud, program: Path, folder: Path) -> Engine | None:
    """Return the engine of a copied stack; None without NodePools.

    A new socket in `folder` answers as the emulated Azure until this process ends.
    """
    if not copy.node_pools:
        return None
    socket = folder / "azure"
    groups = copy.cloud.node_groups(copy.cluster).groups
    sizes = {machine_of(group) for group in groups}
    plugins.plugin(copy.provider).serve(lambda: copy.cloud, socket, sizes)
    own = copy.cloud.provisioner(copy.cluster)
    return Engine(program, socket, own.arguments, own.environment, copy.node_pools)


class Provisioning:
    """Karpenter in place of the cluster autoscaler: the calls of `sandbox.autoscaler.scaler`."""

    def __init__(self, engine: Engine) -> None:
        self._pools, self._wakes = engine.pools, 0.0
        self._log = TemporaryFile()  # noqa: SIM115 (closed with the process)
        command = [str(engine.program), "simulate", f"--azure={engine.socket}", *engine.arguments]
        factor = f"--clock-factor={HOUR / engine.left_alone}"
        try:
            self._process = subprocess.Popen(
                [*command, factor],
                env={**os.environ, **engine.settings},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
            )
        except OSError as error:
            raise SandboxError(f"{engine.program} cannot be run: {error.strerror}") from error
        self._seen: dict[str, Object] = {}
        self._ended: dict[str, Object] = {}
        self._ids: dict[str, str] = {}
        """The nodes of Karpenter's machines by provider id."""
        self._tainted: set[str] = set()
        self._refused = 0
        self._first = list(engine.objects)
        self.growth = Growth()

    def wakes(self) -> float:
        """Return the time at which Karpenter goes on if nothing changes."""
        return self._wakes

    def scan(self, now: float, world: World, hands: Hands) -> float:
        """Tell Karpenter what has changed, and do what it asks for; it may be called again at once.

        Raises SandboxError if the program ends.
        """
        groups = {group.pool: group for group in world.groups}
        step = self._step(now, world, groups, hands)
        answer = self._exchange(step)
        while "call" in answer:
            reply = self._do(answer, now, groups, hands, world)
            answer = self._exchange(reply)
        self._taint(answer["taints"], hands)
        for note in answer["notes"] or ():
            hands.decided(Decision(now, "note", "", reason=note))
        self._wakes = max(now, answer["wake"])
        return now

    def close(self) -> None:
        """End the program."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def _exchange(self, message: Object) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            self._log.seek(0)
            tail = self._log.read().decode(errors="replace")[-2000:]
            raise SandboxError(f"Karpenter has ended: {tail}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _step(
        self, now: float, world: World, groups: Mapping[str, NodeGroup], hands: Hands
    ) -> dict[str, Any]:
        gone = [_place(body) for body in self._ended.values()]
        self._ended.clear()
        sent = [*self._first, *self._changed(world)]
        self._first = []
        known = {body["metadata"]["uid"] for body in _objects(world)}
        for uid in self._seen.keys() - known:
            gone.append(_place(self._seen.pop(uid)))
        existing = {name for group in groups.values() for name in group.nodes}
        lost = [id for id, name in self._ids.items() if name not in existing]
        for id in lost:
            del self._ids[id]
        return {
            "now": now,
            "set": sent,
            "gone": gone,
            "lost": lost,
            "failed": list(self._failed(now, world, groups, hands)),
        }

    def _changed(self, world: World) -> Iterable[Object]:
        for body in _objects(world):
            uid = body["metadata"]["uid"]
            if self._seen.get(uid) is body or uid in self._ended:
                continue
            is_ended = body["kind"] == "Pod" and body["status"].get("phase") in _ENDED
            if is_ended and uid not in self._seen:
                continue
            if is_ended:
                self._ended[uid] = body
                del self._seen[uid]
            else:
                self._seen[uid] = body
            yield self._sent(body, world.since.get(uid, 0.0))

    def _sent(self, body: Object, since: float) -> Object:
        created = (_EPOCH + timedelta(seconds=since)).isoformat().replace("+00:00", "Z")
        metadata = {**body["metadata"], "creationTimestamp": created}
        if metadata.get("deletionTimestamp"):
            metadata["deletionTimestamp"] = created
        sent = {**body, "metadata": metadata}
        if body["kind"] == "Node":
            sent["spec"] = self._node_spec(body)
        return sent

    def _node_spec(self, node: Object) -> Object:
        name = node["metadata"]["name"]
        owned = [id for id, own in self._ids.items() if own == name]
        taints = [
            each
            for each in node["spec"].get("taints") or ()
            if not each["key"].startswith("karpenter.sh/")
        ]
        return {**node["spec"], "taints": taints, "providerID": owned[0] if owned else ""}

    def _failed(
        self, now: float, world: World, groups: Mapping[str, NodeGroup], hands: Hands
    ) -> Iterable[Object]:
        for id, name in list(self._ids.items()):
            group = next((each for each in groups.values() if name in each.nodes), None)
            if name in world.failed and group:
                del self._ids[id]
                hands.remove(group, [name])
                text = hands.refusal(group)
                hands.decided(Decision(now, "failed", group.name, group.pool, reason=text))
                yield {"providerID": id, **_error(text)}

    def _do(
        self,
        call: Object,
        now: float,
        groups: Mapping[str, NodeGroup],
        hands: Hands,
        world: World,
    ) -> dict[str, Any]:
        if call["call"] == "create":
            return self._create(call, now, groups[call["pool"]], hands)
        if call["call"] == "delete":
            return self._delete(call["name"], now, groups, hands)
        found = next((pod for pod in _objects(world) if _place(pod) == _pod_of(call)), None)
        grace = call.get("grace")
        done = found is None or hands.evict(found, _OWN_GRACE if grace is None else float(grace))
        return {"done": done}

    def _create(self, call: Object, now: float, group: NodeGroup, hands: Hands) -> dict[str, Any]:
        size = len(group.nodes)
        where = f"{call['size']} in {call['zone']}, {call['capacityType']}"
        hands.decided(
            Decision(now, "scale-up", group.name, group.pool, size, size + 1, None, where)
        )
        try:
            name = hands.make(group, call["zone"])
        except ScaleRefused as refused:
            self._refused += 1
            text = str(refused).partition(": ")[2]
            hands.decided(Decision(now, "failed", group.name, group.pool, reason=text))
            return {"providerID": f"azure:///refused/{self._refused}", **_error(text)}
        id = f"azure:///machines/{name}/{now}"
        self._ids[id] = name
        return {"providerID": id}

    def _delete(
        self, id: str, now: float, groups: Mapping[str, NodeGroup], hands: Hands
    ) -> dict[str, Any]:
        name = self._ids.pop(id, "")
        group = next((each for each in groups.values() if name in each.nodes), None)
        if group:
            size = len(group.nodes)
            hands.decided(Decision(now, "scale-down", group.name, group.pool, size, size - 1))
            hands.remove(group, [name])
        return {"done": True}

    def _taint(self, taints: Mapping[str, Sequence[Object]], hands: Hands) -> None:
        for name in self._tainted - taints.keys():
            hands.untaint([name])
        hands.taint([name for name in taints if name not in self._tainted])
        self._tainted = set(taints)


def _objects(world: World) -> Iterator[Object]:
    for body in chain(world.daemon_sets, world.budgets, world.nodes, world.pods):
        yield dict(body) if not isinstance(body, dict) else body


def _place(body: Mapping[str, Any]) -> dict[str, str]:
    metadata = body["metadata"]
    return {
        "kind": body["kind"],
        "namespace": metadata.get("namespace") or "",
        "name": metadata["name"],
    }


def _pod_of(call: Object) -> dict[str, str]:
    return {"kind": "Pod", "namespace": call["namespace"], "name": call["name"]}


def _error(text: str) -> dict[str, str]:
    code, _, message = text.partition(": ")
    return {"code": code, "message": message or code}
