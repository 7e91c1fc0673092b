"""One control plane a stack for all tests of admission."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.admission.bed import Bed, standing
from tests.subjects import Subject


@pytest.fixture(scope="session")
def bed(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """The stack's cluster, Kubernetes 1.36. A test deletes the pods and nodes that it creates."""
    with standing(tmp_path_factory.mktemp("bed"), "1.36", subject) as bed:
        yield bed
