"""From where a cluster's API server is reached."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from typing import Any

from policy import azure, gcp
from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding, Rule, Settings

_AKS_RANGES = "apiServerAccessProfile.authorizedIPRanges"
_GKE_RANGES = "masterAuthorizedNetworksConfig"


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    if declared.type == azure.CLUSTER:
        yield from _aks(declared)
    if declared.type == gcp.CLUSTER:
        yield from _gke(declared)


def _aks(declared: Declared) -> Iterator[Finding]:
    if declared.get("apiServerAccessProfile.enablePrivateCluster") in (True, UNKNOWN):
        return
    ranges = declared.get(_AKS_RANGES)
    if ranges is None or ranges == []:
        yield Finding(
            _AKS_RANGES,
            "a public API server without ranges",
            "list who may reach it, or set enablePrivateCluster: true",
        )
    elif isinstance(ranges, list) and _everybody(ranges):
        yield Finding(_AKS_RANGES, "a range that holds every address", "list who may reach it")


def _gke(declared: Declared) -> Iterator[Finding]:
    # The DNS name is no way round: Google lets nobody through to it who has no role in the project (page network-isolation).
    if declared.get("privateClusterConfig.enablePrivateEndpoint") in (True, UNKNOWN):
        return
    if declared.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") in (False, UNKNOWN):
        return
    networks = declared.get(_GKE_RANGES)
    blocks = at(networks, "cidrBlocks")
    if networks is None:
        yield Finding(
            _GKE_RANGES,
            "a public address without authorized networks",
            "list who may reach it, or set controlPlaneEndpointsConfig.ipEndpointsConfig.enabled: false and use the DNS name",
        )
    elif isinstance(blocks, list) and _everybody([at(block, "cidrBlock") for block in blocks]):
        yield Finding(f"{_GKE_RANGES}.cidrBlocks", "a network that holds every address", "list who may reach it")
    if at(networks, "gcpPublicCidrsAccessEnabled") is True:
        yield Finding(
            f"{_GKE_RANGES}.gcpPublicCidrsAccessEnabled", "open to every machine in Google Cloud", "set it to false"
        )


def _everybody(ranges: Iterable[Any]) -> bool:
    """Whether any range is of length 0; what is no range, the cloud refuses."""
    return any(isinstance(one, str) and _length(one) == 0 for one in ranges)


def _length(text: str) -> int | None:
    try:
        return ipaddress.ip_network(text, strict=False).prefixlen
    except ValueError:
        return None


API_SERVER = Rule(
    name="api-server-open",
    refuses="A production cluster whose API server anybody on the internet may try",
    reason="One leaked credential, or one flaw in the API server, is then enough",
    sources=(
        "https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/network-isolation",
    ),
    check=_check,
    production=True,
)
