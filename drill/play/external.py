"""The real cluster-autoscaler in a drill on AKS: what its kwok provider does to Node objects is taken for requests to the cloud.

It runs in real time, and so does the drill's clock then. In a drill nobody plays the kubelets but the drill itself: a node that the
program makes is a request, which the cloud's capacity and the scenario's faults grant, refuse or leave without an answer; a node
that it deletes is a machine given back. What the provider leaves out is in `drill.play.real_provider`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from drill.play.clock import Clock
from drill.play.machines import Machines
from drill.play.nodes import Nodes
from drill.play.observed import Observed
from drill.play.real_autoscaler import VARIABLE, named, require
from drill.play.real_provider import GROUP, first_nodes, refusing
from drill.play.scaling import GOING, Hands, event
from drill.world import record
from drill.world.kinds import spot
from sandbox.autoscaler.autoscaler_options import Options, Profile
from sandbox.autoscaler.world import Decision, World
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Client, Object

CAVEAT = (
    "The decisions are those of the real cluster-autoscaler {version}, in real time, over its kwok provider: to it all machines of"
    " a pool are in one zone, GPUs are there as soon as a node is Ready, and now and then it asks for one node too many. Of the"
    " cloud's refusals it sees those for capacity, up to a loop late, and none for quota."
)
DISTORTIONS = (
    "Time passes as it would. What happens in the cluster is noticed up to half a second late.",
    "A new machine is Ready after {boot:.0f} s, and a container starts 5 s after its pod is bound: assumed figures.",
)

_LOOK = 0.5
"""Seconds between two looks at what the program did."""
_MANAGER = "sandbox-drill"
_IN_FORCE = 2.0
"""Seconds after which a new admission policy holds: the API server takes them up about once a second."""
_ASKS_AGAIN = 60.0
"""Seconds for which a request that was refused too late is refused again, if nobody asks earlier."""


class Program(Protocol):
    """What `RealAutoscaler` is."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def check(self) -> None: ...
    def decisions(self) -> list[Decision]: ...


def chosen(environment: Mapping[str, str], provider: str, factor: float | None) -> Path | None:
    """The program that decides in a drill in place of the sandbox's own; None for the sandbox's own.

    Raises SandboxError for one that cannot be run, on another cloud than AKS, and where time is to pass faster.
    """
    program = named(environment)
    if program is None:
        return None
    require(program, provider)
    if factor not in (None, 1.0):
        raise SandboxError(
            f"--factor {factor:g}: the program that {VARIABLE} names runs in real time; leave the option out, or unset {VARIABLE}"
        )
    return program


