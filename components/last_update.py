"""LastUpdate: what a stack exported at its last update: its cluster's place, and settings that a
cloud keeps.

An edit of the stack file never moves a cluster (docs/adr/0018): the engine would delete it and
create another. The values are an output of the stack, read as a stack reference does
(https://www.pulumi.com/docs/iac/concepts/stacks/#stackreferences). A program that does not export
the output remembers nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components import refusal
from components.resources import outputs_of
from config.base.problems import Problem
from config.model.fields import Model, Reference, given
from config.model.pool import AnyPool

OUTPUT = "remembered"
"""Name of the output."""

Place = Mapping[str, Reference]
"""A cluster's place, keyed by the names of the stack's outputs."""

COMPONENT = "component"
"""Key of a component's name; a stack may have several components."""

LOSE_IT = (
    "put it back; or, to lose the cluster with all that is in it and make another: `pulumi "
    "destroy`, then `pulumi up` (where "
    "`cluster.protect` is true, an `up` with false first)"
)
"""Remedy for a change that needs another cluster."""

INSTANCE = "instance"
"""Key of the stack's name in labels and names of objects; a renamed stack keeps it."""

NAME = "name"
"""Key of the cluster's name in the stack file, a part of all resources' names."""

EXISTING = "existingCluster"
"""Key of the existing cluster that the stack has pools in."""

POOLS = "pools"
"""Key of the stack's pools."""

RESET = "reset"
"""Key of the settings that go back to the cloud's default when the stack file no longer has them.
The same settings made by hand stay as they are."""

_KEYS = {
    "clusterName": "cluster.name",
    "resourceGroup": "cloud.resourceGroup",
    "project": "cloud.project",
    "location": "cloud.location",
}
"""Outputs that locate a cluster, and the key of the stack file behind each."""


@dataclass(frozen=True)
class LastUpdate:
    """The exported values of a stack's last update; empty before the first one."""

    content: Mapping[str, Any] = field(default_factory=dict)
    """`place`, `asked`, and the cloud's own keys."""
    exported: Mapping[str, Any] = field(default_factory=dict)
    """Further values that this update exports for the next one."""

    @classmethod
    def read_outputs(cls, component: str | None = None) -> LastUpdate:
        """Read the current stack's, or that of one component in it. Raise `pulumi.RunError` if its
        outputs cannot be read.
        """
        stack = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
        try:
            outputs = outputs_of(stack)
        except Exception as failed:
            # The SDK raises plain Exception for every error of a call.
            raise pulumi.RunError(
                f"the outputs of the last update of {stack} cannot be read: {failed}"
            ) from None
        exported = {key: value for key, value in outputs.items() if isinstance(value, Mapping)}
        shown = _shown_pools(outputs)
        own = exported.get(OUTPUT, {})
        # A component named after the cluster that the stack's own program declared takes over its
        # resources.
        if component == own.get(COMPONENT) or (COMPONENT not in own and component == own.get(NAME)):
            return cls({**shown, **own})
        found = [
            value for value in exported.values() if component and value.get(COMPONENT) == component
        ]
        return cls({**shown, **found[0]} if found else {})

    @property
    def place(self) -> Mapping[str, str]:
        """The place of the stack's own cluster, by the stack's outputs; empty without one."""
        place: Mapping[str, str] = self.content.get("place") or {}
        return place

    @property
    def pools(self) -> Mapping[str, str]:
        """The origin of each pool of the stack, keyed by the cloud's name
        (`removed_pools.remembered`).
        """
        pools: Mapping[str, str] = self.content.get(POOLS) or {}
        return pools

    def lasting_settings(self, pool: str) -> Mapping[str, Any]:
        """Return the result of `lasting_settings` for a pool at the last update."""
        settings: Mapping[str, Any] = self.content.get("asked", {}).get(pool) or {}
        return settings

    @property
    def reset(self) -> Collection[str]:
        """The paths of such settings at the last update, below `cloud`."""
        paths: Collection[str] = self.content.get(RESET) or ()
        return paths

    def get(self, key: str) -> Any:
        """Return a value of the cloud's own; None when it is missing."""
        return self.content.get(key)

    def refuse_move(self, place: Place, existing: str = "") -> None:
        """Raise `pulumi.RunError` if the stack's cluster, or its pools' existing cluster, is
        another one now.

        `place` and `existing`: the wanted ones; empty if the stack has none.
        """
        refusal.refuse_settings([*self.moves(place), *self._left(existing)])

    def warn_of_missing(self, place: Place, look: str) -> None:
        """Log that the stack's own cluster was not found in `place`: it was deleted, or the login
        is another one.

        `look`: a command that shows which login reads.
        """
        if self.content.get("place") == {part: value.known for part, value in place.items()}:
            name = place["clusterName"].text
            pulumi.log.warn(
                f"The stack's cluster {name} is not found and will be made again; if it exists, "
                f"stop:\n  {look}"
            )

    def _left(self, existing: str) -> Iterator[Problem]:
        """Yield a problem if the stack's pools are in another cluster, whose pods are not read."""
        before = str(self.content.get(EXISTING) or existing)
        # Azure's names differ in no more than their case.
        if self.pools and before.lower() != existing.lower():
            what = f"the stack has pools in the cluster {before}, which would go with their work"
            yield Problem(
                "cloud.existingCluster" if existing else "cloud",
                what,
                "put it back; or `pulumi destroy`, then `pulumi up`",
            )

    def moves(self, place: Place) -> Iterator[Problem]:
        """Yield a problem for each part of `place` that differs from the last update's."""
        before = self.place
        if before and before.keys() != place.keys():
            yield Problem(
                "cloud",
                f"the stack has made the cluster {before['clusterName']}, which would go",
                LOSE_IT,
            )
            return
        for part, then in before.items():
            # A value that the preview does not know yet proves no move.
            if place[part].known not in (None, then):
                what = (
                    f"is {then} and cannot become {place[part].text}: a new cluster would replace "
                    "it"
                )
                yield Problem(_KEYS[part], what, LOSE_IT)


def remember_reset(drivers: Model, *paths: str) -> dict[str, Any]:
    """Return the `RESET` settings of this update: the storage drivers that it sets, and `paths`."""
    fields = type(drivers).model_fields
    set_drivers = [f"storageDrivers.{fields[name].alias}" for name in given(drivers, *fields)]
    return {RESET: [*set_drivers, *paths]} if set_drivers or paths else {}


def _shown_pools(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pools of an update by an older program from the outputs that list pools.

    A foreign name does no harm: only live pools of the stack's cluster count.
    """
    lists = [value for value in outputs.values() if isinstance(value, list)]
    pools = [pool for pools in lists for pool in pools if isinstance(pool, Mapping)]
    keys = {"name", "label", "capacity"}
    names = {pool["name"]: pool["name"] for pool in pools if keys <= pool.keys()}
    return {POOLS: names} if names else {}


def lasting_settings(pool: AnyPool) -> dict[str, Any]:
    """Return a pool's settings that AKS keeps when the file drops them, by the file's keys."""
    disk = {f"osDisk.{key}": value for key, value in pool.os_disk.model_dump(by_alias=True).items()}
    settings = {**disk, "maxPods": pool.max_pods}
    return {key: value for key, value in settings.items() if value is not None}
