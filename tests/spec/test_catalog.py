"""The machine catalogue is complete and consistent."""

from __future__ import annotations

import csv
from pathlib import Path

from spec import catalog

ROWS = list(csv.DictReader((Path(catalog.__file__).parent / "azure.csv").open()))


def test_sizes_are_unique_without_regard_to_case() -> None:
    assert len({row["size"].lower() for row in ROWS}) == len(ROWS) == len(catalog.azure())


def test_closed_sets_are_closed() -> None:
    assert {row["status"] for row in ROWS} == {"current", "retiring", "retired"}
    assert {row["spot"] for row in ROWS} == {"yes", "no", "unknown"}


def test_a_size_that_ends_has_a_date_and_a_successor_that_does_not() -> None:
    ending = [machine for machine in catalog.azure().values() if machine.status != "current"]
    assert ending
    for machine in ending:
        assert machine.retirement_date, machine.size
        if machine.status == "retired":
            assert catalog.azure()[machine.replacement.lower()].status == "current", machine.size


def test_every_row_says_where_it_comes_from() -> None:
    assert [row["size"] for row in ROWS if not row["source"]] == []


def test_machines_with_gpus_name_the_model_and_others_do_not() -> None:
    assert [m.size for m in catalog.azure().values() if bool(m.gpus) != bool(m.gpu_model)] == []
    t4 = catalog.azure()["standard_nc4as_t4_v3"]
    assert (t4.vcpus, t4.memory_gib, t4.gpus, t4.gpu_model) == (4, 28, 1, "nvidia-t4")


def test_the_local_disk_is_known_where_there_is_one_kind_only() -> None:
    known = {size: catalog.azure()[size].local_disk_gib for size in ("standard_d8ds_v5", "standard_e2ds_v5")}
    assert known == {"standard_d8ds_v5": 300, "standard_e2ds_v5": 75}
    assert catalog.azure()["standard_d8s_v5"].local_disk_gib == 0
    assert catalog.azure()["standard_nc4as_t4_v3"].local_disk_gib is None
