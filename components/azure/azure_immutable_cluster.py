"""Properties that only another AKS cluster can have: an edit never replaces a cluster
(docs/adr/0018).

AKS never changes some of them. For the others azure-native knows replacement only (`forceNew` in
its metadata).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi
from pulumi_azure_native import network

from components import property_edits
from components.azure.azure_live import LiveCluster, at
from components.last_update import LOSE_IT, LastUpdate
from components.resources import explain_refusal
from config.base.problems import Problem
from config.clouds.azure.azure_network import NODE_SUBNET, AzureNetwork
from config.clouds.azure.azure_settings import Azure, AzureEncryption
from config.model.spec import ClusterSpec

_UNKNOWN = object()

TENANT = "tenantId"
"""Key of the last update: the tenant that the stack file named."""

LISTED = "poolsListed"
"""Key of the last update: whether the state has the cluster's pools as AKS lists them."""

KEPT_BY_HAND = (
    "put it back; or change it by hand, where AKS can (az aks update --network-policy, "
    "--network-dataplane, --outbound-type), and "
    "then here"
)
"""AKS may change these in place (page upgrade-azure-cni); azure-native would replace."""

_BY_HAND = ("cloud.network.policy", "cloud.network.dataplane", "cloud.network.outboundType")


def problems(cloud: Azure, live: LiveCluster, last_update: LastUpdate) -> Iterator[Problem]:
    """Yield a problem for each change that needs another cluster, or that AKS would ignore."""
    # Every cluster has a network.
    if not live.answer or "networkProfile" not in live.answer:
        return
    yield from _kept(cloud, live.answer, last_update)
    for path, (now, declared) in _pairs(cloud, live.answer).items():
        # A GET omits some values; those are unknown.
        if now is not _UNKNOWN and now != declared:
            what = (
                f"is {_shown(now)} in the cluster and cannot become {_shown(declared)}: a new "
                "cluster would replace it"
            )
            yield Problem(path, what, KEPT_BY_HAND if path in _BY_HAND else LOSE_IT)


def property_problems(
    cloud: Azure, live: LiveCluster, last_update: LastUpdate
) -> Iterator[Problem]:
    """Yield a problem for each edit of `cloud.properties` that needs another cluster."""
    if answer := live.answer:
        yield from property_edits.of_cluster(
            "azure", cloud.properties, last_update, lambda place: at(answer, place)
        )


def subnet_problems(
    spec: AzureNetwork, group: str, name: str, live: LiveCluster, reading: pulumi.InvokeOptions
) -> Iterator[Problem]:
    """Yield a problem for each changed range of a subnet with nodes (InUsePrefixCannotBeDeleted).

    A new network is called `name`.
    """
    ids = {str(pool.get("vnetSubnetID") or "").lower() for pool in live.profiles.values()}
    used = {id.rpartition("/")[2] for id in ids if f"/virtualnetworks/{name.lower()}/" in id}
    if spec.existing or not used or not live.answer or "networkProfile" not in live.answer:
        return
    what = f"cloud.network: virtual network {name!r} in resource group {group!r}"
    with explain_refusal(what, "Microsoft.Network/virtualNetworks/read"):
        answer = network.get_virtual_network(
            resource_group_name=group, virtual_network_name=name, opts=reading
        )
    now = {subnet.name: subnet.address_prefix for subnet in answer.subnets or ()}
    for subnet, prefix in {NODE_SUBNET: spec.node_subnet, **spec.subnets}.items():
        if subnet.lower() in used and now.get(subnet) not in (None, prefix):
            key = "nodeSubnet" if subnet == NODE_SUBNET else f"subnets.{subnet}"
            what = f"is {now[subnet]}, has nodes in it and cannot become {prefix}"
            yield Problem(
                f"cloud.network.{key}",
                what,
                "put it back; or add a subnet of that range and name it in pools",
            )


def _kept(cloud: Azure, answer: Mapping[str, Any], last_update: LastUpdate) -> Iterator[Problem]:
    """Yield a problem for each dropped setting that AKS keeps (page enable-authentication)."""
    managed = bool((answer.get("aadProfile") or {}).get("managed"))
    if managed and cloud.access.entra and last_update.get(TENANT) and not cloud.access.tenant_id:
        yield Problem(
            "cloud.access.tenantId",
            f"was {last_update.get(TENANT)}, and AKS keeps a tenant that is no longer named",
            "write the tenant you want; `az account show --query tenantId` shows the "
            "subscription's",
        )
    if managed and not cloud.access.entra:
        yield Problem(
            "cloud.access.adminGroups",
            "is unset: AKS does not switch logins through Entra off again",
            "write `adminGroups` or `azureRbac: true`; only another cluster can be without",
        )


