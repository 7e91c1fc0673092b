"""Resource types as the bridged provider and the service behind it see them.

Facts stand in `data/types.toml` and `data/terraform.csv`; a further type is an entry in them and a line in `table`, with a subclass
in a file of this folder where it has rules of its own.

`terraform.csv` was read from the provider's Go source, of which the SDK shows too little to write it again: `READ_FOR` says for
which SDK, and a test fails with another.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from sandbox.cloud.facts import data, tables
from sandbox.cloud.provider import Refused
from sandbox.cloud.resource_type import ResourceType, fill, form
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.resources import validation
from sandbox.gcp.resources.validation import Check

READ_FOR = "10.2"
"""The version of pulumi-gcp; which google-beta is behind it is UNCONFIRMED."""

ROLE = r"(projects/[^/]+/|organizations/[^/]+/)?roles/[A-Za-z0-9_.]+"

TABLE = tables("gcp", "types")


@cache
def _properties(token: str, column: str) -> frozenset[str]:
    """Return the properties of a type with a mark in a column of the table."""
    name = token.rpartition(":")[2]
    with data("gcp", "terraform.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(r["property"] for r in csv.DictReader(file) if r["type"] == name and r[column])


@dataclass(frozen=True)
class Settings:
    """The provider's own settings, for a resource that names no project, region or zone."""

    project: str = ""
    region: str = ""
    zone: str = ""


class GcpType(ResourceType):
    """One type of the table."""

    def __init__(self, token: str) -> None:
        facts = TABLE[token]
        super().__init__(token, facts)
        self.shared = "policy" in facts
        self.auto_name: str = facts.get("auto_name", "" if self.shared else "name")
        self.longest_name: int = facts.get("longest_name", 63)
        self.lower_name: bool = facts.get("lower_name", True)
        self.delete_first: bool = facts.get("delete_first", False)
        self.worked_on: bool = facts.get("worked_on", False)
        self.sets, self.blocks, self.links, self.maps = (
            frozenset[str](facts.get(name, ())) for name in ("sets", "blocks", "links", "maps")
        )
        self.virtual = frozenset[str](facts.get("virtual", () if self.shared else ("deletionPolicy",)))
        self.defaults: Mapping[str, Any] = facts.get("defaults", {})

    @cached_property
    def checks(self) -> dict[str, Check]:
        """The provider's own validation, by path."""
        return {path: validation.named_check(rule) for path, rule in self.facts.get("checks", {}).items()}

    @property
    def replaces(self) -> frozenset[str]:
        """The properties whose change replaces the resource."""
        return _properties(self.token, "replaces")

    @property
    def computed(self) -> frozenset[str]:
        """The properties that keep their value when a program does not say it any more: Optional and Computed."""
        return _properties(self.token, "computed")

    @cached_property
    def _form(self) -> re.Pattern[str]:
        of = form(self.path.removesuffix("/{role}/{member}"), self.pattern)
        return re.compile(of + (rf"[/ ](?P<role>{ROLE})[/ ](?P<member>[^ ]+)" if self.shared else ""))

    def import_parameters(self, id: str) -> dict[str, str] | None:
        """Return the parameters in an id that an import takes. Raises `Refused` for a member of a policy in another form.

        Members need spaces (terraform-provider-google tpgiamresource, iamMemberImport); pools are also named without words
        (resourceContainerNodePoolStateImporter). Deliberately refuses the shorter forms without a project.
        """
        if self.shared:
            parts = id.split()
            if len(parts) < 3:
                raise Refused(
                    f"Wrong number of parts to Member id [{id}]; expected 'resource_name role member [condition_title]'."
                )
            return self.matches(" ".join(parts[:3]))
        short = self.facts.get("import")
        match = re.fullmatch(form(short, self.pattern), id) if short else None
        return match.groupdict() if match else self.matches(id)

    def prefix(self, action: str, id: str) -> str:
        """Return the provider's words before a refusal of `create`, `update` or `delete`."""
        if self.shared:
            of = f'{self.facts["policy"]} "{"/".join(id.split("/")[: self.facts["segments"]])}"'
            return f"Error applying IAM policy for {of}: Error setting IAM policy for {of}: "
        words: str = self.facts.get({"create": "creating", "update": "updating", "delete": "deleting"}[action], "")
        return words.replace("{id}", id)

    def id(self, inputs: Body, settings: Settings) -> str:
        """Return the id of what a create with these inputs makes. Raises `Refused` without a project, region or location."""
        values = {name: value for name, value in inputs.items() if isinstance(value, str)}
        parent = self.facts.get("parent", "")
        if parent and (match := re.fullmatch(self._parent_form(parent), values.get(parent, ""))):
            # A parent's id says it all (extractNodePoolInformation for a cluster's).
            return fill(self.path, values | match.groupdict())
        if "project" in self.parameters:
            values["project"] = _project(values, settings)
        if "region" in self.parameters:
            values["region"] = gcp_ids.last(_region(values, settings))
        if "location" in self.parameters:
            values["location"] = _location(values, settings)
        by_link = {name: gcp_ids.last(values[name]) for name in ("router", "subnetwork") if name in self.parameters}
        return fill(self.path, values | by_link)

    def _parent_form(self, parent: str) -> str:
        until = self.path.index("{" + parent + "}") + len(parent) + 2
        return form(self.path[:until], self.pattern)

    def fault_of_inputs(self, inputs: Body) -> str | None:
        """Return the fault of the inputs as a whole that the provider finds before any request to the service; None for none."""
        return None

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        """Return the body of a new resource, as the provider shows it. Raises `Refused`."""
        return {**self.service, **wanted, **self.added(_words(id))}

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        """Return the body after an update; `planned` is the old one with the changes. Raises `Refused`."""
        return planned

    def replaced_by(self, path: str, old: Any, new: Any) -> bool:
        """Return whether a change replaces that the schema alone does not mark (CustomizeDiff)."""
        return False


@cache
def type_named(token: str) -> GcpType:
    """Return the facts of a type, without its rules. Raises KeyError for one that is not in the table."""
    return GcpType(token)


def _project(values: Mapping[str, str], settings: Settings) -> str:
    if project := values.get("project") or settings.project:
        return project
    # terraform-provider-google tpgresource.GetProject
    raise Refused("Failed to retrieve project, pid: , err: project: required field is not set")


def _region(values: Mapping[str, str], settings: Settings) -> str:
    if region := values.get("region") or settings.region or settings.zone.rpartition("-")[0]:
        return region
    # terraform-provider-google tpgresource.GetRegion
    raise Refused("Cannot determine region: set in this resource, or set provider-level 'region' or 'zone'.")


def _location(values: Mapping[str, str], settings: Settings) -> str:
    if location := values.get("location") or settings.region or settings.zone:
        return location
    # terraform-provider-google tpgresource.GetLocation
    raise Refused("Cannot determine location: set location in this resource, or set provider-level 'region' or 'zone'")


def _words(id: str) -> Mapping[str, Any]:
    return {
        "id": id,
        "name": gcp_ids.last(id),
        "project": gcp_ids.project_of(id),
        "region": gcp_ids.region_of(id) if "/regions/" in id else "",
        "link": gcp_ids.self_link(id),
        "digits": _Digits(id),
    }


@dataclass(frozen=True)
class _Digits:
    """Stable numbers of a resource, by their length."""

    id: str

    def __getitem__(self, count: int) -> str:
        return gcp_ids.digits(count, self.id)
