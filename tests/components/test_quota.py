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
        ("team-a", {"hard": dict.fromkeys(quota.counted(()), "4")}),
        ("team-b", {"hard": dict.fromkeys(quota.counted(()), "0")}),
    ]
    assert {manifest["metadata"]["name"] for manifest in manifests} == {"kubeflow-spot-dev-gpus"}


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
