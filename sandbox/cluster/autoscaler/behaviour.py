"""Behaviour: how one cloud's autoscaler differs from the other's, as the loop asks for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event
from typing import Protocol

from sandbox.cloud.node_groups import NodeGroups
from sandbox.cluster.autoscaler import expander, gke
from sandbox.cluster.autoscaler.api import ApiServer, Mirror, Object
from sandbox.cluster.autoscaler.expander import Option
from sandbox.cluster.autoscaler.node_capacity import Pod

_CONFIG_MAP = f"/api/v1/namespaces/kube-system/configmaps/{expander.CONFIG_MAP}"
_COMPUTE_CLASSES = "/apis/cloud.google.com/v1/computeclasses"


@dataclass(frozen=True)
class Limits:
    """The limits of growth: `barred` and `hopeless` of a `plan.Picture`."""

    barred: Mapping[str, str] = field(default_factory=dict)
    hopeless: Callable[[Pod], str] = lambda pod: ""


class Behaviour(Protocol):
    """One cloud's. Every method may raise `api.Unanswered`."""

    def limits(self, fleet: NodeGroups) -> Limits:
        """The groups that never grow, and the pods for which none does."""

    def admit(self, pods: Iterable[Object]) -> None:
        """Change waiting pods as the cloud does, where that is left to this process."""

    def choose(self, fleet: NodeGroups, options: Sequence[Option], random: Random) -> tuple[Option, str]:
        """The option to take, and why."""


class Aks:
    """The expander of the cluster's profile, with the user's ConfigMap."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    def limits(self, fleet: NodeGroups) -> Limits:
        return Limits()

    def admit(self, pods: Iterable[Object]) -> None:
        """AKS changes no waiting pod."""

    def choose(self, fleet: NodeGroups, options: Sequence[Option], random: Random) -> tuple[Option, str]:
        name = str(fleet.profile["expander"])
        data = (self._api.get(_CONFIG_MAP) or {}).get("data") or {} if name == "priority" else {}
        return expander.choose(name, options, data.get("priorities"), random)


class Gke:
    """ComputeClasses first, then the price. A ComputeClass that changes sets `changed`."""

    def __init__(self, api: ApiServer, changed: Event) -> None:
        self._api, self._classes = api, Mirror(api, _COMPUTE_CLASSES, changed)
        self._classes.start()

    def limits(self, fleet: NodeGroups) -> Limits:
        classes = self._current()
        return Limits(classes.barred(fleet.groups), classes.missing)

    def admit(self, pods: Iterable[Object]) -> None:
        """Add a class's toleration to pods that ask for the class where no admission policy did (`sandbox/gcp/data/objects`)."""
        for pod in pods:
            if tolerations := gke.tolerations(pod):
                metadata = pod["metadata"]
                path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
                self._api.patch(path, {"spec": {"tolerations": tolerations}})

    def choose(self, fleet: NodeGroups, options: Sequence[Option], random: Random) -> tuple[Option, str]:
        return self._current().choose(options, fleet.groups, random)

    def _current(self) -> gke.Classes:
        # A cluster without the kind has no class.
        return gke.Classes(self._classes.objects() or ())
