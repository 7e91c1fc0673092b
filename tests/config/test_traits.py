"""Traits of clouds: notice of spot machines, MIG, names of machines and GPUs, boot disks, zones."""

from __future__ import annotations

from typing import Any

import pytest

from config.clouds import registry
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.gcp import gcp_tables
from config.clouds.gcp.gcp_tables import accelerator
from config.clouds.gcp.gcp_traits import Gke, boot_disks, partition_size, partitions
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.placement import node_pools
from tests.config.stack import CPU, L4, good, on_gke, spec, with_pool


def pool(capacity: str, seconds: int | None = None) -> Pool:
    gcp = {"shutdownGraceSeconds": seconds} if seconds else None
    return registry.pool_model().model_validate(
        {"name": "p", "machine": "m", "capacity": capacity, "maxNodes": 1, "gcp": gcp}
    )


@pytest.mark.parametrize(
    ("pools", "grace"),
    [
        ([], 15),
        ([pool("spot")], 15),
        ([pool("spot", 120)], 105),
        ([pool("spot", 120), pool("spot", 60), pool("on-demand")], 45),
        ([pool("spot", 120), pool("spot")], 15),
        ([pool("spot", 120), pool("preemptible")], 15),
        # A notice for a preemptible pool is a mistake, and does not count.
        ([pool("preemptible", 120)], 15),
    ],
    ids=range(7),
)
def test_pods_can_count_on_the_shortest_notice_without_the_systems_share(pools: list[Pool], grace: int) -> None:
    assert node_pools.spot_grace(pools, Gke()) == grace
    assert node_pools.spot_notice(pools, Gke()) == grace + 15


def test_elsewhere_pods_can_count_on_what_the_cloud_leaves() -> None:
    assert (
        node_pools.spot_grace([pool("spot")], Aks()) == node_pools.spot_grace([pool("spot")], ExistingCluster()) == 25
    )
    assert node_pools.spot_notice([pool("spot")], ExistingCluster()) is None


def test_mig_instances_have_googles_sizes() -> None:
    assert [partition_size("nvidia-a100", mig) for mig in ("1g", "2g", "3g", "4g", "7g")] == [
        "1g.5gb", "2g.10gb", "3g.20gb", None, "7g.40gb",
    ]  # fmt: skip
    assert partition_size("nvidia-h100-mega", "1g") == "1g.10gb"
    assert [partitions("nvidia-h200", mig) for mig in ("1g", "2g", "3g", "4g", "7g")] == [7, 3, 2, 0, 1]
    assert [partition_size(model, "1g") for model in ("nvidia-t4", "nvidia-l4", "nvidia-v100", "")] == [None] * 4


def test_google_has_its_own_names_of_gpu_models() -> None:
    assert (accelerator("nvidia-t4"), accelerator("nvidia-l4")) == ("nvidia-tesla-t4", "nvidia-l4")
    models = {machine.gpu_model for machine in Gke().machines.values() if machine.gpus}
    models |= {model for machine in Gke().machines.values() for model in machine.attachable}
    assert all(Gke().model(accelerator(model)) == model for model in models)


def test_the_default_boot_disk_is_the_first_of_the_family() -> None:
    assert boot_disks("g2-standard-8") == boot_disks("G2-Standard-8") == ("pd-balanced", "pd-ssd")
    assert boot_disks("a3-ultragpu-8g") == ("hyperdisk-balanced",)
    assert boot_disks("a3-highgpu-1g")[0] == "pd-balanced"
    assert boot_disks("e2-standard-4") == ("pd-standard", "pd-balanced", "pd-ssd")
    assert boot_disks("unheard") == ()


@pytest.mark.parametrize("region", ["asia-southeast3", "europe-north2", "northamerica-south1"])
def test_young_regions_have_zones(region: str) -> None:
    assert gcp_tables.zones()[region] == (f"{region}-a", f"{region}-b", f"{region}-c")


def test_remedies_for_keys_of_other_clouds_are_for_keys_that_there_are() -> None:
    assert set(Gke().instead) < set(registry.keys_of_other_clouds("gcp"))


@pytest.mark.parametrize(
    ("typed", "known", "cloud"),
    [
        (with_pool(machine="standard_nc4as_t4_v3"), good(), Aks()),
        (on_gke([{**CPU, "machine": "N2-Standard-8"}, {**L4, "machine": "G2-STANDARD-8"}]), on_gke([CPU, L4]), Gke()),
    ],
    ids=["azure", "gcp"],
)
def test_a_machine_is_declared_as_its_cloud_spells_it(
    typed: dict[str, Any], known: dict[str, Any], cloud: Cloud
) -> None:
    """AKS takes any case and answers in its own (Azure/azure-cli pull request 33801): what is sent as typed would always differ."""
    typed["systemPool"]["machine"] = typed["systemPool"]["machine"].upper()
    declared = []
    for stack in (spec(typed), spec(known)):
        assert stack.system_pool
        pools = (*node_pools.node_pools(stack, cloud), node_pools.system_pool(stack.system_pool, cloud))
        declared.append([(pool.machine, pool.gpus, pool.labels) for pool in pools])
    assert declared[0] == declared[1]
