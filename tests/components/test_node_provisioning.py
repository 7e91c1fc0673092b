"""A stack with node auto-provisioning under mocks: what is declared, and what an edit of a live one may do."""

import copy
from collections.abc import Collection, Mapping
from typing import Any

import pulumi
import pytest

from components import running
from components.layer import discovery
from components.layer.discovery import Contents
from components.layer.scheduling import kept_pods
from components.running import Running
from tests.components.features import AKS
from tests.components.program import Declared, declare
from tests.components.program import running as live_pools
from tests.components.test_removals_on_each_target import POD, After
from tests.config.stack_files import CONFIGS, settings

pytestmark = pytest.mark.program

Settings = dict[str, Any]
NAP: Settings = {
    f"kubeflow-spot:{key}": value for key, value in settings(CONFIGS / "node-provisioning.happy.yaml").items()
}
CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
NODE_POOL, NODE_CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"
AUTO = {"nodeProvisioningProfile": {"mode": "Auto"}}


def without_key(**cloud: Any) -> Settings:
    changed = copy.deepcopy(NAP)
    del changed["kubeflow-spot:cloud"]["nodeProvisioning"]
    changed["kubeflow-spot:cloud"] |= cloud
    return changed


def edited(pool: int, **keys: Any) -> Settings:
    changed = copy.deepcopy(NAP)
    changed["kubeflow-spot:pools"][pool] |= keys
    return changed


def specs(declared: Declared, kind: str) -> dict[str, Any]:
    return {each.inputs["metadata"]["name"]: each.inputs["spec"] for each in declared.of(kind).values()}


def cluster(declared: Declared) -> Settings:
    (one,) = declared.of(CLUSTER).values()
    return one.inputs


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """Return each read of pods; one pod runs on each pool."""
    reads: list[set[str]] = []

    def read(kubeconfig: str, key: str, labels: Collection[str], pool_label: str = "") -> dict[str, Running]:
        reads.append(set(labels))
        return {label: Running(("node-1",), (POD,)) for label in labels}

    monkeypatch.setattr(running, "read_running", read)
    return reads


