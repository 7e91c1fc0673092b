"""A control plane for tests that need only an API server and the controllers."""

from collections.abc import Iterator

import pytest

from drill.world import argo
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.client import Client
from sandbox.tests import planes
from tests.apiserver.playing import running
from tests.apiserver.steps import Steps


@pytest.fixture(scope="package")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Yield a cluster without a cloud. A test deletes the objects that it creates."""
    with planes.running(tmp_path_factory.mktemp("api-server") / "there") as plane:
        yield plane


@pytest.fixture(scope="package")
def argo_client(api_server: ControlPlane) -> Iterator[Client]:
    client = Client(api_server.admin_kubeconfig)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": argo.NAMESPACE}}
    client.apply(namespace, "tests", force=True)
    yield client
    for body in argo.definitions(print):
        client.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])
    client.delete("v1", "Namespace", argo.NAMESPACE)
    client.close()


@pytest.fixture(scope="package")
def controller(api_server: ControlPlane, argo_client: Client, request: pytest.FixtureRequest) -> Iterator[Steps]:
    """Run Argo's controller with these workflow defaults, or none; it ends with all Workflows of its tests."""
    with running(api_server, argo_client, request.param):
        yield Steps(argo_client)
