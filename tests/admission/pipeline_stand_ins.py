"""What Argo and Tekton make of the manifests of public projects: stand-ins, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drill.world import argo
from sandbox.tests.api import Object

from tests.admission.projects import Manifest
from tests.admission.training_stand_ins import Made, child, owned_pod

_ARGO = "system:serviceaccount:kubeflow:argo"
_TEKTON = "system:serviceaccount:tekton-pipelines:tekton-pipelines-controller"


def workflow(body: Object, manifest: Manifest) -> Made:
    """Return the pods of all steps, though some wait for others.

    argoproj/argo-workflows v3.7.3, workflow/controller/operator.go and workflowpod.go.
    """
    spec, name = body["spec"], body["metadata"]["name"]
    # templateDefaults of the Workflow, or of the controller's workflowDefaults.
    controller = argo.defaults() if manifest.retried else {"spec": {}}
    defaults = {**controller["spec"], **spec}.get("templateDefaults", {})
    always = {key: spec[key] for key in ("retryStrategy",) if key in spec}
    templates = {t["name"]: {**always, **defaults, **t} for t in spec["templates"]}
    metadata = spec.get("podMetadata", {})
    for number, (template, node) in enumerate(_nodes(templates, spec["entrypoint"], name)):
        own = template.get("metadata", {})
        marks = {"workflows.argoproj.io/workflow": name, "workflows.argoproj.io/completed": "false"}
        labels = {**marks, **metadata.get("labels", {}), **own.get("labels", {})}
        notes = {
            "workflows.argoproj.io/node-name": node,
            "workflows.argoproj.io/node-id": f"{name}-{number}",
        }
        annotations = {**notes, **metadata.get("annotations", {}), **own.get("annotations", {})}
        described = template.get("container") or template["script"]
        main = {key: value for key, value in described.items() if key != "source"}
        executor = {"image": "example.invalid/argoexec:1"}
        pod = {
            "restartPolicy": "Never",
            "initContainers": [{"name": "init", **executor}, *template.get("initContainers", ())],
            "containers": [{"name": "wait", **executor}, {**main, "name": "main"}],
        }
        named = f"{name}-{template['name']}-{number}"
        yield (
            template["name"],
            child(body, "v1", "Pod", named, pod, labels=labels, annotations=annotations),
            _ARGO,
        )


def _nodes(templates: Mapping[str, Object], template: str, name: str) -> Iterator[tuple[Object, str]]:
    """Return the templates of the pods below one, with the names of their nodes."""
    described = templates[template]
    if "retryStrategy" in described:
        name += "(0)"
    groups = enumerate(described.get("steps", ()))
    below = [(f"{name}[{number}].", step) for number, group in groups for step in group]
    below += [(f"{name}.", task) for task in described.get("dag", {}).get("tasks", ())]
    for prefix, step in below:
        items = step.get("withItems") or range(int(step.get("withSequence", {}).get("count", 0)))
        ends = [f"({number}:{item})" for number, item in enumerate(items)] or [""]
        for end in ends:
            yield from _nodes(templates, step["template"], f"{prefix}{step['name']}{end}")
    if not below:
        yield described, name


def cron_workflow(body: Object, _: Manifest) -> Made:
    """argoproj/argo-workflows v3.7.3, workflow/common/convert.go."""
    name, spec = f"{body['metadata']['name']}-1", body["spec"]["workflowSpec"]
    yield "", child(body, "argoproj.io/v1alpha1", "Workflow", name, spec), None


def pipeline_run(body: Object, _: Manifest) -> Made:
    """tektoncd/pipeline 3ee1745ae5b2, pkg/reconciler/pipelinerun/pipelinerun.go."""
    name = body["metadata"]["name"]
    for task in body["spec"]["pipelineSpec"]["tasks"]:
        labels = {
            **body["metadata"].get("labels", {}),
            "tekton.dev/pipelineRun": name,
            "tekton.dev/pipelineTask": task["name"],
        }
        spec = {
            "taskSpec": task["taskSpec"],
            **{key: task[key] for key in ("retries",) if key in task},
        }
        yield (
            task["name"],
            child(body, "tekton.dev/v1", "TaskRun", f"{name}-{task['name']}", spec, labels=labels),
            None,
        )


def task_run(body: Object, _: Manifest) -> Made:
    """tektoncd/pipeline 3ee1745ae5b2, pkg/pod/pod.go."""
    name = body["metadata"]["name"]
    labels = {
        **body["metadata"].get("labels", {}),
        "tekton.dev/taskRun": name,
        "app.kubernetes.io/managed-by": "tekton-pipelines",
    }
    containers = [
        {
            "name": f"step-{step['name']}",
            "image": step["image"],
            "resources": step.get("computeResources", {}),
        }
        for step in body["spec"]["taskSpec"]["steps"]
    ]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    yield "", owned_pod(body, f"{name}-pod", template, labels), _TEKTON
