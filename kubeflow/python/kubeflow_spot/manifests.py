"""Placement in manifests: plain objects as YAML or JSON holds them.

A manifest is a dict, or an object of the official Kubernetes client or of a Kubeflow SDK. It is
never changed; the answer is a dict, which all `create` calls take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from kubeflow_spot.contract import PREFERRED, REQUIRED, Contract, Lines
from kubeflow_spot.errors import ContractError
from kubeflow_spot.plain_objects import plain

Manifest = dict[str, Any]

_TABLE: Mapping[str, Any] = json.loads(
    resources.files("kubeflow_spot").joinpath("roles.json").read_text()
)
"""Kinds of objects with their pod templates, and the roles that lead: the cluster's policies are
made from the same file."""

_FIELDS = {"affinity", "nodeSelector", "tolerations"}


def placed(manifest: Any, lines: Lines, roles: Collection[str] | None = None) -> Manifest:
    """Return the manifest with these lines in the pods that may move: a Job's, the workers of the
    others.

    A lost node does not end a job by its workers; its chief, master, launcher and parameter servers
    stay on demand, unless there is no other role. `roles`: names of the roles to move instead, in
    any case; an Argo Workflow with several templates that run containers needs them. Raises
    ContractError for a kind that is unknown here, or for a pod that asks for other nodes already.
    """
    return _changed(manifest, roles, lambda template: template.place(lines))


def labelled(
    manifest: Any,
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
    """Return `podTemplateOverrides` of a TrainJob, for Kubeflow Trainer 2.1 (Kubeflow 26.03).

    Trainer 2.0 has `podSpecOverrides`, without affinity: use a TrainingRuntime. Later ones have
    `runtimePatches`: `train_job_patches`. Source: kubeflow-trainer-api 2.0.0, 2.1.0 and 2.2.0.
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


def place(pod_spec: Any, lines: Lines) -> Manifest:
    """Return a pod's spec with these lines.

    Raises ContractError if it asks for other nodes, or is a whole manifest.
    """
    spec = plain(pod_spec)
    if "kind" in spec or "spec" in spec:
        raise ContractError(
            f"{_name(spec)}: place() takes the spec of a pod; use placed() for a whole manifest"
        )
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
    inherited: Mapping[str, Any] = field(default_factory=dict)
    """Fields that hold where the spec has none of its own: a template's replaces the workflow's, also
    those of the steps or dag around it, which are not read here (argo-workflows 3.7.3,
    workflow/controller/workflowpod.go, addSchedulingConstraints)."""
    chosen: bool = False
    """Whether users name the templates that move: steps of a workflow are not alike."""

    def place(self, lines: Lines) -> None:
        self.spec.update(plain({**self.inherited, **self.spec}))
        _place(self.spec, lines)

    def label(self, labels: Mapping[str, str]) -> None:
        holder = self.owner
        if self.metadata:
            holder = self.owner["metadata"] = self.owner.get("metadata") or {}
        holder["labels"] = {**(holder.get("labels") or {}), **labels}


def _changed(
    manifest: Any, roles: Collection[str] | None, change: Callable[[_Template], None]
) -> Manifest:
    changed = plain(manifest)
    templates = list(_templates(changed))
    found = ", ".join(sorted(template.role for template in templates)) or "none"
    if roles is None and len(templates) > 1 and any(template.chosen for template in templates):
        raise ContractError(
            f"{_name(changed)} has several templates that run containers: name those to move as"
            f" roles=[...]; there is: {found}"
        )
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
        raise ContractError(f"{_name(changed)} has no pods of such roles; its roles: {found}")
    for template in chosen:
        change(template)
    return changed


def _templates(manifest: Manifest) -> Iterator[_Template]:
    """Yield the pod templates of a manifest, with their roles in lower case; a Pod is its own."""
    group, _, _ = (manifest.get("apiVersion") or "").rpartition("/")
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
        unknown = (
            "the pods of this kind are not known here. Use place() on each spec of a pod in it"
        )
        raise ContractError(f"{_name(manifest)}: {entry.get('write', unknown)}")
    for pods in entry.get("pods", ()):
        for role, template in _found(manifest, pods["at"], pods.get("role", "")):
            if "some" in pods and not any(field in template for field in pods["some"]):
                continue
            # Spark's driver and executor, and Argo's templates, have the fields of a pod's spec
            # that place it, and labels, beside their own.
            spec = template if "labels" in pods else template["spec"]
            inherited: Manifest = {}
            for path in pods.get("defaults", ()):
                for _, above in _found(manifest, path):
                    fields = _FIELDS & above.keys() - inherited.keys()
                    inherited |= {name: above[name] for name in fields}
            metadata = pods.get("labels") != "labels"
            yield _Template(
                spec, template, role.lower(), metadata, inherited, chosen="some" in pods
            )


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
    joined = plain(own)
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
    return {**term, "matchExpressions": [*present, *(plain(expression) for expression in added)]}


def _name(manifest: Mapping[str, Any]) -> str:
    name = (manifest.get("metadata") or {}).get("name", "")
    return f"{manifest.get('kind', 'the manifest')} {name}".strip()
