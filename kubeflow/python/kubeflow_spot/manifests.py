"""Placement in manifests: plain objects as YAML or JSON holds them.

The given manifest is never changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from kubeflow_spot.contract import PREFERRED, REQUIRED, Contract, ContractError, Lines

Manifest = dict[str, Any]

_TABLE: Mapping[str, Any] = json.loads(
    resources.files("kubeflow_spot").joinpath("roles.json").read_text()
)
"""Kinds of objects with their pod templates, and the roles that lead: the cluster's policies are
made from the same file."""


def placed(
    manifest: Mapping[str, Any], lines: Lines, roles: Collection[str] | None = None
) -> Manifest:
    """Return the manifest with these lines in the pods that may move: a Job's, the workers of the
    others.

    A lost node does not end a job by its workers; its chief, master, launcher and parameter servers
    stay on demand, unless there is no other role. `roles`: names of the roles to move instead, in
    any case. Raises ContractError for a kind that is unknown here, or for a pod that asks for other
    nodes already.
    """
    return _changed(manifest, roles, lambda template: _place(template.spec, lines))


def labelled(
    manifest: Mapping[str, Any],
    contract: Contract,
    placement: str,
    roles: Collection[str] | None = None,
) -> Manifest:
    """Return the manifest with the label that chooses a placement on the pods that may move, as
    `placed` does.

    Raises ContractError.
    """
    labels = contract.labels(placement)
    return _changed(manifest, roles, lambda template: template.label(labels))


def train_job_overrides(lines: Lines, job: str = "node") -> list[Manifest]:
    """Return `podTemplateOverrides` of a TrainJob, for Kubeflow Trainer up to 2.1 (Kubeflow 26.03).

    Later ones have `runtimePatches`: `train_job_patches`.
    """
    return [{"targetJobs": [{"name": job}], "spec": lines.as_spec()}]


def train_job_patches(lines: Lines, manager: str, job: str = "node") -> list[Manifest]:
    """Return `runtimePatches` of a TrainJob, for Kubeflow Trainer from 2.2 on (kubeflow/trainer
    3309); `manager` names their author."""
    template = {"spec": {"template": {"spec": lines.as_spec()}}}
    return [
        {
            "manager": manager,
            "trainingRuntimeSpec": {
                "template": {"spec": {"replicatedJobs": [{"name": job, "template": template}]}},
            },
        }
    ]


def place(pod_spec: Mapping[str, Any], lines: Lines) -> Manifest:
    """Return a pod's spec with these lines. Raises ContractError if it asks for other nodes."""
    spec: Manifest = _copied(pod_spec)
    _place(spec, lines)
    return spec


@dataclass(frozen=True)
class _Template:
    """What a manifest says of pods: the fields of their spec, and the object that holds their
    labels or will hold them."""

    spec: Manifest
    owner: Manifest
    role: str = ""
    metadata: bool = True
    """Whether the labels stand under `metadata`."""

    def label(self, labels: Mapping[str, str]) -> None:
        holder = self.owner
        if self.metadata:
            holder = self.owner["metadata"] = self.owner.get("metadata") or {}
        holder["labels"] = {**(holder.get("labels") or {}), **labels}


def _changed(
    manifest: Mapping[str, Any], roles: Collection[str] | None, change: Callable[[_Template], None]
) -> Manifest:
    changed: Manifest = _copied(manifest)
    templates = list(_templates(changed))
    if roles is None:
        chosen = [
            template for template in templates if not re.match(_TABLE["leader"], template.role)
        ]
        # A leader that leads nobody is lost like any worker.
        chosen = chosen or (templates if len(templates) == 1 else [])
    else:
        chosen = [
            template
            for template in templates
            if template.role in {"", *(role.lower() for role in roles)}
        ]
    if not chosen:
        found = ", ".join(sorted(template.role for template in templates)) or "none"
        raise ContractError(f"{_name(manifest)} has no pods of such roles; its roles: {found}")
    for template in chosen:
        change(template)
    return changed


