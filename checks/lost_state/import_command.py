"""The command `import-file`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from checks.ending import one_sentence
from checks.findings import Exit, Unasked
from checks.lost_state.plan import Plan, Unknown


@click.command()
@click.argument("plan_file", metavar="PLAN", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--account",
    help="The Azure subscription's id, where it is not the stack file's or ARM_SUBSCRIPTION_ID.",
)
def main(plan_file: Path, file: Path, account: str | None) -> None:
    """Write the ids of a stack's resources into FILE, for `pulumi import --file FILE`.

    Both files are of one preview: pulumi preview --json --import-file FILE > PLAN

    What follows from resources that are not in the state yet is left out and named: import, trim
    the state, then preview and run this again.

    Exit status: 0 all ids are written; 2 FILE is as it was; 3 some resources are left out.
    """
    with one_sentence():
        plan = Plan.read(plan_file, account)
        content = _content(file)
        kept, left = _filled(content["resources"], plan)
        file.write_text(
            json.dumps({**content, "resources": kept}, indent=4) + "\n", encoding="utf-8"
        )
        found = sum("id" in each for each in kept)
        click.echo(f"{file}: {found} ids, {len(kept) - found} components and providers", err=True)
        for line in left:
            click.echo(f"  left out: {line}", err=True)
        if left:
            click.echo("import these, trim the state, and begin again with the preview", err=True)
    sys.exit(Exit.UNSEEN if left else Exit.READY)


def _content(file: Path) -> dict[str, Any]:
    """Return the file that `pulumi preview --import-file` wrote. Raises `Unasked`."""
    try:
        content: dict[str, Any] = dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise Unasked(f"{file}: is not the file of `pulumi preview --import-file {file}`") from None
    if not content.get("resources"):
        raise Unasked(f"{file}: the preview would create nothing, so nothing is to be imported")
    return content


def _filled(entries: list[dict[str, Any]], plan: Plan) -> tuple[list[Any], list[str]]:
    """Return the entries with their ids, and a line for what is left out."""
    kept, left = [], []
    users: Counter[str] = Counter()
    """Resources of each provider that is left out."""
    for entry in entries:
        name = entry.get("logicalName") or entry["name"]
        urn = plan.urn(entry["type"], name)
        if entry.get("provider") in users:
            users[entry["provider"]] += 1
            continue
        try:
            if entry["type"].startswith("pulumi:providers:"):
                # The preview leaves out what it does not know.
                plan.refuse_unknown(urn)
            elif not entry.get("component"):
                entry = {**entry, "id": plan.id(urn)}
        except Unknown as value:
            if entry["type"].startswith("pulumi:providers:"):
                users[entry["name"]] = 0
            left.append(f"{entry['type']} {name}: its {value} follows from what is imported first")
            continue
        kept.append(entry)
    left += [f"{number} resources of the provider {name}" for name, number in users.items()]
    return kept, left
