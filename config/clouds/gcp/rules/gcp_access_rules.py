"""Checks of access to the API server (pages network-isolation and authorized-networks)."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp, GcpAccess
from config.clouds.traits import Cloud
from config.model.reading import known
from config.rules.draft import Draft
from config.rules.network_rules import everybody

_PATH = "cloud.access"

_MOST_RANGES = 100
"""Page authorized-networks, for private clusters."""


def _endpoints(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    access = gcp.access
    if access.dns_endpoint:
        return
    if access.ip_endpoint == "none":
        yield Problem(
            f"{_PATH}.ipEndpoint",
            "is none and dnsEndpoint is false: nobody could reach the API server",
            "remove `dnsEndpoint: false`, or write `ipEndpoint: private`",
        )
    elif access.ip_endpoint == "private":
        yield Problem(
            f"{_PATH}.ipEndpoint",
            "is private and dnsEndpoint is false: the API server is reached from inside the network only",
            "run Pulumi on a machine in it, or remove `dnsEndpoint: false`",
            warning=True,
        )


def _private(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # pulumi-gcp, `enablePrivateEndpoint`: only with private nodes
    if gcp.access.ip_endpoint == "private" and not gcp.network.private_nodes:
        yield Problem(
            f"{_PATH}.ipEndpoint",
            "is private, but cloud.network.privateNodes is false: GKE gives only private nodes a private endpoint alone",
            "remove `privateNodes: false`, or write `ipEndpoint: public`",
        )


def _ranges(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    access = gcp.access
    if not access.authorized_ranges:
        return
    path = f"{_PATH}.authorizedRanges"
    if known(lambda: access.ip_endpoint, "") == "none":
        yield Problem(
            path,
            "is set, but ipEndpoint is none: there is no such address",
            "remove it, or `ipEndpoint`",
        )
        return
    if len(access.authorized_ranges) > _MOST_RANGES:
        what = f"has {len(access.authorized_ranges)} ranges"
        yield Problem(path, what, f"at most {_MOST_RANGES}; join some into larger ones")
    if known(lambda: access.ip_endpoint, "") == "public":
        yield from everybody(path, access.authorized_ranges)
    for index, text in enumerate(access.authorized_ranges):
        yield from _range(f"{path}[{index}]", text, index, access)


def _range(path: str, text: str, index: int, access: GcpAccess) -> Iterator[Problem]:
    try:
        addresses = IPv4Network(text)
    except ValueError as reason:
        yield Problem(
            path, f"{text!r} is not a range: {reason}", "write for example 203.0.113.0/24"
        )
        return
    if text in access.authorized_ranges[:index]:
        yield Problem(path, f"{text} is in the list twice", "remove one of them")
    elif access.ip_endpoint == "private" and (addresses.prefixlen == 0 or addresses.is_global):
        # terraform-google-kubernetes-engine issue 153: "is not a reserved network, which is required for private endpoints"
        yield Problem(
            path,
            f"{text} is public, and ipEndpoint is private: only callers inside the network reach it",
            "write the private range callers are in, or `ipEndpoint: public`",
        )


NEW_CLUSTER_RULES = (_endpoints, _private, _ranges)
