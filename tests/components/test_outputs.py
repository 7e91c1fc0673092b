"""Outputs of the component: the stack's own, registered with it."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format
from pulumi.runtime import mocks

from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program

SECRET = "4dabf18193072939515e22adb298388d"
"""Key by which the engine knows a secret on the wire (pulumi sdk/go/common/resource/sig)."""


@pytest.mark.parametrize("stack", ["dev", "staging"])
def test_the_component_registers_the_stacks_outputs_and_keeps_the_kubeconfig_secret(
    stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[dict[str, Any]] = []

    def record(self: mocks.MockMonitor, request: Any) -> Any:
        if request.urn.split("::")[2].endswith("kubeflow-spot:index:KubeflowCluster"):
            registered.append(json_format.MessageToDict(request.outputs))
        return register(self, request)

    register = mocks.MockMonitor.RegisterResourceOutputs
    monkeypatch.setattr(mocks.MockMonitor, "RegisterResourceOutputs", record)
    declared = declare(stack_config(PROJECT / f"Pulumi.{stack}.yaml"), monkeypatch)
    (outputs,) = registered
    assert outputs.keys() == declared.outputs.keys()
    assert [name for name, value in outputs.items() if isinstance(value, dict) and SECRET in value] == ["kubeconfig"]
    assert outputs["pools"] == declared.outputs["pools"]
    values = declared.outputs["kubeflowValues"]["metadata"]["annotations"]
    # One file holds the values of whichever stack wrote it last.
    whose = {key.rpartition("/")[2]: value for key, value in values.items() if key.startswith("kubeflow-spot.dev/")}
    named = {"stack": "test", "cluster": f"ml-{stack}", "kubernetes": declared.outputs["kubernetesVersion"]}
    assert whose == named
