"""A control plane with a stack's nodes and the objects that the unmodified program declares; no engine, no autoscaler.

The program runs under Pulumi's mocks, with the emulated cloud behind them. That cloud starts a real control plane for the
cluster, and creates the nodes of its pools. The Kubernetes objects are applied afterwards as the sandbox's provider does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_provider import AzureProvider
from sandbox.cloud.cluster_runtime import Endpoint, Provisioner
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.start import start
from sandbox.cluster.plugins import install
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_provider import GcpProvider
from sandbox.kubernetes.client import Client
from sandbox.tests import tally
from sandbox.tests.api import Api, Object
from sandbox.tests.policies_in_force import await_policies
from sandbox.tests.stack import eventually
from sandbox.tests.subjects import DEV, Subject, Words
from sandbox.toolchain.programs import ensure
from tests.admission.rights import OPERATORS, cluster_role
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.program import PROJECT, Declared, declare, stack_config

RELEASES = {"1.36": "r2026-11", "1.35": "r2026-09"}
PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok")

_RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
_MESH = {"control-plane": "kubeflow", "istio-injection": "enabled", **_RESTRICTED}
KATIB = {"katib.kubeflow.org/metrics-collector-injection": "enabled"}
"""Labels of namespaces whose pods pass Katib's webhook (kubeflow/manifests 26.03, applications/katib)."""
# kubeflow/manifests 26.03, applications/profiles/pss/namespace-labels.yaml and kubeflow/kubeflow v1.10.0, profile_controller.go.
_PROFILE = {
    "app.kubernetes.io/part-of": "kubeflow-profile",
    "istio-injection": "enabled",
    "serving.kubeflow.org/inferenceservice": "enabled",
    "pipelines.kubeflow.org/enabled": "true",
    "pod-security.kubernetes.io/enforce": "baseline",
}
_PLACEMENT = "kubeflow-spot.dev/placement"
NAMESPACES: Mapping[str, Mapping[str, str]] = {
    "team-a": _PROFILE | KATIB,
    # The ConfigMap namespace-labels-data may remove a profile's labels.
    "team-b": _PROFILE,
    "team-prefer-spot": _PROFILE | {_PLACEMENT: "prefer-spot"},
    "team-on-demand": _PROFILE | {_PLACEMENT: "on-demand"},
    "kubeflow": _MESH,
    "kubeflow-system": _MESH,
    "istio-system": {"istio-operator-managed": "Reconcile", "istio-injection": "disabled", **_RESTRICTED},
    "knative-serving": {"app.kubernetes.io/name": "knative-serving", "istio-injection": "enabled", **_RESTRICTED},
    "cert-manager": {"app.kubernetes.io/name": "cert-manager", **_RESTRICTED},
    "auth": _RESTRICTED,
    "oauth2-proxy": _RESTRICTED,
    "gpu-agents": {},
    # No policy of the program selects these namespaces: their pods stay unchanged.
    "unmatched": {},
    "unmatched-katib": KATIB,
}
"""Labels of profiles, of the platform's namespaces of Kubeflow 26.03, and of other namespaces."""


class _Cluster:
    """The cluster of the emulated cloud (its `ClusterRuntime`): a control plane, and nodes that have their GPUs at once.

    On a real node, and in the sandbox, the device plugin's pod reports the GPUs; admission and scheduling do not depend on
    that.
    """

    def __init__(self, directory: Path, cloud: str) -> None:
        self._directory, self._cloud = directory, cloud
        self.plane: ControlPlane | None = None

    def start(
        self, cluster_id: str, name: str, version: str, service_cidr: str, provisioner: Provisioner | None = None
    ) -> None:
        self.plane = ControlPlane(self._directory / name, version=version, cloud=self._cloud, service_cidr=service_cidr)
        start(self.plane, ensure(PROGRAMS, print), tally.report)
        if self._cloud == "gcp":
            install("gcp", self.plane.admin_kubeconfig, version)

    def stop(self, cluster_id: str) -> None:
        if self.plane:
            self.plane.stop()

    def user_kubeconfig(self, cluster_id: str) -> str:
        assert self.plane
        return self.plane.user_kubeconfig()

    def endpoint(self, cluster_id: str) -> Endpoint:
        assert self.plane
        return Endpoint(self.plane.address(), self.plane.authority())

    def apply_nodes(self, cluster_id: str, nodes: list[Object]) -> None:
        assert self.plane
        api = Api(self.plane)
        wanted = {node["metadata"]["name"]: node for node in nodes}
        present = {node["metadata"]["name"]: node for node in api.list("v1", "Node")}
        for name in present.keys() - wanted.keys():
            api.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        for name in wanted.keys() - present.keys():
            node = wanted[name]
            # All GPU machines of the stacks have one.
            gpus = {"nvidia.com/gpu": "1"} if "kubeflow-spot.dev/accelerator" in node["metadata"]["labels"] else {}
            resources = {key: node["status"][key] | gpus for key in ("capacity", "allocatable")}
            api.create({**node, "status": {}})
            api.patch(node, {"status": node["status"] | resources}, "/status")
        eventually(lambda: all(map(_usable, api.list("v1", "Node"))), "every node is ready")
        api.close()


def _usable(node: Object) -> bool:
    """Return whether a node is ready, without the taints of a joining node."""
    taints = node["spec"].get("taints", [])
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
    return ready and not any(taint["key"].startswith("node.kubernetes.io/") for taint in taints)


