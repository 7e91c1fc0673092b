"""What tests of several files are run on."""

import pytest

from tests.subjects import SUBJECTS, Subject


@pytest.fixture(scope="module", params=SUBJECTS.values(), ids=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """The stack under test, one after the other in each file."""
    found: Subject = request.param
    return found
