"""The real cluster-autoscaler in a drill on AKS: its changes of Node objects are cloud requests.

The program and the drill's clock run in real time. The drill plays the kubelets. A node that the
program makes is a request, which the cloud's capacity and the scenario's faults grant, refuse or
leave unanswered. A node that it deletes is a machine given back. `drill.play.real_provider` lists
what the provider leaves out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from drill.play.clock import Clock
from drill.play.drill import IN_FORCE
from drill.play.machines import Machines
from drill.play.nodes import Nodes
from drill.play.observed import Observed
from drill.play.real_autoscaler import VARIABLE, named_program, require_runnable
from drill.play.real_provider import GROUP, first_nodes, refusal_policy
from drill.play.scaling import GOING, Hands, event_of
from drill.world import record
from drill.world.node_groups import is_spot
from sandbox.autoscaler.autoscaler_options import Options, Profile
from sandbox.autoscaler.world import Decision, World
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Client, Object

CAVEAT = (
    "The decisions are those of the real cluster-autoscaler {version}, in real time, over its kwok"
    " provider: to it all machines of a pool are in one zone, GPUs are there as soon as a node is"
    " Ready, and now and then it asks for one node too many. Of the cloud's refusals it sees those"
    " for capacity, up to a loop late, and none for quota."
)
DISTORTIONS = (
    "Time passes as it would. What happens in the cluster is noticed up to half a second late.",
    "A new machine is Ready after {boot:.0f} s, and a container starts 5 s after its pod is bound:"
    " assumed figures.",
)

_LOOK = 0.5
"""Seconds between two looks at the program's actions."""
_MANAGER = "sandbox-drill"
_ASKS_AGAIN = 60.0
"""Seconds for which a group is refused after a request that was refused too late."""


