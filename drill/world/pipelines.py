"""Pipelines as Kubeflow Pipelines 2.16 writes them for Argo: three DAGs, with drivers and the step.

Names of templates, tasks and parameters are of kubeflow/pipelines 2.16.1,
backend/src/v2/compiler/argocompiler (argo.go, dag.go, container.go).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drill.world.argo import VERSION
from sandbox.kubernetes.client import Object

DAG_DRIVER, DRIVER = "system-dag-driver", "system-container-driver"
EXECUTOR, STEP = "system-container-executor", "system-container-impl"
_RETRY = (
    *("retry-max-count", "retry-backoff-duration"),
    *("retry-backoff-factor", "retry-backoff-max-duration"),
)
_PATCH = "pod-spec-patch"
_OWN = "piece"
"""A parameter of our own with the name of the task, for annotations of its pods."""
TASK = f"{{{{inputs.parameters.{_OWN}}}}}"


@dataclass(frozen=True)
class Retry:
    """`set_retry` of the SDK, with its default values (kfp 2.16, dsl/structures.py)."""

    count: int
    backoff: int = 0
    factor: int = 2
    longest: int = 3600
    """Seconds from the first start, an hour at most."""


@dataclass(frozen=True)
class Task:
    """One task of a pipeline."""

    name: str
    after: Sequence[str] = ()
    retry: Retry | None = None
    spec: Object = field(default_factory=dict)
    """The changes of the pod's spec, which the task's driver returns in reality."""


def pipeline(
    name: str,
    namespace: str,
    tasks: Sequence[Task],
    *,
    annotations: Mapping[str, str] | None = None,
    of_drivers: Mapping[str, str] | None = None,
    of_steps: Mapping[str, str] | None = None,
    outputs: bool = False,
) -> Object:
    """Return the Workflow of a pipeline.

    `annotations` are of the Workflow and all its pods, `of_drivers` and `of_steps` of these pods
    alone; there TASK is the name of the pod's task. With `outputs` drivers return their parameters,
    as in reality: the caller must report them in a WorkflowTaskResult.
    """
    notes, own = _notes(of_drivers), _notes(of_steps)
    retried = [task for task in tasks if task.retry]
    templates = [
        {"name": "entrypoint", "dag": {"tasks": _entry()}},
        {
            "name": "root",
            "dag": {"tasks": [part for each in tasks for part in _task(each, outputs)]},
        },
        _driver(DAG_DRIVER, "execution-id", notes, outputs=outputs),
        _driver(DRIVER, _PATCH, notes, outputs=outputs),
        *(_executor(own, retry=False) if len(retried) < len(tasks) else ()),
        *(_executor(own, retry=True) if retried else ()),
    ]
    spec: Object = {"entrypoint": "entrypoint", "templates": templates}
    # KFP's pods carry both; placement recognises a step by the label.
    spec["podMetadata"] = {
        "labels": {"pipelines.kubeflow.org/v2_component": "true"},
        "annotations": {"pipelines.kubeflow.org/v2_component": "true", **(annotations or {})},
    }
    metadata = {"name": name, "namespace": namespace, "annotations": dict(annotations or {})}
    return {"apiVersion": VERSION, "kind": "Workflow", "metadata": metadata, "spec": spec}


def _notes(annotations: Mapping[str, str] | None) -> Object:
    return {"metadata": {"annotations": dict(annotations)}} if annotations else {}


def _entry() -> list[Object]:
    return [
        _call("root-driver", DAG_DRIVER, {_OWN: "root-driver"}),
        _call("root", "root", {}, "root-driver.Succeeded"),
    ]


def _task(task: Task, outputs: bool) -> list[Object]:
    driver = f"{task.name}-driver"
    returned = f"{{{{tasks.{driver}.outputs.parameters.%s}}}}"
    patch = returned % _PATCH if outputs else json.dumps(task.spec)
    values: dict[str, str] = {_OWN: task.name, _PATCH: patch}
    if retry := task.retry:
        numbers = (retry.count, retry.backoff, retry.factor, retry.longest)
        values |= dict(zip(_RETRY, map(str, numbers), strict=True))
    depends = " && ".join(f"{each}.Succeeded" for each in task.after)
    template = _named(EXECUTOR, task.retry is not None)
    executor = _call(task.name, template, values, f"{driver}.Succeeded")
    if outputs:
        executor["when"] = f"{returned % 'condition'} != false"
    return [_call(driver, DRIVER, {_OWN: driver}, depends), executor]


def _call(name: str, template: str, values: dict[str, str], depends: str = "") -> Object:
    call: Object = {"name": name, "template": template}
    if values:
        parameters = [{"name": key, "value": value} for key, value in values.items()]
        call["arguments"] = {"parameters": parameters}
    return call | ({"depends": depends} if depends else {})


def _driver(name: str, result: str, notes: Object, *, outputs: bool) -> Object:
    requests, limits = {"cpu": "100m", "memory": "64Mi"}, {"cpu": "500m", "memory": "512Mi"}
    container = {
        "image": "example.invalid/driver:1",
        "command": ["driver"],
        "resources": {"requests": requests, "limits": limits},
    }
    inputs = {"parameters": [{"name": _OWN}]}
    template = {"name": name, "inputs": inputs, "container": container, **notes}
    if outputs:
        parameters = [
            {"name": each, "valueFrom": {"path": f"/tmp/outputs/{each}", "default": "true"}}
            for each in (result, "condition")
        ]
        template["outputs"] = {"parameters": parameters}
    return template


def _executor(notes: Object, *, retry: bool) -> list[Object]:
    """Return the step's template, and the DAG that leaves it out when its result is cached."""
    names = [_OWN, _PATCH, *(_RETRY if retry else ())]
    inputs = {"parameters": [{"name": name} for name in names]}
    call = _call("executor", _named(STEP, retry), {name: _parameter(name) for name in names})
    launcher = {"image": "example.invalid/launcher:1", "command": ["launcher-v2"]}
    step: Object = {
        "name": _named(STEP, retry),
        "inputs": inputs,
        "podSpecPatch": _parameter(_PATCH),
        "container": {"image": "example.invalid/work:1", "command": ["work"]},
        "initContainers": [{"name": "kfp-launcher", **launcher}],
        "volumes": [{"name": "kfp-launcher", "emptyDir": {}}],
        **notes,
    }
    if retry:
        duration, factor, longest = map(_parameter, _RETRY[1:])
        backoff = {"duration": duration, "factor": factor, "maxDuration": longest}
        step["retryStrategy"] = {"limit": _parameter(_RETRY[0]), "backoff": backoff}
    return [{"name": _named(EXECUTOR, retry), "inputs": inputs, "dag": {"tasks": [call]}}, step]


def _named(template: str, retry: bool) -> str:
    return f"retry-{template}" if retry else template


def _parameter(name: str) -> str:
    return f"{{{{inputs.parameters.{name}}}}}"
