"""A third cloud is a folder and one line of `components.clouds`."""

from __future__ import annotations

import pytest

from components import clouds
from config.clouds import registry
from tests.components.program import declare
from tests.config.test_third_cloud import STACK

pytestmark = pytest.mark.program


def test_the_layer_and_the_outputs_follow_a_cloud_that_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "CLOUDS", (*registry.CLOUDS, "tests.config.toy"))
    monkeypatch.setitem(clouds.TARGETS, "toy", "tests.components.toy:ToyTarget")
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
