"""`pulumi import` of what was made by hand, by the real engine on an emulated Azure: docs/tasks/import.md."""

import json
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from sandbox.base.home import Home
from sandbox.cloud.program_requests import ProgramRequests
from sandbox.engine import session
from sandbox.engine.command import EngineCommand
from sandbox.tests.stack import PROJECT, Stack
from tests.docs.pages import DOCS, blocks

pytestmark = pytest.mark.engine

CLUSTER = (
    "/subscriptions/00000000-0000-4000-8000-00000000a2e5/resourcegroups/charmed-kubeflow/providers"
    "/Microsoft.ContainerService/managedClusters/charmed-kubeflow"
)
POOL = "azure-native:containerservice:AgentPool"
WHOLE = "azure-native:containerservice:ManagedCluster"
STACKS = PROJECT / "examples" / "stacks"
# As `az aks nodepool add` makes them (pages create-node-pools, spot-node-pool).
SCALED = {"mode": "User", "type": "VirtualMachineScaleSets", "enableAutoScaling": True}
HAND_MADE = {
    "batch": {"vmSize": "Standard_D8s_v5", "count": 1, "minCount": 1, "maxCount": 2},
    "spotpool": {
        "vmSize": "Standard_NC4as_T4_v3",
        "scaleSetPriority": "Spot",
        "scaleSetEvictionPolicy": "Delete",
        "spotMaxPrice": 0.4,
        "count": 0,
        "minCount": 0,
        "maxCount": 2,
    },
}
OWN = {
    "release": "r2026-09",
    "cluster": {"name": "charmed-kubeflow"},
    "cloud": {
        "provider": "azure",
        "location": "westeurope",
        "existingResourceGroup": "charmed-kubeflow",
        "network": {
            "existing": {"resourceGroup": "charmed-kubeflow", "name": "charmed-kubeflow", "subnet": "nodes"},
        },
    },
    "systemPool": {"name": "agentpool", "machine": "Standard_D8s_v5", "maxNodes": 4},
}
"""The cluster of the cloud file as a stack of its own would declare it."""


class Language(language_pb2_grpc.LanguageRuntimeServicer):
    """The language host that `pulumi import` asks for although it writes no code; the sandbox has none."""

    def Handshake(self, request: Any, context: Any) -> Any:
        return language_pb2.LanguageHandshakeResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version="1.0.0")

    def About(self, request: Any, context: Any) -> Any:
        return language_pb2.AboutResponse()


@contextmanager
def language() -> Iterator[dict[str, str]]:
    """Serve a language host; yield the variable that tells the engine."""
    server = grpc.server(ThreadPoolExecutor(2))
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(Language(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield {"PULUMI_DEBUG_LANGUAGES": f"python:{port}"}
    server.stop(None)


@pytest.fixture
def made_by_hand(tmp_path: Path) -> Path:
    """Return a cloud file with the tutorial's cluster, and an on-demand and a spot pool in it."""
    cloud = yaml.safe_load((STACKS / "charmed-kubeflow-spot.cloud.yaml").read_text())
    cluster = cloud["resources"][-1]["inputs"]
    for name, pool in HAND_MADE.items():
        place = {"resourceGroupName": "charmed-kubeflow", "resourceName": "charmed-kubeflow", "agentPoolName": name}
        subnet = cluster["agentPoolProfiles"][0]["vnetSubnetID"]
        # The page: without the label the program refuses a pool that it did not make.
        label = {"kubeflow-spot.dev/pool": name}
        cloud["resources"].append(
            {"type": POOL, "inputs": {**place, **SCALED, **pool, "vnetSubnetID": subnet, "nodeLabels": label}}
        )
    path = tmp_path / "cloud.yaml"
    path.write_text(yaml.safe_dump(cloud))
    return path


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    project = tmp_path / "project"
    project.mkdir()
    for file in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / file, project)
    shutil.copy(STACKS / "charmed-kubeflow-spot.yaml", project / "Pulumi.charmed.yaml")
    stack = Stack(project, project / ".sandbox", "charmed")
    yield stack
    stack.run("down", "--force")


def import_(stack: Stack, cloud: Path, ids: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do as the page says: a preview writes the file, each id is filled in, the rest is left out."""
    # Nothing of the program asks for what the command imports.
    monkeypatch.setattr(ProgramRequests, "_has", lambda *_: True)
    monkeypatch.setattr(ProgramRequests, "checks", lambda *_: True)
    file = stack.project / "import.json"
    with session.open(Home.of(stack.name, stack.project), print, cloud_file=cloud) as engine, language() as served:
        command = engine.command
        command.run("preview", "--import-file", str(file), on_output=print)
        listed = json.loads(file.read_text())
        filled = [
            {**each, "id": ids[each["type"]]} if each["type"] in ids else each
            for each in listed["resources"]
            if each.get("component") or each["type"] in ids
        ]
        assert len([each for each in filled if "id" in each]) == len(ids)
        file.write_text(json.dumps({**listed, "resources": filled}))
        asks = EngineCommand(command._binary, command.stack, command._folder, {**command._environment, **served}, print)
        asks._run(["import", *arguments(file)])
    monkeypatch.undo()


def arguments(file: Path) -> list[str]:
    """Return the arguments of the page's command, with this file and no question."""
    (line,) = [
        line for block in blocks(DOCS / "tasks" / "import.md") for line in block.text.splitlines()
        if line.strip().startswith("pulumi import ")
    ]  # fmt: skip
    words = line.split()[2:]
    return [str(file) if word == "import.json" else word for word in words] + ["--yes"]


@pytest.mark.parametrize(("pool", "operation"), [("batch", "update"), ("spotpool", "replace")])
def test_an_on_demand_pool_is_taken_over_in_place_and_a_spot_pool_is_not(
    stack: Stack, made_by_hand: Path, monkeypatch: pytest.MonkeyPatch, pool: str, operation: str
) -> None:
    settings = stack.config
    if pool == "batch":
        settings["pools"] = [{"name": "batch", "machine": "Standard_D8s_v5", "maxNodes": 4}]
        stack.write(settings)
    import_(stack, made_by_hand, {POOL: f"{CLUSTER}/agentPools/{pool}"}, monkeypatch)
    assert (operation, f"charmed-kubeflow-{pool}") in [step[:2] for step in stack.steps()]
    if operation == "update":
        stack.up()
        assert stack.steps() == []


def test_a_cluster_would_be_replaced(stack: Stack, made_by_hand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack.write(OWN)
    import_(stack, made_by_hand, {WHOLE: CLUSTER}, monkeypatch)
    assert ("replace", "charmed-kubeflow") in [step[:2] for step in stack.steps()]
