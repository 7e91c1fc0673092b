"""`sandbox report` and `sandbox diff-release`."""

from pathlib import Path

import click

from sandbox.base.home import PROJECT
from sandbox.cli.options import FILE


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--longest",
    type=click.IntRange(min=1),
    help="Characters at most; by default those of a comment on GitHub.",
)
@click.option(
    "--pointer",
    metavar="URL",
    default="",
    help="The address of the whole report, shown where parts are left out.",
)
def report(file: Path, longest: int | None, pointer: str) -> None:
    """Render a report.json of `preview --base` as Markdown. The file need not be trusted."""
    from review import untrusted

    click.echo(untrusted.render(file, longest, pointer), nl=False)


@click.command("diff-release")
@click.argument("before")
@click.argument("after")
@click.option(
    "--cwd",
    "-C",
    default=PROJECT,
    type=click.Path(exists=True, path_type=Path),
    help="Another checkout.",
)
def diff_release(before: str, after: str, cwd: Path) -> None:
    """Explain what changes for a stack that moves from release BEFORE to release AFTER."""
    from review import releases

    for sentence in releases.explain(cwd, before, after) or [f"{before} and {after} are the same"]:
        click.echo(sentence)
