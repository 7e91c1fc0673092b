"""A subscription with more than one stack: a cloud file, and two stacks beside each other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from sandbox.tests.killing import stored
from sandbox.tests.stack import Stack, until

pytestmark = pytest.mark.engine

# A small program of its own, which is up quickly: only the sandbox is tested.
PROGRAM = """\
import time

import pulumi
from pulumi_azure_native import resources

config = pulumi.Config()
name = config.require("group")
time.sleep(config.get_float("pause") or 0)
resources.ResourceGroup(name, resource_group_name=name, location="westeurope", tags={"owner": config.require("owner")})
"""
PROJECT = {"name": "tiny", "runtime": "python", "options": {"refresh": "always"}}
CLOUD = {
    "resources": [
        {
            "type": "azure-native:resources:ResourceGroup",
            "inputs": {"resourceGroupName": "shared", "location": "westeurope"},
        },
        {
            "type": "azure-native:containerservice:ManagedCluster",
            "inputs": {
                "resourceGroupName": "shared",
                "resourceName": "team",
                "dnsPrefix": "team",
                "identity": {"type": "SystemAssigned"},
                "agentPoolProfiles": [
                    {
                        "name": "agentpool",
                        "mode": "System",
                        "vmSize": "Standard_D4ds_v5",
                        "type": "VirtualMachineScaleSets",
                        "enableAutoScaling": True,
                        "count": 1,
                        "minCount": 1,
                        "maxCount": 3,
                    }
                ],
            },
        },
    ]
}
OF_THE_HOST = {"resourceGroups/host", "resourceGroups/shared", "managedClusters/team", "agentPools/agentpool"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subscription")
    (folder / "stacks").mkdir()
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(PROJECT))
    (folder / "shared.yaml").write_text(yaml.safe_dump(CLOUD))
    for name in ("host", "guest"):
        (folder / "stacks" / f"{name}.yaml").write_text(
            yaml.safe_dump({"config": {"tiny:group": name, "tiny:owner": name}})
        )
    return folder


def stack_file(stack: Stack) -> str:
    return str(stack.project / "stacks" / f"{stack.name}.yaml")


@pytest.fixture(scope="module")
def host(project: Path) -> Iterator[Stack]:
    stack = Stack(project, project / ".sandbox", "host")
    stack.run("up", "--config-file", stack_file(stack), "--cloud", str(project / "shared.yaml"))
    yield stack
    done = stack.run("down")
    assert "2 resources of the cloud file are removed with the sandbox" in done.stdout
    assert sorted(path.name for path in stack.home.iterdir()) == [
        "guest+command.lock",
        "host+cloud.lock",
        "host+command.lock",
    ]
    running = psutil.process_iter(["cmdline"])
    assert [p for p in running if any(str(stack.home) in part for part in p.info["cmdline"] or [])] == []


def bodies(host: Stack) -> dict[str, dict[str, Any]]:
    """Return the resources of the emulated cloud, as the program declares them, by the last two parts of their ids."""
    known = [resource for resource in stored(host, "azure.json") if resource["type"].startswith("azure-native:")]
    return {"/".join(resource["id"].split("/")[-2:]): resource["body"] for resource in known}


def test_a_stack_file_from_elsewhere_and_a_cloud_file_are_remembered_and_unchanged(host: Stack) -> None:
    assert set(bodies(host)) == OF_THE_HOST
    assert host.steps() == []
    assert "nothing changed" in host.run("up").stdout
    (node,) = host.get("nodes")["items"]
    assert node["metadata"]["labels"]["agentpool"] == "agentpool"
    host.run("scale", "agentpool", "2")
    assert len(host.get("nodes")["items"]) == 2
    assert yaml.safe_load((host.project / "shared.yaml").read_text()) == CLOUD
    assert yaml.safe_load(Path(stack_file(host)).read_text()) == {
        "config": {"tiny:group": "host", "tiny:owner": "host"}
    }
    assert sorted(path.name for path in host.project.iterdir()) == [
        ".sandbox", "Pulumi.yaml", "__main__.py", "shared.yaml", "stacks",
    ]  # fmt: skip


def test_two_stacks_use_one_subscription_at_once_and_each_deletes_its_own_resources(
    host: Stack, tmp_path: Path
) -> None:
    guest = Stack(host.project, host.home, "guest")
    file = Path(stack_file(host))
    file.write_text(file.read_text().replace("owner: host", "owner: both"))
    printed = tmp_path / "printed.txt"
    with printed.open("w") as output:
        running = host.start("up", output)
    assert until(lambda: "Updating" in printed.read_text(), 60), printed.read_text()
    guest.run("up", "--config-file", stack_file(guest), "--beside", "host")
    assert running.wait() == 0, printed.read_text()
    file.write_text(file.read_text().replace("owner: both", "owner: host"))
    assert bodies(host)["resourceGroups/host"]["tags"] == {"owner": "both"}
    assert bodies(host)["resourceGroups/guest"]["tags"] == {"owner": "guest"}
    # They share the clusters as well; the guest has none of its own.
    assert guest.get("nodes")["items"][0]["metadata"]["uid"] == host.get("nodes")["items"][0]["metadata"]["uid"]
    assert not (guest.home / "guest" / "clusters").exists()

    for options in ([], ["--force"]):
        refused = host.run("down", *options, ok=False)
        assert "bring them down first: guest" in refused.stderr
    assert "host" in [name for _, name, _ in host.steps()]

    group = "/subscriptions/00000000-0000-4000-8000-00000000a2e5/resourceGroups/guest"
    guest.run("delete", group)
    assert guest.steps() == [("create", "guest", [])]
    guest.run("up")
    guest.run("down")
    assert set(bodies(host)) == OF_THE_HOST
    assert host.get("nodes")["items"] != []


def test_a_second_simultaneous_up_stops_with_a_reason(host: Stack, tmp_path: Path) -> None:
    printed = tmp_path / "printed.txt"
    file = Path(stack_file(host))
    before = file.read_text()
    file.write_text(f"{before}  tiny:pause: 5\n")
    with printed.open("w") as output:
        running = host.start("up", output)
    assert until(lambda: "Updating" in printed.read_text(), 60), printed.read_text()
    second = host.run("up", ok=False)
    file.write_text(before)
    assert second.stderr == (
        "error: another command is working on stack 'host'; wait until it has ended, then run this one again\n"
    )
    assert running.wait() == 0
    assert host.steps() == []
