import subprocess
from pathlib import Path
from typing import Any

import pytest

from review import pools
from sandbox.engine.changes import Change, Op, Property
from tests.review.reports import AGENT_POOL, changed

NODE_POOL = "gcp:container/nodePool:NodePool"
SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def pool(name: str, **parts: Any) -> dict[str, Any]:
    return {
        "name": name,
        "label": name,
        "capacity": "on-demand",
        "minNodes": 0,
        "maxNodes": 8,
        "gpus": 0,
        "taints": [],
        **parts,
    }


POOLS = [
    pool("general", minNodes=1),
    pool("t4", capacity="spot", gpus=1, taints=[GPU, SPOT]),
    pool("t4od", gpus=1, taints=[GPU]),
    pool("big-t4", capacity="spot", gpus=1, taints=[GPU, SPOT]),
    pool("generalb", label="general", taints=[{"key": "team", "value": "ml", "effect": "NoSchedule"}]),
]


def change(name: str, op: Op = Op.REPLACE, kind: str = AGENT_POOL) -> Change:
    properties = (changed("vmSize", 1, 2, replaces=True), changed("maxCount", 1, 2)) if op == Op.REPLACE else ()
    return Change(op=op, type=kind, name=name, properties=properties)


@pytest.mark.parametrize("kind", [AGENT_POOL, NODE_POOL])
def test_a_replaced_pool_has_its_reason_and_number_of_nodes(kind: str) -> None:
    (lost,) = pools.replaced([change("ml-dev-general", kind=kind)], POOLS)
    assert (lost.pool, lost.why, lost.nodes) == ("general", ("vmSize",), "1 to 8")


@pytest.mark.parametrize("op", [Op.UPDATE, Op.CREATE])
def test_an_update_or_a_new_pool_loses_nothing(op: Op) -> None:
    assert (
        pools.replaced([change("ml-dev-t4", op), change("x", Op.REPLACE, "kubernetes:core/v1:ConfigMap")], POOLS) == ()
    )


@pytest.mark.parametrize(("name", "refused"), [("t4od", True), ("general", True), ("flex", True), ("t4", False)])
def test_a_deleted_on_demand_pool_is_said_to_be_refused_while_it_is_in_use(name: str, refused: bool) -> None:
    all_pools = [*POOLS, pool("flex", capacity="flex-start", gpus=1)]
    (lost,) = pools.replaced([change(f"ml-dev-{name}", Op.DELETE)], all_pools)
    assert (lost.pool, lost.why) == (name, ())
    assert any("refuses that while pods run there" in sentence for sentence in lost.runs) is refused
    # A replaced pool is refused by another rule.
    (lost,) = pools.replaced([change(f"ml-dev-{name}")], all_pools)
    assert "refuses" not in " ".join(lost.runs)


def test_the_longest_matching_pool_name_is_the_resources_pool() -> None:
    (lost,) = pools.replaced([change("ml-big-t4")], POOLS)
    assert lost.pool == "big-t4"


@pytest.mark.parametrize("kind", ["azure-native:containerservice:ManagedCluster", "gcp:container/cluster:Cluster"])
def test_a_replaced_cluster_loses_all_its_pools(kind: str) -> None:
    lost = pools.replaced([change("ml", kind=kind), change("ml-t4")], POOLS)
    assert [each.pool for each in lost] == ["big-t4", "general", "generalb", "t4", "t4od"]
    assert [each.why for each in lost if each.pool == "general"] == [("vmSize of the cluster",)]
    assert [each.why for each in lost if each.pool == "t4"] == [("vmSize",)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("general", ["Kubeflow's own services", "notebooks", "evicted"]),
        ("t4", ["GPU pods that accept spot", "training"]),
        ("t4od", ["GPU pods that must not be evicted"]),
        ("generalb", ["Only pods that tolerate team=ml"]),
    ],
)
def test_taints_and_capacity_tell_the_pods_of_a_pool(name: str, words: list[str]) -> None:
    (lost,) = pools.replaced([change(f"ml-dev-{name}")], POOLS)
    for word in words:
        assert word in " ".join(lost.runs)


def test_a_gpu_pool_without_an_effective_taint_is_named() -> None:
    (lost,) = pools.replaced([change("ml-gpu")], [pool("gpu", gpus=1, taints=[{**GPU, "effect": "PreferNoSchedule"}])])
    assert "anything may run there" in " ".join(lost.runs)


def test_a_pool_missing_in_the_output_is_the_system_pool_or_unknown() -> None:
    (lost,) = pools.replaced([change("ml-dev-system", kind=NODE_POOL)], POOLS)
    assert (lost.pool, lost.look) == ("ml-dev-system", "")
    assert "system pool" in lost.runs[0]


