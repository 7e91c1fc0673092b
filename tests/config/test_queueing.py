"""The objects of Kueue that a stack's pools become: flavors in the order in which GPUs are bought, and quotas of what they have."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from config.placement import queue_objects
from tests.config.stack import FLEX, L4, aks, good, on_existing, on_gke, placed_pools, spec

T4 = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 8}
T4_TWICE = {"name": "t4big", "machine": "Standard_NC64as_T4_v3", "capacity": "spot", "maxNodes": 2}
WITH_TWIN = {**T4, "fallback": [{"onDemand": {"maxNodes": 2}}]}
SHARED = {**T4, "name": "t4shared", "gpuSharing": {"strategy": "time-slicing", "replicas": 4}}
GENERAL = {"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 3}
SWEEP = {**GENERAL, "name": "sweep", "capacity": "spot"}
QUEUED = {"enabled": True, "namespaces": ["team-a"]}


def listed(raw: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    """Return the items of the list."""
    raw = {**raw, "queueing": {**QUEUED, **settings}}
    pools, stack = placed_pools(raw), spec(raw)
    result = queue_objects.kueue_objects(pools, stack.queueing, stack.release.kueue_version)
    assert result is not None
    assert (result["apiVersion"], result["kind"]) == ("v1", "List")
    items: list[dict[str, Any]] = result["items"]
    return items


def of_kind(items: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {item["metadata"]["name"]: item["spec"] for item in items if item["kind"] == kind}


def quotas(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return for each flavor of GPUs, in the ClusterQueue's order: CPU, memory, GPUs. Room on disks has no bound.

    Before them stands the flavor of work without GPUs.
    """
    ((group,),) = (queue["resourceGroups"] for queue in of_kind(items, "ClusterQueue").values())
    assert group["coveredResources"] == ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"]
    for flavor in group["flavors"]:
        assert [quota["name"] for quota in flavor["resources"]] == group["coveredResources"]
        assert flavor["resources"][2]["nominalQuota"] == "1000000Gi"
    found = {
        flavor["name"]: [q["nominalQuota"] for q in flavor["resources"] if q["name"] != "ephemeral-storage"]
        for flavor in group["flavors"]
    }
    assert next(iter(found)) == "no-gpu"
    assert found.pop("no-gpu") == ["1000000", "1000000Gi", "0"]
    return found


def test_on_aks_spot_comes_first_with_its_toleration_and_then_the_twin() -> None:
    items = listed(aks(GENERAL, WITH_TWIN))
    assert [item["kind"] for item in items] == [*["ResourceFlavor"] * 3, "ClusterQueue", "LocalQueue"]
    key = "kubernetes.azure.com/scalesetpriority"
    spot = {"key": key, "operator": "Equal", "value": "spot", "effect": "NoSchedule"}
    assert of_kind(items, "ResourceFlavor") == {
        "no-gpu": {},
        "spot": {"nodeLabels": {"kubeflow-spot.dev/capacity": "spot"}, "tolerations": [spot]},
        "on-demand": {"nodeLabels": {"kubeflow-spot.dev/capacity": "on-demand"}},
    }
    # 3300m and 20Gi fit a node with one T4.
    assert list(quotas(items).items()) == [("spot", ["26400m", "160Gi", "8"]), ("on-demand", ["6600m", "40Gi", "2"])]


def test_on_gke_the_flavors_ask_for_the_class_that_holds_the_pools() -> None:
    items = listed(on_gke([{**L4, "fallback": [{"onDemand": {"maxNodes": 2}}]}]))
    flavors = of_kind(items, "ResourceFlavor")
    assert flavors.pop("no-gpu") == {}
    of_class = {"cloud.google.com/compute-class": "kubeflow-spot"}
    assert {name: flavor["nodeLabels"] for name, flavor in flavors.items()} == {
        "spot": {"kubeflow-spot.dev/capacity": "spot", **of_class},
        "on-demand": {"kubeflow-spot.dev/capacity": "on-demand", **of_class},
    }
    tolerated = {name: [t["key"] for t in flavor["tolerations"]] for name, flavor in flavors.items()}
    assert tolerated == {
        "spot": ["cloud.google.com/compute-class", "cloud.google.com/gke-spot"],
        "on-demand": ["cloud.google.com/compute-class"],
    }
    assert [(name, quota[2]) for name, quota in quotas(items).items()] == [("spot", "8"), ("on-demand", "2")]


