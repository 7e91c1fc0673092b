"""Behaviour: how one cloud's autoscaler differs from the other's, as a scan asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

from sandbox.autoscaler import azure_answer, expander
from sandbox.autoscaler.expander import Option
from sandbox.autoscaler.gke import Gke
from sandbox.autoscaler.migration import Rank
from sandbox.autoscaler.shapes import Object, Shape
from sandbox.autoscaler.world import Failure, Hands, World
from sandbox.cloud.node_groups import NodeGroup


class Behaviour(Protocol):
    """One cloud's, for one scan."""

    least: int
    """The nodes that a cluster keeps, whatever its pools' minima are."""
    defaults: Mapping[str, str]
    """Settings, with AKS' keys, where the world's profile has none."""
    unmade: Failure
    """The failure of machines that were promised and could not be made."""

    @staticmethod
    def answer(group: NodeGroup, refused: str) -> str:
        """Return the cloud's refusal as the autoscaler gets it."""
        ...

    def barred(self, groups: Sequence[NodeGroup]) -> Mapping[str, str]:
        """Return the reason why a group never grows, by its name."""
        ...

    def hopeless(self, shape: Shape) -> str:
        """Return the reason why no group helps a pod; empty where one may."""
        ...

    def admit(self, pods: Sequence[Object], hands: Hands) -> None:
        """Change waiting pods as the cloud does, where that is left to this program."""

    def choose(self, groups: Sequence[NodeGroup], options: Sequence[Option], random: Random) -> tuple[Option, str]:
        """Return the option to take, and why."""
        ...

    def ranks(self, groups: Sequence[NodeGroup]) -> Rank:
        """Return the groups between which running pods move."""
        ...

    def unneeded_times(self, groups: Sequence[NodeGroup]) -> Mapping[str, float]:
        """Return the seconds after which an unused node goes, by the names of groups that have their own."""
        ...


class Aks:
    """The expander of the cluster's profile, with the user's ConfigMap."""

    least = 0
    defaults: Mapping[str, str] = {}
    # kubernetes/autoscaler 1.36.1, cloudprovider/azure/azure_scale_set_instance_cache.go:248-252, whatever the cause.
    unmade = Failure("provisioning-state-failed", "Azure failed to provision a node for this node group")

    def __init__(self, world: World) -> None:
        self._expander, self._priorities = str(world.profile.get("expander") or "random"), world.priorities

    @staticmethod
    def answer(group: NodeGroup, refused: str) -> str:
        return azure_answer.answer(group, refused)

    def barred(self, groups: Sequence[NodeGroup]) -> Mapping[str, str]:
        return {}

    def hopeless(self, shape: Shape) -> str:
        return ""

    def admit(self, pods: Sequence[Object], hands: Hands) -> None:
        """Change nothing: AKS changes no waiting pod."""

    def choose(self, groups: Sequence[NodeGroup], options: Sequence[Option], random: Random) -> tuple[Option, str]:
        return expander.choose(self._expander, options, self._priorities, random)

    def ranks(self, groups: Sequence[NodeGroup]) -> Rank:
        """Return none: AKS moves no running pod to a pool of a higher priority."""
        return {}

    def unneeded_times(self, groups: Sequence[NodeGroup]) -> Mapping[str, float]:
        """Return none: AKS has one time for all pools."""
        return {}


OF_CLOUD: Mapping[str, type[Aks] | type[Gke]] = {"azure": Aks, "gcp": Gke}
"""The behaviour by the cloud's name."""
