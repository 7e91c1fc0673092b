"""Reads of both clouds: the provider that each read uses, and the meaning of an error."""

import copy
from pathlib import Path
from textwrap import indent
from typing import Any

import pulumi
import pytest

from components.last_update import LastUpdate
from config.model.fields import Reference
from tests.components import program
from tests.components.features import FULL
from tests.components.google import KEY, L4, SHARED_VPC, in_existing, stack
from tests.components.program import PROJECT, Answering, declare

pytestmark = [pytest.mark.program, pytest.mark.usefixtures("contents")]

OF_THE_STACK = "readStackOutputs"
"""No cloud's: the engine itself answers."""

CLUSTER = "KubeflowCluster(spec.name, spec)"
PROVIDERS = """\
own = pulumi.ProviderResource("{package}", "own", {{}})
other = pulumi.ProviderResource("aws", "other", {{}})
"""
PARENT = 'parent = pulumi.ComponentResource("a:b:C", "parent", None, pulumi.ResourceOptions(providers=[own]))\n'

THEIRS = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "theirs", "name": "theirs"}},
    "kubeflow-spot:pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 1}],
}
ENCRYPTED_VPC = copy.deepcopy(SHARED_VPC)
ENCRYPTED_VPC["kubeflow-spot:cloud"]["encryption"] = {"secretsKey": KEY}


THERE: dict[str, Any] = {
    "getCluster": {"nodePools": [], "endpoint": "203.0.113.20", "masterAuths": [{"clusterCaCertificate": ""}]},
    "getManagedCluster": {"agentPoolProfiles": []},
}
"""Answers of an existing cluster."""


def cloud_of(settings: dict[str, Any], **answers: Any) -> Answering:
    """Return a cloud with these answers, and the existing cluster of these settings."""
    return Answering(**((THERE if "existingCluster" in settings["kubeflow-spot:cloud"] else {}) | answers))


