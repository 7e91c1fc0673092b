"""Removed pools on every kind of cluster that a stack has pools in: which are the stack's, and how its pods are read."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pytest

from components import running
from components.layer import discovery
from components.layer.discovery import Contents
from components.running import Running
from tests.components import test_changes as aks
from tests.components import test_gcp_existing_cluster as existing_gke
from tests.components import test_gcp_immutable as gke
from tests.components.features import AKS
from tests.components.google import GENERAL, WITH_TWIN, in_existing, stack
from tests.components.program import KUBECONFIG, Cloud, declare
from tests.components.program import running as live_aks
from tests.config.stack_files import CONFIGS, settings

pytestmark = pytest.mark.program

Settings = dict[str, Any]
POD = {"metadata": {"namespace": "team-a", "name": "nb-0"}, "spec": {}, "status": {"phase": "Running"}}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, set[str]]]:
    """Return each read of pods: kubeconfig, key and labels; one pod runs on each pool."""
    reads: list[tuple[str, str, set[str]]] = []

    def read(kubeconfig: str, key: str, labels: Collection[str]) -> dict[str, Running]:
        reads.append((kubeconfig, key, set(labels)))
        return {label: Running(("node-1",), (POD,)) for label in labels}

    monkeypatch.setattr(running, "read_running", read)
    monkeypatch.setattr(discovery, "read_contents", lambda kubeconfig, what, compute_class=None: Contents("1.36.2"))
    return reads


class After(Cloud):
    """A cloud after an update: the cluster's pools, the cluster's other properties, and the stack's outputs."""

    def __init__(self, pools: list[dict[str, Any]], outputs: Mapping[str, Any], **cluster: Any) -> None:
        super().__init__(pools)
        self._outputs, self._cluster = outputs, cluster

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        if args.token == "pulumi:pulumi:readStackOutputs":
            return {"outputs": self._outputs}
        of_cluster = args.token.rpartition(":")[2] in ("getCluster", "getManagedCluster")
        return {**super().call(args), **(self._cluster if of_cluster else {})}


def without_twin(settings: Settings) -> Settings:
    changed = copy.deepcopy(settings)
    for pool in changed["kubeflow-spot:pools"]:
        pool.pop("fallback", None)
    return changed


def live(settings: Settings, **cluster: Any) -> tuple[list[dict[str, Any]], Settings]:
    """Return the pools in a cluster's GET after an update with these settings, and the update's outputs."""
    first = declare(settings, cloud=After([], {}, **cluster) if cluster else None)
    azure = settings["kubeflow-spot:cloud"]["provider"] == "azure"
    if not azure:
        return gke.running(first), first.outputs
    if first.of(aks.CLUSTER):
        return live_aks(first), first.outputs
    pools = [pool.inputs for pool in first.of(aks.POOL).values()]
    return [{**pool, "name": pool["agentPoolName"]} for pool in pools], first.outputs


@dataclass(frozen=True)
class On:
    """A stack on one kind of cluster, with its twin, and what its pods are read by."""

    settings: Settings
    twin: str
    key: str
    kubeconfig: str
    cluster: dict[str, Any]


SHARED = {key: value for key, value in existing_gke.SHARED.items() if key != "nodePools"}
AT_GKE, EXISTING = "server: https://203.0.113.20", "cloud.existingCluster"
TARGETS = {
    "aks": On(aks.settings(), "a100od", "cluster", KUBECONFIG, {}),
    "existing-aks": On(AKS, "spotpoolod", EXISTING, KUBECONFIG, {"autoScalerProfile": {}}),
    "gke": On(stack(GENERAL, WITH_TWIN), "l4od", "cluster", AT_GKE, SHARED),
    "existing-gke": On(in_existing(WITH_TWIN), "l4od", EXISTING, AT_GKE, SHARED),
}
NAP = {f"kubeflow-spot:{key}": value for key, value in settings(CONFIGS / "node-provisioning.happy.yaml").items()}
TARGETS["aks-karpenter"] = On(NAP, "t4od", "cluster", KUBECONFIG, {"nodeProvisioningProfile": {"mode": "Auto"}})
each_target = pytest.mark.parametrize("on", TARGETS.values(), ids=TARGETS)
Reads = list[tuple[str, str, set[str]]]


@each_target
def test_a_twin_in_use_is_refused_by_pods_that_are_read_from_the_stacks_cluster(on: On, reads: Reads) -> None:
    pools, outputs = live(on.settings, **on.cluster)
    cloud = After(pools, {"remembered": outputs["remembered"]}, **on.cluster)
    declare(on.settings, cloud=cloud)
    assert reads == []
    with pytest.raises(pulumi.RunError, match=rf"pools\[\d\]\.fallback: the on-demand pool {on.twin} .*team-a/nb-0"):
        declare(without_twin(on.settings), cloud=cloud)
    ((used, name, labels),) = reads
    assert on.kubeconfig in used
    assert (name, labels) == (on.key, {on.twin})


