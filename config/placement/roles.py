"""Roles of pods in distributed jobs, and the kinds of objects whose controllers make pods.

One table serves the admission policies and the package of users' tools, which ships it:
`kubeflow_spot/roles.json`. A path is fields with dots; `[]` is each item of a list, `{}` each value
of a map.

- `leader`: a regular expression of the roles whose loss ends a job, or that hold no GPU.
- `pods`: the pod templates of a kind. Their role is `role`, else the key in a map or the `name` of
  the item in a list. Where they name `labels`, the fields that place a pod stand beside these; `defaults`
  holds paths of the same fields for all of them, and only those with one of the fields `some` run pods.
- `write`: what the package for users' tools answers where it cannot place pods.
- `labels`: further paths of labels that reach pods.
- `ignored`: paths of labels that reach no worker.
- `within`: the path of another object that this one makes.

Sources: the CustomResourceDefinitions and controllers of Kubernetes 1.36, JobSet 0.10.1, Trainer 2.1
(runtimePatches: 2.2), Training Operator 1.9.3, mpi-operator 0.6, Volcano 1.12, KubeRay 1.7, Spark
operator 2.5, Argo Workflows 3.7.3, Katib 0.19, AppWrapper 1.1 and Flux operator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[2] / "kubeflow" / "python" / "kubeflow_spot" / "roles.json"
_TABLE: Mapping[str, Any] = json.loads(_FILE.read_text())

LEADER: str = _TABLE["leader"]
"""It matches the name of a role in lower case."""


@dataclass(frozen=True)
class WorkloadObject:
    """A kind of object whose controller makes pods, such as `PyTorchJob`."""

    kind: str
    group: str
    resource: str
    """The plural name in paths of the API."""
    labels: tuple[str, ...]
    """Paths of labels that reach pods."""
    ignored: tuple[str, ...]
    """Paths of labels that reach no worker."""
    place: str
    """The path of `labels` to write a label at that chooses the machines of workers."""
    within: str
    """The path of an object that this one makes; empty for most kinds."""


def _workload_object(entry: Mapping[str, Any]) -> WorkloadObject:
    of_pods = {
        f"{pods['at']}.{pods.get('labels', 'metadata.labels')}": pods
        for pods in entry.get("pods", ())
    }
    of_workers = [
        path for path, pods in of_pods.items() if not re.match(LEADER, pods.get("role", ""))
    ]
    labels, within = (*of_pods, *entry.get("labels", ())), entry.get("within", "")
    first = (*of_workers, *labels)[0] if labels else ""
    place = f"the labels of the pods in {within}" if within else first.replace("{}", ".*")
    place = place.replace("[]", "[*]")
    return WorkloadObject(
        entry["kind"],
        entry["group"],
        entry["resource"],
        labels,
        tuple(entry["ignored"]),
        place,
        within,
    )


def _nested(outer: WorkloadObject, inner: tuple[WorkloadObject, ...]) -> WorkloadObject:
    """Return a kind with the paths of the objects that it makes."""
    labels = dict.fromkeys(f"{outer.within}.{path}" for kind in inner for path in kind.labels)
    ignored = dict.fromkeys(f"{outer.within}.{path}" for kind in inner for path in kind.ignored)
    # Where a Job has the labels of its pods, a runtime has those of its JobSet.
    ignored = {path: None for path in ignored if path not in labels}
    return replace(outer, labels=tuple(labels), ignored=(*outer.ignored, *ignored))


def _workload_objects() -> tuple[WorkloadObject, ...]:
    found = [_workload_object(entry) for entry in _TABLE["kinds"] if "ignored" in entry]
    plain = tuple(kind for kind in found if not kind.within)
    return (*plain, *(_nested(kind, plain) for kind in found if kind.within))


WORKLOAD_OBJECTS = _workload_objects()
"""Kinds whose pods a label may place."""
