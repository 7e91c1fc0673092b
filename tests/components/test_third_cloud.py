"""A third cloud is a folder and one line of `components.clouds`: a drawn one declares one resource, and has a kubeconfig."""

from collections.abc import Mapping

import pulumi
import pytest

from components import clouds
from components.target import CloudCluster, Stack, Target
from config.clouds import registry
from config.model.fields import Reference
from config.placement.node_pools import NodePool
from tests.components.program import declare
from tests.config.test_third_cloud import STACK

pytestmark = pytest.mark.program


def test_the_layer_and_the_outputs_follow_a_cloud_that_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "CLOUDS", (*registry.CLOUDS, "tests.config.toy"))
    monkeypatch.setitem(clouds.TARGETS, "toy", "tests.components.test_third_cloud:ToyTarget")
    declared = declare({f"kubeflow-spot:{key}": value for key, value in STACK.items()})
    (cluster,) = declared.of("toy:index:Cluster").values()
    assert cluster.inputs["pools"] == ["general", "training", "trainingod"]
    (plugin,) = declared.of("kubernetes:apps/v1:DaemonSet").values()
    tolerated = {toleration["key"] for toleration in plugin.inputs["spec"]["template"]["spec"]["tolerations"]}
    assert "toy.example/lent" in tolerated
    guards = declared.of("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy").values()
    assert guards
    assert all(guard.options["deletedWith"].endswith("toy:index:Cluster::" + cluster.name) for guard in guards)
    assert declared.outputs["systemPool"]["machine"] == "toy-cpu"
    assert declared.outputs["fallbackOrder"] == "not guaranteed: toys are drawn by lot"
    assert declared.outputs["remembered"]["place"] == {"clusterName": "playroom"}
    assert declared.secret == {"kubeconfig"}


def test_every_cloud_of_a_stack_file_has_a_target() -> None:
    assert clouds.TARGETS.keys() == {cloud.provider for cloud in registry.registrations()}


class ToyCluster(CloudCluster):
    def __init__(self, name: str, stack: Stack, *, opts: pulumi.ResourceOptions) -> None:
        super().__init__("kubeflow-spot:toy:ToyCluster", name, None, opts)
        pools = [pool.name for pool in stack.node_pools]
        child = pulumi.ResourceOptions(parent=self)
        self.new_cluster = pulumi.CustomResource("toy:index:Cluster", name, {"pools": pools}, child)
        self.outputs = {"clusterName": stack.spec.name}
        self.kubeconfig = pulumi.Output.secret("apiVersion: v1")
        self.register_outputs({})


class ToyTarget(Target):
    key = "cloud"
    not_by_priority = "toys are drawn by lot"

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        self._stack = stack
        self.place = {"clusterName": Reference(stack.spec.name)}

    def read_cluster(self) -> None: ...

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> ToyCluster:
        return ToyCluster(name, self._stack, opts=opts)

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        return {}
