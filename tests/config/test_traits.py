"""Traits of clouds: notice of spot machines, MIG, names of machines and GPUs, boot disks, zones; the catalogues of machines.

Limits of unready nodes: evictions never stop AKS' autoscaler, losing sight of the cluster does.
"""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.clouds import registry, tables
from config.clouds.azure.azure_autoscaler import AzureAutoscaler
from config.clouds.azure.azure_tables import machines as sizes
from config.clouds.azure.azure_traits import Aks
from config.clouds.azure.unready import Limits, chosen, limits
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.gcp import gcp_tables
from config.clouds.gcp.gcp_tables import ATTACHABLE, accelerator
from config.clouds.gcp.gcp_tables import machines as types
from config.clouds.gcp.gcp_traits import Gke, boot_disks, partition_size, partitions
from config.clouds.traits import Cloud, PoolBounds
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


ROWS = list(csv.DictReader((Path(tables.__file__).parent / "azure" / "machines.csv").open()))
GOOGLE = list(csv.DictReader((Path(tables.__file__).parent / "gcp" / "machines.csv").open()))


def test_sizes_are_unique_without_regard_to_case() -> None:
    assert len({row["size"].lower() for row in ROWS}) == len(ROWS) == len(sizes())


def test_status_and_spot_have_known_values() -> None:
    assert {row["status"] for row in ROWS} == {"current", "retiring", "retired"}
    assert {row["spot"] for row in ROWS} == {"yes", "no", "unknown"}


def test_a_retiring_size_has_a_date_and_a_current_successor() -> None:
    ending = [machine for machine in sizes().values() if machine.status != "current"]
    assert ending
    for machine in ending:
        assert machine.retirement_date, machine.size
        if machine.status == "retired":
            assert sizes()[machine.replacement.lower()].status == "current", machine.size


def test_every_row_names_its_source() -> None:
    assert [row["size"] for row in ROWS if not row["source"]] == []


def test_machines_with_gpus_name_the_model_and_others_do_not() -> None:
    assert [m.size for m in sizes().values() if bool(m.gpus) != bool(m.gpu_model)] == []
    t4 = sizes()["standard_nc4as_t4_v3"]
    assert (t4.vcpus, t4.memory_gib, t4.gpus, t4.gpu_model) == (4, 28, 1, "nvidia-t4")


def test_the_local_disk_is_known_where_there_is_one_kind_only() -> None:
    known = {size: sizes()[size].local_disk_gib for size in ("standard_d8ds_v5", "standard_nc4as_t4_v3")}
    assert known == {"standard_d8ds_v5": 300, "standard_nc4as_t4_v3": 176}
    assert sizes()["standard_d8s_v5"].local_disk_gib == 0
    assert sizes()["standard_nc24ads_a100_v4"].local_disk_gib is None


def test_googles_rows_are_complete_with_known_values() -> None:
    assert len({row["machine_type"] for row in GOOGLE}) == len(GOOGLE) == len(types())
    assert {row["status"] for row in GOOGLE} == {"current"}
    assert {row["spot"] for row in GOOGLE} == {"yes", "no", "unknown"}
    assert [row["machine_type"] for row in GOOGLE if not row["source"] or not row["family"]] == []


def test_a_google_machine_has_gpus_or_can_get_some_or_neither() -> None:
    for machine in types().values():
        assert bool(machine.gpus) == bool(machine.gpu_model), machine.size
        assert not (machine.gpus and machine.attachable), machine.size
        assert (machine.family == "n1") == bool(machine.attachable), machine.size
    l4 = types()["g2-standard-24"]
    assert (l4.vcpus, l4.memory_gib, l4.gpus, l4.gpu_model, l4.on_demand) == (24, 96, 2, "nvidia-l4", True)
    assert types()["g4-standard-6"].gpus == 1  # an eighth of one
    assert [types()[f"a3-{size}"].on_demand for size in ("highgpu-1g", "highgpu-8g")] == [False, True]


def test_more_vcpus_need_more_gpus() -> None:
    attachable = types()["n1-highmem-8"].attachable
    assert attachable == {"nvidia-t4": (1, 2, 4), "nvidia-p4": (1, 2, 4), "nvidia-v100": (1, 2, 4, 8)}
    assert types()["n1-standard-32"].attachable["nvidia-v100"] == (4, 8)


def test_an_attachable_gpu_that_retires_has_a_date_and_a_successor() -> None:
    taken = {model for machine in types().values() for model in machine.attachable}
    for gpu in ATTACHABLE.values():
        # A retired model is in no machine's row; the error about it comes from here.
        assert (gpu.model in taken) == (gpu.status != "retired")
        assert bool(gpu.end) == bool(gpu.replacement) == (gpu.status != "current")
        if gpu.replacement:
            assert types()[gpu.replacement.split()[0]].status == "current"
    assert taken <= ATTACHABLE.keys()