def _pairs(cloud: Azure, answer: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the live and the wanted value of each key of the stack file."""
    nodes, access, disks = cloud.network, cloud.access, cloud.encryption.disk_encryption_set
    profile, api = answer["networkProfile"], answer.get("apiServerAccessProfile") or {}
    private = bool(api.get("enablePrivateCluster"))
    zones = (
        str(zone or "system").lower()
        for zone in (api.get("privateDNSZone"), access.private_dns_zone)
    )
    return {
        "cloud.location": (_region(answer["location"]), cloud.location),
        "cloud.network.podCidr": (profile.get("podCidr") or _UNKNOWN, nodes.pod_cidr),
        "cloud.network.serviceCidr": (profile.get("serviceCidr") or _UNKNOWN, nodes.service_cidr),
        "cloud.network.dataplane": (profile.get("networkDataplane") or "azure", nodes.dataplane),
        "cloud.network.policy": (profile.get("networkPolicy") or "none", nodes.policy or "none"),
        "cloud.network.outboundType": (
            profile.get("outboundType") or "loadBalancer",
            nodes.outbound_type,
        ),
        "cloud.access.private": (private, access.private),
        **(
            {"cloud.access.privateDnsZone": (next(zones), next(zones))}
            if private and access.private
            else {}
        ),
        "cloud.encryption.diskEncryptionSet": (
            _UNKNOWN if disks and disks.made_up else _id(answer.get("diskEncryptionSetID")),
            _id(disks and disks.text),
        ),
        "cloud.ssh": (
            _login(answer),
            (cloud.ssh.username, cloud.ssh.public_key) if cloud.ssh else None,
        ),
    }


def _region(location: str) -> str:
    return location.replace(" ", "").lower()


def _id(id: Any) -> str:
    return str(id or "").lower()


def _login(answer: Mapping[str, Any]) -> tuple[str, str] | None:
    profile = answer.get("linuxProfile")
    if not profile:
        return None
    keys = (profile.get("ssh") or {}).get("publicKeys") or [{}]
    return str(profile.get("adminUsername")), str(keys[0].get("keyData", "")).strip()


def _shown(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case (user, key):
            return f"{user} with the key ...{key[:60].rpartition(' ')[2][-8:]}"
        case _:
            return str(value or "unset")


def key_problems(spec: AzureEncryption, live: LiveCluster) -> Iterator[Problem]:
    """Yield a problem if the key of etcd is dropped while it encrypts Secrets (page
    use-kms-etcd-encryption).
    """
    profile = (live.answer or {}).get("securityProfile") or {}
    kms = profile.get("azureKeyVaultKms") or {}
    if kms.get("enabled") and not spec.kms:
        yield Problem(
            "cloud.encryption.kms",
            f"encrypts the cluster's Secrets with {kms.get('keyId')} and cannot be dropped",
            "put it back; or run `az aks update --disable-azure-keyvault-kms`, then write every "
            "Secret again "
            "(kubectl get secrets -A -o json | kubectl replace -f -), then remove it here",
        )


def upgrade_problems(spec: ClusterSpec, live: LiveCluster) -> Iterator[Problem]:
    """Yield a problem for an upgrade while a channel is set.

    AKS then upgrades all pools at once, which it refuses with spot pools (pages
    auto-upgrade-cluster and spot-node-pool).
    """
    answer, version = live.answer or {}, spec.kubernetes_version
    channel = (answer.get("autoUpgradeProfile") or {}).get("upgradeChannel") or "none"
    now = str(answer.get("currentKubernetesVersion") or answer.get("kubernetesVersion") or version)
    if channel == "none" or f"{now}.".startswith(f"{version}."):
        return
    yield Problem(
        "cluster.kubernetesVersion" if spec.cluster.kubernetes_version else "release",
        f"{now} cannot become {version} while the cluster's upgrade channel is {channel}: AKS "
        "then upgrades all pools at once, "
        "which it refuses with spot pools",
        f"first keep {now.rpartition('.')[0]}, set `cloud.upgrades.channel: none` and run `pulumi "
        "up`; then upgrade; then set "
        "the channel again",
    )
