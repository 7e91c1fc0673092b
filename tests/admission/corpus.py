"""The golden pods: pods as they arrive at admission, one a file, with their expected result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "pods"
STATES = {
    "no GPU node": {"t4": 0, "t4od": 0},
    "one spot node": {"t4": 1, "t4od": 0},
    "both": {"t4": 1, "t4od": 1},
    "only on-demand": {"t4": 0, "t4od": 1},
}
"""Numbers of nodes of the GPU pools, all of them free; the system pool has two nodes and `general` one."""


@dataclass(frozen=True)
class Expect:
    """The expected additions to a pod, and its pool in each of STATES."""

    kind: str | None
    """The workload kind in the stack file's word, `labelled` when only its label moves the pod, None when nothing does."""
    tolerations: tuple[str, ...]
    """Keys of the added tolerations."""
    affinity: str
    """The added affinity: none, preferred or required."""
    grace: int | None
    """The termination grace that replaces Kubernetes' default, in seconds."""
    refused: str | None
    """The rule of the guard that refuses the pod."""
    lands: tuple[str, ...]


@dataclass(frozen=True)
class Golden:
    """One file: a pod, or an object for which a controller of Kubernetes creates one."""

    name: str
    made_by: str
    user: str | None
    """The creator of the pod; None when it is a controller of the cluster itself."""
    object: dict[str, Any]
    trial: str | None
    """The Katib trial of the pod."""
    expect: Expect

    @property
    def namespace(self) -> str:
        """The namespace of the pod."""
        return str(self.object["metadata"]["namespace"])

    @property
    def in_profile(self) -> bool:
        """Whether the namespace is a Kubeflow profile."""
        return self.namespace.startswith("team-")

    @property
    def spec(self) -> dict[str, Any]:
        """The spec of the pod, or of the object's template."""
        spec: dict[str, Any] = self.object["spec"]
        return spec if self.object["kind"] == "Pod" else spec["template"]["spec"]

    @property
    def gpu(self) -> bool:
        """Whether the pod needs a GPU."""
        containers = [*self.spec["containers"], *self.spec.get("initContainers", ())]
        return any("nvidia.com/gpu" in c.get("resources", {}).get("limits", {}) for c in containers)


@cache
def corpus() -> dict[str, Golden]:
    """Every golden pod by its name, which is the name of its file."""
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.yaml"))}


def _read(path: Path) -> Golden:
    content = yaml.safe_load(path.read_text())
    expect = content["expect"]
    lands = expect.get("lands", "")
    return Golden(
        name=path.stem,
        made_by=content["madeBy"],
        user=None if content.get("controller") else content["as"],
        object=content["object"],
        trial=content.get("trial"),
        expect=Expect(
            kind=expect.get("kind"),
            tolerations=tuple(expect.get("tolerations", ())),
            affinity=expect.get("affinity", "none"),
            grace=expect.get("grace"),
            refused=expect.get("refused"),
            lands=(lands,) * len(STATES) if isinstance(lands, str) else tuple(lands),
        ),
    )