@pytest.mark.parametrize(
    ("pools", "gpus"),
    [
        ([T4], {"spot": "8"}),
        ([{**T4, "capacity": "on-demand", "maxNodes": 3}], {"on-demand": "3"}),
        # Four GPUs a machine.
        ([T4, T4_TWICE], {"spot": "16"}),
        # Shared GPUs count where there are no others, as often as they are shared.
        ([T4, SHARED], {"spot": "8"}),
        ([SHARED], {"spot": "32"}),
        # Pools without GPUs have no part in it.
        ([T4, SWEEP], {"spot": "8"}),
    ],
)
def test_a_flavor_is_there_where_the_stack_has_such_gpus_and_counts_them_all(
    pools: list[dict[str, Any]], gpus: dict[str, str]
) -> None:
    items = listed(aks(GENERAL, *pools))
    assert {name: quota[2] for name, quota in quotas(items).items()} == gpus
    assert list(of_kind(items, "ResourceFlavor")) == ["no-gpu", *gpus]


def test_flex_start_stands_between_spot_and_on_demand() -> None:
    first = {**L4, "fallback": [{"pool": "flex"}, {"onDemand": {"maxNodes": 2}}]}
    assert list(quotas(listed(on_gke([first, FLEX])))) == ["spot", "flex-start", "on-demand"]


@pytest.mark.parametrize("raw", [aks(GENERAL, WITH_TWIN), on_gke(pools=[L4])], ids=["AKS", "GKE"])
def test_the_page_takes_the_quota_of_spots_gpus_by_its_place_in_the_list(raw: dict[str, Any]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "kubeflow.md").read_text()
    (text,) = re.findall(r"kubectl patch clusterqueue gpus --type json -p '(.*?)'", page, re.DOTALL)
    (queue,) = of_kind(listed(raw), "ClusterQueue").values()
    *tests, change = json.loads(text)
    assert [test["op"] for test in tests] == ["test", "test"]
    for test in tests:
        assert at(queue, test["path"]) == test["value"]
    assert (change["op"], change["value"]) == ("replace", 0)
    assert change["path"].rpartition("/")[0] == tests[-1]["path"].rpartition("/")[0]
    assert at(queue, change["path"]) == "8"


def at(spec: dict[str, Any], pointer: str) -> Any:
    """Return the value at a JSON pointer that begins with /spec."""
    value: Any = spec
    for key in pointer.removeprefix("/spec/").split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def test_machines_that_nobody_knows_leave_cpu_and_memory_without_a_bound() -> None:
    dgx = {"name": "dgx", "machine": "DGX A100", "gpus": 8, "gpuModel": "nvidia-a100", "maxNodes": 4}
    assert quotas(listed(on_existing(dgx))) == {"on-demand": ["1000000", "1000000Gi", "32"]}


def test_namespaces_get_a_queue_and_alone_are_taken_and_without_any_all_are() -> None:
    items = listed(good(), namespaces=["team-a", "vision"])
    local = [item for item in items if item["kind"] == "LocalQueue"]
    assert [item["metadata"] for item in local] == [{"name": "gpus", "namespace": n} for n in ("team-a", "vision")]
    assert all(item["spec"] == {"clusterQueue": "gpus"} for item in local)
    condition = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team-a", "vision"]}
    assert of_kind(items, "ClusterQueue")["gpus"]["namespaceSelector"] == {"matchExpressions": [condition]}
    items = listed(good(), namespaces=[])
    assert not of_kind(items, "LocalQueue")
    assert of_kind(items, "ClusterQueue")["gpus"]["namespaceSelector"] == {}


def test_the_version_of_kueue_is_the_releases_and_without_queueing_there_is_no_list() -> None:
    (queue,) = (item for item in listed(good()) if item["kind"] == "ClusterQueue")
    assert queue["metadata"]["annotations"] == {"kubeflow-spot.dev/kueue-version": "0.14.8"}
    assert queue_objects.kueue_objects(placed_pools(good()), spec(good()).queueing, "0.14.8") is None
