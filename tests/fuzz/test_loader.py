"""The loader ends with a spec or with problems, whatever is in the stack file."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from config.base.problems import Problem
from config.stack_file import loader
from config.stack_file.mended_file import MendedFile
from tests.fuzz import files, verdict
from tests.fuzz.files import File

QUICK, ALL = 2_000, 100_000
"""Files of `make test`, and of `make test-slow` as well."""


def judged(file: File, folder: Path) -> tuple[str, list[str]]:
    """Return what became of a file, and what is wrong with that."""
    raw: dict[str, Any] | None = None
    answer: list[Any] = []

    def load() -> None:
        nonlocal raw
        raw = files.delivered(file, folder)
        if raw is not None:
            answer[:] = loader.read_stack(raw)
            # What the report writes out is a message as well; its place may be a new one.
            # Each takes as long as several readings.
            often = file.number % 4 == 0 and answer[0] is None
            mended = loader.mend(raw, answer[1]) if often else MendedFile()
            answer[1] += [Problem(answer[1][0].path, "is wrong", str(each)) for each in mended.objects]
            answer[1] += mended.further

    if fault := files.fault_of(load):
        return "broken", [fault]
    if raw is None:
        return "no YAML", []
    return "accepted" if answer[0] else "refused", list(verdict.faults(*answer, raw))


def report(file: File, folder: Path, faults: list[str]) -> str:
    """Return the file, the smallest one with the same first fault, and its faults."""
    kind = _kind(faults[0])

    def still(settings: dict[str, Any]) -> bool:
        found = judged(File(file.number, file.base, file.provider, settings), folder)[1]
        return bool(found) and _kind(found[0]) == kind

    smallest = file
    if file.settings is not None:
        smallest = File(file.number, file.base, file.provider, files.shrunk(file.settings, still), changes=file.changes)
    return "\n".join([*faults, f"replay: python -m tests.fuzz {file.number}", str(smallest)])


def _kind(fault: str) -> str:
    return fault.partition(":")[0]


def load_all(numbers: range, folder: Path) -> Counter[str]:
    """Return the number of files by what became of them. Fail at the first one with a fault."""
    count: Counter[str] = Counter()
    for number in numbers:
        file = files.mutated(number)
        what, faults = judged(file, folder)
        if faults:
            pytest.fail(report(file, folder, faults), pytrace=False)
        count[what] += 1
    return count


def test_every_file_is_accepted_or_has_problems_in_plain_words(tmp_path: Path) -> None:
    count = load_all(range(QUICK), tmp_path)
    # A fuzzer of which everything is refused at once shows nothing.
    assert count["accepted"] > QUICK / 4, count
    assert count["refused"] > QUICK / 4, count


@pytest.mark.slow
def test_all_the_other_files_too(tmp_path: Path) -> None:
    count = load_all(range(QUICK, ALL), tmp_path)
    assert count.total() == ALL - QUICK


def test_a_number_is_always_the_same_file() -> None:
    numbers = range(50)
    assert [str(files.mutated(number)) for number in numbers] == [str(files.mutated(number)) for number in numbers]
    assert str(files.mutated(1)) != str(files.mutated(1, seed=files.SEED + 1))


def test_a_fault_is_reported_with_the_smallest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = loader.read_stack

    def broken(raw: dict[str, Any]) -> Any:
        if isinstance(raw.get("pools"), list):
            raise ZeroDivisionError("planted")
        return read(raw)

    monkeypatch.setattr(loader, "read_stack", broken)
    file = next(file for file in map(files.mutated, range(100)) if file.settings and "pools" in file.settings)
    what, faults = judged(file, tmp_path)
    assert what == "broken"
    text = report(file, tmp_path, faults)
    assert text.startswith("ZeroDivisionError in ")
    assert f"python -m tests.fuzz {file.number}\n" in text
    assert '{\n "kubeflow-spot:pools": []\n}' in text


def test_a_place_in_an_object_that_stands_for_a_list_is_known() -> None:
    missing = [Problem("pools.gpus", "is missing", "write 0")]
    assert list(verdict.faults(None, missing, {"pools": {"name": "core"}})) == []
    assert list(verdict.faults(None, missing, {"pools": [{"name": "core"}]})) == [
        "'pools.gpus' is no place of the file"
    ]
