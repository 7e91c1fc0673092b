"""What one resource type is to the bridged provider and to the service behind it.

The class attributes and `data/terraform.csv` are facts of the Terraform provider's schema (terraform-provider-google-beta
@93c65b2d60 of 2026-08-21, the file named in each subclass). Property paths are `a`, `a.b` or `a[].b`, in the provider's own
names. A further type is a subclass in a file of this folder and a row in `table.KINDS`.

The table was read from the provider's Go source, of which the SDK shows too little to write it again: `READ_FOR` says for which
SDK, and a test fails with another.
"""

from __future__ import annotations

import copy
import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Record, Resources

Check = Callable[[str, Any], str | None]
"""What is wrong with the value of a property, by its Terraform path; None for nothing."""

READ_FOR = "10.2"
"""The version of pulumi-gcp; which google-beta is behind it is UNCONFIRMED."""

_TABLE = Path(__file__).parents[1] / "data" / "terraform.csv"
_PARAMETER = re.compile(r"\{(\w+)\}")


@cache
def _properties(token: str, column: str) -> frozenset[str]:
    """The properties of a type with a mark in a column of the table."""
    name = token.rpartition(":")[2]
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return frozenset(r["property"] for r in csv.DictReader(file) if r["type"] == name and r[column])


@dataclass(frozen=True)
class Settings:
    """The provider's own: what a resource has that names no project, region or zone."""

    project: str = ""
    region: str = ""
    zone: str = ""


class Kind:
    """One resource type."""

    token: ClassVar[str]
    path: ClassVar[str]
    """The id, with parameters in braces."""
    creating: ClassVar[str] = ""
    """What the provider says before a refusal of a create."""
    updating: ClassVar[str] = ""
    """The same for an update; `{id}` is the resource's."""
    deleting: ClassVar[str] = ""
    auto_name: ClassVar[str] = "name"
    """The property that the bridge fills with a name of its own; empty for none."""
    longest_name: ClassVar[int] = 63
    lower_name: ClassVar[bool] = True
    delete_first: ClassVar[bool] = False
    """Whether a replacement deletes first whatever its name is (pulumi-gcp provider/resources.go)."""
    sets: ClassVar[frozenset[str]] = frozenset()
    """Lists without an order."""
    blocks: ClassVar[frozenset[str]] = frozenset()
    """Lists of objects."""
    links: ClassVar[frozenset[str]] = frozenset()
    """References of which the last part is what counts (CompareSelfLinkOrResourceName)."""
    maps: ClassVar[frozenset[str]] = frozenset()
    """Maps whose keys are the user's: one that is left out is taken away."""
    virtual: ClassVar[frozenset[str]] = frozenset({"deletionPolicy"})
    """The provider's own properties: the service never sees them."""
    defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """What the bridge adds to inputs: the schema's defaults that are not empty, by path."""
    checks: ClassVar[Mapping[str, Check]] = MappingProxyType({})
    """What the provider itself validates, by path."""
    worked_on: ClassVar[bool] = False
    """Whether it has a status and nodes to follow it: clusters and node pools."""
    shared: ClassVar[bool] = False
    """Whether making one that is there already is no error: members of a policy."""

    @property
    def force_new(self) -> frozenset[str]:
        """What replaces the resource when it changes."""
        return _properties(self.token, "replaces")

    @property
    def computed(self) -> frozenset[str]:
        """What keeps its value when a program does not say it any more: Optional and Computed."""
        return _properties(self.token, "computed")

    def prefix(self, action: str, id: str) -> str:
        """What the provider says before a refusal of `create`, `update` or `delete`."""
        words = {"create": self.creating, "update": self.updating, "delete": self.deleting}
        return words[action].replace("{id}", id)

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        """The values of the id's parameters. Raises `Refused` when the project is not known."""
        project = inputs.get("project") or settings.project
        if not project:
            # terraform-provider-google tpgresource.GetProject
            raise Refused("Failed to retrieve project, pid: , err: project: required field is not set")
        return {**{k: v for k, v in inputs.items() if isinstance(v, str)}, "project": project}

    def id(self, inputs: Body, settings: Settings) -> str:
        values = self.parameters(inputs, settings)
        return _PARAMETER.sub(lambda match: values[match[1]], self.path)

    def matches(self, id: str) -> dict[str, str] | None:
        """The parameters in an id of this type; None when it is of another type."""
        pattern = re.escape(self.path)
        for name in _PARAMETER.findall(self.path):
            pattern = pattern.replace(re.escape("{" + name + "}"), f"(?P<{name}>[^/]+)")
        found = re.fullmatch(pattern, id)
        return found.groupdict() if found else None

    def check(self, inputs: Body) -> str | None:
        """What the provider finds wrong with the inputs as a whole, before anything is asked of the service."""
        return None

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        """The body of a new resource, as the provider shows it. Raises `Refused`."""
        raise NotImplementedError

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        """The body after an update; `planned` is what is there with what is to change. Raises `Refused`."""
        raise NotImplementedError

    def replaced_by(self, path: str, old: Any, new: Any) -> bool:
        """Whether a change replaces that the schema alone does not mark (CustomizeDiff)."""
        return False

    def check_delete(self, resources: Resources, id: str) -> None:
        """Raise `Refused` when this must not go."""

    def removed(self, resources: Resources, record: Record) -> None:
        """Take with it what goes with a resource and has no id below its."""

    def view(self, resources: Resources, record: Record) -> Body:
        """What a GET returns for a stored record."""
        return copy.deepcopy(record.body)


def region_parameters(kind: Kind, inputs: Body, settings: Settings) -> dict[str, str]:
    """The id's parameters of a regional resource. Raises `Refused` without a region."""
    values = Kind.parameters(kind, inputs, settings)
    region = values.get("region") or settings.region or settings.zone.rpartition("-")[0]
    if not region:
        # terraform-provider-google tpgresource.GetRegion
        raise Refused("Cannot determine region: set in this resource, or set provider-level 'region' or 'zone'.")
    return {**values, "region": region.rsplit("/", 1)[-1]}


def location_parameters(kind: Kind, inputs: Body, settings: Settings) -> dict[str, str]:
    """The id's parameters of a cluster or node pool. Raises `Refused` without a location."""
    values = Kind.parameters(kind, inputs, settings)
    location = values.get("location") or settings.region or settings.zone
    if not location:
        # terraform-provider-google tpgresource.GetLocation
        raise Refused(
            "Cannot determine location: set location in this resource, or set provider-level 'region' or 'zone'"
        )
    return {**values, "location": location}
