"""Mistakes in a stack file: each is reported with its path and a remedy, and none hides another."""

from __future__ import annotations

from typing import Any

import pytest
from config.base.problems import Problem, report
from config.stack_file import loader

from config import releases
from tests.config.stack import good, on_gke, with_pool


def problems(raw: dict[str, Any], stack: str = "") -> list[Problem]:
    spec, all_problems = loader.read(raw, stack)
    errors = [problem for problem in all_problems if not problem.warning]
    assert (spec is None) == bool(errors)
    return errors


def warnings(raw: dict[str, Any]) -> list[Problem]:
    return [problem for problem in loader.read(raw)[1] if problem.warning]


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


# ruff: noqa: E501  (one mistake a line; those that need a whole stack file to be seen are in tests/configs)
MISTAKES = [
    (good(relese="x"), "relese", "did you mean `release`"),
    (without("release"), "release", f"release: {releases.names()[-1]}"),
    (without("cluster"), "cluster", "name: ml-dev"),
    (without("cloud"), "cloud", "provider: azure"),
    (without("systemPool"), "systemPool", "Standard_D4ds_v5"),
    (good(release="2026.1"), "release", "one of: r2026-09, r2026-11"),
    (good(cluster="ml"), "cluster", "name, tags"),
    (good(cluster={"name": "-ml"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "a" * 55}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "ml-dev\n"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "a" * 40}), "cluster.name", "at most 80"),
    (good(cluster={"name": "ml-dev", "nmae": "x"}), "cluster.nmae", "did you mean `name`"),
    (good(cluster={"name": "ml-x", "reason": "because of istio"}), "cluster.reason", "set kubernetesVersion"),
    (good(cluster={"name": "ml-x", "tags": {"a": "b" * 257}}), "cluster.tags.a", "at most 256"),
    (good(cluster={"name": "ml-x", "tags": {"Team": "b", "team": "c"}}), "cluster.tags.team", "keep one"),
    (good(cluster={"name": "ml-x", "tags": {f"t{i}": "" for i in range(50)}}), "cluster.tags", "at most 49"),
    (good(cluster={"name": "ml-x", "tags": {"a b": 1}}), 'cluster.tags["a b"]', 'put it in quotes: "1"'),
    (good(cloud="azure"), "cloud", "provider: azure"),
    (cloud(provider="aws"), "cloud.provider", "azure, gcp, existing"),
    (cloud(zone="europe-west1-b"), "cloud.zone", "keys here"),
    (cloud(resourceGroup="ends with a dot."), "cloud.resourceGroup", "no . at the end"),
    (cloud(autoscaler={"scanInterval": "10"}), "cloud.autoscaler.scanInterval", "10s"),
    (cloud(autoscaler={"scaleDownDelayAfterDelete": "1h"}), "cloud.autoscaler.scaleDownDelayAfterDelete", "10s; or whole minutes"),
    (cloud(autoscaler={"scaleDownUtilizationThreshold": 40}), "cloud.autoscaler.scaleDownUtilizationThreshold", "1 or less"),
    (cloud(network={"podCidr": "10.244.0.0/33"}), "cloud.network.podCidr", "10.8.0.0/16"),
    (cloud(network={"nodeSubnet": "10.9.0.0/20"}), "cloud.network.nodeSubnet", "part of it"),
    (cloud(network={"serviceCidr": "10.8.0.0/24"}), "cloud.network.serviceCidr", "share no address"),
    (cloud(network={"serviceCidr": "11.0.0.0/8"}), "cloud.network.serviceCidr", "/13 to /28"),
    (cloud(network={"serviceCidr": "10.0.0.248/29"}), "cloud.network.serviceCidr", "/13 to /28"),
    (cloud(network={"podCidr": "10.244.0.0/28"}), "cloud.network.podCidr", "10.244.0.0/16"),
    (cloud(network={"nodeSubnet": "10.8.0.0/28"}), "cloud.network.nodeSubnet", "smaller maxNodes"),
    (cloud(network={"subnets": {"unused": "10.8.16.0/30"}}), "cloud.network.subnets.unused", "at least a /29"),
    (cloud(network={"subnets": {"gpu": "10.8.16.0/24", "GPU": "10.8.17.0/24"}}), "cloud.network.subnets.GPU", "another name"),
    (cloud(access={"privateDnsZone": "mine"}), "cloud.access.privateDnsZone", "'system' or 'none'; or an Azure resource's id"),
    (cloud(access={"tenantId": "00000000-0000-4000-8000-0000000007e4"}), "cloud.access.tenantId", "adminGroups"),
    (cloud(access={"authorizedRanges": [f"20.0.{i}.0/24" for i in range(201)]}), "cloud.access.authorizedRanges", "at most 200"),
    (cloud(access={"authorizedRanges": ["20.0.0.1/24"]}), "cloud.access.authorizedRanges[0]", "203.0.113.0/24"),
    (cloud(ssh={"publicKey": "AAAA"}), "cloud.ssh.publicKey", "ssh-ed25519"),
    (cloud(encryption={"kms": {"keyId": "https://v.vault.azure.net/keys/etcd"}}), "cloud.encryption.kms.keyId", "<version>"),
    (cloud(monitoring={"logs": {"controlPlane": ["guard", "guard"]}}), "cloud.monitoring.logs.controlPlane[1]", "remove one"),
    (good(expander={"otherGroups": [{"priority": 1, "groups": ["x"]}]}), "expander.otherGroups[0].priority", "no multiple of ten"),
    (good(expander={"otherGroups": [{"priority": 50, "groups": ["x"]}]}), "expander.otherGroups[0].priority", "above 50"),
    (good(expander={"otherGroups": [{"priority": 5, "groups": ["(aks"]}]}), "expander.otherGroups[0].groups[0]", "for example"),
    (good(expander={"otherGroups": [{"priority": 5, "groups": ["^aks-(?!t4)"]}]}), "expander.otherGroups[0].groups[0]", "for example"),
    (good(expander={"otherGroups": [{"priority": 5, "groups": ["a", r"t4\Z"]}]}), "expander.otherGroups[0].groups[1]", "for example"),
    (good(growth={"order": ["t4", "a100"]}), "growth.order[1]", "one of: general, t4, t4big, t4od"),
    (good(growth={"order": ["t4", "t4"]}), "growth.order[1]", "remove it"),
    ({**cloud(autoscaler={"expander": "random"}), "expander": {"otherGroups": [{"priority": 5, "groups": ["x"]}]}}, "expander.otherGroups", "set that to priority"),
    (system(minNodes=5), "systemPool.minNodes", "at most 4"),
    (system(zones=["1", "1"]), "systemPool.zones", "once"),
    (system(zones=["banana"]), "systemPool.zones[0]", "1, 2 or 3"),
    (system(machine="Standard_NC4as_T4_v3"), "systemPool.machine", "without GPUs"),
    (system(machine="Standard_B4ms"), "systemPool.machine", "Standard_D4ds_v5"),
    (system(osDisk={"type": "Ephemeral"}, machine="Standard_D2ds_v5"), "systemPool.osDisk.sizeGb", "at most 75"),
    (system(maxPods=29), "systemPool.maxPods", "30 or more"),
    (system(upgrade={}), "systemPool.upgrade.maxSurge", "leave out"),
    (system(upgrade={"maxSurge": 1}), "systemPool.upgrade.maxSurge", 'in quotes: "1"'),
    (system(subnet="elsewhere"), "systemPool.subnet", "cloud.network.subnets: {elsewhere:"),
    (good(pools="t4"), "pools", "{name: t4"),
    (good(pools=["t4"]), "pools[0]", "name, machine"),
    (extra_pool(name="T4"), "pools[3].name", "lower-case"),
    (extra_pool(name="thirteenchars"), "pools[3].name", "at most 12"),
    (extra_pool(name="system"), "pools[3].name", "another name"),
    (extra_pool(name="t4od"), "pools[1].fallback[1].onDemand.name", "another name"),
    (extra_pool(machine="Standard_NC6s_v3"), "pools[3].machine", "Standard_NC40ads_H100_v5"),
    (extra_pool(machine="Standard_B4ms", capacity="spot"), "pools[3].capacity", "capacity: on-demand"),
    (cloud(registry={"id": "mlimages.azurecr.io"}), "cloud.registry.id", "/subscriptions/"),
    (extra_pool(machine="Standard_Unheard_v9"), "pools[3].gpus", "0 for none"),
    (extra_pool(machine="Standard_Unheard_v9", gpus=0, gpuModel="nvidia-l40s"), "pools[3].gpuModel", "write the GPUs"),
    (extra_pool(gpuModel="nvidia-t4"), "pools[3].gpuModel", "leave it out"),
    (extra_pool(capacity="preemptible"), "pools[3].capacity", "`capacity: spot`"),
    (extra_pool(maxNodes=0), "pools[3].maxNodes", "1 or more"),
    (extra_pool(maxNodes="two"), "pools[3].maxNodes", "a whole number"),
    (extra_pool(spot={}), "pools[3].spot", "capacity: spot"),
    (extra_pool(fallback=[{"pool": "t4"}]), "pools[3].fallback", "remove it"),
    (extra_pool(generation="a"), "pools[3].generation", "b first"),
    (extra_pool(upgrade={}), "pools[3].upgrade", "maxSurge"),
    (extra_pool(subnet="/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/gpu"), "pools[3].subnet", "write gpu"),
    (with_pool(spot={"maxPrice": -2}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"maxPrice": 0.123456}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"maxPrice": float("inf")}), "pools[1].spot.maxPrice", "a finite number"),
    (with_pool(spot={"evictionPolicy": "delete"}), "pools[1].spot.evictionPolicy", "'Delete' or 'Deallocate'"),
    (with_pool(fallback=[{}]), "pools[1].fallback[0]", "onDemand: {maxNodes"),
    (with_pool(fallback=[{"onDemand": {"maxNodes": 1}}, {"pool": "t4big"}]), "pools[1].fallback[0]", "to the end"),
    (with_pool(fallback=[{"pool": "t4"}]), "pools[1].fallback[0].pool", "another spot pool"),
    (with_pool(fallback=[{"pool": "a100"}]), "pools[1].fallback[0].pool", "t4big"),
    (with_pool(fallback=[{"pool": "general"}]), "pools[1].fallback[0].pool", "onDemand"),
    (with_pool(fallback=[{"pool": "t4big"}, {"pool": "t4big"}]), "pools[1].fallback[1].pool", "remove it"),
    (with_pool(fallback=[{"onDemand": {"maxNodes": 0}}]), "pools[1].fallback[0].onDemand.maxNodes", "1 or more"),
    (with_pool(fallback={"onDemand": {"maxNodes": 1}}), "pools[1].fallback", "- ..."),
    (with_pool(labels={"kubernetes.azure.com/mode": "user"}), 'pools[1].labels["kubernetes.azure.com/mode"]', "your own"),
    (with_pool(labels={"agentpool": "t4"}), 'pools[1].labels["agentpool"]', "your own"),
    (with_pool(labels={"kubeflow-spot.dev/pool": "x"}), 'pools[1].labels["kubeflow-spot.dev/pool"]', "remove"),
    (with_pool(labels={"gpu": "a b"}), "pools[1].labels.gpu", "at most 63"),
    (with_pool(labels={"a b": "c"}), 'pools[1].labels["a b"]', "example.com/team"),
    (with_pool(taints=[{"key": "team"}]), "pools[1].taints[0].value", "add `value`"),
    (with_pool(taints=["team=a:NoSchedule"]), "pools[1].taints[0]", "key, value, effect"),
    (with_pool(taints=[{"key": "team", "value": "a", "effect": "NO_SCHEDULE"}]), "pools[1].taints[0].effect", "'NoSchedule'"),
    (with_pool(taints=[{"key": "kubernetes.azure.com/scalesetpriority", "value": "low"}]), "pools[1].taints[0]", "remove"),
    (good(overrides={"pin": "kubernetesVersion"}), "overrides", "[{pin: kubernetesVersion"),
    ({**cloud(upgrades={"channel": "patch"}), "overrides": [{"pin": "kubernetesVersion", "value": "1.36.2", "reason": "a fix of kubelet"}]}, "overrides[0].value", 'write "1.36"'),
    (with_pool(mig="1g.10gb"), "pools[1].mig", "'1g', '2g'"),
]  # fmt: skip


