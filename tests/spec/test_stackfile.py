"""What a stack file may not say: each mistake is named with its path and a remedy, and none hides another."""

from __future__ import annotations

from typing import Any

import pytest

from spec import stackfile
from spec.problems import Problem, report
from tests.spec.stack import GOOD, good, with_pool


def problems(raw: dict[str, Any]) -> list[Problem]:
    found, all_problems = stackfile.read(raw)
    errors = [problem for problem in all_problems if not problem.warning]
    assert (found is None) == bool(errors)
    return errors


def warnings(raw: dict[str, Any]) -> list[Problem]:
    return [problem for problem in stackfile.read(raw)[1] if problem.warning]


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in good().items() if k != key}


def cloud(**keys: Any) -> dict[str, Any]:
    return good(cloud={"provider": "azure", "location": "westeurope", **keys})


def system(**keys: Any) -> dict[str, Any]:
    return good(systemPool={"machine": "Standard_D4ds_v5", "maxNodes": 4, **keys})


def extra_pool(**keys: Any) -> dict[str, Any]:
    raw = good()
    raw["pools"].append({"name": "extra", "machine": "Standard_D8ds_v5", "maxNodes": 3, **keys})
    return raw


# ruff: noqa: E501  (one mistake a line)
MISTAKES = [
    (good(relese="x"), "relese", "did you mean `release`"),
    (without("release"), "release", "release: r2026-11"),
    (without("cluster"), "cluster", "name: ml-dev"),
    (without("cloud"), "cloud", "provider: azure"),
    (without("systemPool"), "systemPool", "Standard_D4ds_v5"),
    (good(release="2026.1"), "release", "r2026-09, r2026-11"),
    (good(release=2026.1), "release", "r2026-09, r2026-11"),
    (good(cluster="ml"), "cluster", "name, tags"),
    (good(cluster={}), "cluster.name", "add `name`"),
    (good(cluster={"name": "-ml"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "a" * 55}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "ml_dev"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "ml-dev\n"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "a" * 40}), "cluster.name", "at most 80"),
    (good(cluster={"name": "ml-dev", "nmae": "x"}), "cluster.nmae", "did you mean `name`"),
    (good(cluster={"name": "ml-x", "kubernetesVersion": "1.35"}), "cluster.reason", "say why"),
    (good(cluster={"name": "ml-x", "reason": "because of istio"}), "cluster.reason", "set kubernetesVersion"),
    (good(cluster={"name": "ml-x", "kubernetesVersion": 1.35, "reason": "YAML number"}), "cluster.kubernetesVersion", 'put it in quotes: "1.35"'),
    (cloud(provider="gcp"), "cloud.provider", "azure"),
    (cloud(location="West Europe"), "cloud.location", "westeurope"),
    (cloud(zone="europe-west1-b"), "cloud.zone", "keys here"),
    (cloud(autoscaler={"scanInterval": "10"}), "cloud.autoscaler.scanInterval", "s$"),
    (cloud(autoscaler={"maxNodeProvisionTime": "90s"}), "cloud.autoscaler.maxNodeProvisionTime", "m$"),
    (cloud(network={"podCidr": "10.244.0.0/33"}), "cloud.network.podCidr", "10.8.0.0/16"),
    (cloud(network={"nodeSubnet": "10.9.0.0/20"}), "cloud.network.nodeSubnet", "part of it"),
    (cloud(network={"podCidr": "10.8.128.0/17"}), "cloud.network.podCidr", "share no address"),
    (cloud(network={"serviceCidr": "10.8.0.0/24"}), "cloud.network.serviceCidr", "share no address"),
    (cloud(network={"serviceCidr": "11.0.0.0/8"}), "cloud.network.serviceCidr", "/13 to /28"),
    (cloud(network={"serviceCidr": "10.0.0.248/29"}), "cloud.network.serviceCidr", "/13 to /28"),
    (cloud(network={"podCidr": "172.30.0.0/16"}), "cloud.network.podCidr", "another range"),
    (cloud(network={"podCidr": "10.244.0.0/20"}), "cloud.network.podCidr", "smaller maxNodes"),
    (cloud(network={"podCidr": "10.244.0.0/28"}), "cloud.network.podCidr", "smaller maxNodes"),
    (cloud(network={"nodeSubnet": "10.8.0.0/28"}), "cloud.network.nodeSubnet", "smaller maxNodes"),
    (system(minNodes=1), "systemPool.minNodes", "2 or more"),
    (system(minNodes=5), "systemPool.minNodes", "at most 4"),
    (system(zones=[1]), "systemPool.zones[0]", "'1', '2' or '3'"),
    (system(zones=["1", "1"]), "systemPool.zones", "once"),
    (system(zones=["banana"]), "systemPool.zones[0]", "'1', '2' or '3'"),
    (system(machine="Standard_NC4as_T4_v3"), "systemPool.machine", "without GPUs"),
    (system(machine="Standard_B4ms"), "systemPool.machine", "Standard_D4ds_v5"),
    (good(pools=[], systemPool={"machine": "Standard_D4ds_v5", "maxNodes": 4, "criticalAddonsOnly": True}), "systemPool.criticalAddonsOnly", "general pool"),
    (good(pools="t4"), "pools", "one `- {name"),
    (good(pools=["t4"]), "pools[0]", "name, machine"),
    (extra_pool(name="T4"), "pools[3].name", "lower-case"),
    (extra_pool(name="thirteenchars"), "pools[3].name", "at most 12"),
    (extra_pool(name="t4"), "pools[3].name", "another name"),
    (extra_pool(name="system"), "pools[3].name", "another name"),
    (extra_pool(name="t4od"), "pools[1].fallback[1].onDemand.name", "another name"),
    (extra_pool(machine="Standard_NC6s_v3"), "pools[3].machine", "Standard_NC40ads_H100_v5"),
    (extra_pool(machine="Standard_ND96isr_MI300X_v5"), "pools[3].machine", "NVIDIA"),
    (extra_pool(machine="Standard_Unheard_v9"), "pools[3].gpus", "0 for none"),
    (extra_pool(gpus=1), "pools[3].gpus", "write 0"),
    (extra_pool(gpuModel="nvidia-t4"), "pools[3].gpuModel", "leave it out"),
    (extra_pool(capacity="preemptible"), "pools[3].capacity", "'spot' or 'on-demand'"),
    (extra_pool(minNodes=4), "pools[3].minNodes", "at most 3"),
    (extra_pool(maxNodes=0), "pools[3].maxNodes", "greater than or equal to 1"),
    
    (extra_pool(spot={}), "pools[3].spot", "capacity: spot"),
    (extra_pool(fallback=[{"pool": "t4"}]), "pools[3].fallback", "remove it"),
    (with_pool(spot={"maxPrice": 0}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"maxPrice": -2}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"maxPrice": 0.123456}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"evictionPolicy": "delete"}), "pools[1].spot.evictionPolicy", "'Delete' or 'Deallocate'"),
    (with_pool(fallback=[{}]), "pools[1].fallback[0]", "onDemand: {maxNodes"),
    (with_pool(fallback=[{"onDemand": {"maxNodes": 1}}, {"pool": "t4big"}]), "pools[1].fallback[0]", "to the end"),
    (with_pool(fallback=[{"pool": "t4"}]), "pools[1].fallback[0].pool", "another spot pool"),
    (with_pool(fallback=[{"pool": "a100"}]), "pools[1].fallback[0].pool", "t4big"),
    (with_pool(fallback=[{"pool": "general"}]), "pools[1].fallback[0].pool", "onDemand"),
    (with_pool(fallback=[{"pool": "t4big"}, {"pool": "t4big"}]), "pools[1].fallback[1].pool", "remove it"),
    (with_pool(fallback=[{"onDemand": {"maxNodes": 0}}]), "pools[1].fallback[0].onDemand.maxNodes", "greater"),
    (with_pool(fallback=[{"onDemand": {"maxNodes": 1, "name": "t4big"}}]), "pools[1].fallback[0].onDemand.name", "another name"),
    (with_pool(labels={"kubernetes.azure.com/mode": "user"}), 'pools[1].labels["kubernetes.azure.com/mode"]', "your own"),
    (with_pool(labels={"node.kubernetes.io/x": "y"}), 'pools[1].labels["node.kubernetes.io/x"]', "your own"),
    (with_pool(labels={"agentpool": "t4"}), 'pools[1].labels["agentpool"]', "your own"),
    (with_pool(labels={"kubeflow-spot.dev/pool": "x"}), 'pools[1].labels["kubeflow-spot.dev/pool"]', "remove"),
    (with_pool(labels={"gpu": True}), "pools[1].labels.gpu", 'put it in quotes: "true"'),
    (with_pool(labels={"gpu": "a b"}), "pools[1].labels.gpu", "match"),
    (with_pool(taints=[{"key": "nvidia.com/gpu", "value": "true"}]), "pools[1].taints[0]", "remove it"),
    (with_pool(taints=[{"key": "team"}]), "pools[1].taints[0].value", "add `value`"),
    (with_pool(taints=["team=a:NoSchedule"]), "pools[1].taints[0]", "key, value, effect"),
    (with_pool(fallback={"onDemand": {"maxNodes": 1}}), "pools[1].fallback", "- ..."),
    (with_pool(taints=[{"key": "team", "value": "a", "effect": "NO_SCHEDULE"}]), "pools[1].taints[0].effect", "'NoSchedule'"),
    (with_pool(taints=[{"key": "a", "value": "c"}, {"key": "a", "value": "b"}]), "pools[1].taints[1]", "remove one"),
    (with_pool(taints=[{"key": "kubernetes.azure.com/scalesetpriority", "value": "low"}]), "pools[1].taints[0]", "remove"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path", "remedy"), MISTAKES, ids=[f"{m[1]}-{i}" for i, m in enumerate(MISTAKES)])
def test_one_mistake_gives_one_problem_with_its_path_and_remedy(raw: dict[str, Any], path: str, remedy: str) -> None:
    found = problems(raw)
    assert [problem.path for problem in found] == [path]
    assert remedy in found[0].remedy


def test_a_good_stack_file_has_no_problems() -> None:
    assert stackfile.read(good())[1] == []


def test_one_file_with_ten_mistakes_reports_all_ten() -> None:
    raw = {
        "release": "r1",
        "cluster": {"name": "-", "colour": "red"},
        "cloud": {"provider": "azure", "location": "West Europe"},
        "pools": [
            {"name": "T4", "machine": "Standard_NC6s_v3", "maxNodes": 2},
            {"name": "t4", "capacity": "spott", "maxNodes": 2},
            {"name": "ok", "machine": "Standard_NC4as_T4_v3", "maxNodes": 1, "minNodes": 2, "nodes": 3},
        ],
    }
    assert [problem.path for problem in problems(raw)] == [
        "cloud.location",
        "cluster.colour",
        "cluster.name",
        "pools[0].machine",
        "pools[0].name",
        "pools[1].capacity",
        "pools[1].machine",
        "pools[2].minNodes",
        "pools[2].nodes",
        "release",
        "systemPool",
    ]


def test_the_report_counts_and_lists_every_error_but_no_warning() -> None:
    text = report([Problem("a", "is wrong", "do b"), Problem("c", "is odd", "see d", warning=True)])
    assert text.startswith("1 problem in the stack's settings")
    assert "a: is wrong\n    do b" in text
    assert "is odd" not in text


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (extra_pool(machine="Standard_Unheard_v9", gpus=0), "pools[3].machine"),
        (extra_pool(machine="Standard_D8s_v3"), "pools[3].machine"),
        (with_pool(spot={"evictionPolicy": "Deallocate"}), "pools[1].spot.evictionPolicy"),
    ],
)
def test_what_may_work_is_a_warning_and_no_error(raw: dict[str, Any], path: str) -> None:
    assert [warning.path for warning in warnings(raw)] == [path]
    assert problems(raw) == []


