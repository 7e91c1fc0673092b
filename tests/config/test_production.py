"""Production stacks are asked for what others leave to defaults, and nothing is decided in their stead."""

import copy
import re
from typing import Any

import pytest
import yaml

from config.stack_file import loader
from tests.config.stack import good, on_gke

KEYS = {
    "azure": [
        "cloud.access.authorizedRanges",
        "cloud.access.localAccounts",
        "cloud.access.runCommand",
        "cloud.encryption.kms",
        "cloud.monitoring.logs.controlPlane",
        "systemPool.azure.secureBoot",
    ],
    "gcp": ["cloud.access.ipEndpoint", "cloud.access.rolesForEverybody", "cloud.encryption.secretsKey"],
}
FILES = {"azure": good(), "gcp": on_gke()}
EACH = [(cloud, path) for cloud, paths in KEYS.items() for path in paths]

SAFE: dict[str, Any] = {
    "cloud.access.authorizedRanges": {"access": {"private": True}},
    "cloud.access.localAccounts": {"access": {"localAccounts": False, "azureRbac": True}},
    "cloud.access.runCommand": {"access": {"runCommand": False}},
    "cloud.encryption.kms": {"encryption": {"kms": {"keyId": "https://v.vault.azure.net/keys/k/1"}}},
    "cloud.monitoring.logs.controlPlane": {"monitoring": {"logs": {"controlPlane": ["kube-audit-admin"]}}},
    "systemPool.azure.secureBoot": {"systemPool": {"azure": {"secureBoot": True}}},
    "cloud.access.ipEndpoint": {"access": {"authorizedRanges": ["20.61.10.0/28"]}},
    "cloud.access.rolesForEverybody": {"access": {"rolesForEverybody": "refused"}},
    "cloud.encryption.secretsKey": {
        "encryption": {"secretsKey": "projects/keys/locations/europe-west4/keyRings/ml/cryptoKeys/etcd"}
    },
}
"""A part of `cloud`, or of the system pool, that decides a key for more safety than the default."""


def asked(raw: dict[str, Any], stack: str = "prod") -> dict[str, str]:
    """Return the questions to a production stack: path and remedy."""
    problems = loader.read_stack(raw, stack)[1]
    assert all(problem.warning for problem in problems)
    return {problem.path: problem.remedy for problem in problems if "is not decided" in problem.what}


def changed(raw: dict[str, Any], cloud: dict[str, Any]) -> dict[str, Any]:
    if pool := cloud.get("systemPool"):
        return {**raw, "systemPool": {**raw["systemPool"], **pool}}
    return {**raw, "cloud": {**raw["cloud"], **cloud}}


@pytest.mark.parametrize("cloud", KEYS)
def test_a_production_stack_is_asked_for_each_key_and_others_for_none(cloud: str) -> None:
    for stack in ("prod", "production", "prod-eu"):
        assert [*asked(FILES[cloud], stack)] == KEYS[cloud]
    assert asked(FILES[cloud], "dev") == asked(FILES[cloud], "") == {}


@pytest.mark.parametrize(("cloud", "path"), EACH)
def test_a_key_that_is_decided_is_not_asked_for_either_way(cloud: str, path: str) -> None:
    (accepting,) = re.findall(r"; `([^`]+)` accepts it", asked(FILES[cloud])[path])
    # `cloud.monitoring.logs.controlPlane` is accepted by `logs`.
    decided = yaml.safe_load(f"{{{accepting}}}")
    top, part = path.split(".")[:2]
    kept = {part: decided} if top == "cloud" else {top: decided}
    others = [other for other in KEYS[cloud] if other != path]
    for chosen in (SAFE[path], kept):
        assert [*asked(changed(FILES[cloud], chosen))] == others


def test_logs_without_those_of_the_control_plane_are_not_decided() -> None:
    path = "cloud.monitoring.logs.controlPlane"
    raw = changed(FILES["azure"], {"monitoring": {"logs": {}}})
    assert "`logs: {controlPlane: [cluster-autoscaler]}` accepts it" in asked(raw)[path]
    kept = {"monitoring": {"logs": {"controlPlane": ["cluster-autoscaler"]}}}
    assert path not in asked(changed(raw, kept))


@pytest.mark.parametrize("cloud", KEYS)
def test_a_stacks_name_decides_none_of_them(cloud: str) -> None:
    here, there = (loader.read_stack(copy.deepcopy(FILES[cloud]), stack)[0] for stack in ("prod", "dev"))
    assert here is not None
    assert there is not None
    # Only what deletes a cluster by mistake (docs/adr/0018)
    assert here.cluster.model_copy(update={"protect": False}) == there.cluster
    assert here.cloud == there.cloud


def test_the_owner_of_an_existing_cluster_is_not_asked() -> None:
    raw = good(
        cloud={"provider": "azure", "existingCluster": {"resourceGroup": "platform", "name": "shared"}}, cluster={}
    )
    del raw["systemPool"]
    assert asked(raw) == {}
