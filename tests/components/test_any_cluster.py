"""The layer in any Kubernetes cluster, which only a kubeconfig or another stack's output describes."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.existing import existing_credentials
from config.clouds.existing.existing_settings import Existing
from tests.components.features import with_
from tests.components.program import PROJECT, declare, kubeconfig_of, stack_config

pytestmark = pytest.mark.program

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
LAYER = ("kubernetes:admissionregistration.k8s.io", "kubernetes:rbac", "kubernetes:core/v1:ConfigMap")
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SECRET = "kubernetes:core/v1:Secret"
PROVIDER = "pulumi:providers:kubernetes"

EXISTING = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cloud": {"provider": "existing", "name": "on-premises", "kubeconfig": {"stack": "org/infra/lab"}},
    "kubeflow-spot:pools": [
        {"name": "t4", "machine": "rack-1", "maxNodes": 4, "gpus": 1, "gpuModel": "nvidia-t4"},
        {"name": "cpu", "machine": "rack-2", "maxNodes": 4, "gpus": 0},
    ],
}
KUBECONFIG = kubeconfig_of("https://lab", token="token-of-me")


class Stacks(pulumi.runtime.Mocks):
    """The outputs of another stack and those of this one's last update, and no cloud."""

    def __init__(self, own: dict[str, Any] | None = None) -> None:
        self.own = own or {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return args.name, dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        assert args.token == "pulumi:pulumi:readStackOutputs"
        outputs = {"org/infra/lab": {"kubeconfig": KUBECONFIG}}
        return {"outputs": outputs.get(args.args["name"], self.own)}, []


@pytest.mark.usefixtures("contents")
def test_a_renamed_stack_declares_the_same_objects() -> None:
    before = declare(EXISTING, cloud=Stacks(), stack="before")
    after = declare(EXISTING, cloud=Stacks(before.outputs), stack="after")
    own = [
        {(r.type, r.name): r.inputs for r in run.resources if "pulumi:Stack" not in r.type} for run in (before, after)
    ]
    assert own[0] == own[1]
    assert after.outputs == before.outputs
    assert after.outputs["contract"]["name"] == "kubeflow-spot-before"


@pytest.mark.usefixtures("contents")
def test_labels_of_profiles_reach_every_policy_for_profiles_and_the_contract() -> None:
    kubeflow = {"app.kubernetes.io/part-of": "kubeflow-profile"}
    guard = {"deviceClasses": ["gpu.nvidia.com"]}
    policies = "kubernetes:admissionregistration.k8s.io/v1:{}AdmissionPolicy"
    for labels in ({}, {"team": "a"}):
        settings = with_(EXISTING, scheduling={"guard": guard, **({"profileLabels": labels} if labels else {})})
        declared = declare(settings, cloud=Stacks())
        found = [declared.of(policies.format(kind)).values() for kind in ("Validating", "Mutating")]
        constraints = [
            policy.inputs["spec"]["matchConstraints"]["namespaceSelector"] for kind in found for policy in kind
        ]
        assert [one["matchLabels"] for one in constraints if "matchLabels" in one] == [kubeflow | labels] * 7
        (contract,) = declared.of(CONFIG_MAP).values()
        assert json.loads(contract.inputs["data"]["guard.json"])["profileLabels"] == labels


@pytest.mark.usefixtures("contents")
def test_another_name_for_the_cluster_is_refused() -> None:
    before = declare(EXISTING, cloud=Stacks())
    renamed = with_(EXISTING, cloud={**EXISTING["kubeflow-spot:cloud"], "name": "basement"})
    with pytest.raises(pulumi.RunError, match=r"cloud\.name: is on-premises and cannot become basement"):
        declare(renamed, cloud=Stacks(before.outputs))
    assert declare(renamed, cloud=Stacks()).outputs["clusterName"] == "basement"


def test_objects_of_another_stack_of_the_same_name_are_told(
    contents: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    labels = {"app.kubernetes.io/part-of": "kubeflow-spot", "app.kubernetes.io/instance": "test"}
    contents["contracts"] = ({"metadata": {"name": "kubeflow-spot-test", "labels": labels}},)
    told = "the cluster has objects of a stack 'test' already"
    first = declare(EXISTING, cloud=Stacks())
    assert told in caplog.text
    caplog.clear()
    declare(EXISTING, cloud=Stacks(first.outputs))
    assert told not in caplog.text


def test_a_tilde_is_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text(KUBECONFIG)
    monkeypatch.setenv("HOME", str(tmp_path))
    cloud = {"provider": "existing", "name": "lab", "kubeconfig": {"file": "~/config"}}
    assert yaml.safe_load(existing_credentials.kubeconfig(Existing.model_validate(cloud)))["current-context"] == "lab"


def test_in_any_cluster_only_the_layer_is_declared_and_the_outputs_say_which_labels_nodes_need(
    contents: dict[str, Any],
) -> None:
    login = {"name": "acr-auth", "server": "example.azurecr.io", "username": "puller", "password": "correct horse"}
    declared = declare(with_(EXISTING, imagePullSecrets=[login]), cloud=Stacks())
    prefixes = ("kubeflow-spot:", "pulumi:pulumi:")
    types = {r.type for r in declared.resources if not r.type.startswith((*prefixes, *LAYER))}
    assert types == {PROVIDER, DAEMON_SET, SECRET}
    assert declared.secret == {"kubeconfig"}
    assert yaml.safe_load(declared.outputs["kubeconfig"])["users"][0]["user"] == {"token": "token-of-me"}
    assert declared.outputs["clusterName"] == "on-premises"
    assert "resourceGroup" not in declared.outputs
    pools = {pool["name"]: pool for pool in declared.outputs["pools"]}
    assert pools["t4"]["labels"] == {
        "kubeflow-spot.dev/accelerator": "nvidia-t4",
        "kubeflow-spot.dev/capacity": "on-demand",
        "kubeflow-spot.dev/pool": "t4",
    }
    assert declared.outputs["devicePlugin"] == {"pools": ["t4"], "leftTo": []}
    assert declared.outputs["fallbackOrder"].startswith(
        "not guaranteed: how the cluster's autoscaler chooses is not known"
    )
    for resource in declared.resources:
        assert "deletedWith" not in resource.options
        assert "replaceWith" not in resource.options


DEV = stack_config(PROJECT / "Pulumi.dev.yaml")


def test_a_new_cluster_with_another_expander_reports_it_and_has_no_map() -> None:
    cloud = {**DEV["kubeflow-spot:cloud"], "autoscaler": {"expander": "most-pods"}}
    declared = declare(with_(DEV, cloud=cloud))
    assert declared.of(CONFIG_MAP, "-expander") == {}
    assert declared.outputs["expander"] == []
    assert declared.outputs["fallbackOrder"] == (
        "not guaranteed: the cluster's expander is most-pods; cloud.autoscaler.expander: priority makes it so"
    )


def test_a_cluster_of_ours_keeps_others_lines_and_shows_all() -> None:
    declared = declare(with_(DEV, expander={"otherGroups": [{"priority": 15, "groups": ["byhand"]}]}))
    (expander,) = declared.of(CONFIG_MAP, "-expander").values()
    assert yaml.safe_load(expander.inputs["data"]["priorities"])[15] == ["byhand"]
    shown = {tier["priority"]: (tier["pools"], tier["groups"]) for tier in declared.outputs["expander"]}
    assert shown[15] == ([], ["byhand"])
    assert shown[30] == (["system"], ["^aks-system-[0-9]+-vmss$"])
    assert shown[20] == (["t4"], ["^aks-t4-[0-9]+-vmss$"])
    assert declared.outputs["fallbackOrder"].startswith("guaranteed by")
    assert declared.outputs["devicePlugin"] == {"pools": ["t4", "t4od"], "leftTo": []}


def test_a_cluster_of_ours_behind_entra_tells_of_kubelogin() -> None:
    access = {"adminGroups": ["11111111-2222-3333-4444-555555555555"]}
    declared = declare(with_(DEV, cloud={**DEV["kubeflow-spot:cloud"], "access": access}))
    assert declared.outputs["kubeconfigCommand"] == (
        "az aks get-credentials --resource-group ml-dev --name ml-dev && kubelogin convert-kubeconfig -l azurecli"
    )