def test_a_pool_may_not_be_larger_than_aks_lets_it() -> None:
    raw = with_pool(fallback=[{"onDemand": {"maxNodes": 1001}}], maxNodes=1001)
    raw["systemPool"]["maxNodes"] = 1001
    raw["cloud"]["network"] = {"podCidr": "100.64.0.0/10"}
    assert [problem.path for problem in problems(raw)] == [
        "pools[1].fallback[0].onDemand.maxNodes",
        "pools[1].maxNodes",
        "systemPool.maxNodes",
    ]


def test_a_pool_that_cannot_be_read_does_not_make_others_look_wrong() -> None:
    raw = good(systemPool={"machine": "Standard_D4ds_v5", "maxNodes": 4, "criticalAddonsOnly": True})
    raw["pools"][0]["maxNodes"] = 0
    raw["pools"][2]["maxNodes"] = 0
    assert [problem.path for problem in problems(raw)] == ["pools[0].maxNodes", "pools[2].maxNodes"]


def test_two_typos_in_one_chain_are_two_problems() -> None:
    raw = with_pool(fallback=[{"pool": "nosuch"}, {"pool": "t4big"}, {"pool": "nor this"}])
    assert [problem.path for problem in problems(raw)] == [
        "pools[1].fallback[0].pool",
        "pools[1].fallback[2].pool",
    ]


