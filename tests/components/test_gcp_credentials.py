"""The way to a GKE cluster's API server."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.components.google import L4, stack
from tests.components.program import declare
from tests.components.test_gcp_cluster import inputs

pytestmark = pytest.mark.program


@pytest.mark.parametrize(
    ("access", "endpoints", "authorized", "server"),
    [
        ({}, (True, True), None, "https://203.0.113.10"),
        ({"dnsEndpoint": False}, (False, True), None, "https://203.0.113.10"),
        (
            {"authorizedRanges": ["198.51.100.0/24"]},
            (True, True),
            ["198.51.100.0/24"],
            "https://gke-1.europe-west4.gke.goog",
        ),
        (
            {"authorizedRanges": ["198.51.100.0/24"], "dnsEndpoint": False},
            (False, True),
            ["198.51.100.0/24"],
            "https://203.0.113.10",
        ),
        ({"ipEndpoint": "private"}, (True, True), [], "https://gke-1.europe-west4.gke.goog"),
        ({"ipEndpoint": "private", "dnsEndpoint": False}, (False, True), [], "https://203.0.113.10"),
        ({"ipEndpoint": "none"}, (True, False), None, "https://gke-1.europe-west4.gke.goog"),
    ],
)
def test_the_way_to_the_api_server_is_the_one_that_is_open(
    access: dict[str, Any],
    endpoints: tuple[bool, bool],
    authorized: list[str] | None,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = declare(stack(L4, cloud={"access": access}), monkeypatch)
    values = inputs(declared)
    ways = values["controlPlaneEndpointsConfig"]
    assert (ways["dnsEndpointConfig"]["allowExternalTraffic"], ways["ipEndpointsConfig"]["enabled"]) == endpoints
    assert values["privateClusterConfig"]["enablePrivateEndpoint"] is (access.get("ipEndpoint") == "private")
    # The list alone counts: no other address of Google Cloud gets in beside it.
    networks = None
    if authorized is not None:
        blocks = [{"cidrBlock": block} for block in authorized]
        networks = {"cidrBlocks": blocks, "gcpPublicCidrsAccessEnabled": False}
    assert values.get("masterAuthorizedNetworksConfig") == networks
    (entry,) = yaml.safe_load(declared.outputs["kubeconfig"])["clusters"]
    by_name = "goog" in server
    # The certificate of the DNS name is not of the cluster's authority.
    assert entry["cluster"] == {"server": server} | ({} if by_name else {"certificate-authority-data": "Y2E="})
    assert declared.outputs["kubeconfigCommand"] == (
        "gcloud container clusters get-credentials lab --location europe-west4 --project example-lab"
        + (" --dns-endpoint" if by_name else "")
    )


def test_the_kubeconfig_holds_no_credentials_but_googles_program_and_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4), monkeypatch)
    assert declared.secret == {"kubeconfig"}
    content = yaml.safe_load(declared.outputs["kubeconfig"])
    (user,) = content["users"]
    assert set(user["user"]) == {"exec"}
    login = user["user"]["exec"]
    assert (login["command"], login["provideClusterInfo"]) == ("gke-gcloud-auth-plugin", True)
    assert login["installHint"]
    assert content["current-context"] == content["contexts"][0]["name"]
    assert (declared.outputs["project"], declared.outputs["location"]) == ("example-lab", "europe-west4")
