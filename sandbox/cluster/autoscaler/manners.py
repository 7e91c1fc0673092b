"""What differs between the clouds' autoscalers, as the loop asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event
from typing import Protocol

from sandbox.cloud.node_groups import NodeGroups
from sandbox.cluster.autoscaler import expander, gke
from sandbox.cluster.autoscaler.api import ApiServer, Mirror, Object
from sandbox.cluster.autoscaler.expander import Option
from sandbox.cluster.autoscaler.rooms import Pod

_MAP = f"/api/v1/namespaces/kube-system/configmaps/{expander.CONFIG_MAP}"
_CLASSES = "/apis/cloud.google.com/v1/computeclasses"


@dataclass(frozen=True)
class Limits:
    """`barred` and `lost` of a `plan.Picture`."""

    barred: Mapping[str, str] = field(default_factory=dict)
    lost: Callable[[Pod], str] = lambda pod: ""


class Manners(Protocol):
    """One cloud's. Every method may raise `api.Unanswered`."""

    def limits(self, fleet: NodeGroups) -> Limits:
        """What never grows, or for whom nothing does."""

    def admit(self, pods: Iterable[Object]) -> None:
        """Do to waiting pods what the cloud does, where that is left to this process."""

    def choose(self, fleet: NodeGroups, options: Sequence[Option], random: Random) -> tuple[Option, str]:
        """One of the options, and why."""


class Aks:
    """The expander of the cluster's profile, with the user's ConfigMap."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    def limits(self, fleet: NodeGroups) -> Limits:
        return Limits()

    def admit(self, pods: Iterable[Object]) -> None:
        """Nothing."""

    def choose(self, fleet: NodeGroups, options: Sequence[Option], random: Random) -> tuple[Option, str]:
        name = str(fleet.profile["expander"])
        data = (self._api.get(_MAP) or {}).get("data") or {} if name == "priority" else {}
        return expander.choose(name, options, data.get("priorities"), random)


class Gke:
    """ComputeClasses, which `changed` tells of, then prices."""

    def __init__(self, api: ApiServer, changed: Event) -> None:
        self._api, self._classes = api, Mirror(api, _CLASSES, changed)
        self._classes.start()

    def limits(self, fleet: NodeGroups) -> Limits:
        known = self._known()
        return Limits(known.barred(fleet.groups), known.lost)

    def admit(self, pods: Iterable[Object]) -> None:
        """Give pods that ask for a class its toleration where no admission policy did (see `sandbox.gcp.admission`)."""
        for pod in pods:
            if tolerations := gke.toleration(pod):
                where = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
                self._api.patch(where, {"spec": {"tolerations": tolerations}})

    def choose(self, fleet: NodeGroups, options: Sequence[Option], random: Random) -> tuple[Option, str]:
        return self._known().choose(options, fleet.groups, random)

    def _known(self) -> gke.Classes:
        # Where the kind is not there yet, or not any more, there is no class.
        return gke.Classes(self._classes.objects() or ())
