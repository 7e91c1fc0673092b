"""The example of a GPU pool for one team, at a real API server."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import yaml

from sandbox.cluster.control_plane import ControlPlane
from sandbox.tests.api import Api, Refused
from sandbox.tests.policies_in_force import await_policies
from sandbox.tests.stack import PROJECT, eventually

pytestmark = pytest.mark.engine

OWN = {"key": "example.com/team", "operator": "Exists"}
OTHER = {"key": "example.com/other", "operator": "Exists"}


@pytest.fixture(scope="module")
def api(api_server: ControlPlane) -> Iterator[Api]:
    api = Api(api_server)
    policies = list(yaml.safe_load_all((PROJECT / "examples" / "teams" / "own-pool.yaml").read_text()))
    for body in policies[::2]:
        assert api.warnings(body) == []
    labels = {"app.kubernetes.io/part-of": "kubeflow-profile"}
    names = ("vision", "speech")
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n, "labels": labels}} for n in names]
    with api.created(*spaces, *policies):
        for name in names:
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
            eventually(partial(api.exists, account), "the namespace has its service account")
        await_policies(api)
        yield api
    api.close()


def tolerated(api: Api, namespace: str, *tolerations: Any, gpus: int = 1) -> list[str]:
    """Return the keys of taints of ours that a new pod tolerates. Raises Refused."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {"cpu": "1"}
    container = {"name": "main", "image": "example.com/image:1", "resources": {"limits": limits}}
    spec = {"containers": [container], **({"tolerations": list(tolerations)} if tolerations else {})}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": namespace}, "spec": spec}
    made = api.create(body, dry_run=True)
    keys = [each.get("key", "") for each in made["spec"].get("tolerations", [])]
    return [key for key in keys if key.startswith("example.com/")]


def test_the_teams_gpu_pods_get_the_toleration_once_beside_their_own(api: Api) -> None:
    assert tolerated(api, "vision") == [OWN["key"]]
    assert tolerated(api, "vision", OTHER) == [OTHER["key"], OWN["key"]]
    assert tolerated(api, "vision", OWN) == [OWN["key"]]
    assert tolerated(api, "vision", gpus=0) == []


def test_another_teams_pod_may_not_have_it(api: Api) -> None:
    assert tolerated(api, "speech", OTHER) == [OTHER["key"]]
    for toleration in (OWN, {"operator": "Exists"}, {**OWN, "operator": "Equal", "value": "vision"}):
        with pytest.raises(Refused, match="is team vision's: remove the toleration"):
            tolerated(api, "speech", toleration)
