"""The stand-in tree, rendered with and without the overlay, and trees that lack one of its objects."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from overlay import render
from overlay.overlay import Target
from sandbox.toolchain.programs import ensure

PROJECT = Path(__file__).resolve().parents[2]
MANIFESTS = Path(__file__).with_name("manifests")
OVERLAY = PROJECT / "kubeflow"
COMPONENTS = sorted(path for path in (OVERLAY / "components").iterdir())
CLOUDS = ("azure", "gcp")

LABEL = "kubeflow-spot.dev/kubeflow"
"""The label of everything that the overlay applies."""

Object = dict[str, Any]

VALUES: Object = {
    "apiVersion": "kubeflow-spot.dev/v1",
    "kind": "KubeflowValues",
    "metadata": {"name": "values", "annotations": {"config.kubernetes.io/local-config": "true"}},
    "disk": {"provisioner": "disk.example.com", "parameters": {"type": "balanced", "copies": "2"}},
    "workspaceDisk": {"provisioner": "disk.example.com", "parameters": {"type": "balanced"}},
    "spawner": {
        "affinityConfig": {
            "readOnly": False,
            "value": "",
            "options": [{"configKey": "gpu-on-demand", "displayName": "GPU", "affinity": {"nodeAffinity": {}}}],
        },
        "tolerationGroup": {
            "readOnly": False,
            "value": "",
            "options": [
                {"groupKey": "gpu-on-demand", "displayName": "GPU", "tolerations": [{"key": "nvidia.com/gpu"}]}
            ],
        },
    },
}
"""As `config.placement.contract` makes them."""


def built(
    folder: Path, cloud: str = "azure", manifests: Path = MANIFESTS, version: str = "1.36.2", **sources: Any
) -> render.Rendered:
    """Return the tree with a cloud's overlay. Raises SandboxError."""
    given = {"root": OVERLAY / cloud, "values": VALUES, **sources}
    return render.render(render.Sources(manifests=manifests, version=version, **given), kubectl(), folder, print)


def kubectl() -> Path:
    """Return the program, with kustomize in it."""
    return ensure(["kubectl"], print)["kubectl"]


def without(target: Target, folder: Path, name: str = "") -> Path:
    """Return a tree that lacks an object, or has it under another name."""
    tree = folder / "manifests"
    shutil.copytree(MANIFESTS, tree)
    file = tree / "example" / "kustomization.yaml"
    select = {"kind": target.kind, "name": target.name}
    gone = {"apiVersion": "v1", "kind": target.kind, "metadata": {"name": "any"}, "$patch": "delete"}
    other = [{"op": "replace", "path": "/metadata/name", "value": name}]
    patch = {"target": select, "patch": json.dumps(other if name else gone), "options": {"allowNameChange": True}}
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "patches": [patch]}))
    return tree


def differences(before: list[Object], after: list[Object]) -> dict[str, Any]:
    """Return what differs between two lists of objects but for the label of all: by object and path, both values."""
    old, new = _by_path(before), _by_path(after)
    return {
        path: {"before": old.get(path, "-"), "after": new.get(path, "-")}
        for path in sorted(old.keys() | new.keys())
        if old.get(path, "-") != new.get(path, "-")
    }


def _by_path(objects: list[Object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for body in objects:
        metadata = body["metadata"]
        name = metadata["name"]
        # The hash of a generated ConfigMap changes with each letter of a comment.
        for known in ("jupyter-web-app-config", "namespace-labels-data", "notebook-controller-config"):
            name = known if name.startswith(f"{known}-") else name
        rest = {key: value for key, value in metadata.items() if key != "labels"}
        if labels := {key: value for key, value in (metadata.get("labels") or {}).items() if key != LABEL}:
            rest["labels"] = labels
        text = json.dumps({**body, "metadata": {**rest, "name": name}})
        found |= dict(_leaves(f"{body['kind']} {name}", json.loads(text)))
    return found


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each leaf below a value; a text of several lines in a ConfigMap is YAML itself."""
    if isinstance(value, str) and "\n" in value:
        value = yaml.safe_load(value)
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(f"{path}.{key}", each)
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(f"{path}[{number}]", each)
    else:
        yield path, value
