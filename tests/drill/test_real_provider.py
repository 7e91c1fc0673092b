"""What the real cluster-autoscaler reads and writes: pools rendered for its provider, and the log of 1.36.1."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from drill.play.real_autoscaler import flags
from drill.play.real_log import Log
from drill.play.real_provider import config_maps, first_nodes, refusal_policy
from sandbox.tests.autoscaler.objects import MACHINE, on_demand
from sandbox.tests.autoscaler.objects import spot as spot_group
from sandbox.tests.azure.conftest import CLUSTER_ID, POOL, SPOT, Account
from tests.drill.external_bench import GROUPS, OD_GROUP, SPOT_GROUP


def rendered(*groups: Any) -> list[Any]:
    _, templates = config_maps(groups)
    return list(json.loads(templates["data"]["templates"])["items"])


def test_the_provider_reads_its_groups_by_annotation_and_adds_no_taint() -> None:
    settings, templates = config_maps(GROUPS)
    read = json.loads(settings["data"]["config"])
    assert read["nodegroups"] == {"fromNodeAnnotationKey": "cluster-autoscaler.kwok.nodegroup/name"}
    assert read["nodes"]["skipTaint"] is True
    assert read["configmap"]["name"] == templates["metadata"]["name"] == "kwok-provider-templates"
    assert {body["metadata"]["namespace"] for body in (settings, templates)} == {"kube-system"}


def test_a_group_is_rendered_with_its_bounds_labels_taints_and_size() -> None:
    known = spot_group(10)
    labels = {**known.template["metadata"]["labels"], "kubernetes.io/hostname": f"{SPOT_GROUP}000000"}
    status = {**known.template["status"], "conditions": [{"type": "DiskPressure", "status": "False"}]}
    template = {**known.template, "metadata": {"labels": labels}, "status": status}
    template["spec"] = {**template["spec"], "providerID": "azure:///subscriptions/s"}
    (node,) = rendered(replace(known, least=2, template=template))
    annotations = node["metadata"]["annotations"]
    assert {key.rpartition("/")[2]: value for key, value in annotations.items()} == {
        "name": SPOT_GROUP,
        "min-count": "2",
        "max-count": "10",
        "desired-count": "2",
    }
    assert node["metadata"]["labels"] == known.template["metadata"]["labels"], "every node would have the same hostname"
    assert node["spec"] == known.template["spec"], "the provider's own id goes there"
    assert node["status"]["allocatable"] == MACHINE
    states = {condition["type"]: condition["status"] for condition in node["status"]["conditions"]}
    assert states == {"DiskPressure": "False", "Ready": "False"}


def test_a_pool_that_is_not_autoscaled_is_not_rendered() -> None:
    assert [
        node["metadata"]["name"] for node in rendered(replace(spot_group(1), least=None, most=None), on_demand(4))
    ] == [OD_GROUP]


def test_nodes_of_the_beginning_are_the_provider_s_own() -> None:
    first, second = first_nodes(replace(spot_group(10), nodes=("aks-a000000", "aks-a000001")))
    assert second["metadata"]["name"] == "aks-a000001"
    assert second["metadata"]["labels"]["kubernetes.io/hostname"] == "aks-a000001"
    assert second["spec"]["providerID"] == "kwok:aks-a000001"
    annotations = {"cluster-autoscaler.kwok.nodegroup/name": SPOT_GROUP, "kwok.x-k8s.io/node": "fake"}
    assert first["metadata"]["annotations"] == annotations
    assert first["spec"]["taints"] == spot_group(1).template["spec"]["taints"]


def test_each_group_is_refused_with_its_own_text() -> None:
    policy, binding = refusal_policy({SPOT_GROUP: "SkuNotAvailable", OD_GROUP: "QuotaExceeded"})
    texts = {rule["message"]: rule["expression"] for rule in policy["spec"]["validations"]}
    assert texts.keys() == {"SkuNotAvailable", "QuotaExceeded"}
    assert texts["SkuNotAvailable"].endswith(f'!= "{SPOT_GROUP}"')
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    assert refusal_policy({}) == []


def test_the_emulated_cloud_s_own_pools_are_rendered(tmp_path: Path) -> None:
    account = Account(tmp_path / "azure.json")
    account.group()
    account.cluster()
    account.create(POOL, {**SPOT, "count": 1, "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]})
    fleet = account.cloud.node_groups(CLUSTER_ID)
    system, spot = fleet.groups
    (node,) = rendered(system, spot)
    assert (
        node["metadata"]["name"]
        == spot.name
        == node["metadata"]["annotations"]["cluster-autoscaler.kwok.nodegroup/name"]
    )
    settings = json.loads(config_maps([])[0]["data"]["config"])["nodes"]["gpuConfig"]
    assert node["metadata"]["labels"][settings["gpuLabelKey"]] in settings["availableGPUTypes"]
    assert {taint["key"] for taint in node["spec"]["taints"]} >= {"nvidia.com/gpu"}
    assert node["status"]["capacity"]["nvidia.com/gpu"] == "1"
    assert [first["metadata"]["name"] for first in first_nodes(spot)] == list(spot.nodes) != []
    assert "--expander=random" in flags(fleet.profile)


def at(time: str) -> float:
    return datetime.fromisoformat(f"2026-11-22 {time}").replace(tzinfo=UTC).timestamp()


def read(*lines: str) -> list[tuple[Any, ...]]:
    """Return the decisions of lines as 1.36.1 wrote them, without their times."""
    log = Log(GROUPS, 2026)
    return [
        (d.action, d.group, d.pool, d.before, d.after, d.until, d.reason) for line in lines for d in log.read_line(line)
    ]


PLAN = f"I1122 21:20:41.302851   25008 orchestrator.go:177] Final scale-up plan: [{{{SPOT_GROUP} 0->2 (max: 10)}}]"
BACKOFF = (
    f"W1122 21:21:41.732427   25008 clusterstate.go:404] Disabling scale-up for node group {SPOT_GROUP} until"
    " 2026-11-22 21:26:41.732086752 +0000 UTC m=+402.564315736; errorClass=Other; errorCode="
)
EMPTY = "I1122 21:23:12.424533   25008 actuator.go:176] Scale-down: removing empty node "


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (PLAN, [("scale-up", SPOT_GROUP, "gpuspot", 0, 2, None, "")]),
        (
            PLAN.replace(")}]", f")}} {{{OD_GROUP} 1->4 (max: 4)}}]"),
            [("scale-up", SPOT_GROUP, "gpuspot", 0, 2, None, ""), ("scale-up", OD_GROUP, "gpuod", 1, 4, None, "")],
        ),
        (
            f"W1122 21:21:41.732392   25008 clusterstate.go:358] Scale-up timed out for node group {SPOT_GROUP} after"
            " 1m0.376299687s",
            [("failed", SPOT_GROUP, "gpuspot", 0, 0, None, "scale-up timed out after 1m0.376299687s")],
        ),
        (
            BACKOFF + "timeout",
            [("backoff", SPOT_GROUP, "gpuspot", 0, 0, at("21:26:41.732086"), "Other/timeout")],
        ),
        (
            f"W1122 21:24:37.534467   25040 orchestrator.go:596] Node group {SPOT_GROUP} is not ready for scaleup - unhealthy",
            [("failed", SPOT_GROUP, "gpuspot", 0, 0, None, "more unready nodes than allowed: not an option")],
        ),
        (
            f"W1122 21:24:01.352877   25008 orchestrator.go:599] Node group {SPOT_GROUP} is not ready for scaleup - backoff"
            " with status: {true {Other timeout}}",
            [],
        ),
        (
            f"I1122 21:37:58.684821   19321 actuator.go:269] Scale-down: removing node {OD_GROUP}-csgkq,"
            " utilization: {0.125 0.0625 0 0 cpu 0.125}, pods to reschedule: small-p6n92",
            [("scale-down", OD_GROUP, "gpuod", 1, 0, None, "drain")],
        ),
        (
            "E1122 21:43:30.241815   23361 static_autoscaler.go:646] Failed to scale up: failed to increase node group size:"
            " couldn't create new node: SkuNotAvailable: no capacity for this size",
            [
                (
                    "failed", "", "", 0, 0, None,
                    "failed to increase node group size: couldn't create new node: SkuNotAvailable: no capacity for this size",
                )
            ],
        ),
        ("I1122 21:18:44.873351   19991 static_autoscaler.go:543] No unschedulable pods", []),
        ("panic: runtime error", []),
    ],
)  # fmt: skip
def test_a_line_of_the_log(line: str, expected: list[tuple[Any, ...]]) -> None:
    assert read(line) == expected


def test_times_are_of_the_log_s_header() -> None:
    (decision,) = Log(GROUPS, 2026).read_line(PLAN)
    assert decision.at == pytest.approx(at("21:20:41.302851"))


@pytest.mark.parametrize(
    ("lines", "sizes"),
    [
        pytest.param(
            *([PLAN, f'{EMPTY}"{SPOT_GROUP}-xqtvr"', f'{EMPTY}"{SPOT_GROUP}-dnn7x"'], [(0, 2), (2, 1), (1, 0)]),
            id="from the last plan",
        ),
        pytest.param(
            [PLAN.replace("0->2", "1->2"), BACKOFF + "cloudProviderError", f'{EMPTY}"{SPOT_GROUP}-dnn7x"'],
            [(1, 2), (0, 0), (1, 0)],
            id="a plan that is refused at once makes no node",
        ),
    ],
)
def test_the_size_of_a_group_is_counted(lines: list[str], sizes: list[tuple[int, int]]) -> None:
    assert [decision[3:5] for decision in read(*lines)] == sizes


def test_a_node_that_could_not_be_deleted_is_counted_again() -> None:
    kept = (
        f'E1122 21:59:23.728700    3816 delete_in_batch.go:206] Scale-down: couldn\'t delete empty node "{SPOT_GROUP}-hv84b", ,'
        f" status error: failed to delete nodes from group {SPOT_GROUP}: the cloud refuses"
    )
    removed = f'{EMPTY}"{SPOT_GROUP}-hv84b"'
    decisions = read(PLAN, removed, kept, removed)
    assert [decision[3:5] for decision in decisions] == [(0, 2), (2, 1), (0, 0), (2, 1)]
    reason = f"failed to delete nodes from group {SPOT_GROUP}: the cloud refuses"
    assert decisions[2] == ("failed", SPOT_GROUP, "gpuspot", 0, 0, None, reason)


def test_a_node_of_the_beginning_is_its_group_s() -> None:
    log = Log([replace(GROUPS[0], nodes=(f"{SPOT_GROUP}000000",))], 2026)
    (decision,) = log.read_line(f'{EMPTY}"{SPOT_GROUP}000000"')
    assert (decision.group, decision.before, decision.after) == (SPOT_GROUP, 1, 0)


def test_a_state_that_every_scan_repeats_is_one_decision() -> None:
    line = "W1122 21:24:{:02}.534467   25040 static_autoscaler.go:465] Cluster is not ready for autoscaling"
    again = line.format(0).replace("21:24", "21:40")
    assert len(read(*(line.format(second) for second in range(0, 60, 5)))) == 1
    assert len(read(line.format(0), again)) == 2
