"""`sandbox kubeflow`: installs Kubeflow from a checkout of its manifests, with the components of
`kubeflow/`, and reports."""

import json
import sys
from pathlib import Path

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr
from sandbox.cli.options import require_running, stack_options

_PLACE = click.Path(exists=True, resolve_path=True, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)


@click.command()
@click.option(
    "--manifests",
    required=True,
    type=_FOLDER,
    help="A checkout of kubeflow/manifests, at the tag of the kustomization.",
)
@click.option(
    "--kustomization",
    type=_FOLDER,
    help="The folder of yours; by default kubeflow/ and the stack's cloud.",
)
@click.option(
    "--base",
    "bases",
    multiple=True,
    type=(str, _PLACE),
    metavar="ADDRESS PATH",
    help="A checkout, or a file, for what the manifests name by an address, which kustomize would"
    " fetch.",
)
@click.option("--cluster", help="Another cluster of the emulated cloud.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=300,
    show_default=True,
    help="Seconds to wait for pods and volumes.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as one JSON object and nothing else."
)
@stack_options
def kubeflow(
    home: Home,
    manifests: Path,
    kustomization: Path | None,
    bases: tuple[tuple[str, Path], ...],
    cluster: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Install Kubeflow on the stack's cluster, and show where its pods land.

    Exits with 1 when an object or pod is refused, misplaced or pending, or a volume is not bound.
    """
    # Only here: most commands need none of it.
    from overlay import command
    from sandbox.base.checkpoint import Checkpoint
    from sandbox.cluster import clusters
    from sandbox.toolchain import programs

    require_running(home)
    plane = clusters.of_stack(home, cluster)
    kubectl = programs.ensure(["kubectl"], to_stderr)["kubectl"]
    request = command.Request(
        kustomization or home.project / "kubeflow" / plane.cloud,
        manifests,
        home.directory / "kubeflow",
        plane.admin_kubeconfig,
        plane.version,
        Checkpoint(home).outputs(),
        dict(bases),
        timeout,
    )
    report = command.install(request, kubectl, to_stderr)
    click.echo(json.dumps(report.as_json(), indent=2) if as_json else report.as_text())
    if not report.ok:
        sys.exit(1)
