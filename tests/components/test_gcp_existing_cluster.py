"""Pools in an existing GKE cluster: declared resources, and refusals."""

from typing import Any

import pulumi
import pytest
import yaml

from tests.components.google import GENERAL, L4, WITH_TWIN, in_existing, rows, stack
from tests.components.pools import GKE_POOL
from tests.components.program import Answering, Declared, declare

pytestmark = [pytest.mark.program, pytest.mark.usefixtures("contents")]

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
SHARED: dict[str, Any] = {
    "endpoint": "203.0.113.20",
    "masterAuths": [{"clusterCaCertificate": "dGhlaXJz"}],
    "enableAutopilot": False,
    "nodePools": [{"name": "default-pool", "nodeConfigs": [{"labels": {}}], "nodeCount": 1}],
    "controlPlaneEndpointsConfigs": [
        {
            "dnsEndpointConfigs": [{"endpoint": "gke-shared.europe-west4.gke.goog", "allowExternalTraffic": True}],
            "ipEndpointsConfigs": [{"enabled": True}],
        }
    ],
    "privateClusterConfigs": [{"enablePrivateEndpoint": False}],
    "workloadIdentityConfigs": [{"workloadPool": "example-lab.svc.id.goog"}],
    "masterAuthorizedNetworksConfigs": [],
}
"""The answer of `getCluster`."""

_ON_GPU_NODES = [
    {"key": "cloud.google.com/gke-accelerator", "operator": "Exists"},
    {"key": "gke-no-default-nvidia-gpu-device-plugin", "operator": "NotIn", "values": ["true"]},
]
_REQUIRED = {"nodeSelectorTerms": [{"matchExpressions": _ON_GPU_NODES}]}
_PLUGIN_POD = {
    "containers": [{"image": "gke.gcr.io/nvidia-gpu-device-plugin@sha256:0"}],
    "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _REQUIRED}},
}
PLUGIN = {
    "metadata": {"name": "nvidia-gpu-device-plugin-small-cos", "namespace": "kube-system"},
    "spec": {"template": {"spec": _PLUGIN_POD}},
}
"""GKE's own (container-engine-accelerators, cmd/nvidia_gpu/device-plugin.yaml)."""


@pytest.fixture
def contents(contents: dict[str, Any]) -> None:
    """Have GKE's objects in the cluster."""
    contents |= {"version": "1.36.2-gke.100", "daemon_sets": (PLUGIN,)}


def run(*pools: dict[str, Any], cluster: dict[str, Any] | None = None, **cloud: Any) -> Declared:
    answering = Answering(getCluster={**SHARED, **(cluster or {})})
    declared = declare(in_existing(*pools, **cloud), cloud=answering)
    asked = [(name, args) for name, args, _ in answering.asked if name != "readStackOutputs"]
    request = {"project": "example-lab", "location": "europe-west4", "name": "shared"}
    assert all(each == ("getCluster", request) for each in asked)
    return declared


def test_only_pools_their_identity_and_the_layer_are_declared() -> None:
    declared = run(WITH_TWIN)
    assert sorted(r.type for r in declared.resources if r.type.startswith("gcp:")) == [
        GKE_POOL,
        GKE_POOL,
        "gcp:projects/iAMMember:IAMMember",
        "gcp:serviceaccount/account:Account",
    ]
    (account,) = declared.of("gcp:serviceaccount/account:Account").values()
    for pool in declared.of(GKE_POOL).values():
        assert (pool.inputs["cluster"], pool.inputs["location"]) == ("shared", "europe-west4")
        assert pool.inputs["nodeConfig"]["resourceLabels"] == {"kubeflow-spot-stack": "test"}
        assert pool.inputs["nodeConfig"]["serviceAccount"].startswith(account.inputs["accountId"])
        # The cluster's owner upgrades its pools.
        assert "version" not in pool.inputs
        assert "deletedWith" not in pool.options
    for resource in declared.resources:
        if resource.type.startswith("kubernetes:"):
            assert not {"deletedWith", "replaceWith"} & resource.options.keys()
    # No order of growth unless asked: GPU pods may be meant for other pools.
    assert declared.of("kubernetes:cloud.google.com/v1:ComputeClass") == {}
    assert declared.outputs["fallbackOrder"].startswith("not guaranteed: GKE")


