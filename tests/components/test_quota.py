"""Quotas of profiles: a limit of GPUs, and the nets below the guard. That the API server keeps to them: `test_contract.py` and
`test_neighbours.py`."""

import pytest

from components.layer.scheduling import quota
from components.resources import wire
from config.model.scheduling import Guard, GuardException, GuardRule, Profile


def test_each_profile_with_a_limit_gets_a_quota_in_its_namespace_and_the_others_none() -> None:
    profiles = (Profile(namespace="team-a", gpus=4), Profile(namespace="team-b", gpus=0), Profile(namespace="team-c"))
    declared = [(profile, wire(body)) for profile, body in quota.quotas(profiles, "dev")]
    assert [(body["metadata"]["namespace"], body["spec"]) for _, body in declared] == [
        ("team-a", {"hard": dict.fromkeys(quota.counted(()), "4")}),
        ("team-b", {"hard": dict.fromkeys(quota.counted(()), "0")}),
    ]
    assert all(body["metadata"]["namespace"] == profile.namespace for profile, body in declared)
    assert {body["metadata"]["name"] for _, body in declared} == {"kubeflow-spot-dev-gpus"}


def test_every_way_to_ask_for_a_gpu_is_limited() -> None:
    """kubernetes.io/docs/concepts/policy/resource-quotas: extended resources, and device classes in claims and as resources."""
    assert quota.counted(["gpu.example.com"]) == [
        "requests.nvidia.com/gpu",
        "gpu.example.com.deviceclass.resource.k8s.io/devices",
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices",
        "mig.nvidia.com.deviceclass.resource.k8s.io/devices",
        "vfio.gpu.nvidia.com.deviceclass.resource.k8s.io/devices",
        "requests.deviceclass.resource.kubernetes.io/gpu.example.com",
        "requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com",
        "requests.deviceclass.resource.kubernetes.io/mig.nvidia.com",
        "requests.deviceclass.resource.kubernetes.io/vfio.gpu.nvidia.com",
    ]


TEAMS = (Profile(namespace="team-a", gpus=4), Profile(namespace="team-b"))


def nets(guard: Guard) -> list[tuple[str, str]]:
    """Return namespace and rule of each net."""
    return [(wire(body)["metadata"]["namespace"], rule) for _, rule, body in quota.nets(TEAMS, guard, "dev")]


def test_each_profile_gets_both_nets_with_or_without_a_limit_of_gpus() -> None:
    assert nets(Guard()) == [(team, net) for team in ("team-a", "team-b") for net in ("priority", "other-namespaces")]
    bodies = wire([body for *_, body in (*quota.nets(TEAMS, Guard(), "dev"), *quota.quotas(TEAMS, "dev"))])
    assert len({(body["metadata"]["namespace"], body["metadata"]["name"]) for body in bodies}) == len(bodies) == 5


@pytest.mark.parametrize("mode", ["warn", "audit"])
def test_a_guard_that_lets_pods_pass_has_no_net_below_it(mode: str) -> None:
    assert nets(Guard.model_validate({"mode": mode})) == []


def test_an_exception_takes_away_the_net_of_a_rule_that_it_lifts_in_its_namespace_alone() -> None:
    entry = {"namespace": "team-a", "selector": {"app": "a"}, "reason": "the platform's own pods"}
    usual = GuardException.model_validate(entry)
    named = GuardException.model_validate(entry | {"rules": [GuardRule.PRIORITY]})
    assert nets(Guard(exceptions=(usual,))) == nets(Guard())
    assert nets(Guard(exceptions=(named,))) == [net for net in nets(Guard()) if net != ("team-a", "priority")]
