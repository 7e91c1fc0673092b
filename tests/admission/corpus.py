"""The golden pods: pods as their controllers make them, with their expected result.

The files in `pods/` have a base for each controller, and a row for each pod: what it has beyond the base.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

from tests.merge_patch import patched

FOLDER = Path(__file__).parent / "pods"
STATES = {
    "no GPU node": {"t4": 0, "t4od": 0},
    "one spot node": {"t4": 1, "t4od": 0},
    "both": {"t4": 1, "t4od": 1},
    "only on-demand": {"t4": 0, "t4od": 1},
}
"""Numbers of nodes of the GPU pools, all of them free; the system pool has two nodes and `general` one."""

ASKS: Mapping[str, Any] = {
    "gpu": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}},
    "no GPU": {"requests": {"cpu": "500m", "memory": "1Gi"}},
    "cpu": {"requests": {"cpu": "50m", "memory": "64Mi"}},
    "driver": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}},
    "agent": {"requests": {"cpu": "10m", "memory": "32Mi"}},
}
"""The resources of a container, by the word `asks` of a row."""

_UID = "7c1e6f0a-9d0b-4c53-a1f6-3f0f27c1d5aa"
_MOVED = {"tolerations": ["kubernetes.azure.com/scalesetpriority"], "grace": 25}
GETS: Mapping[str, Mapping[str, Any]] = {
    "spot": {**_MOVED, "affinity": "preferred", "lands": ("pending", "t4", "t4", "t4od")},
    "spot-only": {**_MOVED, "affinity": "required", "lands": ("pending", "t4", "t4", "pending")},
    "on-demand": {"lands": ("pending", "pending", "t4od", "t4od")},
    "cpu": {"lands": ("CPU node",) * len(STATES)},
    "cpu-preferring-spot": {"affinity": "preferred", "grace": 25, "lands": ("CPU node",) * len(STATES)},
}
"""The expected additions and pools, by the word `gets` of a row, which may change single ones by their names."""


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
    """One row: a pod, or an object for which a controller of Kubernetes creates one."""

    name: str
    made_by: str
    user: str | None
    """The creator of the pod; None when it is a controller of the cluster itself."""
    object: dict[str, Any]
    trial: str | None
    """The Katib trial of the pod."""
    expect: Expect
    source: str = ""
    """The file in the project's repository that makes such pods; comments of the YAML files say more of single pods."""

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
        spec: dict[str, Any] = _pod(self.object)["spec"]
        return spec

    @property
    def gpu(self) -> bool:
        """Whether the pod needs a GPU."""
        containers = [*self.spec["containers"], *self.spec.get("initContainers", ())]
        return any("nvidia.com/gpu" in c.get("resources", {}).get("limits", {}) for c in containers)


@dataclass
class Outcome:
    """The outcome of one golden pod."""

    pod: dict[str, Any] = field(default_factory=dict)
    """The pod after admission."""
    untouched: dict[str, Any] = field(default_factory=dict)
    """The same pod in a namespace that no policy of the program selects."""
    refused: str = ""
    """The message of the API server's refusal."""
    again: dict[str, Any] = field(default_factory=dict)
    """The spec of the admitted pod after a second pass."""
    kind: str | None = None
    """The workload kind that the policy determines."""
    asked_by_namespace: dict[str, Any] = field(default_factory=dict)
    """The spec of the unchanged pod in a profile whose label asks for spot, without a label of its own."""
    landed: dict[str, str] = field(default_factory=dict)
    """The pools by state, or the reason for none."""


@cache
def corpus() -> dict[str, Golden]:
    """Return every golden pod by its name."""
    goldens = [golden for path in FOLDER.glob("*.yaml") for golden in _goldens(path)]
    return {golden.name: golden for golden in sorted(goldens, key=lambda golden: golden.name)}


def _goldens(path: Path) -> Iterator[Golden]:
    for base in yaml.safe_load(path.read_text()).values():
        for name, row in base["pods"].items():
            words = {"asks": "gpu", "namespace": "team-a", **base, **row}
            words["asks"] = ASKS[words["asks"]]
            body = _filled(_edited(words), words)
            yield Golden(
                name, words["madeBy"], words.get("as"), body, words.get("trial"), _expect(words), words["source"]
            )


def _edited(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base's object with the edits of a row: each is a merge patch for another part."""
    edits = {"metadata": {"namespace": words["namespace"], **words.get("metadata", {})}, "spec": words.get("spec", {})}
    if owner := words.get("owner"):
        keys = dict(zip(("apiVersion", "kind", "name"), owner.split(), strict=True))
        edits["metadata"]["ownerReferences"] = [{**keys, "uid": _UID, "controller": True, "blockOwnerDeletion": True}]
    body: dict[str, Any] = patched(copy.deepcopy(words["object"]), edits)
    pod = _pod(body)
    if labels := {**words.get("selector", {}), **words.get("labels", {})}:
        pod |= patched(pod, {"metadata": {"labels": labels}})
    pod["spec"] = patched(patched(pod["spec"], words.get("pod", {})), {"containers": {-1: words.get("main", {})}})
    return body


def _pod(body: dict[str, Any]) -> dict[str, Any]:
    """Return the pod, or the template of one."""
    return body if body["kind"] == "Pod" else body["spec"]["template"]


def _filled(part: Any, words: Mapping[str, Any]) -> Any:
    """Return a part of an object with a row's words for the names after `$`."""
    if isinstance(part, dict):
        return {key: _filled(value, words) for key, value in part.items()}
    if isinstance(part, list):
        return [_filled(item, words) for item in part]
    if not isinstance(part, str):
        return part
    word = words.get(part.removeprefix("$"))
    return word if part.startswith("$") and isinstance(word, dict) else Template(part).substitute(words)


def _expect(words: Mapping[str, Any]) -> Expect:
    gets = {"lands": ("-",) * len(STATES)} if "refused" in words else words["gets"]
    row = {**(GETS[gets] if isinstance(gets, str) else gets), **words}
    return Expect(
        kind=row.get("kind"),
        tolerations=tuple(row.get("tolerations", ())),
        affinity=row.get("affinity", "none"),
        grace=row.get("grace"),
        refused=row.get("refused"),
        lands=tuple(row["lands"]),
    )