def test_two_stacks_in_one_cluster_have_an_account_each() -> None:
    def account(name: str) -> str:
        declared = declare(in_existing(L4), cloud=Answering(getCluster=SHARED), stack=name)
        (resource,) = declared.of("gcp:serviceaccount/account:Account").values()
        return str(resource.inputs["accountId"])

    assert account("blue") != account("green")
    assert 6 <= len(account("blue")) <= 30


@pytest.mark.parametrize("workload_identity", [True, False])
def test_pods_have_own_identities_with_workload_identity_and_a_warning_without(
    workload_identity: bool, warnings: list[str]
) -> None:
    cluster = {} if workload_identity else {"workloadIdentityConfigs": []}
    (pool,) = run(L4, cluster=cluster).of(GKE_POOL).values()
    assert ("workloadMetadataConfig" in pool.inputs["nodeConfig"]) is workload_identity
    assert ["--workload-pool example-lab.svc.id.goog" in text for text in warnings].count(True) == (
        not workload_identity
    )


def test_a_given_account_is_the_pools_own() -> None:
    email = "lab-nodes@example-lab.iam.gserviceaccount.com"
    declared = run(L4, serviceAccount=email)
    assert [r.type for r in declared.resources if r.type.startswith("gcp:")] == [GKE_POOL]
    (pool,) = declared.of(GKE_POOL).values()
    assert pool.inputs["nodeConfig"]["serviceAccount"] == email


DNS = "https://gke-shared.europe-west4.gke.goog"


