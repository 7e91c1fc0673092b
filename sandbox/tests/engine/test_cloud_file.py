"""The cloud file: further resources of the emulated subscription."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.azure.azure_cloud import AzureCloud
from sandbox.base.errors import SandboxError
from sandbox.cluster.plugins import limits
from sandbox.engine import cloud_file
from sandbox.engine.cloud_file import CloudFile
from sandbox.engine.clouds import Clouds
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.tests.azure.conftest import CLUSTER, CLUSTER_INPUTS, GROUP, POOL, RecordingRuntime
from sandbox.tests.gcp.conftest import NETWORK

ML: dict[str, Any] = {"type": GROUP, "inputs": {"resourceGroupName": "ml", "location": "westeurope"}}
AKS: dict[str, Any] = {"type": CLUSTER, "inputs": CLUSTER_INPUTS}
SUBSCRIPTION = "/subscriptions/00000000-0000-4000-8000-00000000a2e5"


@pytest.fixture
def runtime() -> RecordingRuntime:
    return RecordingRuntime()


@pytest.fixture
def clouds(tmp_path: Path, runtime: RecordingRuntime) -> Clouds:
    google = GcpCloud(tmp_path / "gcp.json", RecordingRuntime())
    return Clouds({"azure-native": AzureCloud(tmp_path / "azure.json", runtime), "gcp": google})


@pytest.fixture
def cloud(clouds: Clouds) -> AzureCloud:
    azure = clouds.opened["azure-native"]
    assert isinstance(azure, AzureCloud)
    return azure


def read(folder: Path, clouds: Clouds, **content: Any) -> CloudFile:
    path = folder / "shared.yaml"
    path.write_text(yaml.safe_dump(content))
    return CloudFile.read(path, clouds)


def make(folder: Path, clouds: Clouds, *resources: dict[str, Any], **content: Any) -> list[str]:
    """Create the resources of a cloud file as `up --cloud` does; returns the reported lines."""
    lines: list[str] = []
    file = read(folder, clouds, resources=list(resources), **content)
    with cloud_file.changing(folder) as kept:
        kept.add(file)
        cloud_file.make(kept, clouds, lines.append)
    return lines


def test_resources_of_the_cloud_file_exist_and_their_cluster_runs(
    tmp_path: Path, clouds: Clouds, cloud: AzureCloud, runtime: RecordingRuntime
) -> None:
    lines = make(tmp_path, clouds, ML, AKS)
    assert [line.split(" made ")[1] for line in lines] == [f"{GROUP} ml", f"{CLUSTER} aks"]
    # The location is that of the group, as when the program omits it.
    cluster = f"{SUBSCRIPTION}/resourcegroups/ml/providers/Microsoft.ContainerService/managedClusters/aks"
    assert (cloud.get(cluster) or {})["location"] == "westeurope"
    assert [call[0] for call in runtime.calls] == ["start", "apply_nodes"]
    assert CloudFile.kept(tmp_path).remaining(clouds) == 2


def test_resources_are_created_once_and_stay_deleted(tmp_path: Path, clouds: Clouds, cloud: AzureCloud) -> None:
    make(tmp_path, clouds, ML)
    assert make(tmp_path, clouds, {**ML, "inputs": {**ML["inputs"], "tags": {"owner": "other"}}}) == []
    assert "tags" not in (cloud.get(f"{SUBSCRIPTION}/resourceGroups/ml") or {})
    cloud.delete(f"{SUBSCRIPTION}/resourceGroups/ml")
    assert make(tmp_path, clouds) == []
    assert CloudFile.kept(tmp_path).remaining(clouds) == 0


def test_existing_resources_stay_unchanged(tmp_path: Path, clouds: Clouds, cloud: AzureCloud) -> None:
    cloud.put(GROUP, f"{SUBSCRIPTION}/resourceGroups/ml", {"location": "northeurope"}, create=True)
    assert make(tmp_path, clouds, ML) == []
    assert (cloud.get(f"{SUBSCRIPTION}/resourceGroups/ml") or {})["location"] == "northeurope"


def test_a_later_file_adds_its_resources_and_replaces_the_quotas_if_it_has_any(tmp_path: Path, clouds: Clouds) -> None:
    first, second = {"westeurope": {"cores": 10}}, {"westeurope": {"lowPriorityCores": 4}}
    other = {"type": GROUP, "inputs": {"resourceGroupName": "other", "location": "westeurope"}}
    make(tmp_path, clouds, ML, quotas=first)
    assert make(tmp_path, clouds, other) == [f"cloud file: made {GROUP} other"]
    assert CloudFile.kept(tmp_path).quotas == first
    make(tmp_path, clouds, quotas=second)
    assert CloudFile.kept(tmp_path).quotas == second
    assert CloudFile.kept(tmp_path).remaining(clouds) == 2


def test_all_refusals_are_reported_together_and_tried_again_until_the_file_is_right(
    tmp_path: Path, clouds: Clouds
) -> None:
    pool = {"type": POOL, "inputs": {"resourceGroupName": "ml", "resourceName": "aks", "agentPoolName": "cpu"}}
    with pytest.raises(SandboxError) as refused:
        make(tmp_path, clouds, ML, pool, {"type": CLUSTER, "inputs": {**CLUSTER_INPUTS, "resourceGroupName": "gone"}})
    assert [line.split(" azure-native")[0] for line in str(refused.value).splitlines()[1:]] == [
        "  resources[1] of shared.yaml:",
        "  resources[2] of shared.yaml:",
    ]
    assert 'Code="ParentResourceNotFound"' in str(refused.value)
    assert 'Code="ResourceGroupNotFound"' in str(refused.value)
    # Even when a later file omits them; a later file with other values replaces them.
    removed = {"type": GROUP, "inputs": {"resourceGroupName": "gone", "location": "westeurope"}}
    with pytest.raises(SandboxError, match="ParentResourceNotFound"):
        make(tmp_path, clouds, removed)
    assert make(tmp_path, clouds, AKS, {**pool, "inputs": {**pool["inputs"], "count": 1}}) != []
    assert CloudFile.kept(tmp_path).remaining(clouds) == 5


def test_every_mistake_in_a_file_is_reported_with_its_place_and_nothing_is_created(
    tmp_path: Path, clouds: Clouds
) -> None:
    with pytest.raises(SandboxError) as refused:
        read(
            tmp_path,
            clouds,
            quotes={},
            quotas={
                "westeurope": {"cores": -1, "kernels": 3},
                "azure": {"northeurope": {"cores": 1}},
                "gcp": {"europe-west4": {"CPUS": 2.5, "NVIDIA_K80_GPUS": 1}, "moon": {}, "global": {"CPUS": 1}},
            },
            resources=[
                {"type": "azure-native:resources:Group", "inputs": {}},
                {"type": CLUSTER, "inputs": {"resourceGroupName": "ml", "agentPoolProfiles": [{"nam": "a"}]}},
                {"typ": GROUP},
                7,
                {"type": GROUP, "inputs": []},
                ML,
                {"type": GROUP, "inputs": {"resourceGroupName": "ML", "location": "westeurope"}},
                {"type": GROUP, "inputs": {"resourceGroupName": "a" * 91, "location": 3}},
                {"type": NETWORK, "inputs": {"name": "Theirs"}},
                {"type": "gcp:pubsub/topic:Topic", "inputs": {}},
            ],
        )
    lines = str(refused.value).splitlines()
    assert lines[0] == f"22 problems in the cloud file {tmp_path / 'shared.yaml'}; nothing was changed:"
    for place, reason in (
        ("quotes", "is an unknown key"),
        ("quotas.westeurope.cores", "not a number of vCPUs"),
        ("quotas.westeurope.kernels", "is neither"),
        ("quotas.azure.northeurope", "is neither"),
        ("resources[0].type", "does not emulate azure-native:resources:Group"),
        ("resources[1].inputs.resourceName", "a resource of a cloud file needs a name"),
        ("resources[1].inputs.agentPoolProfiles[0].name", "missing required property"),
        ("resources[1].inputs.agentPoolProfiles[0].nam", "unknown property"),
        ("resources[2].typ", "is an unknown key"),
        ("resources[2].type", "is missing"),
        ("resources[3]", "is not an object"),
        ("resources[4].inputs", "is not an object"),
        ("resources[6] of shared.yaml", "is the same resource as resources[5]"),
        ("resources[7].inputs.location", "should be of type string"),
        ("resources[7].inputs.resourceGroupName", "is too long"),
        ("quotas.gcp.europe-west4.CPUS", "is 2.5, not a number"),
        ("quotas.gcp.europe-west4.NVIDIA_K80_GPUS", "is no quota"),
        ("quotas.gcp.moon", "is neither a region"),
        ("quotas.gcp.global.CPUS", "is no quota"),
        ("resources[8].inputs.project", "a resource of a cloud file needs a name"),
        ("resources[8].inputs", "doesn't match regexp"),
        ("resources[9].type", "does not emulate gcp:pubsub/topic:Topic"),
    ):
        assert any(line.startswith(f"  {place}: ") and reason in line for line in lines), place
    assert not (tmp_path / "azure.json").exists()


def test_resources_in_google_cloud_are_created_and_its_quotas_are_kept_beside_azures(
    tmp_path: Path, clouds: Clouds
) -> None:
    network = {"type": NETWORK, "inputs": {"project": "shared-vpc", "name": "theirs", "autoCreateSubnetworks": False}}
    quotas = {"westeurope": {"cores": 10}, "gcp": {"europe-west4": {"PREEMPTIBLE_NVIDIA_L4_GPUS": 4}}}
    assert make(tmp_path, clouds, ML, network, quotas=quotas) == [
        f"cloud file: made {GROUP} ml",
        f"cloud file: made {NETWORK} theirs",
    ]
    assert clouds.opened["gcp"].get("projects/shared-vpc/global/networks/theirs") is not None
    assert limits("azure", tmp_path).limit("westeurope", "cores") == 10
    assert limits("gcp", tmp_path).limits == {"europe-west4": {"PREEMPTIBLE_NVIDIA_L4_GPUS": 4}}
    assert CloudFile.kept(tmp_path).remaining(clouds) == 2
