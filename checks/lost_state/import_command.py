"""The command `import-file`."""

from __future__ import annotations

import json
import sys
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
    envvar="ARM_SUBSCRIPTION_ID",
    help="The Azure subscription's id, where the stack file does not name it.",
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
        file.write_text(json.dumps({**content, "resources": kept}, indent=4) + "\n", encoding="utf-8")
        found = sum("id" in each for each in kept)
        click.echo(f"{file}: {found} ids, {len(kept) - found} components and providers", err=True)
        for entry, why in left:
            click.echo(f"  left out: {entry['type']} {entry['name']}: {why}", err=True)
        if left:
            click.echo("run `pulumi import`, then the preview and this command again", err=True)
    sys.exit(Exit.UNSEEN if left else Exit.READY)


def _content(file: Path) -> dict[str, Any]:
    """Return the file that `pulumi preview --import-file` wrote. Raises `Unasked`."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Unasked(f"{file}: is not the file of `pulumi preview --import-file {file}`") from None
    if not content.get("resources"):
        raise Unasked(f"{file}: the preview would create nothing, so nothing is to be imported")
    return content


def _filled(entries: list[dict[str, Any]], plan: Plan) -> tuple[list[Any], list[Any]]:
    """Return the entries with their ids, and those that are left out with the reason."""
    kept, left, gone = [], [], set()
    for entry in entries:
        urn = plan.urn(entry["type"], entry.get("logicalName") or entry["name"])
        if entry["type"].startswith("pulumi:providers:"):
            # The preview leaves out what it does not know.
            missing = plan.unknown_inputs(urn)
            if missing:
                gone.add(entry["name"])
                left.append((entry, f"{', '.join(missing)} is not known yet"))
                continue
        elif entry.get("provider") in gone:
            left.append((entry, f"its provider {entry['provider']} is left out"))
            continue
        elif not entry.get("component"):
            try:
                entry = {**entry, "id": plan.id(urn)}
            except Unknown as missing_value:
                left.append((entry, f"{missing_value} is not known yet"))
                continue
        kept.append(entry)
    return kept, left