class External:
    """A program in the place of the sandbox's autoscaler. `events` gets its decisions, at their own times."""

    def __init__(
        self,
        program: Program,
        clock: Clock,
        observed: Observed,
        client: Client,
        machines: Machines,
        nodes: Nodes,
        events: list[record.Event],
    ) -> None:
        self._program, self._clock, self._observed, self._client = program, clock, observed, client
        self._machines, self._nodes, self._events = machines, nodes, events
        self._groups = {
            group.name: group for group in machines.groups().groups if group.least is not None
        }
        self._provision = Profile.of(machines.groups().profile, Options()).provision_time
        self._origin: float | None = None
        """The drill's begin in seconds since 1970."""
        self._running, self._read = False, 0
        self._present: set[str] = set()
        """The provider's nodes in the cluster."""
        self._known: set[str] = set()
        """Those that ever were, also the ones that the cloud did not grant."""
        self._going: set[str] = set()
        self._short: dict[str, float] = {}
        """Groups whose next request is refused, until a time: the last one came before the refusal was in force."""
        self._asked: dict[str, Decision] = {}
        """The last request for each group, as it was decided: its nodes come one after the other."""
        self._timed_out: dict[str, float] = {}
        """The time at which a group's last request was given up."""
        self._refused: dict[str, str] = {}
        self._policy: list[Object] = []
        machines.join = self._join

    def scan(self, now: float, world: World, hands: Hands) -> float:
        """Look at what the program has done, and do the cloud's part; the time of the next look."""
        if not self._running:
            self._start(now)
        self._program.check()
        self._report()
        self._look(now, world.nodes)
        self._give_up(now)
        self._refuse(now)
        return now + _LOOK

    def wakes(self) -> float:
        """The time of the next look."""
        return self._clock.now + _LOOK

    def restarted(self) -> External:
        """Itself; a program that runs is ended, and starts anew with the next look."""
        self.stop()
        return self

    def stop(self) -> None:
        """End the program."""
        if self._running:
            self._report()
            self._program.stop()
            self._running = False

    def _start(self, now: float) -> None:
        self._observed.flush()  # it begins with the nodes that there are
        self._program.start()
        self._running, self._read = True, 0
        if self._origin is None:
            self._clock.resume()
            self._origin = time.time() - now

    def _join(self, body: Object) -> None:
        """A machine registers. Those of the beginning get nodes that the provider takes for its own."""
        name = body["metadata"]["name"]
        if name in self._known:
            self._nodes.adopt(name)
            return
        group = self._machines.group(self._machines.nodes[name].pool)
        own = next((each for each in first_nodes(group) if each["metadata"]["name"] == name), None)
        if own is None or group.least is None:
            self._nodes.join(body)
            return
        conditions = [
            each for each in own["status"].get("conditions", []) if each["type"] != "Ready"
        ]
        self._nodes.join({**own, "status": {**own["status"], "conditions": conditions}})
        self._machines.nodes[name].ready = self._clock.now
        self._known.add(name)

    def _look(self, now: float, bodies: Iterable[Mapping[str, Any]]) -> None:
        own = {
            b["metadata"]["name"]: b
            for b in bodies
            if GROUP in (b["metadata"].get("annotations") or {})
        }
        for group in self._groups.values():
            new = [
                n
                for n, b in own.items()
                if n not in self._known and b["metadata"]["annotations"][GROUP] == group.name
            ]
            asked = self._asked.get(group.name)
            coming = (
                asked is not None
                and len(new) < asked.after - asked.before
                and now < asked.at + _IN_FORCE
            )
            if new and not coming:
                self._known.update(new)
                self._request(now, group, [own[name] for name in sorted(new)])
        for name in sorted(self._present - own.keys()):
            if node := self._machines.nodes.get(name):
                self._end(name, "never registered" if node.registered is None else "scale-down")
        self._present = set(own)
        going = {name for name, body in own.items() if _is_going(body)}
        for name in going - self._going:
            self._nodes.kubelets.leaving.setdefault(name, "drained")
        for name in self._going & own.keys() - going:
            self._nodes.kubelets.leaving.pop(name, None)
        self._going = going

    def _request(self, now: float, group: NodeGroup, bodies: Sequence[Mapping[str, Any]]) -> None:
        """The program asks for machines of a group: all of them come, or none."""
        names = [body["metadata"]["name"] for body in bodies]
        asked = self._asked.pop(group.name, None)
        places = self._machines.places(group, len(names)) if spot(group) else [""] * len(names)
        if len(places) < len(names) or self._machines.fault("refuse", group):
            self._short[group.name] = now + _ASKS_AGAIN
            text = f"{len(names)} more: {self._machines.refusal(group)}"
            self._events.append(record.Event(now, "refused", group.pool, text, len(names)))
            for name in names:
                # It would ask again at once if they were gone before the refusal is in force.
                self._clock.after(_IN_FORCE, lambda name=name: self._delete(name))  # type: ignore[misc]
            return
        for body, place in zip(bodies, places, strict=True):
            name = body["metadata"]["name"]
            self._nodes.kubelets.pools[name] = group.pool
            self._machines.enter(group, name, place or self._machines.zones(group)[0], dict(body))
            if asked:
                self._machines.nodes[name].requested = asked.at

    def _report(self) -> None:
        assert self._origin is not None
        decisions = self._program.decisions()
        for each in decisions[self._read :]:
            at = max(0.0, each.at - self._origin)
            until = None if each.until is None else each.until - self._origin
            decision = replace(each, at=at, until=until)
            self._events.append(event(decision))
            if each.action == "scale-up":
                self._asked[each.group] = decision
            if each.action == "backoff":
                self._short.pop(each.group, None)
                self._timed_out[each.group] = at
        self._read = len(decisions)

    def _give_up(self, now: float) -> None:
        """Machines that did not register in time are deleted, as by the provider for Azure: here they are Node objects already."""
        for node in list(self._machines.nodes.values()):
            late = node.registered is None and now > node.requested + self._provision
            group = self._machines.group(node.pool)
            if (
                late
                and node.name in self._known
                and self._timed_out.get(group.name, -1.0) > node.requested
            ):
                self._end(node.name, "never registered")

    def _refuse(self, now: float) -> None:
        """Have the API server refuse nodes of the groups that the cloud has no machine for."""
        texts = {
            g.name: self._machines.refusal(g)
            for g in self._groups.values()
            if self._has_none(now, g)
        }
        if texts == self._refused:
            return
        self._refused = texts
        if not texts:
            for body in reversed(self._policy):
                self._client.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])
            self._policy = []
            return
        self._policy = refusing(texts)
        for body in self._policy:
            self._client.apply(body, _MANAGER, force=True)

    def _has_none(self, now: float, group: NodeGroup) -> bool:
        if self._machines.fault("refuse", group) or now < self._short.get(group.name, 0.0):
            return True
        return spot(group) and not self._machines.places(group, 1)

    def _end(self, name: str, why: record.NodeEnd) -> None:
        self._machines.gone([name], why)
        self._nodes.end_node(name, "drained")

    def _delete(self, name: str) -> None:
        self._observed.request(lambda client: client.delete("v1", "Node", name), missing=True)


def _is_going(node: Mapping[str, Any]) -> bool:
    return any(taint["key"] == GOING["key"] for taint in node["spec"].get("taints") or ())