def _templates(manifest: Manifest) -> Iterator[_Template]:
    """Yield the pod templates of a manifest, with their roles in lower case; a Pod is its own."""
    group, _, _ = manifest.get("apiVersion", "").rpartition("/")
    entries = [
        e
        for e in _TABLE["kinds"]
        if e["kind"] == manifest.get("kind") and group in ("", e["group"])
    ]
    # Without a group the first kind of that name counts: Kubernetes' own Job.
    named: list[Mapping[str, Any]] = [*(e for e in entries if e["group"] == group), *entries, {}]
    entry = named[0]
    if "within" in entry:
        for _, inner in _found(manifest, entry["within"]):
            yield from _templates(inner)
    elif "pods" not in entry:
        raise ContractError(
            f"{_name(manifest)}: the pods of this kind are not known here; use place() on their"
            " specs"
        )
    for pods in entry.get("pods", ()):
        for role, template in _found(manifest, pods["at"], pods.get("role", "")):
            # Spark's driver and executor have the fields of a pod's spec that place it, and labels,
            # beside their own.
            spec = template if "labels" in pods else template["spec"]
            yield _Template(spec, template, role.lower(), metadata="labels" not in pods)


def _found(within: Any, path: str, role: str = "") -> Iterator[tuple[str, Manifest]]:
    """Yield what stands at a path of the table, with its role: a name in a list, a key in a map."""
    step, _, rest = path.partition(".")
    value = (within or {}).get(step.rstrip("[]{}"))
    if not step:
        yield role, within
    elif step.endswith("[]"):
        for item in value or ():
            yield from _found(item, rest, role or item.get("name", ""))
    elif step.endswith("{}"):
        for key, item in (value or {}).items():
            yield from _found(item, rest, key)
    elif value is not None:
        yield from _found(value, rest, role)


def _copied(part: Any) -> Any:
    """Copy without shared parts: roles with one YAML anchor are one object, and only one may
    move."""
    if isinstance(part, Mapping):
        return {key: _copied(value) for key, value in part.items()}
    return [_copied(item) for item in part] if isinstance(part, list) else part


def _place(spec: Manifest, lines: Lines) -> None:
    own = spec.get("tolerations") or []
    keys = {toleration.get("key") for toleration in own}
    # One toleration a key: of two, Kubeflow's PodDefaults refuse the pod.
    if added := [
        dict(toleration) for toleration in lines.tolerations if toleration["key"] not in keys
    ]:
        spec["tolerations"] = [*own, *added]
    if lines.node_selector:
        selector = spec.get("nodeSelector") or {}
        for key, value in lines.node_selector.items():
            if selector.get(key, value) != value:
                raise ContractError(
                    f"the pod asks for nodes with {key}={selector[key]} already, not {value}:"
                    " remove that"
                )
        spec["nodeSelector"] = {**selector, **lines.node_selector}
    if lines.node_affinity:
        affinity = spec["affinity"] = dict(spec.get("affinity") or {})
        affinity["nodeAffinity"] = _joined(affinity.get("nodeAffinity") or {}, lines.node_affinity)


def _joined(own: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Join node affinities. One required term of a list suffices, so each gets the additions."""
    joined: Manifest = _copied(own)
    if preferred := added.get(PREFERRED):
        present = joined.get(PREFERRED) or []
        joined[PREFERRED] = [*present, *(term for term in preferred if term not in present)]
    if required := added.get(REQUIRED):
        present = (joined.get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
        joined[REQUIRED] = {
            "nodeSelectorTerms": [
                _both(term, more) for term in present for more in required["nodeSelectorTerms"]
            ]
        }
    return joined


def _both(term: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    present = term.get("matchExpressions") or []
    added = [
        expression for expression in more.get("matchExpressions", ()) if expression not in present
    ]
    return {**term, "matchExpressions": [*present, *_copied(added)]}


def _name(manifest: Mapping[str, Any]) -> str:
    name = (manifest.get("metadata") or {}).get("name", "")
    return f"{manifest.get('kind', 'the manifest')} {name}".strip()
