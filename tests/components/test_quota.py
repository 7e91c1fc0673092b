"""A limit of GPUs for the namespaces that have one. That the API server keeps to it: test_contract."""

from __future__ import annotations

from components.addons.scheduling import quota
from config.model.scheduling import Profile


def test_each_profile_with_a_limit_gets_a_quota_in_its_namespace_and_the_others_none() -> None:
    profiles = (
        Profile(namespace="team-a", gpus=4),
        Profile(namespace="team-b", gpus=0),
        Profile(namespace="team-c"),
    )
    manifests = list(quota.quotas(profiles, "dev"))
    assert [(manifest["metadata"]["namespace"], manifest["spec"]) for manifest in manifests] == [
        ("team-a", {"hard": {"requests.nvidia.com/gpu": "4"}}),
        ("team-b", {"hard": {"requests.nvidia.com/gpu": "0"}}),
    ]
    assert {manifest["metadata"]["name"] for manifest in manifests} == {"kubeflow-spot-dev-gpus"}