class Bed:
    """A stack's cluster. `declared` are all resources of the program."""

    def __init__(self, plane: ControlPlane, declared: Declared, cloud: AzureCloud | GcpCloud, subject: Subject) -> None:
        self.plane, self.declared, self.cloud, self.subject = plane, declared, cloud, subject
        self.words = Words(subject)
        self.api = Api(plane, self.words)
        self.objects = inside(declared)
        """The stack's objects inside the cluster."""

    def scale(self, **pools: int) -> None:
        """Set the numbers of nodes of pools, as the autoscaler would; return when the nodes are usable."""
        for pool, count in pools.items():
            self.cloud.scale(self.subject.cluster, self.words.write(pool), count)

    @contextmanager
    def scaled(self, **pools: int) -> Iterator[None]:
        """Give these pools, which have no nodes otherwise, so many nodes for a while."""
        self.scale(**pools)
        try:
            yield
        finally:
            self.scale(**dict.fromkeys(pools, 0))

    def pools(self) -> dict[str, str]:
        """Return the pool of each node, by the name of the node."""
        nodes = self.api.list("v1", "Node")
        return {node["metadata"]["name"]: node["metadata"]["labels"]["kubeflow-spot.dev/pool"] for node in nodes}

    def furnish(self) -> None:
        """Create the namespaces, let service accounts create pods, and apply the program's objects."""
        for name, labels in NAMESPACES.items():
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
            if labels.items() >= _PROFILE.items():
                editor = {"name": "default-editor", "namespace": name}
                self.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": editor})
        # The rights of Kubeflow's controllers are not tested here: every service account may create pods.
        for body in (*cluster_role("system:serviceaccounts", ("", "pods", "create"), kind="Group"), *OPERATORS):
            self.api.create(body)
        self._put(self.objects)

    @contextmanager
    def otherwise(self, directory: Path, **settings: Any) -> Iterator[None]:
        """Put the stack with these further top keys in force; its former objects come back afterwards."""
        stack = _settings(self.subject, "1.36", settings)
        with pytest.MonkeyPatch.context() as monkeypatch:
            declared = declare(stack, monkeypatch, cloud=_emulated(stack, directory))
        # Karpenter brings its own kinds, which admit no pods.
        objects = [body for body in inside(declared) if not body["apiVersion"].startswith("karpenter.")]
        assert objects != self.objects
        try:
            self._put(objects)
            yield
        finally:
            self.restore(objects)

    def restore(self, objects: Sequence[Object] = ()) -> None:
        """Restore the stack's objects as declared, and delete `others`."""
        kept = {_name(body) for body in self.objects}
        for body in objects:
            if _name(body) not in kept:
                self.api.delete(body)
        self._put(self.objects)

    def _put(self, objects: Sequence[Object]) -> None:
        client = Client(self.plane.admin_kubeconfig)
        for body in objects:
            client.apply(body, "pulumi", force=True)
        client.close()
        await_policies(self.api)


@contextmanager
def standing(directory: Path, version: str = "1.36", subject: Subject = DEV, **settings: Any) -> Iterator[Bed]:
    """Yield a stack's cluster in a folder, of a Kubernetes version; `settings` are top keys of the stack file."""
    stack = _settings(subject, version, settings)
    runtime = _Cluster(directory, stack["kubeflow-spot:cloud"]["provider"])
    emulated = _emulated(stack, directory)
    cloud: AzureCloud | GcpCloud
    if isinstance(emulated, EmulatedAzure):
        cloud = AzureCloud(directory / "azure.json", runtime)
        emulated.provider = AzureProvider(cloud)
        emulated.provider.configure({"location": stack["kubeflow-spot:cloud"]["location"]})
    else:
        cloud = GcpCloud(directory / "gcp.json", runtime)
        emulated.provider = GcpProvider(cloud)
    try:
        with pytest.MonkeyPatch.context() as monkeypatch:
            declared = declare(stack, monkeypatch, cloud=emulated)
        assert runtime.plane
        bed = Bed(runtime.plane, declared, cloud, subject)
        bed.furnish()
        yield bed
    finally:
        runtime.stop("")


def _settings(subject: Subject, version: str, top: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stack file's settings on the release of a Kubernetes version, with further top keys."""
    stack = stack_config(PROJECT / f"Pulumi.{subject.name}.yaml") | {"kubeflow-spot:release": RELEASES[version]}
    for step in (each for pool in stack["kubeflow-spot:pools"] for each in pool.get("fallback", ())):
        step.update({"onDemand": {"maxNodes": 2}} if "onDemand" in step else {})  # gangs of three do not fit
    return stack | {f"kubeflow-spot:{key}": value for key, value in top.items()}


def _emulated(stack: Mapping[str, Any], directory: Path) -> EmulatedAzure | EmulatedGoogle:
    """Return the cloud of a stack file's settings; its clusters run nowhere."""
    settled = stack["kubeflow-spot:cloud"]
    if settled["provider"] == "azure":
        return EmulatedAzure(directory / "unused.json", settled["location"])
    return EmulatedGoogle(directory / "unused.json")


def inside(declared: Declared) -> list[Object]:
    """Return the objects that the program declares inside the cluster."""
    return [integers(r.inputs) for r in declared.resources if r.type.startswith("kubernetes:")]


def _name(body: Object) -> tuple[str, str, str]:
    return body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]


def integers(inputs: Object) -> Object:
    """Return inputs with whole numbers as integers: between Pulumi and its mocks every number is a float."""
    plain: Object = json.loads(json.dumps(inputs), parse_float=lambda text: int(float(text)))
    return plain
