"""A control plane for tests that need only an API server and the controllers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.cluster.control_plane import ControlPlane
from tests import planes


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster without a cloud. A test deletes the objects that it creates."""
    with planes.running(tmp_path_factory.mktemp("api-server") / "there") as plane:
        yield plane
