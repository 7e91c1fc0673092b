"""The command `trim-state`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from checks.ending import one_sentence
from checks.findings import Exit, Unasked
from checks.lost_state.plan import UNKNOWN, Plan

_SECRET = "4dabf18193072939515e22adb298388d"
"""The key by which Pulumi marks a secret (pulumi, sdk/go/common/resource/sig)."""


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
def main(plan: Path) -> None:
    """Print a state in which imported resources have the inputs that the program declares.

    pulumi stack export | trim-state PLAN | pulumi stack import, after an import of PLAN's resources

    An import writes all that the cloud shows into the inputs, and the next preview would remove the
    rest, some of it by a replacement (pulumi issue 21191). Values stay those of the cloud: a preview
    shows each difference.

    Exit status: 0 the state is printed; 2 nothing is printed.
    """
    with one_sentence():
        try:
            state = json.loads(sys.stdin.read())
            resources = state["deployment"]["resources"]
        except (ValueError, KeyError, TypeError):
            raise Unasked(
                "the standard input is no state: pipe `pulumi stack export` into it"
            ) from None
        declared = Plan.read(plan).steps
        imported = [each for each in resources if each.get("custom") and each["urn"] in declared]
        if not imported:
            raise Unasked(
                f"the state has no resource of {plan}: it is another stack's or project's, or "
                "nothing is imported yet"
            )
        trimmed = sum(_trim(each, declared[each["urn"]].get("inputs") or {}) for each in imported)
        click.echo(json.dumps(state))
        click.echo(f"{trimmed} resources have fewer inputs now", err=True)
    sys.exit(Exit.READY)


def _trim(resource: dict[str, Any], declared: dict[str, Any]) -> bool:
    """Reduce a resource's inputs; return whether they changed."""
    before = resource.get("inputs") or {}
    after = _reduced(before, declared)
    resource["inputs"] = after
    if resource["type"].startswith("kubernetes:"):
        _keep_manager(resource.get("outputs") or {})
    return bool(before != after)


def _reduced(value: Any, declared: Any) -> Any:
    """Return a value with the keys that the program declares."""
    if isinstance(value, dict) and isinstance(declared, dict):
        if _SECRET in value or _SECRET in declared:
            return value
        return {
            key: _reduced(item, declared[key]) for key, item in value.items() if key in declared
        }
    if isinstance(value, list) and isinstance(declared, list) and len(value) == len(declared):
        return [_reduced(*pair) for pair in zip(value, declared, strict=True)]
    # azure-native drops the first slash of an id in a path at an import (its issue 4683).
    if declared != UNKNOWN and isinstance(value, str) and declared == f"/{value}":
        return declared
    return value


def _keep_manager(live: dict[str, Any]) -> None:
    """Go on as the field manager that the object has: an import invents another, whose changes
    would conflict with the first one's (pulumi-kubernetes, fieldManagerName)."""
    fields = (live.get("metadata") or {}).get("managedFields") or []
    managers = {
        entry["manager"]
        for entry in fields
        if entry.get("operation") == "Apply" and entry["manager"].startswith("pulumi-kubernetes-")
    }
    if "__fieldManager" in live and len(managers) == 1:
        live["__fieldManager"] = managers.pop()
