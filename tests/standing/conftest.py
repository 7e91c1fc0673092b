"""A stack that stays up for all tests of this folder."""

from collections.abc import Iterator

import pytest

from sandbox.tests.stack import Standing
from sandbox.tests.subjects import Subject


@pytest.fixture(scope="package")
def standing(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """Yield the stack in a sandbox of its own, shared by the tests of all files."""
    stack = Standing.copy(tmp_path_factory.mktemp("stack"), subject.name)
    yield stack
    # A test that failed may have left it protected.
    stack.run("down", "--force")


@pytest.fixture
def stack(standing: Standing, subject: Subject) -> Standing:
    """Return the stack, up as its file is checked in. A test may leave it changed."""
    standing.settle(subject.at_first)
    return standing