@pytest.mark.parametrize("key", [*GOOD, "pools[1]", *(f"pools[1].{key}" for key in GOOD["pools"][1])])
def test_no_value_anywhere_is_more_than_a_problem(key: str) -> None:
    where, _, inner = key.partition("[1]")
    for junk in (None, 0, 1.5, True, "x", [], [1], {}, {"x": 1}, "\n", -1):
        raw = good()
        if inner:
            raw["pools"][1][inner[1:]] = junk
        elif "[1]" in key:
            raw["pools"][1] = junk
        else:
            raw[where] = junk
        for problem in stackfile.read(raw)[1]:
            assert problem.remedy, (junk, problem)
            assert problem.path, (junk, problem)


def test_fallback_in_a_circle_is_reported_on_every_pool_of_the_circle() -> None:
    raw = with_pool(fallback=[{"pool": "t4big"}])
    raw["pools"][2]["fallback"] = [{"pool": "t4"}]
    assert [problem.path for problem in problems(raw)] == ["pools[1].fallback", "pools[2].fallback"]


def test_the_clouds_own_spot_label_may_be_repeated_on_a_spot_pool_only() -> None:
    label = {"kubernetes.azure.com/scalesetpriority": "spot"}
    assert problems(with_pool(labels=label)) == []
    assert [problem.path for problem in problems(extra_pool(labels=label))] == [
        'pools[3].labels["kubernetes.azure.com/scalesetpriority"]'
    ]
