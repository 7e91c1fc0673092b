"""What tests of several files are run on."""

from collections.abc import Iterator

import pytest

from tests.sandbox.stack import Stack
from tests.subjects import SUBJECTS, Subject


@pytest.fixture(scope="module", params=SUBJECTS.values(), ids=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """The stack under test, one after the other in each file."""
    found: Subject = request.param
    return found


@pytest.fixture(scope="module")
def stack(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """It, up in a sandbox of its own."""
    stack = Stack.copy(tmp_path_factory.mktemp("stack"), subject.name)
    stack.run("up")
    yield stack
    # A test that failed may have left it protected.
    stack.run("down", "--force")
