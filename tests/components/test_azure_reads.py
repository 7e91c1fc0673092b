"""Reads of Azure: the provider that each read uses, and the meaning of an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.last_update import LastUpdate
from components.layer import discovery
from config.model.fields import Reference
from tests.components.features import FULL
from tests.components.program import Cloud, CloudRefused, declare
from tests.components.reads import OF_THE_STACK, read_calls

pytestmark = pytest.mark.program

SETTINGS = FULL
EXISTING = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "theirs", "name": "theirs"}},
    "kubeflow-spot:pools": [
        {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 1},
    ],
}


@pytest.mark.parametrize(
    "opts",
    [
        "provider=own",
        "providers=[other, own]",
        'providers={"azure-native": own}',
        "parent=parent",
        "provider=other, parent=parent",
    ],
)
def test_every_read_goes_to_the_provider_of_the_cluster(
    opts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = read_calls(SETTINGS, opts, tmp_path, monkeypatch, "azure-native")
    assert {name for name, _ in calls} == {"getClientConfig", "getManagedCluster", "listManagedClusterUserCredentials"}
    assert [name for name, provider in calls if "::own::" not in provider] == []


def test_the_read_of_an_existing_cluster_goes_to_the_same_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = read_calls(EXISTING, "provider=own", tmp_path, monkeypatch, "azure-native")
    assert [name for name, _ in calls] == ["getClientConfig", "getManagedCluster", "listManagedClusterUserCredentials"]
    assert [name for name, provider in calls if "::own::" not in provider] == []


@pytest.mark.parametrize(
    "refusal",
    [
        'Status=403 Code="AuthorizationFailed" Message="The client does not have authorization to perform action"',
        'Status=404 Code="SubscriptionNotFound" Message="The subscription could not be found."',
        'Status=401 Code="InvalidAuthenticationTokenTenant" Message="The access token is from the wrong issuer."',
    ],
)
def test_only_a_missing_cluster_or_group_means_no_cluster_yet(refusal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(Cloud):
        def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
            if args.token.endswith(":getManagedCluster"):
                raise CloudRefused(refusal)
            return super().call(args)

    with pytest.raises(pulumi.RunError, match="cluster 'lab' in resource group 'group' cannot be read") as error:
        declare(SETTINGS, monkeypatch, cloud=Refusing(None))
    assert refusal[:40] in str(error.value)


SUBNET = "/subscriptions/s/resourceGroups/group/providers/Microsoft.Network/virtualNetworks/lab/subnets/nodes"
OTHER_SYSTEM_POOL = {
    "agentPoolProfiles": [{"name": "system", "availabilityZones": ["1", "2"], "enableEncryptionAtHost": True}]
}
IN_A_NETWORK = {
    "networkProfile": {},
    "location": "westeurope",
    "agentPoolProfiles": [{"name": "x", "vnetSubnetID": SUBNET}],
}


AKS = "Microsoft.ContainerService/managedClusters"
CREDENTIALS = ("listManagedClusterUserCredentials", f"{AKS}/listClusterUserCredential/action")


@pytest.mark.parametrize(
    ("function", "right", "settings", "live"),
    [
        ("getManagedCluster", f"{AKS}/read", SETTINGS, None),
        (*CREDENTIALS, SETTINGS, None),
        (*CREDENTIALS, EXISTING, {"agentPoolProfiles": []}),
        ("getVirtualNetwork", "Microsoft.Network/virtualNetworks/read", SETTINGS, IN_A_NETWORK),
        ("getDeployment", "Microsoft.Resources/deployments/read", SETTINGS, OTHER_SYSTEM_POOL),
    ],
)
def test_a_refused_read_names_the_missing_right(
    function: str, right: str, settings: dict[str, Any], live: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(Cloud):
        def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
            if args.token.endswith(f":{function}"):
                raise CloudRefused('Status=403 Code="AuthorizationFailed" Message="no authorization"')
            if live and args.token.endswith(":getManagedCluster"):
                return live
            return super().call(args)

    with pytest.raises(pulumi.RunError) as error:
        declare(settings, monkeypatch, cloud=Refusing(None))
    first, *_ = str(error.value).splitlines()
    assert first.endswith(f"cannot be read: the login lacks {right}")


@pytest.mark.parametrize("settings", [SETTINGS, EXISTING])
@pytest.mark.parametrize("preview", [True, False])
def test_another_subscription_than_at_the_last_update_is_refused(
    settings: dict[str, Any], preview: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(Cloud):
        before = "A"

        def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
            if args.token.endswith(OF_THE_STACK):
                return {"outputs": {"remembered": {"subscription": self.before}}}
            if args.token.endswith(":getManagedCluster") and args.args["resourceName"] == "theirs":
                return {"agentPoolProfiles": []}
            return super().call(args)

    if settings is EXISTING:
        monkeypatch.setattr(
            discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
        )
    with pytest.raises(
        pulumi.RunError, match=r"in subscription A, and the login reads subscription s\n.*subscriptionId A"
    ):
        declare(settings, monkeypatch, cloud=Elsewhere(None), preview=preview)
    # Azure compares ids without regard to case.
    Elsewhere.before = "S"
    assert (
        declare(settings, monkeypatch, cloud=Elsewhere(None), preview=preview).outputs["remembered"]["subscription"]
        == "s"
    )


def place(name: str) -> dict[str, Reference]:
    return {"clusterName": Reference(name), "resourceGroup": Reference("group")}


def test_a_missing_cluster_that_the_stack_created_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    last_update = {"place": {"clusterName": "lab", "resourceGroup": "group"}}
    LastUpdate(last_update).warn_of_missing(place("lab"), "look")
    assert warnings == ["The stack's cluster lab is not found and will be made again; if it exists, stop:\n  look"]
    # A first update and a moved cluster give no warning.
    LastUpdate().warn_of_missing(place("lab"), "look")
    LastUpdate(last_update).warn_of_missing(place("two"), "look")
    assert len(warnings) == 1
