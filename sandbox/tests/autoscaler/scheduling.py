"""The scheduler of a replay, as far as pods have rules about other pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.autoscaler.fitting import Fitting
from sandbox.autoscaler.neighbours import Tally, Terms
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import Shape

from .script import Object


def refusals(pod: Object, nodes: Mapping[str, Object], pods: Mapping[str, Object]) -> Callable[[str], str]:
    """The reason why other pods keep a pod from a node, by the node's name; empty where they do not. No pods: none has rules."""
    if not pods:
        return lambda name: ""
    terms = Terms()
    for each in pods.values():
        if each["rules"] is not None:
            terms.learn(each["rules"])
    rooms = {
        name: Room(name, body["metadata"]["labels"], body["spec"]["taints"], {}, tally=Tally())
        for name, body in nodes.items()
    }
    for each in pods.values():
        bonds, room = terms.bonds(each["rules"], *_described(each)), rooms.get(each["spec"].get("nodeName", ""))
        if room is not None and room.tally is not None and bonds is not None:
            room.tally.add(bonds)
    bonds = terms.bonds(pod["rules"], *_described(pod))
    fitting = Fitting(Shape(pod["spec"], bonds), rooms.values())

    def refusal(name: str) -> str:
        tally = rooms[name].tally
        taken = tally is not None and bonds is not None and tally.blocks(bonds.rules.ports)
        return "its host port is taken" if taken else fitting.refusal(rooms[name])

    return refusal


def _described(pod: Object) -> tuple[str, dict[str, str]]:
    return pod["metadata"]["namespace"], pod["metadata"]["labels"]
