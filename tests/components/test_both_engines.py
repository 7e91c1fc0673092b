"""A stack on AKS promises with Karpenter what it promises with the cluster autoscaler, or is refused with the reason.

Whoever judges the objects of the guard, quotas, queues and the contract on an API server judges those of both engines: they are
equal. `tests/admission/test_karpenter.py` has the default placement, which differs in what it adds for Karpenter.
"""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from config.stack_file import loader
from tests.components.program import Declared, declare
from tests.config.stack_files import HAPPY, settings

ON_AKS = {
    path.name.removesuffix(".happy.yaml"): path
    for path in HAPPY
    if settings(path)["cloud"]["provider"] == "azure" and "existingCluster" not in settings(path)["cloud"]
}

REFUSED = {
    "dev": {"pools[1].spot.maxPrice"},
    "disks": {"pools[0].osDisk.type"},
    "mig": {"pools[2].mig"},
    "mps": {"pools[0].gpuSharing"},
    "production": {"pools[0].azure.secureBoot", "pools[0].azure.vtpm"},
    "properties": {"pools[0].azure.properties", "pools[1].azure.properties"},
    "reserved": {"pools[2].reservation"},
    "sharing": {"pools[1].gpuSharing", "pools[2].gpuSharing", "pools[3].gpuSharing", "pools[3].mig"},
    "trusted-launch": {
        *("pools[0].azure.secureBoot", "pools[0].azure.vtpm", "pools[1].azure.vtpm", "pools[2].azure.secureBoot"),
    },
}
"""What Karpenter has no counterpart of, by stack file."""

PLANNED = ("node-provisioning", "scheduling", "queueing", "alerts", "taints", "workloads", "generations")
"""Stack files that are declared: each has a feature that depends on pools."""


def both(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a stack file's settings for the autoscaler, and for Karpenter; without what belongs to one of the two."""
    own = settings(path)
    own.pop("expander", None)
    for key in ("autoscaler", "nodeProvisioning"):
        own["cloud"].pop(key, None)
    own["cloud"]["network"] = {**(own["cloud"].get("network") or {}), "dataplane": "cilium", "policy": "cilium"}
    for pool in own.get("pools", ()):
        for key in ("minNodes", "upgrade"):
            pool.pop(key, None)
    other = copy.deepcopy(own)
    other["cloud"]["nodeProvisioning"] = {}
    return own, other


@pytest.mark.parametrize("name", ON_AKS)
def test_a_stack_file_holds_with_karpenter_or_is_refused_with_the_reason(name: str) -> None:
    _, problems = loader.read_stack(both(ON_AKS[name])[1])
    refused = [problem for problem in problems if not problem.warning]
    assert {problem.path for problem in refused} == REFUSED.get(name, set())
    assert all("or leave out cloud.nodeProvisioning" in str(problem) for problem in refused)


def inside(declared: Declared) -> Mapping[tuple[str, str], Any]:
    """Return the objects in the cluster by kind and name."""
    objects = (each for each in declared.resources if each.type.startswith("kubernetes:"))
    return {(each.type.rpartition(":")[2], each.name): each.inputs for each in objects}


@pytest.mark.program
@pytest.mark.parametrize("name", PLANNED)
def test_what_a_stack_promises_inside_the_cluster_does_not_depend_on_the_engine(name: str) -> None:
    first, second = (
        declare({f"kubeflow-spot:{key}": value for key, value in own.items()}) for own in both(ON_AKS[name])
    )
    before, after = inside(first), inside(second)
    cluster = first.outputs["clusterName"]
    assert before.keys() - after.keys() == {("ConfigMap", f"{cluster}-expander")}
    added = {kind for kind, name in after.keys() - before.keys() if "kept-pods" not in name}
    assert added == {"NodePool", "AKSNodeClass"}
    differing = {(kind, name) for kind, name in before.keys() & after.keys() if before[kind, name] != after[kind, name]}
    assert {kind for kind, _ in differing} == {"MutatingAdmissionPolicy"}
    assert all(name.startswith(f"{cluster}-defaults") for _, name in differing)
    quotas = {"ResourceQuota"} if name == "scheduling" else set()
    assert {kind for kind, _ in before} >= {"ValidatingAdmissionPolicy", "ConfigMap"} | quotas
    # Alerts of the autoscaler alone are left out; no pool keeps a node.
    changed = {name for name in first.outputs if first.outputs[name] != second.outputs.get(name)}
    assert changed <= {"alerts", "expander", "fallbackOrder", "pools", "remembered"}
    assert [{**pool, "minNodes": 0} for pool in first.outputs["pools"]] == second.outputs["pools"]
