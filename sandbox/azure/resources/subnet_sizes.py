"""Whether the addresses of subnets and pod ranges suffice for the largest sizes of a cluster's pools."""

from collections import Counter

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_network
from sandbox.azure.resources.azure_requests import ClusterPools
from sandbox.cloud.state import Body, Record

# https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq: addresses that Azure reserves in every subnet.
_ADDRESSES_OF_AZURE = 5


# AKS page azure-cni-overlay: each node gets a /24 of the pod range.
_ADDRESSES_A_NODE = 256


def taken(profile: Body, pool: Body, nodes: int) -> Counter[str]:
    """Return the addresses that this many nodes of a pool take, by the subnet's lower-cased id.

    AKS page concepts-network-ip-address-planning: a node takes one address and, without overlay, one more for each of its pods:
    in its own subnet (legacy Azure CNI) or in the pod subnet.
    """
    addresses: Counter[str] = Counter()
    node_subnet, pod_subnet = pool.get("vnetSubnetID"), pool.get("podSubnetID")
    flat = profile["networkPlugin"] == "azure" and profile.get("networkPluginMode") != "overlay"
    if node_subnet:
        addresses[azure_ids.key(node_subnet)] += nodes * (1 + (pool["maxPods"] if flat and not pod_subnet else 0))
    if pod_subnet:
        addresses[azure_ids.key(pod_subnet)] += nodes * int(pool["maxPods"])
    return addresses


def usable(subnet: Record) -> int:
    """Return the number of addresses of a subnet that nodes and pods can take."""
    ranges = [azure_network.cidr(text, subnet.id) for text in azure_network.prefixes(subnet.body)]
    return sum(max(0, range.num_addresses - _ADDRESSES_OF_AZURE) for range in ranges if range.version == 4)


def most(pool: Body) -> int:
    """Return the number of nodes of a pool at its largest."""
    return int(pool["maxCount"] if pool["enableAutoScaling"] else pool["count"])


def subnet_size(fleet: ClusterPools) -> AzureRefused | None:
    # AKS-Construction #701 and Azure/AKS #3653. Surge nodes of an upgrade are not counted; whether AKS counts them is UNCONFIRMED.
    needed: Counter[str] = Counter()
    for pool in fleet.pools:
        needed += taken(fleet.network, pool, most(pool))
    for subnet in fleet.subnets:
        if needed[azure_ids.key(subnet.id)] > usable(subnet):
            name, prefix = azure_ids.last(subnet.id), ",".join(azure_network.prefixes(subnet.body))
            return _insufficient(
                needed[azure_ids.key(subnet.id)], usable(subnet), prefix, name, "agentPoolProfile.count"
            )
    return None


def pod_range_size(fleet: ClusterPools) -> AzureRefused | None:
    # AKS-Construction #701
    if fleet.network.get("networkPluginMode") != "overlay" and fleet.network["networkPlugin"] != "kubenet":
        return None
    needed = sum(most(pool) for pool in fleet.pools) * _ADDRESSES_A_NODE
    for text in fleet.network["podCidrs"]:
        pods = azure_network.cidr(text, "networkProfile.podCIDR")
        if pods.version == 4 and needed > pods.num_addresses:
            where = "networkProfile.podCIDR"
            return _insufficient(needed, pods.num_addresses, text, where, where)
    return None


def _insufficient(needed: int, available: int, prefix: str, name: str, target: str) -> AzureRefused:
    text = (
        f"Pre-allocated IPs {needed} exceeds IPs available {available} in Subnet Cidr {prefix}, Subnet Name {name}. If "
        "Autoscaler is enabled, the max-count from each nodepool is counted towards this total (which means that "
        "pre-allocated IPs count represents a theoretical max value, not the actual number of IPs requested). "
        "http://aka.ms/aks/insufficientsubnetsize"
    )
    return aks("InsufficientSubnetSize", text, target)