@pytest.mark.parametrize(
    ("cluster", "server"),
    [
        ({}, "https://203.0.113.20"),
        ({"privateClusterConfigs": [{"enablePrivateEndpoint": True}]}, DNS),
        ({"masterAuthorizedNetworksConfigs": [{"cidrBlocks": [{"cidrBlock": "198.51.100.0/24"}]}]}, DNS),
        # An older cluster, without a DNS endpoint.
        (
            {"privateClusterConfigs": [{"enablePrivateEndpoint": True}], "controlPlaneEndpointsConfigs": []},
            "https://203.0.113.20",
        ),
    ],
)
def test_the_way_in_is_the_one_that_is_open(cluster: dict[str, Any], server: str) -> None:
    declared = run(L4, cluster=cluster)
    (entry,) = yaml.safe_load(declared.outputs["kubeconfig"])["clusters"]
    assert entry["cluster"]["server"] == server
    assert entry["cluster"].get("certificate-authority-data") == (None if server == DNS else "dGhlaXJz")
    assert declared.outputs["kubeconfigCommand"].endswith(" --dns-endpoint") is (server == DNS)
    assert declared.secret == {"kubeconfig"}
    assert declared.outputs["kubernetesVersion"] == "1.36.2-gke.100"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            "1 error occurred: projects/example-lab/locations/europe-west4/clusters/shared not found",
            r"cloud\.existingCluster: there is no GKE cluster 'shared' in europe-west4 of project example-lab\n"
            r"  gcloud container clusters list --project example-lab",
        ),
        (
            {**SHARED, "enableAutopilot": True},
            r"cloud\.existingCluster: .* Autopilot cluster, which takes no node pools",
        ),
    ],
)
def test_a_cluster_that_takes_no_pools_is_one_clean_error(answer: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(pulumi.RunError, match=message):
        declare(in_existing(L4), cloud=Answering(getCluster=answer))


def test_a_cluster_that_may_not_be_read_is_not_taken_for_a_missing_one() -> None:
    with pytest.raises(pulumi.RunError, match=r"cannot be read: the login lacks container\.clusters\.get\n"):
        declare(in_existing(L4), cloud=Answering(getCluster="Error 403: Required container.clusters.get permission"))


def pool(name: str, **nodes: Any) -> dict[str, Any]:
    return {"nodePools": [*SHARED["nodePools"], {"name": name, "nodeCount": 2, "nodeConfigs": [nodes]}]}


@pytest.mark.parametrize(
    ("nodes", "owner"),
    [
        ({}, "another owner"),
        (
            {"labels": {"kubeflow-spot.dev/pool": "l4"}, "resourceLabels": {"kubeflow-spot-stack": "blue"}},
            "stack 'blue'",
        ),
    ],
)
def test_another_owners_pool_of_the_same_name_is_refused_before_a_request_to_google(
    nodes: dict[str, Any], owner: str
) -> None:
    with pytest.raises(pulumi.RunError, match=rf"pools\[0\]\.name: .* made by {owner}\n.*default-pool, l4"):
        run(L4, cluster=pool("l4", **nodes))


@pytest.mark.parametrize("labels", [{"kubeflow-spot-stack": "test"}, {}])
def test_a_second_run_knows_its_own_pools(labels: dict[str, str]) -> None:
    own = {"spot": True, "labels": {"kubeflow-spot.dev/pool": "l4"}, "resourceLabels": labels}
    assert run(L4, cluster=pool("l4", **own)).of(GKE_POOL)


def test_gkes_own_plugin_is_listed_in_the_outputs(warnings: list[str]) -> None:
    declared = run(GENERAL, L4)
    assert declared.outputs["devicePlugin"] == {
        "pools": [],
        "leftTo": [{"namespace": "kube-system", "name": "nvidia-gpu-device-plugin", "pools": ["l4"]}],
    }
    assert declared.of(DAEMON_SET) == {}
    assert [text for text in warnings if "device plugin" in text] == []


def test_an_on_demand_pool_of_ours_is_not_replaced_in_an_existing_cluster_either() -> None:
    own = {
        "labels": {"kubeflow-spot.dev/pool": "general"},
        "serviceAccount": "other@example-lab.iam.gserviceaccount.com",
    }
    with pytest.raises(pulumi.RunError, match=r"cloud\.serviceAccount: general: is other@"):
        run(GENERAL, cluster=pool("general", **own))


@pytest.mark.parametrize(("nodes", "asked"), rows("untainted"))
def test_a_spot_pool_that_nobody_tainted_is_named_with_the_command_that_taints_it(
    warnings: list[str], nodes: dict[str, Any], asked: str | None
) -> None:
    """GKE taints no spot pool that a person makes: the guard cannot keep pods off it."""
    cluster = {"nodePools": [*SHARED["nodePools"], {"name": "cheap", "nodeConfigs": [nodes]}]}
    run(L4, cluster=cluster)
    place = "--cluster shared --location europe-west4 --project example-lab"
    wanted = f"gcloud container node-pools update cheap {place} --node-taints {asked} "
    assert [wanted in text for text in warnings if "'cheap'" in text] == [True] * (asked is not None)
    assert not [text for text in warnings if "'default-pool'" in text]


def test_an_untainted_spot_pool_is_not_named_where_there_is_no_guard(warnings: list[str]) -> None:
    answer = {**SHARED, "nodePools": [{"name": "cheap", "nodeConfigs": [{"spot": True}]}]}
    without = {**in_existing(L4), "kubeflow-spot:scheduling": {"enabled": False}}
    declare(without, cloud=Answering(getCluster=answer))
    assert not [text for text in warnings if "'cheap'" in text]


def test_a_spot_pool_that_somebody_added_without_a_taint_is_named(warnings: list[str]) -> None:
    declare(stack(L4), live=[{"name": "cheap", "nodeConfigs": [{"spot": True}]}])
    wanted = "gcloud container node-pools update cheap --cluster lab --location "
    assert [wanted in text for text in warnings if "'cheap'" in text] == [True]


def test_a_pools_own_properties_are_merged_with_those_that_are_derived() -> None:
    own = {"management": {"autoUpgrade": False}, "nodeConfig": {"resourceLabels": {"cost": "batch"}, "tags": ["ssh"]}}
    (pool,) = run({**GENERAL, "gcp": {"properties": own}}).of(GKE_POOL).values()
    assert pool.inputs["management"] == {"autoRepair": True, "autoUpgrade": False}
    nodes = pool.inputs["nodeConfig"]
    assert nodes["resourceLabels"].items() >= {"cost": "batch", "kubeflow-spot-stack": "test"}.items()
    assert (nodes["tags"], nodes["machineType"]) == (["ssh"], GENERAL["machine"])
