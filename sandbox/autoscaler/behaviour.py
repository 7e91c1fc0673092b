"""Behaviour: how one cloud's autoscaler differs from the other's, as a scan asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

from sandbox.autoscaler import expander, gke, gke_figures
from sandbox.autoscaler.expander import Option
from sandbox.autoscaler.migration import Rank
from sandbox.autoscaler.shapes import Object, Shape
from sandbox.autoscaler.world import Hands, World
from sandbox.cloud.node_groups import NodeGroup


class Behaviour(Protocol):
    """One cloud's, for one scan."""

    least: int
    """The nodes that a cluster keeps, whatever its pools' minima are."""
    defaults: Mapping[str, str]
    """Settings, with AKS' keys, where the world's profile has none."""

    def barred(self, groups: Sequence[NodeGroup]) -> Mapping[str, str]:
        """Why a group never grows, by its name."""
        ...

    def hopeless(self, shape: Shape) -> str:
        """Why no group helps a pod; empty where one may."""
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

    def __init__(self, world: World) -> None:
        self._expander, self._priorities = str(world.profile.get("expander") or "random"), world.priorities

    def barred(self, groups: Sequence[NodeGroup]) -> Mapping[str, str]:
        return {}

    def hopeless(self, shape: Shape) -> str:
        return ""

    def admit(self, pods: Sequence[Object], hands: Hands) -> None:
        """AKS changes no waiting pod."""

    def choose(self, groups: Sequence[NodeGroup], options: Sequence[Option], random: Random) -> tuple[Option, str]:
        return expander.choose(self._expander, options, self._priorities, random)

    def ranks(self, groups: Sequence[NodeGroup]) -> Rank:
        """AKS moves no running pod to a pool of a higher priority."""
        return {}

    def unneeded_times(self, groups: Sequence[NodeGroup]) -> Mapping[str, float]:
        """Return none: AKS has one time for all pools."""
        return {}


class Gke:
    """ComputeClasses first, then the price. A cluster without the kind has no class."""

    defaults = gke_figures.DEFAULTS
    least = 1
    """Page about-cluster-autoscaler: a pool can reach 0, the cluster cannot."""

    def __init__(self, world: World) -> None:
        self._classes = gke.Classes(world.classes)

    def barred(self, groups: Sequence[NodeGroup]) -> Mapping[str, str]:
        return self._classes.barred(groups)

    def hopeless(self, shape: Shape) -> str:
        return self._classes.missing(shape.spec)

    def admit(self, pods: Sequence[Object], hands: Hands) -> None:
        """Add a class's toleration to pods that ask for the class where no admission policy did (`sandbox/gcp/data/objects`)."""
        for pod in pods:
            if tolerations := gke.tolerations(pod):
                hands.tolerate(pod, tolerations)

    def choose(self, groups: Sequence[NodeGroup], options: Sequence[Option], random: Random) -> tuple[Option, str]:
        return self._classes.choose(options, groups, random)

    def ranks(self, groups: Sequence[NodeGroup]) -> Rank:
        return self._classes.ranks(groups)

    def unneeded_times(self, groups: Sequence[NodeGroup]) -> Mapping[str, float]:
        return self._classes.unneeded_times(groups)


OF_CLOUD: Mapping[str, type[Aks] | type[Gke]] = {"azure": Aks, "gcp": Gke}
"""The behaviour by the cloud's name."""
