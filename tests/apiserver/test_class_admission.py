"""Pods that a real API server sends to the ComputeClass: before admission, and after the policy."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from components.layer.autoscaler import compute_class
from components.layer.autoscaler.compute_class import ComputeClassPlan
from components.resources import wire
from config.clouds.gcp.gcp_traits import Gke
from config.clouds.traits import PoolClass
from config.placement import node_pools
from config.stack_file import loader
from sandbox.cluster.control_plane import ControlPlane
from sandbox.tests.api import Api
from sandbox.tests.policies_in_force import await_policies
from sandbox.tests.stack import eventually
from tests.admission.additions import requiring
from tests.components.google import WITH_TWIN, stack

pytestmark = pytest.mark.engine

KEY, NAME = "cloud.google.com/compute-class", "kubeflow-spot"
POOL, NODE_POOL = "kubeflow-spot.dev/pool", "cloud.google.com/gke-nodepool"
TOLERATION = {"key": KEY, "operator": "Equal", "value": NAME, "effect": "NoSchedule"}
DAEMON_SETS = "system:serviceaccount:kube-system:daemon-set-controller"


@pytest.fixture(scope="module")
def api(api_server: ControlPlane) -> Iterator[Api]:
    api = Api(api_server)
    settings = {key.removeprefix("kubeflow-spot:"): value for key, value in stack(WITH_TWIN).items()}
    spec, _ = loader.read_stack(settings)
    assert spec
    members = [pool for pool in node_pools.node_pools(spec, Gke()) if pool.gpus]
    pair = compute_class.policy(ComputeClassPlan(PoolClass(KEY, NAME), tuple(members), by_default=True), "test")
    policy, binding = (
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"MutatingAdmissionPolicy{ending}", **wire(body)}
        for ending, body in zip(("", "Binding"), pair, strict=True)
    )
    # The API server checks the types of expressions, and refuses a mistake here.
    assert api.warnings(policy) == []
    with api.created(policy, binding):
        for namespace in ("default", "kube-system"):
            account = {"name": "default", "namespace": namespace}
            wanted = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}
            eventually(partial(api.exists, wanted), f"{namespace} has its service account")
        await_policies(api)
        yield api
    api.close()


def admitted(api: Api, spec: dict[str, Any], *, gpus: str | None = "1", namespace: str = "default", **who: Any) -> Any:
    """Return the spec of a pod after admission."""
    container: dict[str, Any] = {"name": "main", "image": "example.com/image:1"}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": namespace},
        "spec": {"containers": [container], **spec},
    }
    return {"nodeSelector": {}, **api.create(pod, dry_run=True, **who)["spec"]}


SENT: dict[str, dict[str, Any]] = {
    "plain": {},
    "with-a-selector": {"nodeSelector": {"disk": "fast"}},
    "with-a-member": {"nodeSelector": {POOL: "l4"}},
    "with-affinity-to-members": requiring({"key": POOL, "operator": "In", "values": ["l4", "l4od"]}),
    "with-affinity-to-spot": requiring({"key": "kubeflow-spot.dev/capacity", "operator": "In", "values": ["spot"]}),
    "with-tolerations": {"tolerations": [{"key": "a", "operator": "Exists"}]},
    "by-an-init-container": {
        "containers": [{"name": "main", "image": "example.com/image:1"}],
        "initContainers": [
            {"name": "first", "image": "example.com/image:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        ],
    },
}
LEFT: dict[str, dict[str, Any]] = {
    "with-another-class": {"nodeSelector": {KEY: "other"}},
    "with-a-pool-of-gke": {"nodeSelector": {NODE_POOL: "default-pool"}},
    "with-a-pool-outside": {"nodeSelector": {POOL: "own"}},
    "with-affinity-to-a-class": requiring({"key": KEY, "operator": "Exists"}),
    "with-affinity-to-a-pool-of-gke": requiring({"key": NODE_POOL, "operator": "In", "values": ["a"]}),
    "with-affinity-beyond-members": requiring({"key": POOL, "operator": "In", "values": ["l4", "own"]}),
    "with-affinity-off-a-member": requiring({"key": POOL, "operator": "NotIn", "values": ["l4"]}),
    "with-a-node": {"nodeName": "node-1"},
}


@pytest.mark.parametrize("spec", SENT.values(), ids=SENT)
def test_a_pod_with_a_gpu_that_has_not_chosen_is_sent_to_the_class(spec: dict[str, Any], api: Api) -> None:
    spec_after = admitted(api, spec)
    assert spec_after["nodeSelector"] == {**spec.get("nodeSelector", {}), KEY: NAME}
    assert spec_after["tolerations"].count(TOLERATION) == 1
    for given in spec.get("tolerations", []):
        assert given in spec_after["tolerations"]


@pytest.mark.parametrize("spec", LEFT.values(), ids=LEFT)
def test_a_pod_that_has_chosen_is_unchanged(spec: dict[str, Any], api: Api) -> None:
    spec_after = admitted(api, spec)
    assert spec_after["nodeSelector"] == spec.get("nodeSelector", {})
    assert KEY not in [toleration.get("key") for toleration in spec_after["tolerations"]]


def test_a_pod_without_gpus_is_unchanged(api: Api) -> None:
    assert admitted(api, {}, gpus=None)["nodeSelector"] == {}


def test_pods_of_kube_system_and_of_daemon_sets_are_unchanged(api: Api) -> None:
    assert admitted(api, {}, namespace="kube-system")["nodeSelector"] == {}
    groups = ("system:masters",)
    assert admitted(api, {}, user=DAEMON_SETS, groups=groups)["nodeSelector"] == {}
    assert admitted(api, {}, user="system:serviceaccount:default:user", groups=groups)["nodeSelector"] == {KEY: NAME}


def test_an_existing_toleration_of_the_class_is_not_added_again(api: Api) -> None:
    spec_after = admitted(api, {"tolerations": [{"key": KEY, "operator": "Exists"}]})
    assert [toleration for toleration in spec_after["tolerations"] if toleration.get("key") == KEY] == [
        {"key": KEY, "operator": "Exists"}
    ]
