"""Back to spot: the descheduler's policy, its rights, and the stack's setting."""

import json
from typing import Any

import pytest

from components.layer.scheduling import back_to_spot
from components.resources import wire
from config.clouds import registry
from config.placement.node_pools import CAPACITY_LABEL, node_pools
from config.placement.pods import PREFERENCE
from config.stack_file import loader
from tests.components.features import Settings, plain
from tests.components.program import Declared, declare
from tests.config.stack import good, on_gke, spec

IMAGE = f"registry.k8s.io/descheduler/descheduler:v0.36.0@sha256:{'0' * 64}"
PART = "kubeflow-spot:addons:BackToSpot"
KINDS = {
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:ServiceAccount",
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
    "kubernetes:apps/v1:Deployment",
}


def stack(**scheduling: Any) -> Settings:
    pool = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 2}
    settings = plain({})
    settings["kubeflow-spot:pools"].append(pool)
    return {**settings, "kubeflow-spot:scheduling": scheduling}


def objects(declared: Declared) -> dict[str, Any]:
    """Return the inputs of the part's objects by type."""
    return {
        type: resource.inputs
        for type in KINDS
        for name, resource in declared.of(type).items()
        if "back-to-spot" in name
    }


@pytest.mark.program
def test_it_is_off_set_changed_and_removed() -> None:
    other = IMAGE.replace("v0.36.0", "v0.36.1")
    images = []
    for scheduling in ({}, {"backToSpot": {"image": IMAGE}}, {"backToSpot": {"image": other}}, {}):
        seen = objects(declare(stack(**scheduling)))
        assert seen.keys() == (KINDS if scheduling else set())
        deployment = seen.get("kubernetes:apps/v1:Deployment")
        images.append(deployment and deployment["spec"]["template"]["spec"]["containers"][0]["image"])
    assert images == [None, IMAGE, other, None]
    off = {"enabled": False, "backToSpot": {"image": IMAGE}}
    assert objects(declare(stack(**off))) == {}


@pytest.mark.program
def test_the_deployment_reads_the_policy_that_is_declared() -> None:
    seen = objects(declare(stack(backToSpot={"image": IMAGE})))
    config, deployment = seen["kubernetes:core/v1:ConfigMap"], seen["kubernetes:apps/v1:Deployment"]["spec"]
    pod = deployment["template"]["spec"]
    assert json.loads(config["data"]["policy.json"]) == back_to_spot.policy()
    assert pod["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]
    # Every two minutes, which drills in memory count on too (`drill.in_memory.moves`).
    wanted = {"--policy-config-file=/policy/policy.json", "--descheduling-interval=2m"}
    assert wanted <= set(pod["containers"][0]["args"])
    binding = seen["kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"]
    assert binding["subjects"][0]["name"] == pod["serviceAccountName"]
    assert deployment["selector"]["matchLabels"].items() <= deployment["template"]["metadata"]["labels"].items()
    names = {seen[kind]["metadata"]["name"] for kind in KINDS}
    assert len(names) == 1


def test_a_pod_must_have_room_on_spot_must_ask_and_must_be_an_hour_old() -> None:
    """With one of these left out, v0.36.0 moved a pod between on-demand nodes in each of five rounds, or two for one machine."""
    policy = back_to_spot.policy()
    (profile,) = policy["profiles"]
    args = {entry["name"]: entry["args"] for entry in profile["pluginConfig"]}
    evictor, mover = args["DefaultEvictor"], args["RemovePodsViolatingNodeAffinity"]
    (condition,) = PREFERENCE["preference"]["matchExpressions"]
    assert evictor["nodeFit"] is True
    assert evictor["nodeSelector"] == f"{condition['key']}={condition['values'][0]}"
    assert evictor["minPodAge"] == "1h"
    assert policy["maxNoOfPodsToEvictTotal"] == 1
    assert mover["labelSelector"] == {"matchLabels": {"kubeflow-spot.dev/back-to-spot": "true"}}
    stack_spec = spec(good())
    for pool in node_pools(stack_spec, registry.cloud_of(stack_spec.cloud)):
        assert (f"{CAPACITY_LABEL}={pool.labels[CAPACITY_LABEL]}" == evictor["nodeSelector"]) == (
            pool.capacity == "spot"
        )


def test_it_may_evict_and_read_and_nothing_else() -> None:
    rules = wire(back_to_spot.rules())
    writing = [
        (resource, verb)
        for rule in rules
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if verb not in ("list", "watch")
    ]
    assert writing == [("pods/eviction", "create"), ("events", "create"), ("events", "patch")]
    assert not any("secrets" in rule["resources"] or "*" in rule["verbs"] for rule in rules)


def test_its_own_pod_never_runs_on_spot() -> None:
    pod = wire(back_to_spot.deployment_spec(IMAGE, "dev"))["template"]["spec"]
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": CAPACITY_LABEL, "operator": "NotIn", "values": ["spot"]}]
    assert pod["tolerations"] == [{"key": "CriticalAddonsOnly", "operator": "Exists"}]


def paths(raw: dict[str, Any], back: Any = None) -> list[str]:
    _, problems = loader.read_stack({**raw, "scheduling": {"backToSpot": back or {"image": IMAGE}}})
    return [problem.path for problem in problems if problem.path.startswith("scheduling")]


def test_the_stack_file_is_told_where_it_has_no_use() -> None:
    on_demand = [pool for pool in good()["pools"] if "capacity" not in pool]
    assert paths(good()) == []
    assert paths(good(pools=on_demand)) == ["scheduling.backToSpot"]
    assert paths(good(), {"image": "registry.k8s.io/descheduler/descheduler:v0.36.0"}) == [
        "scheduling.backToSpot.image"
    ]
    assert paths(good(), {"enabled": True}) == ["scheduling.backToSpot.enabled", "scheduling.backToSpot.image"]
    l4 = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 8}
    chain = [
        {"name": "general", "machine": "n2-standard-8", "maxNodes": 6},
        {**l4, "fallback": [{"onDemand": {"maxNodes": 2}}]},
    ]
    assert paths(on_gke(chain)) == []
    assert paths(on_gke(chain, fallback={"activeMigration": True})) == ["scheduling.backToSpot"]
