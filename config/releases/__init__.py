"""The releases: one TOML file each, named after it; docs/operate.md says how one is made.

A released file never changes: its digest is in released.sha256 (`sha256sum --check`), and a file
that differs is refused.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from config.base.near import did_you_mean
from config.base.problems import Problem
from config.clouds import registry
from config.model import repairs
from config.model.release import Release
from config.model.wrong_shape import type_in_words
from config.stack_file import objects

DIRECTORY = Path(__file__).parent
CANDIDATE = "next"
"""The file that the next release is made from. It changes at any time."""

_FORM = r"r[0-9]{4}-(0[1-9]|1[0-2])"


class Refused(Exception):
    """An existing release that must not be used. `problem` says why, and what to do."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.problem = Problem("release", what, remedy)


@cache
def names(directory: Path = DIRECTORY) -> tuple[str, ...]:
    """Return the names of all releases, oldest first."""
    return tuple(
        sorted(path.stem for path in directory.glob("r*.toml") if re.fullmatch(_FORM, path.stem))
    )


def known(name: object, directory: Path = DIRECTORY) -> bool:
    """Return whether a stack file may name this release: one of `names`, or the candidate."""
    return name in (*names(directory), CANDIDATE)


_OF_GKE = ("RAPID", "REGULAR", "STABLE", "EXTENDED")
_CHANNELS = (*(name.lower() for name in _OF_GKE), "patch", "node-image", "latest")
"""Words of clouds' channels."""


def unknown(value: object) -> Problem:
    """Return the problem of a value that names no release."""
    remedy = f"one of: {', '.join(names())}"
    if isinstance(value, str) and from_a_newer_program(value):
        what = f"{value} is newer than this program, whose newest release is {names()[-1]}"
        remedy = f"update the checkout (git pull, uv sync), or write {remedy}"
    elif isinstance(value, str) and repairs.is_placeholder(value):
        what = f"is {value!r}, which nothing replaces here"
        remedy += "; a workflow sets another by `pulumi config set kubeflow-spot:release NAME`"
    elif isinstance(value, str) and value.lower() in _CHANNELS:
        what = f"there is no release {value!r}: releases are this program's, no channel of a cloud"
        remedy = (
            f"write {' or '.join(reversed(names()))}, the newest first; no release moves by itself"
        )
        channel = f": {value.upper()}" if value.upper() in _OF_GKE else ""
        remedy += (
            f"; GKE's channel is `releaseChannel{channel}` under `cloud`, AKS' `upgrades.channel`"
        )
    elif isinstance(value, str | int | float):
        what = f"there is no release {value!r}"
        if (meant := f"r{value}") in names() or (meant := str(value).lower()) in names():
            remedy = f"did you mean {meant}? {remedy}"
        elif near := did_you_mean(str(value), names()):
            remedy = near + remedy
        elif re.fullmatch(r"v?\d\.\d+(\.\d+)?(-gke\.\d+)?", str(value)):
            what += ": releases are this program's, not Kubeflow's or Kubernetes'"
            each = (f"{name} (Kubernetes {_kubernetes(name)})" for name in reversed(names()))
            remedy = f"write {' or '.join(each)}; you install Kubeflow, see docs/kubeflow.md"
    else:
        what = f"is {type_in_words(value)}"
    return Problem("release", what, remedy)


def _kubernetes(name: str) -> str:
    try:
        return load(name).kubernetes_version
    except Refused:
        return "unknown"


def newer(name: str, other: str) -> bool:
    """Return whether a release came after another; the candidate comes after all."""
    return (name == CANDIDATE, name) > (other == CANDIDATE, other)


def from_a_newer_program(name: str) -> bool:
    """Return whether an unknown release looks later than all known ones."""
    return not known(name) and re.fullmatch(_FORM, name) is not None and newer(name, names()[-1])


@cache
def load(name: str, directory: Path = DIRECTORY) -> Release:
    """Return the release of that name.

    Raise KeyError for an unknown name, `Refused` for a changed or unreadable file.
    """
    if not known(name, directory):
        raise KeyError(name)
    file = f"{name}.toml"
    content = (directory / file).read_bytes()
    recorded = digests(directory).get(file)
    # By the record alone: a file that now says it is no release any more was changed as well.
    if recorded and recorded != hashlib.sha256(content).hexdigest():
        raise Refused(
            f"config/releases/{file} was changed after it was released: its digest differs from "
            "released.sha256",
            "put it back (git checkout), and write a new release instead",
        )
    problems: list[Problem] = []
    release = objects.read_object(
        {**_parsed(file, content), "name": name}, registry.release_model(), file, problems
    )
    if problems or release is None:
        raise Refused(
            f"config/releases/{file} cannot be used: {problems[0].path}: {problems[0].what}",
            problems[0].remedy,
        )
    if release.released and not recorded:
        raise Refused(
            f"config/releases/{file} says it is released, but released.sha256 has no digest of it",
            "record it as docs/operate.md says, or write `released = false`",
        )
    return release


def digests(directory: Path = DIRECTORY) -> dict[str, str]:
    """Return the recorded SHA-256 of each released file, by the file's name."""
    record = directory / "released.sha256"
    # A star before the name is what sha256sum writes on Windows.
    rows = re.findall(
        r"^([0-9a-f]{64}) [ *](\S+)$", record.read_text() if record.exists() else "", re.MULTILINE
    )
    return {file: digest for digest, file in rows}


def _parsed(file: str, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except ValueError as wrong:  # of TOML and of UTF-8
        raise Refused(f"config/releases/{file} is not TOML: {wrong}", "correct it") from None
