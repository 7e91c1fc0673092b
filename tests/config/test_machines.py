"""The machine catalogue is complete and consistent."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from config.clouds import tables as catalogue
from config.clouds.azure.azure_tables import machines as azure
from config.clouds.gcp.gcp_tables import ATTACHABLE
from config.clouds.gcp.gcp_tables import machines as gcp

ROWS = list(csv.DictReader((Path(catalogue.__file__).parent / "azure" / "machines.csv").open()))
GOOGLE = list(csv.DictReader((Path(catalogue.__file__).parent / "gcp" / "machines.csv").open()))


def test_sizes_are_unique_without_regard_to_case() -> None:
    assert len({row["size"].lower() for row in ROWS}) == len(ROWS) == len(azure())


def test_status_and_spot_have_known_values() -> None:
    assert {row["status"] for row in ROWS} == {"current", "retiring", "retired"}
    assert {row["spot"] for row in ROWS} == {"yes", "no", "unknown"}


def test_a_retiring_size_has_a_date_and_a_current_successor() -> None:
    ending = [machine for machine in azure().values() if machine.status != "current"]
    assert ending
    for machine in ending:
        assert machine.retirement_date, machine.size
        if machine.status == "retired":
            assert azure()[machine.replacement.lower()].status == "current", machine.size


def test_every_row_names_its_source() -> None:
    assert [row["size"] for row in ROWS if not row["source"]] == []


def test_machines_with_gpus_name_the_model_and_others_do_not() -> None:
    assert [m.size for m in azure().values() if bool(m.gpus) != bool(m.gpu_model)] == []
    t4 = azure()["standard_nc4as_t4_v3"]
    assert (t4.vcpus, t4.memory_gib, t4.gpus, t4.gpu_model) == (4, 28, 1, "nvidia-t4")


def test_the_local_disk_is_known_where_there_is_one_kind_only() -> None:
    known = {size: azure()[size].local_disk_gib for size in ("standard_d8ds_v5", "standard_e2ds_v5")}
    assert known == {"standard_d8ds_v5": 300, "standard_e2ds_v5": 75}
    assert azure()["standard_d8s_v5"].local_disk_gib == 0
    assert azure()["standard_nc4as_t4_v3"].local_disk_gib is None


def test_googles_rows_are_complete_with_known_values() -> None:
    assert len({row["machine_type"] for row in GOOGLE}) == len(GOOGLE) == len(gcp())
    assert {row["status"] for row in GOOGLE} == {"current"}
    assert {row["spot"] for row in GOOGLE} == {"yes", "no", "unknown"}
    assert [row["machine_type"] for row in GOOGLE if not row["source"] or not row["family"]] == []


def test_a_google_machine_has_gpus_or_can_get_some_or_neither() -> None:
    for machine in gcp().values():
        assert bool(machine.gpus) == bool(machine.gpu_model), machine.size
        assert not (machine.gpus and machine.attachable), machine.size
        assert (machine.family == "n1") == bool(machine.attachable), machine.size
    l4 = gcp()["g2-standard-24"]
    assert (l4.vcpus, l4.memory_gib, l4.gpus, l4.gpu_model, l4.on_demand) == (24, 96, 2, "nvidia-l4", True)
    assert gcp()["g4-standard-6"].gpus == 1  # an eighth of one
    assert [gcp()[f"a3-{size}"].on_demand for size in ("highgpu-1g", "highgpu-8g")] == [False, True]


def test_more_vcpus_need_more_gpus() -> None:
    attachable = gcp()["n1-highmem-8"].attachable
    assert attachable == {"nvidia-t4": (1, 2, 4), "nvidia-p4": (1, 2, 4), "nvidia-v100": (1, 2, 4, 8)}
    assert gcp()["n1-standard-32"].attachable["nvidia-v100"] == (4, 8)


def test_an_attachable_gpu_that_retires_has_a_date_and_a_successor() -> None:
    taken = {model for machine in gcp().values() for model in machine.attachable}
    for gpu in ATTACHABLE.values():
        # A retired model is in no machine's row; the error about it comes from here.
        assert (gpu.model in taken) == (gpu.status != "retired")
        assert bool(gpu.end) == bool(gpu.replacement) == (gpu.status != "current")
        if gpu.replacement:
            assert gcp()[gpu.replacement.split()[0]].status == "current"
    assert taken <= ATTACHABLE.keys()


def test_the_number_in_a_sizes_name_is_its_vcpus() -> None:
    """Azure: learn.microsoft.com/azure/virtual-machines/vm-naming-conventions, family, vCPUs, constrained vCPUs.

    Google's names end in vCPUs too, but for machines named after their GPUs (`g`).
    """
    named = {row["size"]: re.match(r"Standard_[A-Z]+(\d+)(?:-(\d+))?", row["size"]) for row in ROWS}
    wrong = {size for size, name in named.items() if int(name[2] or name[1]) != azure()[size.lower()].vcpus}  # type: ignore[index]
    assert wrong == {"Standard_DS3_v2", "Standard_DS4_v2", "Standard_DS5_v2"}
    plain = {size: match for size in gcp() if (match := re.search(r"-(\d+)$", size))}
    assert {size for size, name in plain.items() if int(name[1]) != gcp()[size].vcpus} == set()
    assert len(plain) > 80
