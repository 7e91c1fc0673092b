"""Runs in the environment of the examples, with their folders on the path: compiles and runs pipelines, and makes SDK objects.

python inside.py bucket | facts | katib JSON | names JSON | page FILE | parameters JSON | run PIPELINE JSON | sdk RUNTIME

The last line on stdout is the answer, as JSON.
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import yaml

PIPELINES = (
    "base:base_pipeline",
    "spot_by_default:spot_by_default",
    "spot_by_hand:required",
    "spot_by_hand:preferred",
    "by_contract:by_contract",
    "long_training:long_training",
    "nvidia_smi:nvidia_smi",
)


def pipeline(name: str) -> Any:
    """Return a pipeline of the examples by module and function."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def facts() -> dict[str, Any]:
    """Return what the compiler says to Kubernetes, Argo and KFP's driver, by pipeline and task."""
    return {name: dict(tasks(compiled(name))) for name in PIPELINES}


def compiled(name: str) -> list[dict[str, Any]]:
    """Return the documents of a compiled pipeline: its spec, and what is for Kubernetes alone, if anything."""
    from kfp import compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pipeline.yaml"
        compiler.Compiler().compile(pipeline(name), str(path))
        return list(yaml.safe_load_all(path.read_text()))


def tasks(documents: list[dict[str, Any]]) -> Any:
    spec, *platforms = documents
    kubernetes = platforms[0]["platforms"]["kubernetes"]["deploymentSpec"]["executors"] if platforms else {}
    executors = spec["deploymentSpec"]["executors"]
    for name, task in spec["root"]["dag"]["tasks"].items():
        executor = spec["components"][task["componentRef"]["name"]]["executorLabel"]
        container = executors[executor]["container"]
        found = {
            "image": container["image"],
            "resources": container.get("resources"),
            "retry": task.get("retryPolicy"),
            "after": task.get("dependentTasks"),
            "kubernetes": kubernetes.get(executor),
            "env": container.get("env"),
            "constants": dict(constants(task)),
        }
        yield name, {key: value for key, value in found.items() if value}


def constants(task: dict[str, Any]) -> Any:
    """Yield the inputs of a task that are written into the pipeline, by name."""
    for name, given in task.get("inputs", {}).get("parameters", {}).items():
        if "runtimeValue" in given:
            yield name, given["runtimeValue"]["constant"]


def page(file: str) -> dict[str, Any]:
    """Return the same of the pipeline `first_gpu` in a file that a page shows."""
    sys.path.insert(0, str(Path(file).parent))
    return dict(tasks(compiled(f"{Path(file).stem}:first_gpu")))


def names(wanted: str) -> dict[str, bool]:
    """Return whether each dotted name is there."""
    return {name: _there(name) for name in json.loads(wanted)}


def _there(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def parameters(wanted: str) -> dict[str, list[str]]:
    """Return the parameters of methods of a task."""
    from kfp.dsl import PipelineTask

    return {name: list(inspect.signature(getattr(PipelineTask, name)).parameters) for name in json.loads(wanted)}


def katib(wanted: str) -> list[dict[str, Any]]:
    """Return Experiments as Katib's own models read and write them: a field that they do not know is lost."""
    from kubeflow_katib_api.models import V1beta1Experiment

    return [V1beta1Experiment.from_dict(experiment).to_dict() for experiment in json.loads(wanted)]


def bucket() -> dict[str, Any]:
    """Train in a bucket of fsspec, interrupted three times and undisturbed; return the files that are left."""
    import train

    def lost_after(steps: int) -> Any:
        done = []
        return lambda: len(done) == steps or done.append(None)

    settings = train.Settings(steps=60)
    files = train.store("memory://team-a/run")
    for steps in (10, 25, 1):
        assert train.train(settings, files, 7, lost_after(steps)) is None
    resumed = train.train(settings, train.store("memory://team-a/run/"), 7)
    undisturbed = train.train(settings, train.store("memory://team-a/other"), 7)
    files.remove("step-1.json")
    return {"equal": resumed == undisturbed, "step": resumed.step, "files": files.names()}


def run(name: str, arguments: str) -> Any:
    """Run a pipeline by kfp's local runner, each step a process of this environment's Python; return its output."""
    from kfp import local

    with tempfile.TemporaryDirectory() as root:
        local.init(runner=local.SubprocessRunner(use_venv=False), pipeline_root=root, raise_on_error=True)
        return pipeline(name)(**json.loads(arguments)).outputs


class Recorder(BaseHTTPRequestHandler):
    """An API server for SDKs: it has one ClusterTrainingRuntime, and keeps every object that is sent."""

    sent: ClassVar[list[dict[str, Any]]] = []
    runtime: ClassVar[dict[str, Any]] = {}

    def do_GET(self) -> None:
        self._answer(200 if "/clustertrainingruntimes/" in self.path else 404, self.runtime)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # The namespace that the API server would fill in from the path.
        body["metadata"].setdefault("namespace", self.path.partition("/namespaces/")[2].partition("/")[0])
        self.sent.append(body)
        self._answer(201, body)

    def log_message(self, *arguments: Any) -> None:
        pass

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


def sdk(runtime: str) -> list[dict[str, Any]]:
    """Return the objects that the examples of SDKs send, by the SDKs' own clients."""
    Recorder.runtime = json.loads(runtime)
    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server, tempfile.TemporaryDirectory() as folder:
        Thread(target=server.serve_forever, daemon=True).start()
        cluster = {"name": "x", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
        context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
        users = [{"name": "x", "user": {}}]
        kubeconfig = {"clusters": [cluster], "contexts": [context], "users": users, "current-context": "x"}
        path = Path(folder) / "kubeconfig"
        path.write_text(json.dumps(kubeconfig))
        os.environ["KUBECONFIG"] = str(path)
        for name in ("training_sdk", "katib_sdk", "trainer_sdk"):
            importlib.import_module(name).main()
        server.shutdown()
    return Recorder.sent


if __name__ == "__main__":
    commands = {each.__name__: each for each in (bucket, facts, katib, names, page, parameters, run, sdk)}
    answer = commands[sys.argv[1]](*sys.argv[2:])
    print("\n" + json.dumps(answer, sort_keys=True))