@each_target
def test_a_drained_twin_is_remembered_until_it_is_gone(on: On, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update that fails after the program has ended exports its outputs and leaves the pool, where work may land."""
    pools, outputs = live(on.settings, **on.cluster)
    busy = running.read_running
    objects: dict[str, dict[str, str]] = {name: {} for name in ("general", on.twin)}
    monkeypatch.setattr(running, "read_metadata", lambda *_: objects)
    monkeypatch.setattr(running, "read_running", lambda *_: {})
    changed, last = without_twin(on.settings), {"remembered": outputs["remembered"]}
    declared = declare(changed, cloud=After(pools, last, **on.cluster))
    assert on.twin in declared.outputs["remembered"]["pools"]
    monkeypatch.setattr(running, "read_running", busy)
    with pytest.raises(pulumi.RunError, match=f"the on-demand pool {on.twin} would go"):
        declare(changed, cloud=After(pools, declared.outputs, **on.cluster))
    monkeypatch.setattr(running, "read_running", lambda *_: {})
    del objects[on.twin]
    left = [pool for pool in pools if pool["name"] != on.twin]
    declared = declare(changed, cloud=After(left, declared.outputs, **on.cluster))
    assert on.twin not in declared.outputs["remembered"]["pools"]


@each_target
def test_the_first_edit_after_an_older_program_is_judged_by_the_output_pools(on: On, reads: Reads) -> None:
    pools, outputs = live(on.settings, **on.cluster)
    older = {**outputs, "remembered": {k: v for k, v in outputs["remembered"].items() if k != "pools"}}
    with pytest.raises(pulumi.RunError, match=rf"  pools: the on-demand pool {on.twin} would go"):
        declare(without_twin(on.settings), cloud=After(pools, older, **on.cluster))


@each_target
def test_another_stacks_pools_in_the_same_cluster_are_left_alone(on: On, reads: Reads) -> None:
    pools, _ = live(on.settings, **on.cluster)
    for pool in pools:
        for holder in (pool, *pool.get("nodeConfigs", ())):
            for tags in ("tags", "resourceLabels"):
                if tags in holder:
                    holder[tags] = {"kubeflow-spot-stack": "other"}
    own = without_twin(on.settings)["kubeflow-spot:pools"]
    renamed = {**on.settings, "kubeflow-spot:pools": [{**pool, "name": f"my{pool['name'][:3]}"} for pool in own]}
    # As when a stack of the same names was here before: the tag says whose pool it is.
    last = {"remembered": {"pools": {on.twin: on.twin}}}
    declare(renamed, cloud=After(pools, last, **on.cluster))
    assert reads == []


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ({}, {"resourceGroup": "charmed", "name": "other"}, "cloud.existingCluster"),
        ({}, {"resourceGroup": "Charmed", "name": "charmed-kubeflow"}, ""),
        ({}, None, "cloud"),
        ({"pools": []}, {"resourceGroup": "charmed", "name": "other"}, ""),
    ],
    ids=["another", "the same in other letters", "a new one", "another without pools"],
)
def test_pools_in_an_existing_cluster_are_not_left_for_another(
    before: Settings, after: Settings | None, path: str, reads: Reads
) -> None:
    settings = {**AKS, **{f"kubeflow-spot:{key}": value for key, value in before.items()}}
    pools, outputs = live(settings, autoScalerProfile={})
    changed = aks.settings() if after is None else copy.deepcopy(settings)
    if after:
        changed["kubeflow-spot:cloud"]["existingCluster"] = after
    cloud = After(pools, outputs, autoScalerProfile={})
    if not path:
        declare(changed, cloud=cloud)
        return
    message = rf"  {path}: the stack has pools in the cluster charmed/charmed-kubeflow, which would go"
    with pytest.raises(pulumi.RunError, match=message):
        declare(changed, cloud=cloud)


def test_all_that_is_refused_is_in_one_message(reads: Reads) -> None:
    settings = aks.settings()
    pools, outputs = live(settings)
    changed = without_twin(settings)
    changed["kubeflow-spot:pools"][0]["machine"] = "Standard_D16ds_v5"
    both = r"^2 changes refused(.|\n)*general: is Standard_D8(.|\n)*a100od would go"
    with pytest.raises(pulumi.RunError, match=both):
        declare(changed, cloud=After(pools, outputs))