def read_calls(
    settings: dict[str, Any], opts: str, package: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Return the functions that a program calls which declares the cluster with these options, each by the provider `own`."""
    text = (PROJECT / "__main__.py").read_text()
    assert text.count(CLUSTER) == 1
    providers = PROVIDERS.format(package=package) + (PARENT if "parent" in opts else "")
    declared = f"{providers}cluster = KubeflowCluster(spec.name, spec, opts=pulumi.ResourceOptions({opts}))"
    (folder / "__main__.py").write_text(text.replace(f"    cluster = {CLUSTER}", indent(declared, "    ")))
    monkeypatch.setattr(program, "PROJECT", folder)
    cloud = cloud_of(settings)
    declare(settings, cloud=cloud)
    asked = [(name, provider) for name, _, provider in cloud.asked if name != OF_THE_STACK]
    assert [name for name, provider in asked if "::own::" not in provider] == []
    return [name for name, _ in asked]


ON_AKS = ["getClientConfig", "getManagedCluster", "listManagedClusterUserCredentials"]


@pytest.mark.parametrize(
    ("settings", "package", "functions"),
    [(FULL, "azure-native", set(ON_AKS)), (ENCRYPTED_VPC, "gcp", {"getCluster", "getSubnetwork", "getProject"})],
    ids=["azure", "gcp"],
)
@pytest.mark.parametrize(
    "opts",
    [
        *("provider=own", "providers=[other, own]", 'providers={"PACKAGE": own}'),
        *("parent=parent", "provider=other, parent=parent"),
    ],
)
def test_every_read_goes_to_the_provider_of_the_cluster(
    opts: str,
    settings: dict[str, Any],
    package: str,
    functions: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert set(read_calls(settings, opts.replace("PACKAGE", package), package, tmp_path, monkeypatch)) == functions


@pytest.mark.parametrize(
    ("settings", "package", "functions"), [(THEIRS, "azure-native", ON_AKS), (in_existing(L4), "gcp", ["getCluster"])]
)
def test_the_read_of_an_existing_cluster_goes_to_the_same_provider(
    settings: dict[str, Any], package: str, functions: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_calls(settings, "provider=own", package, tmp_path, monkeypatch) == functions


GKE_API = (
    "googleapi: Error 403: Kubernetes Engine API has not been used in project example-lab before or it is disabled."
)


@pytest.mark.parametrize(
    ("settings", "function", "cluster", "refusal"),
    [
        *(
            (FULL, "getManagedCluster", "cluster 'lab' in resource group 'group'", refusal)
            for refusal in (
                'Status=403 Code="AuthorizationFailed" Message="The client does not have authorization to perform action"',
                'Status=404 Code="SubscriptionNotFound" Message="The subscription could not be found."',
                'Status=401 Code="InvalidAuthenticationTokenTenant" Message="The access token is from the wrong issuer."',
            )
        ),
        *(
            (stack(L4), "getCluster", "cluster 'lab' in europe-west4 of project example-lab", refusal)
            for refusal in (
                'googleapi: Error 403: Required "container.clusters.get" permission(s) for "projects/example-lab".',
                GKE_API,
                "projects/another/locations/europe-west4/clusters/lab not found",
                "projects/example-lab/locations/us-east1/clusters/lab not found",
                "googleapi: Error 404: Not found: projects/example-lab.",
            )
        ),
    ],
)
def test_only_a_missing_cluster_or_group_means_no_cluster_yet(
    settings: dict[str, Any], function: str, cluster: str, refusal: str
) -> None:
    with pytest.raises(pulumi.RunError, match=f"{cluster} cannot be read") as error:
        declare(settings, cloud=cloud_of(settings, **{function: refusal}))
    assert refusal[:40] in str(error.value)


SUBNET = "/subscriptions/s/resourceGroups/group/providers/Microsoft.Network/virtualNetworks/lab/subnets/nodes"
SYSTEM = {"name": "system", "availabilityZones": ["1", "2"], "enableEncryptionAtHost": True}
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
        ("getManagedCluster", f"{AKS}/read", FULL, {}),
        (*CREDENTIALS, FULL, {}),
        (*CREDENTIALS, THEIRS, {}),
        ("getVirtualNetwork", "Microsoft.Network/virtualNetworks/read", FULL, IN_A_NETWORK),
        ("getDeployment", "Microsoft.Resources/deployments/read", FULL, {"agentPoolProfiles": [SYSTEM]}),
    ],
)
def test_a_refused_read_names_the_missing_right(
    function: str, right: str, settings: dict[str, Any], live: dict[str, Any]
) -> None:
    refusal = {function: 'Status=403 Code="AuthorizationFailed" Message="no authorization"'}
    with pytest.raises(pulumi.RunError) as error:
        declare(settings, cloud=cloud_of(settings, **({"getManagedCluster": live} if live else {}), **refusal))
    assert str(error.value).splitlines()[0].endswith(f"cannot be read: the login lacks {right}")


@pytest.mark.parametrize("settings", [FULL, THEIRS])
@pytest.mark.parametrize("preview", [True, False])
def test_another_subscription_than_at_the_last_update_is_refused(settings: dict[str, Any], preview: bool) -> None:
    def after(subscription: str) -> Answering:
        return cloud_of(settings, **{OF_THE_STACK: {"outputs": {"remembered": {"subscription": subscription}}}})

    other = r"in subscription A, and the login reads subscription s\n.*subscriptionId A"
    with pytest.raises(pulumi.RunError, match=other):
        declare(settings, cloud=after("A"), preview=preview)
    # Azure compares ids without regard to case.
    remembered = declare(settings, cloud=after("S"), preview=preview).outputs["remembered"]
    assert remembered["subscription"] == "s"


def test_a_missing_cluster_that_the_stack_created_gives_a_warning(warnings: list[str]) -> None:
    def place(name: str) -> dict[str, Reference]:
        return {"clusterName": Reference(name), "resourceGroup": Reference("group")}

    last_update = {"place": {"clusterName": "lab", "resourceGroup": "group"}}
    LastUpdate(last_update).warn_of_missing(place("lab"), "look")
    assert warnings == ["The stack's cluster lab is not found and will be made again; if it exists, stop:\n  look"]
    # A first update and a moved cluster give no warning.
    LastUpdate().warn_of_missing(place("lab"), "look")
    LastUpdate(last_update).warn_of_missing(place("two"), "look")
    assert len(warnings) == 1
