"""Checks of address ranges: overlap, size, and what AKS keeps for itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from config.base.problems import Problem
from config.clouds.azure.azure_network import NODE_SUBNET, AzureNetwork
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Pool
from config.model.reading import known, of_each
from config.rules.draft import Draft, has_gpus, most_with_twin
from config.rules.network_rules import (
    PATH,
    free_range,
    larger,
    no_overlap,
    readable_ranges,
    refuse_non_ranges,
)

# learn.microsoft.com/azure/aks/configure-azure-cni: AKS refuses clusters that use any part of
# these.
_KEPT = tuple(
    map(IPv4Network, ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24"))
)

# learn.microsoft.com/azure/virtual-network/virtual-networks-faq: addresses Azure takes from every
# subnet.
_TAKEN = 5

# learn.microsoft.com/azure/aks/azure-cni-overlay: each node is given a /24 of the pods' range.
_NODE_PREFIX = 24


def _written(network: AzureNetwork) -> dict[str, str]:
    """Return the text of each range that this stack chooses, by its path."""
    inside = {"podCidr": "pod_cidr", "serviceCidr": "service_cidr"}
    around = (
        {} if network.existing else {"addressSpace": "address_space", "nodeSubnet": "node_subnet"}
    )
    texts = of_each(
        (around | inside).items(), lambda pair: (pair[0], str(getattr(network, pair[1])))
    )
    subnets = {} if network.existing else known(lambda: network.subnets, {})
    return dict(texts) | {f"subnets.{name}": text for name, text in subnets.items()}


def _ranges(azure: Azure) -> dict[str, IPv4Network]:
    return readable_ranges(_written(azure.network))


def _subnets(azure: Azure) -> dict[str, IPv4Network]:
    return {
        key: addresses
        for key, addresses in _ranges(azure).items()
        if key.startswith(("nodeSubnet", "subnets."))
    }


def _are_ranges(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from refuse_non_ranges(_written(azure.network), "10.8.0.0/16")


def _subnets_inside(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    space = _ranges(azure).get("addressSpace")
    for key, subnet in _subnets(azure).items():
        if space and not subnet.subnet_of(space):
            what = f"{subnet} is not inside addressSpace {space}"
            wide = f"write `addressSpace: {subnet}` beside it, or "
            remedy = wide * (len(_subnets(azure)) == 1) + _part(azure, key, space)
            yield Problem(f"{PATH}.{key}", what, remedy)


def _part(azure: Azure, key: str, space: IPv4Network) -> str:
    """Return the remedy for a subnet, with a part of the space that no other one has."""
    subnets = _subnets(azure)
    if subnets[key].prefixlen < space.prefixlen:
        return f"choose a smaller part of {space}"
    return f"choose a free part of {space}{free_range(subnets, key, inside=space)}"


def _overlaps(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    ranges = _ranges(azure)
    pairs = [
        ("podCidr", "addressSpace"),
        ("serviceCidr", "addressSpace"),
        ("serviceCidr", "podCidr"),
    ]
    pairs += [(later, earlier) for earlier, later in combinations(_subnets(azure), 2)]
    for first, second in pairs:
        if {first, second} <= ranges.keys() and ranges[first].overlaps(ranges[second]):
            yield Problem(
                f"{PATH}.{first}",
                f"{ranges[first]} overlaps {second} {ranges[second]}",
                _part(azure, first, ranges["addressSpace"])
                if first in _subnets(azure) and "addressSpace" in ranges
                else no_overlap(ranges, first),
            )


def _kept(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key, addresses in _ranges(azure).items():
        kept = next((kept for kept in _KEPT if addresses.overlaps(kept)), None)
        # A subnet has its network's problem.
        if kept and key not in _subnets(azure):
            yield Problem(
                f"{PATH}.{key}",
                f"{addresses} overlaps {kept}, which AKS keeps for itself",
                "choose another range",
            )


def _service_size(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    service = _ranges(azure).get("serviceCidr")
    # learn.microsoft.com/azure/aks/configure-azure-cni: smaller than /12; the DNS service takes the
    # tenth address.
    if service and not 12 < service.prefixlen <= 28:
        yield Problem(
            f"{PATH}.serviceCidr",
            f"{service} has a size that AKS does not take",
            "a prefix from /13 to /28, such as 10.0.0.0/16",
        )


def _subnet_of(pool: AnyPool) -> str:
    subnet = settings_of(pool).subnet
    return subnet.text if subnet else NODE_SUBNET


def _subnet_sizes(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    placed = of_each(draft.written_pools(), lambda pair: (_subnet_of(pair[1]), pair[1]))
    for key, subnet in _subnets(azure).items():
        name, room = key.partition(".")[2] or NODE_SUBNET, subnet.num_addresses - _TAKEN
        pools = [pool for its_subnet, pool in placed if its_subnet == name]
        if room > 0:
            yield from _room(key, f"{subnet} has room", room, pools, draft, cloud, 32)
        else:
            what = f"{subnet} has room for no node: Azure takes {_TAKEN} addresses of a subnet"
            yield Problem(f"{PATH}.{key}", what, "at least a /29")


def _pod_size(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pods = _ranges(azure).get("podCidr")
    if pods and pods.prefixlen > _NODE_PREFIX:
        what = f"{pods} has room for no node: each is given a /{_NODE_PREFIX} of it"
        yield Problem(f"{PATH}.podCidr", what, "a larger range, such as 10.244.0.0/16")
    elif pods:
        pools = [pool for _, pool in draft.written_pools()]
        yield from _room(
            "podCidr",
            f"{pods} has a /{_NODE_PREFIX}",
            2 ** (_NODE_PREFIX - pods.prefixlen),
            pools,
            draft,
            cloud,
            _NODE_PREFIX,
        )


def _room(
    key: str, has: str, room: int, pools: list[AnyPool], draft: Draft, cloud: Cloud, each: int
) -> Iterator[Problem]:
    """Refuse a range with fewer places than nodes; a place is a /`each`."""
    # Azure counts every pool at its largest: InsufficientSubnetSize, Azure/AKS-Construction issue
    # 701.
    nodes = sum(most_with_twin(pool, draft) for pool in pools)
    # Pools are upgraded one by one (page auto-upgrade-cluster). No source says that AKS refuses for
    # this.
    surge = max(of_each(pools, lambda pool: _surge(pool, draft, cloud)), default=0)
    taken = _TAKEN if each == 32 else 0
    prefix = max(each - (nodes + surge + taken - 1).bit_length(), 0)
    azure = draft.settings(Azure)
    assert azure is not None  # this is a rule of its settings
    space, ranges = _ranges(azure).get("addressSpace"), _subnets(azure)
    if key not in ranges:
        space, ranges = None, _ranges(azure)
    remedy = larger(prefix, free_range(ranges, key, prefix, space))
    if room < nodes:
        what = f"{has} for {room} nodes; the pools may grow to {nodes} together"
        yield Problem(f"{PATH}.{key}", what, remedy)
    elif room < nodes + surge:
        what = (
            f"{has} for {room} nodes: for {nodes} of the pools at their largest, but not for "
            f"{surge} more in an upgrade"
        )
        yield Problem(f"{PATH}.{key}", what, remedy, warning=True)


def _surge(pool: AnyPool, draft: Draft, cloud: Cloud) -> int:
    """Return the nodes an upgrade may add (page upgrade-aks-node-pools-rolling)."""
    most = pool.most_nodes(draft.cloud)
    if pool.upgrade:
        text = pool.upgrade.max_surge or "0"
    elif not isinstance(pool, Pool):
        text = "10%"
    elif pool.reclaimable or has_gpus(pool, cloud):
        return 0  # spot pools never, GPU pools not by this program's default
    else:
        text = "10%"
    return math.ceil(int(text[:-1]) / 100 * most) if text.endswith("%") else int(text)


NEW_CLUSTER_RULES = (
    _are_ranges,
    _subnets_inside,
    _overlaps,
    _kept,
    _service_size,
    _subnet_sizes,
    _pod_size,
)
