"""Requests of node auto-provisioning: machines that are made, refused, evicted and deleted, as its provider sees them."""

import copy

import pytest

from sandbox.azure.azure_quotas import Quotas
from sandbox.cloud.spot_nodes import Bound
from sandbox.kubernetes.node_objects import AT_REGISTRATION

from .conftest import CLUSTER_ID, POOL, REGULAR, Account, Props, refusal
from .machines import T4, provisioned, put

__all__ = ["provisioned"]


def error(account: Account, name: str = "t4spot-1") -> tuple[str, str]:
    """Return the code and the text that Karpenter reads of a failed machine."""
    properties = account.cloud.machine(CLUSTER_ID, name)["properties"]
    assert properties["provisioningState"] == "Failed"
    (detail,) = properties["status"]["provisioningError"]["details"]
    return detail["code"], detail["message"]


def machine_nodes(account: Account) -> list[Props]:
    (nodes,) = account.runtime.nodes.values()
    return [node for node in nodes if "aksmanagedap" in node["metadata"]["name"]]


def test_a_machine_joins_as_a_node_that_karpenter_recognizes(provisioned: Account) -> None:
    assert put(provisioned)["properties"]["provisioningState"] == "Creating"
    shown = provisioned.cloud.machine(CLUSTER_ID, "t4spot-1")
    (node,) = machine_nodes(provisioned)
    assert shown["properties"]["provisioningState"] == "Succeeded"
    vm = shown["properties"]["resourceId"]
    group = vm.split("/")[4]
    assert node["spec"]["providerID"] == "azure://" + vm.replace(group, group.lower())
    assert node["metadata"]["name"] == vm.rsplit("/", 1)[1]
    labels = node["metadata"]["labels"]
    assert labels["karpenter.sh/nodepool"] == "t4spot"
    assert labels["topology.kubernetes.io/zone"] == "westeurope-1"
    assert labels["node.kubernetes.io/instance-type"] == T4
    assert labels["kubernetes.azure.com/scalesetpriority"] == "spot"


