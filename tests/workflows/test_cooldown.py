"""Packages are a week old before they are locked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.workflows.conftest import GitHub
from tests.workflows.files import PROJECT

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def lock(**packages: str) -> str:
    """A lock file; a package's files are named by their digests, each with its age in days: `a:3 b:9`."""
    text = 'version = 1\n[[package]]\nname = "project"\nsource = { editable = "." }\n'
    for name, ages in packages.items():
        text += f'[[package]]\nname = "{name}"\nversion = "1"\n'
        wheels = [entry.split(":") for entry in ages.split()]
        shown = [
            f'{{ url = "u", hash = "{digest}"' + (f', upload-time = "{time(int(age))}"' if age else "") + " }"
            for digest, age in wheels
        ]
        text += f"wheels = [{', '.join(shown)}]\n"
    return text


def time(age: int) -> str:
    return (NOW - timedelta(days=age)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("base", "head", "young"),
    [
        ({}, {"new": "a:8"}, []),
        ({}, {"new": "a:6"}, ["new 1"]),
        ({"old": "a:6"}, {"old": "a:6"}, []),
        ({"old": "a:90"}, {"old": "a:90 b:1"}, ["old 1"]),
        ({}, {"silent": "a:"}, ["silent 1"]),
        ({}, {"one": "a:9", "two": "b:2", "three": "c:8 d:3"}, ["two 1", "three 1"]),
    ],
)
def test_a_young_package_is_named(github: GitHub, base: dict[str, str], head: dict[str, str], young: list[str]) -> None:
    assert github.script("cooldown").young(lock(**base), lock(**head), NOW) == young


def test_the_projects_own_lock_file_tells_the_age_of_every_package(github: GitHub) -> None:
    text = (PROJECT / "uv.lock").read_text()
    long_after = NOW + timedelta(days=1000)
    assert github.script("cooldown").young(lock(), text, long_after) == []