@pytest.fixture(autouse=True)
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test list NodePools, unless it says what the cluster has."""

    def refuse(*_: Any) -> dict[str, Any]:
        raise pulumi.RunError("the cluster does not answer")

    monkeypatch.setattr(running, "read_metadata", refuse)


def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "read_running", lambda _, __, labels, *___: {label: Running() for label in labels})


def after(first: Declared, **cluster: Any) -> After:
    """Return the cloud after an update, as AKS then shows it."""
    return After(live_pools(first), {"remembered": first.outputs["remembered"]}, **cluster)


def test_each_pool_is_a_node_pool_with_its_class_and_no_agent_pool() -> None:
    declared = declare(NAP)
    assert declared.of(POOL) == {}
    pools, classes = specs(declared, NODE_POOL), specs(declared, NODE_CLASS)
    assert pools.keys() == classes.keys() == {"system", "general", "t4", "t4od"}
    assert {name: spec["weight"] for name, spec in pools.items()} == {
        "general": 100,
        "system": 99,
        "t4": 98,
        "t4od": 97,
    }
    assert {name: spec["limits"]["nodes"] for name, spec in pools.items()} == {
        "general": "6",
        "system": "2",
        "t4": "8",
        "t4od": "10",
    }
    policies = {name: spec["disruption"]["consolidationPolicy"] for name, spec in pools.items()}
    assert {name for name, policy in policies.items() if policy == "WhenEmpty"} == {"t4"}
    for name, spec in pools.items():
        assert spec["template"]["spec"]["nodeClassRef"]["name"] == name
    shown = {pool["name"]: pool for pool in declared.outputs["pools"]}
    for name in ("t4", "t4od", "general"):
        template = pools[name]["template"]
        assert template["metadata"]["labels"] == shown[name]["labels"]
        assert template["spec"]["taints"] == shown[name]["taints"]
        assert shown[name]["minNodes"] == 0
    assert pools["system"]["template"]["metadata"]["labels"]["kubernetes.azure.com/mode"] == "system"
    assert classes["t4"]["vnetSubnetID"].endswith("/subnets/nodes")


def test_the_cluster_has_no_autoscaler_and_a_system_pool_of_fixed_size() -> None:
    declared = declare(NAP)
    sent = cluster(declared)
    assert sent["nodeProvisioningProfile"] == {"mode": "Auto", "defaultNodePools": "None"}
    assert "autoScalerProfile" not in sent
    (system,) = sent["agentPoolProfiles"]
    assert system["enableAutoScaling"] is False
    assert system["count"] == 2
    assert {"minCount", "maxCount"} & system.keys() == set()
    assert declared.of("kubernetes:core/v1:ConfigMap", "-expander") == {}
    assert declared.outputs["expander"] == []
    assert declared.outputs["fallbackOrder"] == "guaranteed by the weights of Karpenter's NodePools"


def test_without_the_key_there_is_nothing_of_it() -> None:
    declared = declare(without_key())
    assert declared.of(NODE_POOL) == declared.of(NODE_CLASS) == {}
    assert "nodeProvisioningProfile" not in cluster(declared)
    assert len(declared.of(POOL)) == 3
    assert all(pool.inputs["enableAutoScaling"] for pool in declared.of(POOL).values())
    assert not [each for each in declared.resources if kept_pods.ROLE in each.name]


def test_a_system_pool_that_can_grow_no_more_keeps_its_node_pool_and_its_nodes(reads: list[set[str]]) -> None:
    changed = copy.deepcopy(NAP)
    changed["kubeflow-spot:systemPool"]["maxNodes"] = 2
    for declared in (declare(changed), declare(changed, cloud=after(declare(NAP), **AUTO))):
        assert specs(declared, NODE_POOL)["system"]["limits"] == {"nodes": "0"}
    assert reads == []


@pytest.mark.parametrize("scheduling", [{"enabled": False}, {}])
def test_pods_move_only_where_others_are_kept(scheduling: Settings) -> None:
    declared = declare({**NAP, "kubeflow-spot:scheduling": scheduling})
    kept = any(kept_pods.ROLE in each.name for each in declared.resources)
    policies = {spec["disruption"]["consolidationPolicy"] for spec in specs(declared, NODE_POOL).values()}
    assert policies == ({"WhenEmpty", "WhenEmptyOrUnderutilized"} if kept else {"WhenEmpty"})
    assert kept == (not scheduling)


def test_all_nodes_of_a_twin_may_empty_at_once_unless_the_stack_file_says_otherwise() -> None:
    def budgets(stack: Settings) -> dict[str, dict[str, str]]:
        return {
            name: {reason: each["nodes"] for each in spec["disruption"]["budgets"] for reason in each["reasons"]}
            for name, spec in specs(declare(stack), NODE_POOL).items()
        }

    found = budgets(without_key(nodeProvisioning={}))
    assert found["t4od"] == {"Empty": "100%", "Underutilized": "100%", "Drifted": "10%"}
    assert found["general"] == {"Empty": "100%", "Underutilized": "10%", "Drifted": "10%"}
    given = budgets(without_key(nodeProvisioning={"disruptionBudget": "2"}))
    assert all(each == {"Empty": "100%", "Underutilized": "2", "Drifted": "2"} for each in given.values())


def test_alerts_of_the_autoscaler_alone_are_left_out() -> None:
    def names(stack: Settings) -> set[str]:
        (group,) = declare({**stack, "kubeflow-spot:alerts": {}}).outputs["alerts"]["groups"]
        return {rule["alert"] for rule in group["rules"] if "alert" in rule}

    gone = {"UnreadyNodesNearTheStop", "GrowthOrderChanged"}
    assert names(without_key()) - names(NAP) == gone


def test_a_live_cluster_switches_in_three_updates(reads: list[set[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    first = declare(without_key())
    # 1. AKS refuses the switch while a pool is autoscaled: all are fixed, at the nodes that they have.
    live = After(live_pools(first, t4od=2, general=1), {"remembered": first.outputs["remembered"]})
    fixed = declare(NAP, cloud=live)
    assert "nodeProvisioningProfile" not in cluster(fixed)
    assert fixed.of(NODE_POOL) == {}
    pools = {pool.inputs["agentPoolName"]: pool.inputs for pool in fixed.of(POOL).values()}
    assert {name: (pool["enableAutoScaling"], pool["count"]) for name, pool in pools.items()} == {
        "general": (False, 1),
        "t4": (False, 0),
        "t4od": (False, 2),
    }
    # 2. The switch: the old pools stay beside Karpenter's.
    switched = declare(NAP, cloud=after(fixed))
    assert cluster(switched)["nodeProvisioningProfile"]["mode"] == "Auto"
    assert len(switched.of(POOL)) == 3
    assert len(switched.of(NODE_POOL)) == 4
    assert reads == []
    # 3. A pool with work stays, and goes when nothing runs there.
    busy = declare(NAP, cloud=after(switched, **AUTO))
    assert reads == [{"general", "t4", "t4od"}]
    assert len(busy.of(POOL)) == 3
    idle(monkeypatch)
    assert declare(NAP, cloud=after(switched, **AUTO)).of(POOL) == {}


def test_the_way_back_is_refused_while_karpenter_may_have_machines(reads: list[set[str]]) -> None:
    first = declare(NAP)
    with pytest.raises(pulumi.RunError, match=r"cloud\.nodeProvisioning: is gone while"):
        declare(without_key(), cloud=after(first, **AUTO))
    again = declare(without_key(), cloud=after(first, nodeProvisioningProfile={"mode": "Manual"}))
    assert len(again.of(POOL)) == 3


def test_another_stack_adds_no_autoscaled_pools_to_such_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "read_contents", lambda *_, **__: Contents("1.36.2"))
    with pytest.raises(pulumi.RunError, match=r"cloud\.existingCluster: the cluster .* has node auto-provisioning"):
        declare(AKS, cloud=After([], {}, **AUTO))
    declare(AKS, cloud=After([], {}))
    declare({**AKS, "kubeflow-spot:pools": []}, cloud=After([], {}, **AUTO))


def test_a_removed_twin_in_use_is_refused(reads: list[set[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    first = declare(NAP)
    declare(NAP, cloud=after(first, **AUTO))
    assert reads == []
    with pytest.raises(pulumi.RunError, match=r"pools\[1\].fallback: the on-demand pool t4od would go .*team-a/nb-0"):
        declare(edited(1, fallback=[]), cloud=after(first, **AUTO))
    assert reads == [{"t4od"}]
    idle(monkeypatch)
    assert "t4od" not in specs(declare(edited(1, fallback=[]), cloud=after(first, **AUTO)), NODE_POOL)


EDITS: Mapping[str, tuple[int, Settings, str]] = {
    "machine": (0, {"machine": "Standard_D16ds_v5"}, r"pools\[0\].machine: general: is Standard_D8ds_v5"),
    "labels": (0, {"labels": {"team": "a"}}, r"pools\[0\].labels: general"),
    "taints": (0, {"taints": [{"key": "team", "value": "a"}]}, r"pools\[0\].taints: general: is \[\]"),
    "disk": (1, {"osDisk": {"sizeGb": 100}}, r"pools\[1\].osDisk.sizeGb: t4od"),
    "driver": (1, {"installDriver": False}, r"pools\[1\].installDriver: t4od: is true"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_that_replaces_nodes_of_on_demand_work_is_refused(
    edit: tuple[int, Settings, str], reads: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, keys, words = edit
    first = declare(NAP)
    with pytest.raises(pulumi.RunError, match=words):
        declare(edited(pool, **keys), cloud=after(first, **AUTO))
    idle(monkeypatch)
    declare(edited(pool, **keys), cloud=after(first, **AUTO))


def test_an_edit_that_a_failed_update_did_not_make_is_still_one(
    reads: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outputs of an update that failed later have the edit; the NodePool has not."""
    first = declare(NAP)
    objects = {each.inputs["metadata"]["name"]: each.inputs["metadata"] for each in first.of(NODE_POOL).values()}
    larger = edited(0, machine="Standard_D16ds_v5")
    failed = After(live_pools(first), {"remembered": declare(larger).outputs["remembered"]}, **AUTO)
    declare(larger, cloud=failed)
    assert reads == []
    monkeypatch.setattr(running, "read_metadata", lambda *_: objects)
    with pytest.raises(pulumi.RunError, match=r"pools\[0\].machine: general: is Standard_D8ds_v5"):
        declare(larger, cloud=failed)
    assert reads == [{"general"}]
    declare(NAP, cloud=failed)


def test_a_pool_may_grow_under_its_work(reads: list[set[str]]) -> None:
    first = declare(NAP)
    assert (
        specs(declare(edited(0, maxNodes=9), cloud=after(first, **AUTO)), NODE_POOL)["general"]["limits"]["nodes"]
        == "9"
    )
    assert reads == []
