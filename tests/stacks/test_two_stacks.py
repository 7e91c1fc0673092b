"""Two stacks in one cluster: one is brought up, changed, renamed and destroyed in any order, and the other notices nothing.

Both add pools and a layer to the cluster of a third stack. Each has profiles of its own (docs/existing.md).
"""

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.base.home import Home
from sandbox.cluster import clusters
from sandbox.engine import workspace
from sandbox.tests.api import Api
from sandbox.tests.stack import PROJECT, Stack, until
from sandbox.toolchain import programs

pytestmark = pytest.mark.engine

BASE: dict[str, Any] = {
    "release": "r2026-11",
    "cluster": {"name": "shared"},
    "cloud": {"provider": "azure", "location": "westeurope", "network": {"policy": "calico"}},
    "systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 4},
    "scheduling": {"enabled": False},
    # The cluster's owner has the ConfigMap of the expander, with the teams' pools.
    "expander": {"otherGroups": [{"priority": 25, "groups": ["^aks-one-[0-9]+-vmss$", "^aks-two-[0-9]+-vmss$"]}]},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "train",
        "namespace": "team-a",
        "labels": {"training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": "worker"},
    },
    "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "train", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
    },
}
NEW_NAME = "renamed"
STEPS = ("up", "change", "rename", "destroy")


def settings(pool: str, team: str) -> dict[str, Any]:
    return {
        "release": "r2026-11",
        "cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "shared", "name": "shared"}},
        "pools": [{"name": pool, "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 2}],
        "scheduling": {"profileLabels": {"team": team}, "guard": {"mode": "enforce"}},
    }


@dataclass
class Team:
    """A team with a stack in the shared cluster."""

    stack: Stack
    settings: dict[str, Any]
    generation: int = 0

    def take(self, step: str) -> None:
        """Take one step, whatever came before."""
        if step == "destroy":
            self.stack.run("down")
            return
        if step == "rename":
            self._rename(NEW_NAME if self.stack.name != NEW_NAME else "two")
        if step == "change":
            self.generation += 1
            self.settings["pools"][0]["labels"] = {"generation": str(self.generation)}
        self.stack.write(self.settings)
        self.stack.run("up", "--beside", "base")
        assert self.stack.steps() == []

    def _rename(self, name: str) -> None:
        """Do what `pulumi stack rename` does, in the sandbox's folders: the state of a stack that is up has its new name."""
        before, stack = self.stack.name, self.stack
        folder = stack.home / before
        stack.file.unlink(missing_ok=True)
        stack.name = name
        if not folder.is_dir():
            return
        shutil.move(folder, stack.home / name)
        home = Home.of(name, stack.project)
        environment = {
            **os.environ,
            "PULUMI_HOME": str(home.engine),
            "PULUMI_BACKEND_URL": home.backend.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": workspace.passphrase(home),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }
        pulumi = programs.ensure(["pulumi"], print)["pulumi"]
        command = [pulumi, "stack", "rename", name, "--stack", before, "--non-interactive", "--cwd", home.workspace]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("two")
    for file in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / file, folder)
    base = Stack(folder, folder / ".sandbox", "base")
    base.write(BASE)
    base.run("up")
    namespace = {
        "metadata": {"name": "team-a", "labels": {"app.kubernetes.io/part-of": "kubeflow-profile", "team": "one"}}
    }
    api = Api(clusters.of_stack(Home.of("base", folder)))
    api.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", **namespace})
    api.close()
    yield folder
    base.run("down", "--force")


def admitted(folder: Path) -> dict[str, Any]:
    """Return the pod's placement as the API server would store it."""
    api = Api(clusters.of_stack(Home.of("base", folder)))
    try:
        spec = api.request("POST", "/api/v1/namespaces/team-a/pods?dryRun=All", POD)["spec"]
    finally:
        api.close()
    return {key: spec.get(key) for key in ("tolerations", "affinity", "terminationGracePeriodSeconds")}


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(order, marks=[] if order == STEPS else pytest.mark.slow, id="-".join(order))
        for order in itertools.permutations(STEPS)
    ],
)
def test_no_step_of_one_stack_touches_the_other(order: tuple[str, ...], folder: Path) -> None:
    first = Team(Stack(folder, folder / ".sandbox", "one"), settings("one", "one"))
    second = Team(Stack(folder, folder / ".sandbox", "two"), settings("two", "two"))
    try:
        first.take("up")
        assert until(lambda: "spot" in str(admitted(folder)["tolerations"]))
        before = admitted(folder)
        for step in order:
            second.take(step)
            assert first.stack.steps() == []
            assert admitted(folder) == before
        # And the other way round: the one that was there first goes.
        if order[-1] != "destroy":
            first.take("destroy")
            assert second.stack.steps() == []
    finally:
        for team in (first, second):
            team.stack.run("down", ok=None)
