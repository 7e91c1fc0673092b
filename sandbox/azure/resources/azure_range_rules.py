"""Rules of AKS on the address ranges of a cluster: services, pods, and the VNets of its pools."""

import ipaddress
from collections.abc import Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_network
from sandbox.azure.resources.azure_cluster_request import ClusterRequest
from sandbox.azure.resources.cluster_pools import ClusterPools
from sandbox.cloud import rules
from sandbox.cloud.state import Record

# AKS page configure-azure-cni: a cluster must not use any part of these.
_KEPT = tuple(map(ipaddress.ip_network, ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")))

_LARGEST_SERVICE_PREFIX = 12


@rules.as_read
def kept_ranges(request: ClusterRequest) -> AzureRefused | None:
    # Code and text UNCONFIRMED.
    profile = request.body["networkProfile"]
    for field, name in (("serviceCidrs", "serviceCIDR"), ("podCidrs", "podCIDR")):
        for text in profile.get(field, []):
            own_range = azure_network.cidr(text, f"networkProfile.{name}")
            for kept in _KEPT:
                if azure_network.overlap(own_range, kept):
                    words = f"NetworkProfile CIDR {text} overlaps with reserved CIDR {kept}"
                    return aks("InvalidParameter", words, f"networkProfile.{name}")
    return None


@rules.as_read
def service_range_size(request: ClusterRequest) -> AzureRefused | None:
    # AKS page configure-azure-cni: a service range is smaller than /12. Code and text UNCONFIRMED.
    for text in request.body["networkProfile"]["serviceCidrs"]:
        service = azure_network.cidr(text, "networkProfile.serviceCIDR")
        if service.version == 4 and service.prefixlen <= _LARGEST_SERVICE_PREFIX:
            words = f"The service CIDR {text} must be smaller than /{_LARGEST_SERVICE_PREFIX}."
            return aks("InvalidParameter", words, "networkProfile.serviceCIDR")
    return None


@rules.as_read
def dns_address(request: ClusterRequest) -> AzureRefused | None:
    # AKS page configure-azure-cni; codes: list.
    profile = request.body["networkProfile"]
    text, target = profile["dnsServiceIP"], "networkProfile.dnsServiceIP"
    service = azure_network.cidr(profile["serviceCidrs"][0], "networkProfile.serviceCIDR")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return aks("DnsServiceIpParseError", f"The DNS service IP {text} is not an IP address.", target)
    if address not in service:
        words = f"The DNS service IP {text} is not in the service CIDR {service}."
        return aks("DnsServiceIpOutOfServiceCidr", words, target)
    if address == service[1]:
        words = f"The DNS service IP {text} is the first address of the service CIDR, which is the API server's."
        return aks("DnsServiceIpConflicting", words, target)
    return None


@rules.as_read
def ranges_overlap(request: ClusterRequest) -> AzureRefused | None:
    # Code: list; the page configure-azure-cni.
    profile = request.body["networkProfile"]
    for text in profile.get("podCidrs", []):
        for other in profile["serviceCidrs"]:
            pods, service = (
                azure_network.cidr(text, "networkProfile.podCIDR"),
                azure_network.cidr(other, "networkProfile.serviceCIDR"),
            )
            if azure_network.overlap(pods, service):
                words = f"The specified pod CIDR {text} is conflicted with service CIDR {other}"
                return aks("PodCidrOverlapServiceCidr", words, "networkProfile.podCIDR")
    return None


def service_range(fleet: ClusterPools) -> AzureRefused | None:
    # AKS error page servicecidroverlapexistingsubnetscidr
    for text in fleet.network["serviceCidrs"]:
        service = azure_network.cidr(text, "networkProfile.serviceCIDR")
        for vnet in _networks(fleet):
            for subnet in fleet.resources.of(azure_network.SUBNET, below=vnet.id):
                for taken in azure_network.prefixes(subnet.body):
                    if azure_network.overlap(service, azure_network.cidr(taken, subnet.id)):
                        words = f"The specified service CIDR {text} is conflicted with an existing subnet CIDR {taken}"
                        return aks("ServiceCidrOverlapExistingSubnetsCidr", words, "networkProfile.serviceCIDR")
    return None


def pod_range(fleet: ClusterPools) -> AzureRefused | None:
    # AKS-Construction #403
    for text in fleet.network.get("podCidrs", []):
        pods = azure_network.cidr(text, "networkProfile.podCIDR")
        for vnet in _networks(fleet):
            for taken in azure_network.space(vnet.body):
                if azure_network.overlap(pods, azure_network.cidr(taken, vnet.id)):
                    words = f"NetworkProfile CIDR {text} overlaps with reserved VNET CIDR {taken}"
                    return aks("NetworkProfileCIDROverlapVNET", words, "networkProfile.podCIDR")
    return None


def _networks(fleet: ClusterPools) -> Iterator[Record]:
    """The VNets of the cluster's pools."""
    networks = {
        azure_ids.key(azure_ids.parent(subnet.id)): fleet.resources.get(azure_ids.parent(subnet.id))
        for subnet in fleet.subnets
    }
    yield from (record for record in networks.values() if record is not None)
