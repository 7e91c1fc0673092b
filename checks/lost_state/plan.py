"""The plan of `pulumi preview --json`: the resources that an `up` would declare, and their ids."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from checks.findings import Unasked

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Pulumi's text for a value that a preview does not know."""

PROGRAM = "kubeflow-spot:index:KubeflowCluster"
"""The component that every stack of this program has."""

_GOING = ("delete", "delete-replaced", "discard-replaced")
"""Steps of resources, or of their past, that the program does not declare."""

# A dependency's whole id, where the property holds one.
_WHOLE = {"scope", "resourceUri"}
# A dependency's name: the type whose last part of the id is the property's value.
_NAMED = {
    "resourceGroupName": ("ResourceGroup",),
    "resourceName": ("ManagedCluster", "UserAssignedIdentity"),
    "virtualNetworkName": ("VirtualNetwork",),
    "accountName": ("StorageAccount",),
}


class Unknown(Exception):
    """An id cannot be known yet. The text is the property that is missing."""


@cache
def id_forms() -> Mapping[str, str]:
    """Return the form of each type's id for `pulumi import`.

    Sources: the path of the REST request of Azure's types, which azure-native takes as it is; the
    section "Import" of each resource in pulumi-gcp's documentation. `{group}` stands for the path
    of a resource group.
    """
    with (Path(__file__).parent / "ids.csv").open(encoding="utf-8", newline="") as file:
        return {row["type"]: row["id"] for row in csv.DictReader(file)}


@dataclass(frozen=True)
class Plan:
    """A plan: `Plan.read(Path("plan.json"), subscription)`."""

    steps: Mapping[str, Mapping[str, Any]]
    """Each resource as the program declares it, by URN."""
    subscription: str
    """The Azure subscription; empty if nothing names it."""

    @classmethod
    def read(cls, file: Path, account: str | None = None) -> Plan:
        """Read the output of `pulumi preview --json`. Raises `Unasked` for anything else."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            steps: dict[str, Mapping[str, Any]] = {}
            # A refresh, which comes before, is all that a plan has of an unchanged resource.
            for step in content["steps"]:
                if step["op"] not in _GOING:
                    steps[step["urn"]] = step.get("newState") or step["oldState"]
        except (OSError, ValueError, KeyError, TypeError):
            raise Unasked(f"{file}: is not the output of `pulumi preview --json`") from None
        if not any(_type(urn) == PROGRAM for urn in steps):
            projects = ", ".join(sorted({urn.split(":")[4] for urn in steps})) or "an empty stack"
            raise Unasked(
                f"the plan is of {projects}, which has no {PROGRAM}: it is another program's"
            )
        config = content.get("config") or {}
        written = config.get("azure-native:subscriptionId", "")
        # As azure-native does: the stack file before the environment. `--json` hides a secret.
        named = "" if written == "[secret]" else written
        subscription = account or named or os.environ.get("ARM_SUBSCRIPTION_ID", "")
        return cls(steps, subscription)

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for urn in self.steps:
            found.setdefault((_type(urn), urn.rpartition("::")[2]), []).append(urn)
        return found

    def urn(self, type: str, name: str) -> str:
        """Return the URN of a resource. Raises `Unasked` unless exactly one has type and name."""
        urns = self._by_name.get((type, name), [])
        if len(urns) != 1:
            many = "more than one resource" if urns else "no resource"
            raise Unasked(
                f"the plan has {many} of type {type} named {name!r}: run the preview again"
            )
        return urns[0]

    def id(self, urn: str) -> str:
        """Return a resource's id. Raises `Unknown`, and `Unasked` for a type without a form."""
        state = self.steps[urn]
        if state.get("id"):
            return str(state["id"])
        if state["type"].startswith("kubernetes:"):
            return self._object(state)
        try:
            form = id_forms()[state["type"]]
        except KeyError:
            raise Unasked(f"the form of the ids of {state['type']} is not known here") from None
        id = re.sub(r"\{(\w+)\}", lambda match: self._value(state, match[1]), form)
        # Members of Google's policies: "the title of condition", section "Import".
        condition = (state.get("inputs") or {}).get("condition")
        return f"{id} {condition['title']}" if isinstance(condition, dict) else id

    @staticmethod
    def _object(state: Mapping[str, Any]) -> str:
        metadata = (state.get("inputs") or {}).get("metadata") or {}
        parts = [metadata[key] for key in ("namespace", "name") if metadata.get(key)]
        if UNKNOWN in parts or not metadata.get("name"):
            raise Unknown("metadata.name")
        return "/".join(parts)

    def _value(self, state: Mapping[str, Any], name: str) -> str:
        if name == "group":
            if not self.subscription:
                raise Unasked(
                    "the subscription is not known: set ARM_SUBSCRIPTION_ID, or give --account"
                    " (`az account show --query id --output tsv`)"
                )
            group = self._value(state, "resourceGroupName")
            return f"/subscriptions/{self.subscription}/resourceGroups/{group}"
        value = (state.get("inputs") or {}).get(name, UNKNOWN)
        if isinstance(value, str) and value != UNKNOWN:
            # Google takes a subnet's path or its name in this place.
            return value.rpartition("/")[2] if name == "subnetwork" else value
        # Exactly one resource makes the value: its id says it.
        urns = (state.get("propertyDependencies") or {}).get(name) or []
        if len(urns) == 1 and (
            name in _WHOLE or urns[0].split("::")[-2].endswith(_NAMED.get(name, ()))
        ):
            made = self.id(urns[0])
            return made if name in _WHOLE else made.rpartition("/")[2]
        raise Unknown(name)

    def refuse_unknown(self, urn: str) -> None:
        """Raise `Unknown` if the preview does not know an input of a resource."""
        for name, value in (self.steps[urn].get("inputs") or {}).items():
            if value == UNKNOWN:
                raise Unknown(name)


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]
