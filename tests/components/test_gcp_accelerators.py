"""Labels, taints and GPUs of GKE's node pools, in Google's spelling."""

from __future__ import annotations

from typing import Any

import pytest

from tests.components.google import GENERAL, L4, WITH_TWIN
from tests.components.test_gcp_pools import V100, nodes


def test_taints_have_googles_spelling() -> None:
    taints = [
        {"key": "a", "value": "1"},
        {"key": "b", "value": "1", "effect": "PreferNoSchedule"},
        {"key": "c", "value": "1", "effect": "NoExecute"},
    ]
    assert nodes({**GENERAL, "taints": taints})["taints"] == [
        {"key": "a", "value": "1", "effect": "NO_SCHEDULE"},
        {"key": "b", "value": "1", "effect": "PREFER_NO_SCHEDULE"},
        {"key": "c", "value": "1", "effect": "NO_EXECUTE"},
    ]


def test_labels_that_gke_puts_on_by_itself_are_not_sent() -> None:
    for pool in (L4, {**L4, "capacity": "preemptible"}):
        labels = nodes({**pool, "labels": {"team": "a"}})["labels"]
        assert labels == {
            "kubeflow-spot.dev/accelerator": "nvidia-l4",
            "kubeflow-spot.dev/capacity": "spot",
            "kubeflow-spot.dev/pool": "l4",
            "team": "a",
        }


def test_the_label_and_taint_of_the_class_are_sent() -> None:
    config = nodes(WITH_TWIN)
    assert config["labels"]["cloud.google.com/compute-class"] == "kubeflow-spot"
    assert {"key": "cloud.google.com/compute-class", "value": "kubeflow-spot", "effect": "NO_SCHEDULE"} in config[
        "taints"
    ]


@pytest.mark.parametrize(
    ("pool", "accelerators"),
    [
        (GENERAL, None),
        (L4, {"type": "nvidia-l4", "count": 1, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}),
        (
            {**L4, "gcp": {"driverVersion": "latest"}},
            {"type": "nvidia-l4", "count": 1, "gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"}},
        ),
        (
            {**L4, "installDriver": False},
            {
                "type": "nvidia-l4",
                "count": 1,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "INSTALLATION_DISABLED"},
            },
        ),
        (
            V100,
            {"type": "nvidia-tesla-v100", "count": 2, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}},
        ),
        (
            {**L4, "gpuSharing": {"strategy": "time-slicing", "replicas": 4}},
            {
                "type": "nvidia-l4",
                "count": 1,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
                "gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4},
            },
        ),
        (
            {**L4, "gpuSharing": {"strategy": "mps", "replicas": 2}},
            {
                "type": "nvidia-l4",
                "count": 1,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
                "gpuSharingConfig": {"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": 2},
            },
        ),
        (
            {**L4, "machine": "a2-highgpu-1g", "mig": "3g"},
            {
                "type": "nvidia-tesla-a100",
                "count": 1,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
                "gpuPartitionSize": "3g.20gb",
            },
        ),
    ],
)
def test_gpus_have_googles_name_number_driver_partition_and_sharing(
    pool: dict[str, Any], accelerators: dict[str, Any] | None
) -> None:
    assert nodes(pool).get("guestAccelerators") == ([accelerators] if accelerators else None)


def test_gkes_plugin_is_kept_off_by_a_label() -> None:
    config = nodes({**L4, "gcp": {"devicePlugin": "nvidia"}}, devicePlugin={"install": "never"})
    assert config["labels"]["gke-no-default-nvidia-gpu-device-plugin"] == "true"
    assert "gke-no-default-nvidia-gpu-device-plugin" not in nodes(L4)["labels"]
