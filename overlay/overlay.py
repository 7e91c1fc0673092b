"""The overlay: which components a kustomization lays over Kubeflow's manifests, and the objects
that they need there."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.base.errors import SandboxError

Object = dict[str, Any]

FILE = "kustomization.yaml"
NEEDS = "kubeflow-spot.dev/kubernetes"
"""An annotation of a component: the first minor version of Kubernetes that it works on."""

_VALUES = "KubeflowValues"
_GENERATED = re.compile(r"-[a-z0-9]{10}$")
"""The hash that kustomize appends to the name of a generated ConfigMap or Secret."""


@dataclass(frozen=True)
class Target:
    """An object of the manifests that a component patches or reads."""

    component: str
    kind: str
    name: str
    namespace: str = ""
    """Empty where the component names none."""
    dropped: bool = False
    """Whether the component takes the object out of what is applied."""

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind} {self.name}"
        )


def read_objects(file: Path) -> list[Any]:
    """Return the documents of a YAML file. Raises SandboxError when it is missing or no YAML."""
    # Only here: most commands never read YAML.
    import yaml

    try:
        return [
            document for document in yaml.load_all(file.read_text(), yaml.CSafeLoader) if document
        ]
    except OSError as error:
        raise SandboxError(f"{file}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise SandboxError(f"{file} is no YAML: {error}") from error


def components(root: Path) -> list[Path]:
    """Return the folders of a kustomization's components, in its order. Raises SandboxError."""
    kustomization = one(root / FILE)
    return [(root / entry).resolve() for entry in kustomization.get("components", [])]


def one(file: Path) -> Object:
    """Return a file's only document. Raises SandboxError."""
    documents = read_objects(file)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise SandboxError(f"{file} must hold one object")
    return documents[0]


def fits(component: Path, version: str) -> bool:
    """Return whether a component works on a version of Kubernetes, such as 1.36.2."""
    needs = (one(component / FILE).get("metadata") or {}).get("annotations", {}).get(NEEDS, "1.0")
    return _minor(version) >= _minor(needs)


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".")[:2])


def targets(component: Path, beside: Iterable[Path] = ()) -> list[Target]:
    """Return the objects that a component needs, without those that it or components `beside` it
    add.

    Raises SandboxError.
    """
    kustomization = one(component / FILE)
    own = {brought for folder in (component, *beside) for brought in _brought(folder)}
    wanted = (
        Target(
            component.name,
            selected["kind"],
            selected["name"],
            selected.get("namespace", ""),
            "$patch" in selected,
        )
        for selected in _selected(component, kustomization)
    )
    return list(
        dict.fromkeys(t for t in wanted if (t.kind, t.name) not in own and t.kind != _VALUES)
    )


def _brought(component: Path) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each object that a component adds."""
    for file in one(component / FILE).get("resources", []):
        for body in read_objects(component / file):
            yield body["kind"], body["metadata"]["name"]


def _selected(component: Path, kustomization: Object) -> Iterator[Object]:
    """Yield kind, name and namespace of each object that a component selects; with `$patch` if it
    drops it."""
    for patch in kustomization.get("patches", []):
        if "target" in patch:
            yield patch["target"]
            continue
        for body in read_objects(component / patch["path"]):
            drops = {"$patch": body["$patch"]} if body.get("$patch") == "delete" else {}
            yield {"kind": body["kind"], **body["metadata"], **drops}
    for replacement in kustomization.get("replacements", []):
        yield replacement["source"]
        for target in replacement["targets"]:
            yield target["select"]
    for generated in kustomization.get("configMapGenerator", []):
        if generated.get("behavior") == "merge":
            yield {"kind": "ConfigMap", **generated}


def missing(wanted: Iterable[Target], objects: Sequence[Object]) -> list[Target]:
    """Return the targets that these objects do not hold."""
    places: set[tuple[str, str, str]] = set()
    for body in objects:
        kind, metadata = body["kind"], body["metadata"]
        names = {metadata["name"]}
        if kind in ("ConfigMap", "Secret"):
            names.add(_GENERATED.sub("", metadata["name"]))
        for name in names:
            places |= {(kind, name, metadata.get("namespace", "")), (kind, name, "")}
    return [
        target for target in wanted if (target.kind, target.name, target.namespace) not in places
    ]


def explained(absent: Sequence[Target], objects: Sequence[Object]) -> str:
    """Return the message about missing targets, with objects of similar names."""
    lines = [f"{len(absent)} of the objects that the components need are not there:"]
    for target in absent:
        near = _near(target, objects)
        hint = f"; the manifests have {', '.join(near)}" if near else ""
        lines.append(f"  component {target.component}: {target}{hint}")
    lines.append(
        "instead: use the tag of the manifests that the kustomization names and the components"
        " that this one needs, mend it, or"
        " take its line out of the kustomization"
    )
    return "\n".join(lines)


def _near(target: Target, objects: Sequence[Object]) -> list[str]:
    """Return objects of the kind under a similar name or in another namespace."""
    # Only here: a component that fits needs no names.
    from difflib import get_close_matches

    by_name: dict[str, str] = {}
    for body in objects:
        if body["kind"] == target.kind:
            metadata = body["metadata"]
            place = f"{metadata['namespace']}/" if "namespace" in metadata else ""
            by_name[metadata["name"]] = f"{place}{metadata['name']}"
    return [by_name[name] for name in get_close_matches(target.name, by_name, n=2, cutoff=0.6)]