def test_its_taints_are_put_on_once_so_that_karpenter_can_take_them_off(provisioned: Account) -> None:
    put(provisioned)
    (node,) = machine_nodes(provisioned)
    assert "taints" not in node["spec"]
    assert node[AT_REGISTRATION]["taints"] == [
        {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"},
        {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
    ]


def test_a_regional_machine_has_the_zone_0_of_regional_nodes(provisioned: Account) -> None:
    put(provisioned, zone="")
    (node,) = machine_nodes(provisioned)
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "0"


def test_machines_count_against_the_spot_capacity_like_pools(provisioned: Account) -> None:
    provisioned.cloud.set_capacity(Bound(T4, 1))
    put(provisioned)
    put(provisioned, "t4spot-2")
    assert len(machine_nodes(provisioned)) == 1
    code, text = error(provisioned, "t4spot-2")
    assert code == "SkuNotAvailable"
    assert f"Capacity Restrictions: {T4}' is currently not available in location 'westeurope'" in text


def test_spot_capacity_leaves_on_demand_machines_alone(provisioned: Account) -> None:
    provisioned.cloud.set_capacity(Bound(T4, 0))
    put(provisioned, "t4-1", priority="Regular", pool="t4")
    assert len(machine_nodes(provisioned)) == 1


def test_the_capacity_of_a_size_can_be_bounded_before_any_machine_asks(provisioned: Account, account: Account) -> None:
    assert provisioned.cloud.zones_of(T4) == {"1", "2", "3"}
    assert provisioned.cloud.zones_of("Standard_Unknown") is None


def test_a_cluster_without_it_knows_the_sizes_of_its_pools_alone(ready: Account) -> None:
    assert ready.cloud.zones_of(T4) is None


def test_a_silent_shortage_leaves_a_machine_that_is_being_made(provisioned: Account) -> None:
    provisioned.cloud.set_capacity(Bound(T4, 0, silent=True))
    put(provisioned)
    assert provisioned.cloud.machine(CLUSTER_ID, "t4spot-1")["properties"]["provisioningState"] == "Creating"
    assert machine_nodes(provisioned) == []
    provisioned.cloud.lift_capacity(T4)
    provisioned.cloud.apply_nodes(CLUSTER_ID)
    assert provisioned.cloud.machine(CLUSTER_ID, "t4spot-1")["properties"]["provisioningState"] == "Succeeded"
    assert len(machine_nodes(provisioned)) == 1


@pytest.mark.parametrize(
    ("limits", "priority", "term"),
    [
        # The terms by which azure-sdk-for-go-extensions v0.6.0 tells the quotas apart (pkg/errors).
        ({"lowPriorityCores": 3}, "Spot", "LowPriorityCores"),
        ({"standardNCASv3_T4Family": 3}, "Regular", "Family Cores quota"),
        ({"cores": 7}, "Regular", "exceeding approved Total Regional Cores quota"),
    ],
)
def test_a_quota_is_told_in_words_that_karpenter_reads(
    provisioned: Account, limits: dict[str, int], priority: str, term: str
) -> None:
    provisioned.limit(Quotas.parse_quotas({"westeurope": limits}))
    put(provisioned, priority=priority)
    code, text = error(provisioned)
    assert code == "OperationNotAllowed"
    assert term in text
    assert machine_nodes(provisioned) == []


def test_a_quota_that_suffices_gives_the_machine(provisioned: Account) -> None:
    provisioned.limit(Quotas.parse_quotas({"westeurope": {"lowPriorityCores": 4, "cores": 8}}))
    put(provisioned)
    put(provisioned, "t4-1", priority="Regular", pool="t4")
    assert len(machine_nodes(provisioned)) == 2


def test_machines_and_pools_share_a_quota(provisioned: Account) -> None:
    provisioned.limit(Quotas.parse_quotas({"westeurope": {"cores": 8}}))
    put(provisioned, priority="Regular", pool="t4")
    refused = refusal(provisioned.create, POOL, {**REGULAR, "count": 1})
    assert refused.code == "ErrCode_InsufficientVCPUQuota"


def test_a_failed_machine_is_gone_once_it_is_deleted(provisioned: Account) -> None:
    provisioned.cloud.set_capacity(Bound(T4, 0))
    put(provisioned)
    provisioned.cloud.delete_machines(CLUSTER_ID, ["t4spot-1"])
    assert refusal(provisioned.cloud.machine, CLUSTER_ID, "t4spot-1").status == 404
    assert provisioned.cloud.machines_in(CLUSTER_ID) == []


def test_a_deleted_machine_takes_its_node_along(provisioned: Account) -> None:
    put(provisioned)
    put(provisioned, "t4spot-2")
    provisioned.cloud.delete_machines(CLUSTER_ID, ["t4spot-1"])
    assert [machine["name"] for machine in provisioned.cloud.machines_in(CLUSTER_ID)] == ["t4spot-2"]
    assert len(machine_nodes(provisioned)) == 1
    assert refusal(provisioned.cloud.delete_machines, CLUSTER_ID, ["t4spot-1"]).status == 404


def test_the_machines_of_a_nodepool_are_shown_and_evicted_like_a_pool(provisioned: Account) -> None:
    put(provisioned)
    put(provisioned, "t4spot-2")
    (status,) = [pool for pool in provisioned.cloud.pools() if pool.pool == "t4spot"]
    assert (status.count, status.size, status.priority, status.least) == (2, T4, "Spot", None)
    (first, _) = provisioned.cloud.running(status.id)
    provisioned.cloud.mark(status.id, [first], "noticed", "soon")
    (noticed,) = [node for node in machine_nodes(provisioned) if node["metadata"]["name"] == first]
    conditions = {condition["type"]: condition["status"] for condition in noticed["status"]["conditions"]}
    assert conditions["PreemptionScheduled"] == "True"
    # Karpenter drains it: AKS neither cordons nor taints.
    assert "unschedulable" not in noticed["spec"]
    assert "taints" not in noticed["spec"]
    provisioned.cloud.take(status.id, [first])
    assert len(machine_nodes(provisioned)) == 1


def test_a_nodepool_of_two_priorities_has_its_spot_machines_apart(provisioned: Account) -> None:
    put(provisioned, pool="mixed")
    put(provisioned, "mixed-2", priority="Regular", pool="mixed")
    pools = {pool.priority: pool.count for pool in provisioned.cloud.pools() if pool.pool.startswith("mixed")}
    assert pools == {"Spot": 1, "Regular": 1}


def test_tags_alone_can_be_changed(provisioned: Account) -> None:
    put(provisioned)
    changed = copy.deepcopy(provisioned.cloud.machine(CLUSTER_ID, "t4spot-1"))
    tag = changed["properties"]["eTag"]
    changed["properties"]["tags"]["team"] = "a"
    provisioned.cloud.put_machine(CLUSTER_ID, "t4spot-1", changed, tag)
    assert provisioned.cloud.machine(CLUSTER_ID, "t4spot-1")["properties"]["tags"]["team"] == "a"
    assert refusal(provisioned.cloud.put_machine, CLUSTER_ID, "t4spot-1", changed, tag).status == 412
    changed["properties"]["priority"] = "Regular"
    assert refusal(provisioned.cloud.put_machine, CLUSTER_ID, "t4spot-1", changed).code == "OperationNotAllowed"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"size": "Standard_Unknown"}, "VMSizeNotSupported"), ({"zone": "4"}, "AvailabilityZoneNotSupported")],
)
def test_what_azure_does_not_have_is_refused_at_once(provisioned: Account, changes: dict[str, str], code: str) -> None:
    refused = refusal(put, provisioned, **changes)
    assert (refused.status, refused.code) == (400, code)
    assert machine_nodes(provisioned) == []


def test_without_node_auto_provisioning_there_is_no_pool_for_machines(ready: Account) -> None:
    refused = refusal(put, ready)
    assert (refused.status, refused.code) == (404, "NotFound")


def test_the_runtime_runs_karpenter_for_a_cluster_that_has_it(provisioned: Account) -> None:
    provisioner = provisioned.runtime.provisioner
    assert provisioner is not None
    assert provisioner.environment["CLUSTER_NAME"] == "aks"
    assert provisioner.environment["AKS_MACHINES_POOL_NAME"] == "aksmanagedap"
    assert "--location=westeurope" in provisioner.arguments


def test_a_cluster_runs_none_any_more_once_it_is_switched_off(provisioned: Account) -> None:
    record = provisioned.cloud.memory().records[CLUSTER_ID.lower()]
    provisioned.cloud.put(record.token, CLUSTER_ID, {"nodeProvisioningProfile": {"mode": "Manual"}}, create=False)
    assert provisioned.runtime.provisioner is None
