"""Checks of address ranges: overlap, size, and what AKS keeps for itself."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from spec.clouds import Cloud
from spec.problems import Problem
from spec.rules.draft import Draft

# learn.microsoft.com/azure/aks/configure-azure-cni: AKS refuses clusters that use any part of these.
_KEPT = tuple(map(IPv4Network, ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")))

# learn.microsoft.com/azure/virtual-network/virtual-networks-faq: addresses Azure takes from every subnet.
_TAKEN = 5

# learn.microsoft.com/azure/aks/azure-cni-overlay: each node is given a /24 of the pods' range.
_NODE_PREFIX = 24


def _written(draft: Draft) -> dict[str, str]:
    if not draft.azure:
        return {}
    written = draft.azure.network.model_dump(by_alias=True)
    return {key: written[key] for key in ("addressSpace", "nodeSubnet", "podCidr", "serviceCidr")}


def _readable(draft: Draft) -> dict[str, IPv4Network]:
    found: dict[str, IPv4Network] = {}
    for key, text in _written(draft).items():
        try:
            found[key] = IPv4Network(text)
        except ValueError:
            continue
    return found


def _are_ranges(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key, text in _written(draft).items():
        try:
            IPv4Network(text)
        except ValueError as reason:
            yield Problem(f"cloud.network.{key}", f"{text!r} is not a range: {reason}", "write for example 10.8.0.0/16")


def _overlaps(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    ranges = _readable(draft)
    if {"addressSpace", "nodeSubnet"} <= ranges.keys() and not ranges["nodeSubnet"].subnet_of(ranges["addressSpace"]):
        yield Problem(
            "cloud.network.nodeSubnet",
            f"{ranges['nodeSubnet']} is not inside addressSpace {ranges['addressSpace']}",
            "choose a part of it",
        )
    for one, other in (("podCidr", "addressSpace"), ("serviceCidr", "addressSpace"), ("serviceCidr", "podCidr")):
        if {one, other} <= ranges.keys() and ranges[one].overlaps(ranges[other]):
            yield Problem(
                f"cloud.network.{one}",
                f"{ranges[one]} overlaps {other} {ranges[other]}",
                "choose ranges that share no address",
            )
    for key in ("addressSpace", "podCidr", "serviceCidr"):
        kept = next((kept for kept in _KEPT if key in ranges and ranges[key].overlaps(kept)), None)
        if kept:
            yield Problem(
                f"cloud.network.{key}", f"{ranges[key]} overlaps {kept}, which AKS keeps", "choose another range"
            )


def _sizes(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    ranges = _readable(draft)
    service = ranges.get("serviceCidr")
    # learn.microsoft.com/azure/aks/configure-azure-cni: smaller than /12; the DNS service takes the tenth address.
    if service and not 12 < service.prefixlen <= 28:
        yield Problem(
            "cloud.network.serviceCidr", f"{service} has an unfit size", "a prefix from /13 to /28, such as 10.0.0.0/16"
        )
    # Azure counts every pool at its largest: InsufficientSubnetSize, Azure/AKS-Construction issue 701.
    most = [pool.max_nodes for pool in draft.pools.values()]
    most += [step.on_demand.max_nodes for pool in draft.pools.values() for step in pool.fallback if step.on_demand]
    most += [draft.system_pool.max_nodes] if draft.system_pool else []
    nodes = sum(most)
    subnet, pods = ranges.get("nodeSubnet"), ranges.get("podCidr")
    if subnet and subnet.num_addresses - _TAKEN < nodes:
        yield Problem(
            "cloud.network.nodeSubnet",
            f"{subnet} has room for {max(0, subnet.num_addresses - _TAKEN)} nodes; the pools may grow to {nodes} together",
            "a larger range, or smaller maxNodes",
        )
    room = 2 ** (_NODE_PREFIX - pods.prefixlen) if pods and pods.prefixlen <= _NODE_PREFIX else 0
    if pods and room < nodes:
        yield Problem(
            "cloud.network.podCidr",
            f"{pods} has a /{_NODE_PREFIX} for {room} nodes; the pools may grow to {nodes} together",
            "a larger range, or smaller maxNodes",
        )


RULES = (_are_ranges, _overlaps, _sizes)
