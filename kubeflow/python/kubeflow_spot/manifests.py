"""Placement in manifests: plain objects as YAML or JSON holds them. The given manifest is never changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubeflow_spot.contract import PREFERRED, REQUIRED, Contract, ContractError, Lines

Manifest = dict[str, Any]

WORKERS = frozenset({"worker"})
"""Roles of a distributed job that a lost node does not end. Its chief, master, launcher and parameter servers stay on demand."""


def placed(manifest: Mapping[str, Any], lines: Lines, roles: Collection[str] = WORKERS) -> Manifest:
    """The manifest with these lines in the pods that may move: a Job's, the workers of the others.

    `roles` are replica types of the Training Operator's jobs, in any case. Raises ContractError for a kind that is unknown here,
    or for a pod that asks for other nodes already.
    """
    return _changed(manifest, roles, lambda template: _place(template.spec, lines))


def labelled(
    manifest: Mapping[str, Any], contract: Contract, placement: str, roles: Collection[str] = WORKERS
) -> Manifest:
    """The manifest with the label that chooses a placement on the pods that may move. Raises ContractError."""
    labels = contract.labels(placement)
    return _changed(manifest, roles, lambda template: template.label(labels))


def train_job_overrides(lines: Lines, job: str = "node") -> list[Manifest]:
    """`podTemplateOverrides` of a TrainJob; only Kubeflow Trainer up to 2.1 has them, and 26.03 comes with that.

    Later ones have `runtimePatches`: `train_job_patches`.
    """
    return [{"targetJobs": [{"name": job}], "spec": lines.as_spec()}]


def train_job_patches(lines: Lines, manager: str, job: str = "node") -> list[Manifest]:
    """`runtimePatches` of a TrainJob, from Kubeflow Trainer 2.2 on (kubeflow/trainer 3309). `manager` names who wrote them."""
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
    """A pod's spec with these lines. Raises ContractError where it asks for other nodes already."""
    spec: Manifest = _copied(pod_spec)
    _place(spec, lines)
    return spec


@dataclass(frozen=True)
class _Template:
    """What a manifest says of pods: the fields of their spec, and the object that holds their labels or will hold them."""

    spec: Manifest
    owner: Manifest
    metadata: bool = True
    """Whether the labels stand under `metadata`."""

    def label(self, labels: Mapping[str, str]) -> None:
        holder = self.owner
        if self.metadata:
            holder = self.owner["metadata"] = self.owner.get("metadata") or {}
        holder["labels"] = {**(holder.get("labels") or {}), **labels}


def _changed(manifest: Mapping[str, Any], roles: Collection[str], change: Callable[[_Template], None]) -> Manifest:
    changed: Manifest = _copied(manifest)
    templates = list(_templates(changed, {role.lower() for role in roles}))
    if not templates:
        raise ContractError(f"{_name(manifest)} has no pods of the roles {', '.join(sorted(roles))}")
    for template in templates:
        change(template)
    return changed


def _templates(manifest: Manifest, roles: Collection[str]) -> Iterator[_Template]:
    """The pod templates of a manifest's roles."""
    kind, spec = manifest.get("kind"), manifest.get("spec") or {}
    replicas = next((value for key, value in spec.items() if key.endswith("ReplicaSpecs")), None)
    if kind == "Pod":
        yield _Template(spec, manifest)
    elif kind == "Job" and "template" in spec:
        yield _template(spec["template"])
    elif replicas is not None:
        yield from (_template(replica["template"]) for role, replica in replicas.items() if role.lower() in roles)
    elif kind in ("TrainingRuntime", "ClusterTrainingRuntime"):
        yield from _of_job_set(spec["template"]["spec"])
    elif kind == "JobSet":
        yield from _of_job_set(spec)
    elif kind in ("RayCluster", "RayJob", "RayService"):
        cluster = spec if kind == "RayCluster" else spec.get("rayClusterSpec") or spec["rayClusterConfig"]
        yield from (_template(group["template"]) for group in cluster.get("workerGroupSpecs", ()))
    elif kind in ("SparkApplication", "ScheduledSparkApplication"):
        executor = (spec if kind == "SparkApplication" else spec["template"])["executor"]
        # The executor has the fields of a pod's spec that place it, and labels, beside its own.
        yield _Template(executor, executor, metadata=False)
    elif kind == "Experiment":
        yield from _templates(spec["trialTemplate"]["trialSpec"], roles)
    else:
        raise ContractError(f"{_name(manifest)}: the pods of this kind are not known here; use place() on their specs")


def _copied(part: Any) -> Any:
    """A copy without shared parts: roles that share a YAML anchor are one object, and only one of them may move."""
    if isinstance(part, Mapping):
        return {key: _copied(value) for key, value in part.items()}
    return [_copied(item) for item in part] if isinstance(part, list) else part


def _template(template: Manifest) -> _Template:
    return _Template(template["spec"], template)


def _of_job_set(spec: Manifest) -> Iterator[_Template]:
    """Pod templates of a JobSet's workers, whose replicated job Kubeflow Trainer names `node`."""
    for job in spec["replicatedJobs"]:
        if job["name"] in ("node", "worker", "workers"):
            yield _template(job["template"]["spec"]["template"])


def _place(spec: Manifest, lines: Lines) -> None:
    own = spec.get("tolerations") or []
    keys = {toleration.get("key") for toleration in own}
    # One toleration a key: of two, Kubeflow's PodDefaults refuse the pod.
    if added := [dict(toleration) for toleration in lines.tolerations if toleration["key"] not in keys]:
        spec["tolerations"] = [*own, *added]
    if lines.node_selector:
        selector = spec.get("nodeSelector") or {}
        for key, value in lines.node_selector.items():
            if selector.get(key, value) != value:
                raise ContractError(
                    f"the pod asks for nodes with {key}={selector[key]} already, not {value}: remove that"
                )
        spec["nodeSelector"] = {**selector, **lines.node_selector}
    if lines.node_affinity:
        affinity = spec["affinity"] = dict(spec.get("affinity") or {})
        affinity["nodeAffinity"] = _joined(affinity.get("nodeAffinity") or {}, lines.node_affinity)


def _joined(own: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Node affinity that asks for both. Of a list of required terms one is enough, so each gets what is added."""
    joined: Manifest = _copied(own)
    if preferred := added.get(PREFERRED):
        present = joined.get(PREFERRED) or []
        joined[PREFERRED] = [*present, *(term for term in preferred if term not in present)]
    if required := added.get(REQUIRED):
        present = (joined.get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
        joined[REQUIRED] = {
            "nodeSelectorTerms": [_both(term, more) for term in present for more in required["nodeSelectorTerms"]]
        }
    return joined


def _both(term: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    present = term.get("matchExpressions") or []
    added = [expression for expression in more.get("matchExpressions", ()) if expression not in present]
    return {**term, "matchExpressions": [*present, *_copied(added)]}


def _name(manifest: Mapping[str, Any]) -> str:
    return f"{manifest.get('kind', 'the manifest')} {(manifest.get('metadata') or {}).get('name', '')}".strip()
