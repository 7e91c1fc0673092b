"""The sides of a drill: the settings that it compares, and how their stacks come up."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.base.yaml_file import read_yaml
from sandbox.engine import environment
from sandbox.engine.cloud_file import CloudFile
from sandbox.engine.revision import Revision
from sandbox.engine.scratch import DRILL, Scratch
from sandbox.engine.scratch import opened as opened_scratch


@dataclass(frozen=True)
class Side:
    """One of the compared settings: `Side("x.yaml", Path("x.yaml"))`, a revision, or the stack."""

    name: str
    config_file: Path | None = None
    revision: Revision | None = None
    live: bool = False


def compared_sides(home: Home, against: str, config_file: Path | None) -> list[Side]:
    """List the settings to compare: a revision before the current ones, another file after them.

    Raises SandboxError for a text that is neither a file nor a revision.
    """
    if not against:
        return [Side("now", config_file, live=config_file is None)]
    # Both come up anew, so that both are what their files say.
    given = config_file or home.config_file
    path = Path(against)
    if path.is_file():
        own, other = given or home.project / f"Pulumi.{home.stack}.yaml", path.resolve()
        alike = own.name == other.name
        names = [str(each) if alike else each.name for each in (own, other)]
        return [Side(names[0], given), Side(names[1], other)]
    revision = Revision.of(home.project, against, "--against", "no file, and no revision")
    current = Side(given.name if given else "work tree", given)
    return [Side(revision.name, revision=revision), current]


def check_side(home: Home, side: Side, cloud: Path | None, notify: Notify) -> None:
    """Preview the stack of a side, so that its faults show before a drill. Raises SandboxError."""
    if side.config_file is None:
        return
    read_yaml(side.config_file)
    notify(f"{side.name}: checking it")
    with opened_scratch(home.root, notify, DRILL) as scratch:
        scratch.build(notify)
        _run_engine("preview", home, home.project, side, scratch, cloud, notify)


def bring_up(home: Home, side: Side, scratch: Scratch, cloud: Path | None, notify: Notify) -> Home:
    """Bring the stack up in a scratch folder by the files of a side. Raises SandboxError.

    `cloud` is a cloud file; by default the entries of the stack's own cloud files.
    """
    project = home.project
    if side.revision:
        project = scratch.folder / "base+files"
        side.revision.copy(project)
    scratch.build(notify)
    notify(f"{side.name}: bringing the stack up beside yours")
    _run_engine("up", home, project, side, scratch, cloud, notify)
    return Home(home.stack, project, scratch.folder, side.config_file)


_FAILURES = {"preview": "would not come up", "up": "did not come up"}


def _run_engine(
    command: str,
    home: Home,
    project: Path,
    side: Side,
    scratch: Scratch,
    cloud: Path | None,
    notify: Notify,
) -> None:
    packages = environment.environment_of(project, scratch.folder / "base+packages")
    cloud = cloud or _kept_cloud(home, scratch.folder)
    outcome = scratch.run(command, home.stack, project, packages, notify, cloud, side.config_file)
    if outcome.errors:
        errors = "\n".join(outcome.errors)
        raise SandboxError(f"{side.name}: stack {home.stack!r} {_FAILURES[command]}:\n{errors}")


def _kept_cloud(home: Home, folder: Path) -> Path | None:
    """Write the entries of the stack's own cloud files into a folder; return None without any."""
    kept = CloudFile.kept(home.cloud)
    if kept == CloudFile():
        return None
    path = folder / "base+cloud.yaml"
    # JSON is YAML. The content may be private.
    write_private(path, json.dumps(kept.given()).encode())
    return path