def test_a_pool_is_looked_up_by_its_label_which_outlives_its_generation() -> None:
    (lost,) = pools.replaced([change("ml-generalb")], POOLS)
    assert "kubeflow-spot.dev/pool=general " in lost.look
    assert pools.ours(lost.look)


@pytest.mark.parametrize("label", ["$(id)", "a b", "t4; id", "`id`", "a\nb", "-o", "", "a" * 64, "t4\n"])
def test_an_invalid_label_gives_no_command(label: str) -> None:
    assert pools.look(label) == ""
    assert not pools.ours(pools.look("t4").replace("t4", label, 1))


@pytest.mark.process
def test_the_command_asks_for_the_pods_of_each_node(tmp_path: Path) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text('#!/bin/sh\n[ "$2" = nodes ] && echo "node/one\nnode/two" || echo "$@"\n')
    kubectl.chmod(0o755)
    printed = subprocess.run(
        ["sh", "-euc", pools.look("t4")],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    command = "get pods --all-namespaces -o wide --field-selector spec.nodeName="
    assert printed.stdout.splitlines() == [f"{command}one", f"{command}two"]


def karpenter(kind: str, name: str, *properties: Property, op: Op = Op.UPDATE) -> Change:
    return Change(op=op, type=kind, name=f"ml-dev-pools-{name}", properties=properties)


MACHINE = changed("spec.template.spec.requirements[0].values[0]", "a", "b")
ZONE = "spec.template.spec.requirements[3]"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (karpenter(pools.KARPENTER, "t4-nodepool", MACHINE, changed("spec.weight", 98, 97)), [MACHINE.path]),
        (karpenter(pools.KARPENTER, "t4-nodepool", changed("spec.limits.nodes", 8, 9)), None),
        (karpenter(pools.KARPENTER, "t4-nodepool", changed("spec.disruption.consolidateAfter", "1m", "2m")), None),
        (karpenter(pools.KARPENTER, "t4-nodepool", changed("metadata.labels.a", "1m", "2m")), None),
        # Another zone beside those of before, and one where there was none.
        (karpenter(pools.KARPENTER, "t4-nodepool", Property(path=f"{ZONE}.values[1]", before=None, after='"z"')), None),
        (karpenter(pools.KARPENTER, "t4-nodepool", Property(path=ZONE, before=None, after="{}")), [ZONE]),
        (karpenter(pools.KARPENTER, "t4-nodepool", op=Op.CREATE), None),
        (karpenter(pools.KARPENTER, "t4-nodepool", op=Op.DELETE), []),
        (karpenter(pools.KARPENTER_CLASS, "t4-aksnodeclass", changed("spec.maxPods", 1, 2)), ["spec.maxPods"]),
        (karpenter(pools.KARPENTER_CLASS, "t4-aksnodeclass", changed("spec.tags.owner", 1, 2)), None),
        (karpenter(pools.KARPENTER_CLASS, "t4-aksnodeclass", op=Op.DELETE), None),
    ],
)
def test_what_replaces_the_nodes_of_karpenters_pools(change: Change, why: list[str] | None) -> None:
    assert [(lost.pool, [*lost.why]) for lost in pools.replaced([change], POOLS)] == (
        [] if why is None else [("t4", why)]
    )


def test_a_pool_of_karpenters_and_its_class_are_one_pool_and_the_system_pool_is_none_of_the_outputs() -> None:
    both = [
        karpenter(pools.KARPENTER_CLASS, "t4-aksnodeclass", changed("spec.maxPods", 1, 2)),
        karpenter(pools.KARPENTER, "t4-nodepool", MACHINE),
        karpenter(pools.KARPENTER, "system-nodepool", MACHINE),
        karpenter(pools.KARPENTER_CLASS, "system-aksnodeclass", changed("spec.maxPods", 1, 2)),
    ]
    system, t4 = pools.replaced(both, POOLS)
    assert (t4.pool, t4.why) == ("t4", ("spec.maxPods", MACHINE.path))
    assert "as many at a time as" in t4.runs[-1]
    assert (system.pool, system.why) == ("ml-dev-pools-system", (MACHINE.path, "spec.maxPods"))
    assert "system pool" in system.runs[0]
    (on_demand,) = pools.replaced([karpenter(pools.KARPENTER, "t4od-nodepool", MACHINE)], POOLS)
    assert on_demand.runs[-1].startswith("pulumi up refuses")


@pytest.mark.parametrize(
    "odd", [{}, {"name": None}, {"name": "t4", "taints": "x"}, {"name": "t4", "taints": [1, {"key": 3}]}]
)
def test_an_odd_output_is_no_error(odd: dict[str, Any]) -> None:
    (lost,) = pools.replaced([change("ml-t4")], [odd])
    assert lost.runs
