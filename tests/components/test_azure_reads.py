"""Reads of Azure: the provider that each read uses, and the meaning of an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.last_update import LastUpdate
from config.model.reference import Reference
from tests.components.azure import FULL
from tests.components.program import Cloud, CloudRefused, declare
from tests.components.reads import OF_THE_STACK, read_calls

pytestmark = pytest.mark.program

SETTINGS = FULL


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
    assert {name for name, _ in calls} == {"getManagedCluster", "listManagedClusterUserCredentials"}
    assert [name for name, provider in calls if "::own::" not in provider] == []


def test_the_read_of_an_existing_cluster_goes_to_the_same_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = {"provider": "azure", "existingCluster": {"resourceGroup": "theirs", "name": "theirs"}}
    pool = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 1}
    settings = {"kubeflow-spot:release": "r2026-11", "kubeflow-spot:cloud": cloud, "kubeflow-spot:pools": [pool]}
    calls = read_calls(settings, "provider=own", tmp_path, monkeypatch, "azure-native")
    assert [name for name, _ in calls] == ["getManagedCluster", "listManagedClusterUserCredentials"]
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
            if args.token.endswith(OF_THE_STACK):
                return super().call(args)
            raise CloudRefused(refusal)

    with pytest.raises(pulumi.RunError, match="cluster 'lab' in resource group 'group' cannot be read") as error:
        declare(SETTINGS, monkeypatch, cloud=Refusing(None))
    assert refusal[:40] in str(error.value)


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
