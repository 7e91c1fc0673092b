"""A third cloud is a folder and one line of `components.clouds`."""

from __future__ import annotations

import pytest

from components import clouds
from tests.components.program import declare
from tests.components.test_any_cluster import THEIRS

pytestmark = pytest.mark.program


def test_the_layer_and_the_outputs_follow_a_cloud_that_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    # A stack file of the one cloud that has no resources; its line names the toy instead.
    monkeypatch.setitem(clouds.MODULES, "existing", "tests.components.toy")
    declared = declare(THEIRS, monkeypatch)
    (cluster,) = declared.of("toy:index:Cluster").values()
    assert cluster.inputs["pools"] == [pool["name"] for pool in declared.outputs["pools"]]
    guards = declared.of("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy").values()
    assert guards
    assert all(guard.options["deletedWith"].endswith("toy:index:Cluster::" + cluster.name) for guard in guards)
    assert declared.outputs["fallbackOrder"] == "not guaranteed: toys are drawn by lot"
    assert declared.outputs["remembered"]["place"] == {"clusterName": declared.outputs["clusterName"]}
    assert declared.secret == {"kubeconfig"}
