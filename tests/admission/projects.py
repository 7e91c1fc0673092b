"""Manifests of public projects, with the place where each role of each should land.

The files in `projects/` have the shapes of the projects' own examples: kinds, roles, numbers and
settings, and nothing else of them. What is expected follows from the promise of docs/placement.md
and from the sources of the controllers, never from the policy.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sandbox.tests.api import Object
from tests.admission.operators import NAMESPACE
from tests.admission.served import CLUSTER_WIDE

FOLDER = Path(__file__).parent / "projects"
GPU = "nvidia.com/gpu"
LANDS = {
    "spot": ("t4", "t4od"),
    "on-demand": ("t4od", "t4od"),
    "cpu": ("CPU node", "CPU node"),
    "spot-only": ("t4", "pending"),
    "pending": ("pending", "pending"),
}
"""The pool with free nodes of both kinds, and with free on-demand nodes alone."""
REFUSED = "refused: "
"""Begins another word, which ends with the rule of the guard that refuses the manifest."""


@dataclass(frozen=True)
class Manifest:
    """One manifest of a project."""

    name: str
    objects: tuple[Object, ...]
    file: str = ""
    """The file with it, below FOLDER."""
    project: str = ""
    source: str = ""
    """The file in the project's repository, and its commit or tag."""
    gpus: str = ""
    """Whose the GPUs are where the source has none, or other ones."""
    retried: bool = False
    """Whether the cluster has the component `retry` over Kubeflow's manifests."""
    expect: Mapping[str, Any] = field(default_factory=dict)
    """A word of LANDS by role; of a role with a number, also that of the role without it."""
    why: Mapping[str, str] = field(default_factory=dict)

    def lands(self, role: str, stack: str) -> str:
        """Return the expected word for a role on a stack."""
        word = self._of(self.expect, role)
        return str(word[stack] if isinstance(word, dict) else word)

    def reason(self, role: str) -> str:
        """Return why the role does not prefer spot; empty where it does."""
        return str(self._of({"": "", **self.why}, role) if self.why else "")

    @property
    def kind(self) -> str:
        """The kind of the object that the project's manifest has, and of what it wraps."""
        spec = self.objects[-1]["spec"]
        inner = [spec.get("trialTemplate", {}).get("trialSpec", {}).get("kind")]
        inner += [component["template"]["kind"] for component in spec.get("components", ())]
        return ": ".join([str(self.objects[-1]["kind"]), *filter(None, inner)])

    def _of(self, by_role: Mapping[str, Any], role: str) -> Any:
        return next((by_role[key] for key in (role, stem(role), "*", "") if key in by_role), None)


def stem(role: str) -> str:
    """Return a role without the number of its replica."""
    return role.rpartition("-")[0] if role[-1:].isdigit() else role


@cache
def corpus() -> dict[str, Manifest]:
    """Return every manifest by its name."""
    read = [m for path in sorted(FOLDER.glob("*.yaml")) for m in _read(path)]
    return {manifest.name: manifest for manifest in read}


def _read(path: Path) -> Iterator[Manifest]:
    content = yaml.safe_load(path.read_text())
    # What stands beside them holds for all that do not say otherwise.
    manifests = content.pop("manifests")
    for item in ({**content, **own} for own in manifests):
        # YAML's anchors would make two objects one.
        objects = json.loads(json.dumps(item.get("objects") or [_shortened(item)]))
        objects[-1].setdefault("metadata", {})["name"] = item["name"]
        for body in objects:
            if body["kind"] not in CLUSTER_WIDE:
                body["metadata"]["namespace"] = NAMESPACE
            _one_gpu(body)
        why = item.get("why", {})
        yield Manifest(
            name=item["name"],
            file=path.name,
            project=item["project"],
            source=item["source"],
            gpus=item.get("gpus", ""),
            retried=item.get("retried", False),
            objects=tuple(objects),
            expect=item["expect"],
            why=why if isinstance(why, dict) else {"*": why},
        )


def _shortened(item: Object) -> Object:
    """Return the object of a manifest that has one: `VERSION KIND: SPEC`, and `labels` beside it."""
    ((of, spec),) = ((key, value) for key, value in item.items() if " " in key)
    version, kind = of.split()
    metadata = {key: item[key] for key in ("labels",) if key in item}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _one_gpu(part: Any) -> None:
    """Ask for one GPU where the source asks for more: the machines of the stacks have one."""
    if isinstance(part, dict):
        if GPU in part:
            part[GPU] = "1"
        part = list(part.values())
    for value in part if isinstance(part, list) else ():
        _one_gpu(value)
