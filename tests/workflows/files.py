"""The workflow files as data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / ".github"
SCRIPTS = FOLDER / "scripts"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))
ACTIONS = sorted((FOLDER / "actions").glob("*/action.yml"))

Data = dict[str, Any]


def read(path: Path) -> Data:
    """Read a workflow or action. YAML 1.1 reads the key `on` as true, so `True` is looked up."""
    content: Data = yaml.safe_load(path.read_text())
    return content


def workflow(name: str) -> Data:
    """Return the workflow of a file."""
    return read(FOLDER / "workflows" / f"{name}.yml")


def jobs(path: Path) -> dict[str, Data]:
    """Return jobs by name."""
    jobs: dict[str, Data] = read(path)["jobs"]
    return jobs


def steps(content: Data) -> Iterator[Data]:
    """Yield all steps of a workflow or a composite action."""
    if "runs" in content:
        yield from content["runs"]["steps"]
    for job in content.get("jobs", {}).values():
        yield from job.get("steps", [])


def scalars(value: Any) -> Iterator[str]:
    """Yield every text of a value."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    elif isinstance(value, str):
        yield value