class Program(Protocol):
    """The calls of `RealAutoscaler`."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def require_running(self) -> None: ...
    def decisions(self) -> list[Decision]: ...


def checked_program(
    environment: Mapping[str, str], provider: str, factor: float | None
) -> Path | None:
    """Return the program that replaces the sandbox's autoscaler; None for the sandbox's own.

    Raises SandboxError for a program that cannot be run, on another cloud than AKS, and for a
    factor.
    """
    program = named_program(environment)
    if program is None:
        return None
    require_runnable(program, provider)
    if factor not in (None, 1.0):
        raise SandboxError(
            f"--factor {factor:g}: the program that {VARIABLE} names runs in real time;"
            f" leave the option out, or unset {VARIABLE}"
        )
    return program


class External:
    """A program in the place of the sandbox's autoscaler: `external.scan(now, world, hands)`.

    `events` gets its decisions, at their own times.
    """

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
        groups = machines.groups().groups
        self._groups = {group.name: group for group in groups if group.least is not None}
        self._provision = Profile.of(machines.groups().profile, Options()).provision_time
        self._origin: float | None = None
        """The start of the drill in seconds since 1970."""
        self._running, self._read = False, 0
        self._present: set[str] = set()
        """The provider's nodes in the cluster."""
        self._known: set[str] = set()
        """All nodes that the provider ever made, refused ones too."""
        self._going: set[str] = set()
        self._short: dict[str, float] = {}
        """Groups that are refused until a time: their last request came before the policy held."""
        self._asked: dict[str, Decision] = {}
        """The last decision for each group, whose nodes come one after the other."""
        self._timed_out: dict[str, float] = {}
        """The time of each group's last time-out."""
        self._refused: dict[str, str] = {}
        self._policy: list[Object] = []
        machines.join = self._join

    def scan(self, now: float, world: World, hands: Hands) -> float:
        """Play the cloud for what the program did; return the time of the next look."""
        if not self._running:
            self._start(now)
        self._program.require_running()
        self._report()
        self._look(now, world.nodes)
        self._give_up(now)
        self._refuse(now)
        return now + _LOOK

    def wakes(self) -> float:
        """Return the time of the next look."""
        return self._clock.now + _LOOK

    def restarted(self) -> External:
        """Return itself, after a stop: the program starts anew with the next look."""
        self.stop()
        return self

    def stop(self) -> None:
        """End the program."""
        if self._running:
            self._report()
            self._program.stop()
            self._running = False

    def _start(self, now: float) -> None:
        self._observed.flush()  # The program counts the existing nodes when it starts.
        self._program.start()
        self._running, self._read = True, 0
        if self._origin is None:
            self._clock.resume()
            self._origin = time.time() - now

    def _join(self, body: Object) -> None:
        """Register a machine. The first ones get nodes that the provider accepts as its own."""
        name = body["metadata"]["name"]
        if name in self._known:
            self._nodes.adopt(name)
            return
        group = self._machines.group(self._machines.nodes[name].pool)
        first = {each["metadata"]["name"]: each for each in first_nodes(group)}
        own = first.get(name)
        if own is None or group.least is None:
            self._nodes.join(body)
            return
        found = own["status"].get("conditions", [])
        conditions = [each for each in found if each["type"] != "Ready"]
        self._nodes.join({**own, "status": {**own["status"], "conditions": conditions}})
        self._machines.nodes[name].ready = self._clock.now
        self._known.add(name)

    def _look(self, now: float, bodies: Iterable[Mapping[str, Any]]) -> None:
        own = {body["metadata"]["name"]: body for body in bodies if _group_of(body)}
        for group in self._groups.values():
            unknown = own.keys() - self._known
            new = sorted(name for name in unknown if _group_of(own[name]) == group.name)
            asked = self._asked.get(group.name)
            wanted = asked.after - asked.before if asked else 0
            coming = asked is not None and len(new) < wanted and now < asked.at + IN_FORCE
            if new and not coming:
                self._known.update(new)
                self._request(now, group, [own[name] for name in new])
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
        """Request machines of a group for the program: all of them come, or none."""
        names = [body["metadata"]["name"] for body in bodies]
        asked = self._asked.pop(group.name, None)
        places = self._machines.places(group, len(names)) if is_spot(group) else [""] * len(names)
        if len(places) < len(names) or self._machines.fault("refuse", group):
            self._short[group.name] = now + _ASKS_AGAIN
            text = f"{len(names)} more: {self._machines.refusal(group)}"
            self._events.append(record.Event(now, "refused", group.pool, text, len(names)))
            for name in names:
                # The program would ask again at once if they went before the refusal holds.
                self._clock.after(IN_FORCE, partial(self._delete, name))
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
            self._events.append(event_of(decision))
            if each.action == "scale-up":
                self._asked[each.group] = decision
            if each.action == "backoff":
                self._short.pop(each.group, None)
                self._timed_out[each.group] = at
        self._read = len(decisions)

    def _give_up(self, now: float) -> None:
        """Delete machines that did not register in time, as the provider for Azure does."""
        for node in list(self._machines.nodes.values()):
            late = node.registered is None and now > node.requested + self._provision
            if late and node.name in self._known:
                group = self._machines.group(node.pool).name
                if self._timed_out.get(group, -1.0) > node.requested:
                    self._end(node.name, "never registered")

    def _refuse(self, now: float) -> None:
        """Let the API server refuse nodes of groups for which the cloud has no machine."""
        without = [group for group in self._groups.values() if self._has_none(now, group)]
        texts = {group.name: self._machines.refusal(group) for group in without}
        if texts == self._refused:
            return
        self._refused = texts
        if not texts:
            for body in reversed(self._policy):
                self._client.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])
            self._policy = []
            return
        self._policy = refusal_policy(texts)
        for body in self._policy:
            self._client.apply(body, _MANAGER, force=True)

    def _has_none(self, now: float, group: NodeGroup) -> bool:
        if self._machines.fault("refuse", group) or now < self._short.get(group.name, 0.0):
            return True
        return is_spot(group) and not self._machines.places(group, 1)

    def _end(self, name: str, why: record.NodeEnd) -> None:
        self._machines.gone([name], why)
        self._nodes.end_node(name, "drained")

    def _delete(self, name: str) -> None:
        self._observed.request(lambda client: client.delete("v1", "Node", name), missing=True)


def _group_of(node: Mapping[str, Any]) -> str | None:
    return (node["metadata"].get("annotations") or {}).get(GROUP)


def _is_going(node: Mapping[str, Any]) -> bool:
    return any(taint["key"] == GOING["key"] for taint in node["spec"].get("taints") or ())
