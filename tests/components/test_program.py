"""The program under Pulumi's mocks: what every checked-in stack declares."""

from pathlib import Path
from typing import Any

import pulumi
import pytest
from google.protobuf import json_format
from pulumi.runtime import mocks

from tests.components.pools import AKS_CLUSTER, AKS_POOL, cluster, pools
from tests.components.program import PROJECT, Cloud, Declared, declare, running, stack_config

pytestmark = pytest.mark.program

STACKS = sorted(PROJECT.glob("Pulumi.*.yaml"))


@pytest.fixture(scope="module", params=STACKS, ids=lambda path: path.name)
def stack(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def declared(stack: Path) -> Declared:
    return declare(stack_config(stack))


@pytest.fixture
def dev() -> dict[str, Any]:
    return stack_config(PROJECT / "Pulumi.dev.yaml")


@pytest.mark.parametrize(("now", "sent"), [(0, 0), (3, 3), (8, 8), (11, 8)])
def test_a_pool_is_sent_the_nodes_it_has_now_within_its_bounds(
    now: int, sent: int, dev: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = declare(dev, live=running(declare(dev, monkeypatch), t4=now, system=4))
    counts = {p.inputs["agentPoolName"]: p.inputs["count"] for p in declared.of(AKS_POOL).values()}
    assert counts == {"t4": sent, "t4od": 0, "general": 1}
    (cluster,) = declared.of(AKS_CLUSTER).values()
    assert [profile["count"] for profile in cluster.inputs["agentPoolProfiles"]] == [4]


def test_a_raised_minimum_raises_the_count_with_it(dev: dict[str, Any]) -> None:
    live = running(declare(dev))
    dev["kubeflow-spot:pools"][1]["minNodes"] = 2
    declared = declare(dev, live=live)
    (pool,) = (p.inputs for p in declared.of(AKS_POOL).values() if p.inputs["agentPoolName"] == "t4")
    assert (pool["count"], pool["minCount"]) == (2, 2)


def test_what_has_failed_is_asked_for_again_with_the_tags_of_the_stack(dev: dict[str, Any]) -> None:
    live = running(declare(dev))
    for profile in live:
        profile["provisioningState"] = "Failed" if profile["name"] == "t4" else "Succeeded"

    class InState(Cloud):
        def __init__(self, state: str) -> None:
            super().__init__(live)
            self._state = state

        def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
            own = {"provisioningState": self._state} if args.token.endswith(":getManagedCluster") else {}
            return super().call(args) | own

    own = dev["kubeflow-spot:cluster"]["tags"]
    for state, tags in (("Succeeded", own), ("Failed", own | {"kubeflow-spot-retried": "1"})):
        declared = declare(dev, cloud=InState(state))
        (cluster,) = (c.inputs for c in declared.of(AKS_CLUSTER).values())
        assert cluster["tags"] == tags
    pools = {p.inputs["agentPoolName"]: p.inputs["tags"] for p in declared.of(AKS_POOL).values()}
    assert pools == {"general": own, "t4": own | {"kubeflow-spot-retried": "1"}, "t4od": own}


def test_objects_in_the_cluster_follow_a_replaced_cluster_and_go_with_a_deleted_one(declared: Declared) -> None:
    (provider,) = declared.of("pulumi:providers:kubernetes").values()
    assert provider.inputs["clusterIdentifier"]
    parent = cluster(declared)
    inside = [r for r in declared.resources if r.type.startswith("kubernetes:")]
    assert inside
    for resource in inside:
        assert [urn.split("$")[-1] for urn in resource.options["replaceWith"]] == [f"{parent.type}::{parent.name}"]
        assert resource.options["deletedWith"].endswith(f"{parent.type}::{parent.name}")
        assert f"pulumi:providers:kubernetes::{provider.name}" in resource.options["provider"]


def test_outputs_name_the_release_and_every_pool_with_its_tolerations(declared: Declared, stack: Path) -> None:
    assert declared.outputs["release"] == stack_config(stack)["kubeflow-spot:release"]
    published = {pool["name"]: pool for pool in declared.outputs["pools"]}
    assert set(published) == set(pools(declared))
    for pool in published.values():
        for toleration, taint in zip(pool["tolerations"], pool["taints"], strict=True):
            assert (toleration["key"], toleration["effect"]) == (taint["key"], taint["effect"])
            assert toleration["operator"] == "Exists" or toleration["value"] == taint["value"]


@pytest.mark.parametrize(
    ("stack", "protect", "guarded"),
    [("dev", True, True), ("dev", None, False), ("prod", None, True), ("prod-eu", None, True), ("prod", False, False)],
)
def test_protect_reaches_the_cluster_and_its_resource_group_and_is_the_default_in_production(
    stack: str, protect: bool | None, guarded: bool, dev: dict[str, Any]
) -> None:
    dev["kubeflow-spot:cluster"].pop("protect", None)
    if protect is not None:
        dev["kubeflow-spot:cluster"]["protect"] = protect
    declared = declare(dev, stack=stack)
    protected = {r.type for r in declared.resources if r.options.get("protect")}
    assert protected == ({AKS_CLUSTER, "azure-native:resources:ResourceGroup"} if guarded else set())


@pytest.mark.parametrize(
    "text", ["[" * 2000 + "]" * 2000, '[{"maxNodes": ' + "9" * 4400 + "}]", '[{"name": "\\ud800"}]']
)
def test_settings_that_nothing_can_hold_are_a_problem_like_others(text: str, dev: dict[str, Any]) -> None:
    with pytest.raises(pulumi.RunError) as error:
        declare({**dev, "kubeflow-spot:pools": text})
    assert str(error.value).splitlines()[1].startswith("  pools")


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
    declared = declare(stack_config(PROJECT / f"Pulumi.{stack}.yaml"))
    (outputs,) = registered
    assert outputs.keys() == declared.outputs.keys()
    assert [name for name, value in outputs.items() if isinstance(value, dict) and SECRET in value] == ["kubeconfig"]
    assert outputs["pools"] == declared.outputs["pools"]
    values = declared.outputs["kubeflowValues"]["metadata"]["annotations"]
    # One file holds the values of whichever stack wrote it last.
    whose = {key.rpartition("/")[2]: value for key, value in values.items() if key.startswith("kubeflow-spot.dev/")}
    named = {"stack": "test", "cluster": f"ml-{stack}", "kubernetes": declared.outputs["kubernetesVersion"]}
    assert whose == named
