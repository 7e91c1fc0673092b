"""Pods of a profile at a real API server: which ones Karpenter is told to leave alone."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from components.layer.policies import Mutating
from components.layer.scheduling import defaults, kept_pods
from components.resources import wire
from config.clouds.azure.azure_traits import Aks
from config.placement import node_pools
from config.stack_file import loader
from sandbox.cluster.control_plane import ControlPlane
from sandbox.tests.api import Api
from sandbox.tests.policies_in_force import await_policies
from sandbox.tests.stack import eventually
from tests.config.stack_files import CONFIGS, settings

pytestmark = pytest.mark.engine

TEAM = "kept-team"
SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}
DAEMON_SETS = "system:serviceaccount:kube-system:daemon-set-controller"


def bodies(pair: Mutating) -> list[Any]:
    return [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"MutatingAdmissionPolicy{ending}", **wire(body)}
        for ending, body in zip(("", "Binding"), pair, strict=True)
    ]


@pytest.fixture(scope="module")
def api(api_server: ControlPlane) -> Iterator[Api]:
    api, aks = Api(api_server), Aks()
    spec, _ = loader.read_stack(settings(CONFIGS / "node-provisioning.happy.yaml"))
    assert spec
    pools = node_pools.node_pools(spec, aks)
    also = kept_pods.unless_on_spot(aks)
    objects = [
        *bodies(defaults.policy(spec.scheduling, pools, 25, "kept", also=also)),
        *bodies(kept_pods.policy(spec.scheduling, aks, "kept")),
    ]
    for body in objects[::2]:
        # The API server checks the types of expressions, and refuses a mistake here.
        assert api.warnings(body) == []
    labels = {"app.kubernetes.io/part-of": "kubeflow-profile"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": labels}}
    with api.created(namespace, *objects):
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": TEAM}}
        eventually(partial(api.exists, account), "the namespace has its service account")
        await_policies(api)
        yield api
    api.close()


def kept(api: Api, spec: dict[str, Any], user: str | None = None, **metadata: Any) -> bool | str:
    """Return whether a pod is marked; the annotation's value where it is another one."""
    container = {"name": "main", "image": "example.com/image:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "pod-", "namespace": TEAM, **metadata},
        "spec": {"containers": [container], **spec},
    }
    annotations = api.create(pod, dry_run=True, user=user)["metadata"].get("annotations") or {}
    value = annotations.get(kept_pods.DO_NOT_DISRUPT)
    return value == "true" if value in (None, "true") else str(value)


ENDS = {"restartPolicy": "Never"}
TOLERANT = {"tolerations": [SPOT]}


def placed(placement: str) -> dict[str, Any]:
    return {"labels": {"kubeflow-spot.dev/placement": placement}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], bool | str]] = {
    "a notebook": ({}, {"labels": {"notebook-name": "a"}}, True),
    "a server that tolerates spot": (TOLERANT, {}, False),
    "a server with other tolerations": ({"tolerations": [{"key": "team", "operator": "Exists"}]}, {}, True),
    "a server with another annotation": ({}, {"annotations": {"a": "b"}}, True),
    "a server that says otherwise": ({}, {"annotations": {kept_pods.DO_NOT_DISRUPT: "false"}}, "false"),
    "work that prefers spot": (ENDS, placed("prefer-spot"), False),
    "work that requires spot": (ENDS, placed("require-spot"), False),
    "work on demand": (ENDS, placed("on-demand"), True),
    "work without a placement that tolerates spot": ({**ENDS, **TOLERANT}, placed("none"), False),
    "work without a placement": (ENDS, placed("none"), True),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pods_that_may_not_run_on_spot_are_kept(api: Api, case: tuple[Any, Any, bool | str]) -> None:
    spec, metadata, wanted = case
    assert kept(api, spec, **metadata) == wanted


def test_a_pod_of_a_daemon_set_is_not(api: Api) -> None:
    assert kept(api, {}, user=DAEMON_SETS) is False
