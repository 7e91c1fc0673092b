"""One control plane for all tests of admission."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.admission.bed import Bed, standing


@pytest.fixture(scope="session")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """The dev stack's cluster, Kubernetes 1.36. Whoever makes pods or nodes takes them away again."""
    with standing(tmp_path_factory.mktemp("bed"), "1.36") as bed:
        yield bed