def test_a_pool_that_begins_with_too_few_nodes_for_30_pods_is_warned_of() -> None:
    assert [problem.path for problem in warnings(with_pool(maxPods=10))] == ["pools[1].maxPods"]
    assert warnings(with_pool(maxPods=10, minNodes=3)) == []


@pytest.mark.parametrize(("raw", "path", "remedy"), MISTAKES, ids=[f"{m[1]}-{i}" for i, m in enumerate(MISTAKES)])
def test_one_mistake_gives_one_problem_with_its_path_and_remedy(raw: dict[str, Any], path: str, remedy: str) -> None:
    mistakes = problems(raw)
    assert [problem.path for problem in mistakes] == [path]
    assert remedy in mistakes[0].remedy


def test_a_good_stack_file_has_no_problems() -> None:
    assert loader.read(good())[1] == []


def test_the_report_counts_and_lists_every_error_but_no_warning() -> None:
    text = report([Problem("a", "is wrong", "do b"), Problem("c", "is odd", "see d", warning=True)])
    assert text.startswith("1 problem in the stack's settings")
    assert "a: is wrong\n    do b" in text
    assert "is odd" not in text


GROUP = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/r"
    "/providers/Microsoft.Compute/capacityReservationGroups/g"
)


def in_a_cluster_of_others(**keys: Any) -> dict[str, Any]:
    cluster = {"existingCluster": {"resourceGroup": "platform", "name": "shared"}}
    general = {"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 3, **keys}
    return {"release": "r2026-11", "cloud": {"provider": "azure", **cluster}, "pools": [general]}


MAY_WORK = [
    (system(machine="Standard_D2ds_v5"), "systemPool.machine"),
    (extra_pool(machine="Standard_Unheard_v9", gpus=0), "pools[3].machine"),
    (extra_pool(machine="Standard_D8s_v3"), "pools[3].machine"),
    (extra_pool(minNodes=9, maxNodes=9), "cloud.tier"),
    ({**extra_pool(maxNodes=990), "cloud": cloud(network={"podCidr": "100.64.0.0/10"})["cloud"]}, "cloud.tier"),
    (extra_pool(maxNodes=90, upgrade={"maxSurge": "160"}), "cloud.network.podCidr"),
    (extra_pool(upgrade={"maxSurge": "1", "maxUnavailable": "1"}), "pools[3].upgrade"),
    (with_pool(spot={"evictionPolicy": "Deallocate"}), "pools[1].spot.evictionPolicy"),
    (cloud(tier="Premium", longTermSupport=True), "cloud.longTermSupport"),
    (cloud(autoscaler={"expander": "least-waste"}), "cloud.autoscaler.expander"),
    (cloud(autoscaler={"maxNodeProvisionTime": "10m", "scanInterval": "600s"}), "cloud.autoscaler.scanInterval"),
    (cloud(autoscaler={"maxTotalUnreadyPercentage": 45}), "cloud.autoscaler.maxTotalUnreadyPercentage"),
    (cloud(network={"policy": "azure"}), "cloud.network.policy"),
    (cloud(network={"outboundType": "userAssignedNATGateway"}, access={"authorizedRanges": ["20.61.10.0/28"]}), "cloud.access.authorizedRanges"),
    (good(cluster={"name": "ml-test", "kubernetesVersion": "1.36", "reason": "our Istio"}), "cluster.kubernetesVersion"),
    (cloud(access={"authorizedRanges": ["203.0.113.0/24"]}), "cloud.access.authorizedRanges[0]"),
    (cloud(upgrades={"channel": "node-image"}), "cloud.upgrades.channel"),
    (cloud(encryption={"kms": {"keyId": "https://v.vault.azure.net/keys/etcd/1"}}), "cloud.encryption.kms.vaultId"),
    (cloud(monitoring={"logs": {"controlPlane": ["cluster-autoscaler", "kube-audit", "kube-audit-admin"]}}), "cloud.monitoring.logs.controlPlane[2]"),
    (extra_pool(machine="Standard_NC40ads_H100_v5", reservation=GROUP), "pools[3].reservation"),
    (extra_pool(machine="Standard_ND96isr_H100_v5", reservation=GROUP), "pools[3].reservation"),
    (in_a_cluster_of_others(reservation=GROUP), "pools[0].reservation"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path"), MAY_WORK, ids=[f"{case[1]}-{i}" for i, case in enumerate(MAY_WORK)])
def test_a_doubtful_setting_is_a_warning_and_no_error(raw: dict[str, Any], path: str) -> None:
    reported = warnings(raw)
    assert [warning.path for warning in reported] == [path]
    assert reported[0].remedy
    assert problems(raw) == []


def test_the_warning_of_unready_nodes_names_the_pools_whose_loss_stops_the_autoscaler() -> None:
    (warning,) = warnings(cloud(autoscaler={"maxTotalUnreadyPercentage": 45}))
    assert warning.what.startswith("is 45: 12 unready nodes (t4, t4big) can be 80 % of all")
    assert warnings(cloud(autoscaler={"maxTotalUnreadyPercentage": 45, "okTotalUnreadyCount": 12})) == []
    assert warnings(cloud(autoscaler={"maxTotalUnreadyPercentage": 80})) == []
    # Missing values follow from the bounds.
    assert warnings(cloud(autoscaler={"okTotalUnreadyCount": 0})) == []


def test_expressions_are_those_of_re2_and_not_of_python() -> None:
    known = [r"^aks-\pL+-", "[[:digit:]]", "(?P<pool>t4)", r"vmss\z", "(?i)T4"]
    assert loader.read(good(expander={"otherGroups": [{"priority": 5, "groups": known}]}))[1] == []
    (problem,) = problems(good(expander={"otherGroups": [{"priority": 5, "groups": [*known, "^aks-(?!t4)"]}]}))
    assert "'^aks-(?!t4)' is not a regular expression of RE2 (invalid perl operator: (?!)" in problem.what


def test_an_order_without_effect_is_a_warning() -> None:
    growth = {"growth": {"order": ["t4"], "acceptedWait": "24h"}}
    assert warnings(good(**growth)) == []
    (_, unread) = warnings({**cloud(autoscaler={"expander": "random"}), **growth})
    assert (unread.path, unread.what) == ("growth.order", "is never read: cloud.autoscaler.expander is random")
    pools = [
        {
            "name": "l4",
            "machine": "g2-standard-8",
            "capacity": "spot",
            "maxNodes": 2,
            "fallback": [{"onDemand": {"maxNodes": 1}}],
        }
    ]
    assert warnings({**on_gke(pools), "growth": {"order": ["l4"], "acceptedWait": "24h"}}) == []
    reported = warnings(
        {**on_gke(pools, fallback={"mode": "affinity"}), "growth": {"order": ["l4"], "acceptedWait": "24h"}}
    )
    assert "this stack has no ComputeClass" in next(
        warning.what for warning in reported if warning.path == "growth.order"
    )


def test_a_pool_may_not_be_larger_than_aks_allows() -> None:
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
