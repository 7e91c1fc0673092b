"""Rules of the network around the cluster: subnets, outbound traffic, network policies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_forms import NETWORK_NAME
from config.clouds.azure.azure_network import NODE_SUBNET
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.model.fields import FORMS
from config.model.pool import AnyPool
from config.rules.draft import Draft
from config.rules.network_rules import PATH, refuse_beside_existing

_OTHER_SERVICES = {
    name.lower(): service
    for name, service in {
        "GatewaySubnet": "VPN and ExpressRoute gateways",
        "AzureBastionSubnet": "Azure Bastion",
        "AzureFirewallSubnet": "Azure Firewall",
        "AzureFirewallManagementSubnet": "Azure Firewall",
        "RouteServerSubnet": "Azure Route Server",
    }.items()
}
"""Names of subnets reserved for one service, and the service. Azure compares names without case.

Sources: vpn-gateway/vpn-gateway-vpn-faq (no virtual machines in a gateway subnet),
bastion/configuration-settings (no other resources),
virtual-network/virtual-network-for-azure-services (dedicated: no customer's machines)."""

_PODS = 30
"""Pods that a pool must have room for
(learn.microsoft.com/azure/aks/concepts-network-ip-address-planning)."""


def _existing(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.network.existing:
        yield from refuse_beside_existing(azure.network, "address_space", "node_subnet", "subnets")


def _subnet_names(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = azure.network
    seen = {NODE_SUBNET: "the subnet of pools that name none"}
    for name in network.subnets if not network.existing else ():
        if name.lower() in seen:
            yield Problem(
                f"{PATH}.subnets.{name}",
                f"has the same name as {seen[name.lower()]}; Azure compares names without case",
                "give it another name",
            )
        seen[name.lower()] = f"subnets.{name}"


def _subnet(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    azure, named = draft.new_cluster(Azure), settings_of(pool).subnet
    network = azure.network if azure else None
    if not named:
        return
    subnet = named.text
    if subnet.startswith("/"):
        yield from azure_id_rules.check_id_type(
            f"{path}.subnet", subnet, "Microsoft.Network/virtualNetworks/subnets", "a subnet"
        )
        if network:
            yield Problem(
                f"{path}.subnet",
                "is an id: all pools of a cluster are in one network, so its name is enough",
                "write the name of the subnet, which stands under `cloud.network`",
            )
    elif not re.fullmatch(NETWORK_NAME, subnet):
        yield Problem(
            f"{path}.subnet", f"is {subnet!r}, which no subnet is called", FORMS[NETWORK_NAME]
        )
    elif network and not network.existing and subnet not in {NODE_SUBNET, *network.subnets}:
        known = ", ".join(sorted(network.subnets))
        yield Problem(
            f"{path}.subnet",
            f"there is no subnet {subnet!r} in cloud.network.subnets",
            f"one of: {known}"
            if known
            else f"add it: `cloud.network.subnets: {{{subnet}: 10.8.16.0/20}}`",
        )


def _services_subnet(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.settings(Azure) and (named := settings_of(pool).subnet):
        yield from _of_a_service(f"{path}.subnet", named.text)


def _services_existing_subnet(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.network.existing:
        yield from _of_a_service(f"{PATH}.existing.subnet", azure.network.existing.subnet.text)


def _of_a_service(path: str, subnet: str) -> Iterator[Problem]:
    name = subnet.rpartition("/")[2]
    if service := _OTHER_SERVICES.get(name.lower()):
        yield Problem(
            path,
            f"is {name}, the subnet of {service}: Azure lets no virtual machine into it",
            "name a subnet of its own for the nodes",
        )


def _way_out(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = azure.network
    if network.outbound_type == "userDefinedRouting" and not network.existing:
        # learn.microsoft.com/azure/aks/egress-outboundtype
        yield Problem(
            f"{PATH}.outboundType",
            "is userDefinedRouting: AKS then needs a route table from 0.0.0.0/0 to your appliance",
            "name that network in `cloud.network.existing`, or use userAssignedNATGateway",
        )


def _policy(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    network = azure.network
    # AKS' subcode CiliumDataplaneRequiresNetworkPolicyCilium: Azure/bicep-registry-modules pull
    # request 3361 for azure, Azure/azure-cli-extensions 7011 for none. The reverse: REST text of
    # networkPolicy.
    if (network.dataplane == "cilium") != (network.policy == "cilium"):
        yield Problem(
            f"{PATH}.policy",
            f"is {network.policy or 'none'} with dataplane {network.dataplane}: Cilium needs both",
            "write `policy: cilium`, or remove `dataplane: cilium` to keep calico or azure"
            if network.dataplane == "cilium"
            else "write `dataplane: cilium` too, or another policy, such as calico",
        )
    elif network.dataplane == "cilium":
        yield Problem(
            f"{PATH}.dataplane",
            "is cilium: without Istio's settings for it Kubeflow answers `RBAC: access denied`",
            "see the README of kubeflow/manifests on Cilium before you install Kubeflow",
            warning=True,
        )
    elif network.policy == "azure":
        # learn.microsoft.com/azure/aks/use-network-policies
        yield Problem(
            f"{PATH}.policy",
            "is azure, which AKS retires on 2028-09-30 and supports up to 250 nodes only",
            "use calico, or cilium with `dataplane: cilium`",
            warning=True,
        )


def _pods(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.max_pods:
        return
    most = pool.most_nodes(draft.cloud)
    if pool.max_pods * most < _PODS:
        yield Problem(
            f"{path}.maxPods",
            f"is {pool.max_pods}: with {most} nodes the pool has room for {pool.max_pods * most} "
            f"pods, and AKS needs {_PODS}",
            "more pods a node, or more nodes",
        )
        return
    # Page concepts-network-ip-address-planning: maxPods 10 needs three nodes in each pool. No
    # source says which number counts for a pool that scales; when created, it has its least nodes.
    first = max(1, pool.least_nodes(draft.cloud) or 0)
    if pool.max_pods * first < _PODS:
        yield Problem(
            f"{path}.maxPods",
            f"is {pool.max_pods}: with its first {first} node{'s' if first > 1 else ''} the pool "
            f"has room for {pool.max_pods * first} pods, and AKS needs {_PODS}",
            f"{_PODS} or more, or more minNodes",
            warning=True,
        )


NEW_CLUSTER_RULES = (_existing, _subnet_names, _services_existing_subnet, _way_out, _policy)
ANY_POOL_RULES = (_subnet, _services_subnet, _pods)
