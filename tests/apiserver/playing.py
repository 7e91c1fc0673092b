"""Workflows of pipelines under Argo's own controller, with the parts that machines and executor play in them."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from drill.world import argo
from drill.world.pipelines import TASK, Retry, Task, pipeline
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.process import stop_all
from sandbox.kubernetes.client import Client, Object
from sandbox.tests.stack import eventually
from tests.apiserver.steps import NAMESPACE, PAUSE, Steps, counted, node, task

PROJECT = Path(__file__).resolve().parents[2]
DEFAULTS: dict[str, Any] = yaml.safe_load((PROJECT / "kubeflow/components/retry/workflow-defaults.yaml").read_text())
STRATEGY = DEFAULTS["spec"]["templateDefaults"]["retryStrategy"]

SHORT = "1s"
"""The wait before a retry, in the tests."""
# The controller's waits, shorter: ten seconds before it believes that a pod is gone, ten minutes and two for its results.
QUICK = {
    "RECENTLY_STARTED_POD_DURATION": "0s",
    "RECENTLY_DELETED_POD_DURATION": "0s",
    "TASK_RESULT_TIMEOUT_DURATION": "1s",
}


def quick(strategy: Mapping[str, Any]) -> dict[str, Any]:
    """Return workflow defaults with this retry strategy and a short wait."""
    backoff = {"backoff": {**strategy["backoff"], "duration": SHORT}} if "backoff" in strategy else {}
    return {"spec": {"templateDefaults": {"retryStrategy": {**strategy, **backoff}}}}


WITH = quick(STRATEGY)
both = pytest.mark.parametrize("controller", [WITH, None], indirect=True, ids=["defaults", "without"])
with_defaults = pytest.mark.parametrize("controller", [WITH], indirect=True, ids=["defaults"])


@contextmanager
def running(
    plane: ControlPlane, client: Client, defaults: Any, environment: Mapping[str, str] = QUICK
) -> Iterator[None]:
    process = argo.start_controller(plane, client, print, defaults, environment)
    try:
        yield
    finally:
        stop_all([process])
        for kind in ("Workflow", "WorkflowTaskResult"):
            for body in client.list(argo.VERSION, kind, NAMESPACE):
                client.delete(argo.VERSION, kind, body["metadata"]["name"], NAMESPACE)
        for pod in client.list("v1", "Pod", NAMESPACE):
            client.delete("v1", "Pod", pod["metadata"]["name"], NAMESPACE, at_once=True)


def one_step(name: str, retry: Retry | None = None) -> Object:
    """Return a Workflow of a step alone, as a pipeline's, with `set_retry` or without."""
    whole = pipeline(name, NAMESPACE, [Task("step", retry=retry)], of_drivers={"piece": TASK}, of_steps={"piece": TASK})
    step = next(each for each in whole["spec"]["templates"] if each["name"].endswith("container-impl"))
    values = {"piece": "step", "pod-spec-patch": "{}"}
    if retry:
        values |= {"retry-max-count": str(retry.count), "retry-backoff-duration": str(retry.backoff)}
        values |= {"retry-backoff-factor": str(retry.factor), "retry-backoff-max-duration": str(retry.longest)}
    names = [each["name"] for each in step["inputs"]["parameters"]]
    call = {"name": "step", "template": step["name"]}
    call["arguments"] = {"parameters": [{"name": each, "value": values[each]} for each in names]}
    dag = {"name": "entrypoint", "dag": {"tasks": [call]}}
    return {**whole, "spec": {**whole["spec"], "templates": [dag, step]}}


class Play:
    """A Workflow, and the parts that the machines and the executor play in it."""

    def __init__(self, steps: Steps, body: Object) -> None:
        self._steps, self._client, self.name = steps, steps.client, body["metadata"]["name"]
        self.seen: dict[str, Object] = {}
        """All pods that there were, by uid."""
        self._client.create(body)

    def body(self) -> Object:
        found = self._client.get(argo.VERSION, "Workflow", self.name, NAMESPACE)
        assert found is not None
        return found

    @property
    def over(self) -> str:
        """The phase of a Workflow that has ended, else an empty text."""
        phase = str((self.body().get("status") or {}).get("phase") or "")
        return phase if phase in ("Succeeded", "Failed", "Error") else ""

    def new(self) -> list[Object]:
        """Return the pods that were not there before."""
        found = [pod for pod in self._steps.pods(self.name) if pod["metadata"]["uid"] not in self.seen]
        self.seen |= {pod["metadata"]["uid"]: pod for pod in found}
        return found

    def next(self, *, run: bool = True) -> Object | None:
        """Return the next pod, which runs by now unless it shall not; None when the Workflow ends before."""
        found = eventually(lambda: self.new() or self.over, f"{self.name} goes on or ends", 30, PAUSE)
        if isinstance(found, str):
            return None
        return self.running(found[0]) if run else found[0]

    def pod(self, *, run: bool = True) -> Object:
        """Return the next pod. Raises AssertionError when the Workflow ends before there is one."""
        found = self.next(run=run)
        assert found is not None, f"{self.name} has ended: {self.over}"
        return found

    def running(self, pod: Object) -> Object:
        """Let a pod run; return when Argo has seen that it does."""
        self._steps.run(pod)
        eventually(
            lambda: node(self.body(), pod).get("phase") == "Running" or self.over,
            f"{self.name} sees its pod run",
            30,
            PAUSE,
        )
        return pod

    def through(self, act: Callable[[Object, int], bool]) -> str:
        """Play to the end: `act` gets each pod, running, with the number of its attempts before, and says whether it ended it;
        all others succeed. Returns the Workflow's phase."""
        while (pod := self.next()) is not None:
            before = counted(list(self.seen.values()))[task(pod)] - 1
            if not act(pod, before):
                self._steps.succeed(pod, _results(pod, before))
        return self.over


def _results(pod: Object, attempt: int) -> dict[str, str]:
    """Return the parameters that a driver returns: of another value in each attempt."""
    if not task(pod).endswith("-driver"):
        return {}
    result = "execution-id" if task(pod) == "root-driver" else "pod-spec-patch"
    return {result: json.dumps({"containers": [{"name": "main", "image": f"work:{attempt}"}]}), "condition": "true"}