def test_the_number_in_a_sizes_name_is_its_vcpus() -> None:
    """Azure: learn.microsoft.com/azure/virtual-machines/vm-naming-conventions, family, vCPUs, constrained vCPUs.

    Google's names end in vCPUs too, but for machines named after their GPUs (`g`).
    """
    named = {row["size"]: re.match(r"Standard_[A-Z]+(\d+)(?:-(\d+))?", row["size"]) for row in ROWS}
    wrong = {size for size, name in named.items() if int(name[2] or name[1]) != sizes()[size.lower()].vcpus}  # type: ignore[index]
    assert wrong == {"Standard_DS3_v2", "Standard_DS4_v2", "Standard_DS5_v2"}
    plain = {size: match for size in types() if (match := re.search(r"-(\d+)$", size))}
    assert {size for size, name in plain.items() if int(name[1]) != types()[size].vcpus} == set()
    assert len(plain) > 80


PINNED = Limits(3, 45)


def stops(unready: int, nodes: int, bounds: Limits) -> bool:
    """Decide as IsClusterHealthy of cluster-autoscaler 1.36.1."""
    return unready > bounds.count and unready > bounds.percentage / 100 * nodes


def bounded(name: str, least: int, most: int, reclaimable: bool = False) -> PoolBounds:
    return PoolBounds(name, least, most, reclaimable)


@st.composite
def clusters(draw: st.DrawFn) -> list[PoolBounds]:
    most = st.integers(1, 80)
    return [
        bounded(f"p{number}", draw(st.integers(0, (high := draw(most)))), high, draw(st.booleans()))
        for number in range(draw(st.integers(1, 6)))
    ]


@given(clusters(), st.integers(1, 5), st.data())
def test_losing_all_spot_or_one_on_demand_pool_never_stops_the_autoscaler(
    pools: list[PoolBounds], system: int, data: st.DataObject
) -> None:
    bounds = limits(pools, system, PINNED)
    for gone in (
        [member for member in pools if member.reclaimable],
        *([member] for member in pools if not member.reclaimable),
    ):
        lost = sum(data.draw(st.integers(member.least, member.most)) for member in gone)
        remaining = sum(data.draw(st.integers(member.least, member.most)) for member in pools if member not in gone)
        assert not stops(lost, lost + remaining + system, bounds)


@given(clusters(), st.integers(1, 5))
def test_losing_sight_of_the_whole_cluster_stops_it(pools: list[PoolBounds], system: int) -> None:
    bounds = limits(pools, system, PINNED)
    everything = system + sum(member.most for member in pools)
    assert bounds.percentage < 100
    if everything > bounds.count:
        assert stops(everything, everything, bounds)
    if bounds.percentage < 90:
        assert bounds.count == PINNED.count, "a percentage is enough, and the count stays what it was"


def test_five_dead_gpu_nodes_of_ten_stopped_the_usual_limits_and_do_not_stop_these() -> None:
    pools = [bounded("general", 3, 6), bounded("t4", 0, 5, reclaimable=True)]
    assert stops(5, 10, PINNED)
    assert not stops(5, 10, limits(pools, 2, PINNED))


def test_small_pools_keep_the_releases_limits_and_a_changed_bound_seldom_changes_them() -> None:
    small = [bounded("general", 1, 3), bounded("t4", 0, 3, reclaimable=True)]
    assert limits(small, 2, PINNED) == PINNED
    first, second = ([bounded("general", 1, 4), bounded("t4", 0, most, reclaimable=True)] for most in (8, 9))
    assert limits(first, 2, PINNED) == limits(second, 2, PINNED) == Limits(3, 75)
    # A percentage alone is not enough when almost all nodes are spot.
    fleet = [bounded("general", 1, 3), bounded("t4", 0, 60, reclaimable=True)]
    assert limits(fleet, 2, PINNED) == Limits(100, 90)


def test_the_stack_files_own_limits_stay() -> None:
    fleet = [bounded("t4", 0, 60, reclaimable=True)]
    release = AzureAutoscaler(okTotalUnreadyCount=3, maxTotalUnreadyPercentage=45)
    assert chosen(AzureAutoscaler(), release, fleet, 2) == Limits(100, 90)
    assert chosen(AzureAutoscaler(okTotalUnreadyCount=5), release, fleet, 2) == Limits(5, 90)
    assert chosen(AzureAutoscaler(maxTotalUnreadyPercentage=70), release, fleet, 2) == Limits(3, 70)
