"""Rules of the cluster: location, resource groups, tier, tags, Kubernetes version, upgrades."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base import near
from config.base.problems import Problem, as_path
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_tables import READ, ZONES_OF, other_cloud, regions, versions
from config.clouds.tables import minor_number
from config.clouds.traits import Cloud
from config.model.pool import AnyPool
from config.model.reading import known, of_each
from config.rules.cluster_rules import KEPT, check_offered
from config.rules.draft import Draft, most_nodes

_TIER_NODES = {"Free": 1000, "Standard": 5000, "Premium": 5000}
_PUBLIC_NAMES = (".vault.azure.net", ".azmk8s.io")
"""learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure; azmk8s.io: page
private-clusters."""
_FREE_NODES = 10
"""learn.microsoft.com/azure/aks/free-standard-pricing-tiers: Free is for fewer than ten."""


def _nodes_group(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    name = draft.cluster.name if draft.cluster else None
    if name and azure.location and len(name) <= 54:
        whole = f"MC_{azure.group(name).text}_{name}_{azure.location}"
        # learn.microsoft.com/azure/aks/faq: AKS names the group of the nodes so, and cuts nothing.
        if len(whole) > 80:
            yield Problem(
                "cluster.name",
                f"the resource group of the nodes would be {whole!r}, {len(whole)} characters long",
                "shorten the cluster's or the resource group's name until it has at most 80",
            )


def _location(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.location is None:
        yield Problem(
            "cloud.location",
            "is missing",
            "add `location`, a region's short name such as westeurope",
        )


def _region(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Azure opens regions: one that is not in the list may exist by now.
    if azure.location and azure.location not in regions():
        yield Problem(
            "cloud.location",
            f"{azure.location!r} is not in the list of Azure's regions that was read in {READ}",
            near.did_you_mean(azure.location, regions())
            + "`az account list-locations` has all; it is passed on as written",
            warning=True,
        )


def _other_cloud(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Judge a region outside the public cloud, whose endpoints and name suffixes differ."""
    other = other_cloud(azure.location) if azure.location else None
    if not other:
        return
    yield Problem(
        "cloud.location",
        f"is {azure.location}, a region of {other}: Azure's public cloud refuses it",
        "take a region of the public cloud, or set `azure-native:environment` (untested)",
        warning=True,
    )
    names = {
        "cloud.encryption.kms.keyId": known(
            lambda: azure.encryption.kms.key_id if azure.encryption.kms else "", ""
        ),
        "cloud.access.privateDnsZone": str(known(lambda: azure.access.private_dns_zone or "", "")),
    }
    for path, text in names.items():
        end = next(
            (end for end in _PUBLIC_NAMES if re.search(rf"{re.escape(end)}(/|$)", text)), None
        )
        if end:
            yield Problem(
                path,
                f"ends in {end}, as names of Azure's public cloud do",
                f"write the name that {other} has",
            )


def _zones(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    azure = draft.new_cluster(Azure)
    if azure and azure.location and pool.zones and regions().get(azure.location) == "no":
        yield Problem(
            f"{path}.zones",
            f"is set, and {azure.location} had no availability zones in {ZONES_OF}",
            "remove it, or take another region",
            warning=True,
        )


def _resource_groups(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.resource_group and azure.existing_resource_group:
        yield Problem(
            "cloud.existingResourceGroup",
            "is set beside resourceGroup: a cluster is in one group",
            "keep `resourceGroup` for a new group, or `existingResourceGroup` for an existing one",
        )


def _long_term_support(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/aks/long-term-support
    if not azure.long_term_support:
        return
    if azure.tier != "Premium":
        yield Problem(
            "cloud.longTermSupport",
            f"needs tier Premium, not {azure.tier}",
            "write `tier: Premium` under `cloud`",
        )
    if azure.upgrades.channel != "patch":
        yield Problem(
            "cloud.longTermSupport",
            "covers the two newest patches of a version only, and nothing here installs them",
            "set `upgrades.channel: patch`",
            warning=True,
        )


def _tier(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    tier = azure.tier
    pools = [pool for _, pool in draft.written_pools()]
    always = sum(of_each(pools, lambda pool: pool.min_nodes or 0))
    if tier == "Free" and always >= _FREE_NODES:
        yield Problem(
            "cloud.tier",
            f"is Free with at least {always} nodes; AKS advises fewer than {_FREE_NODES}, and "
            "gives no SLA",
            "set `tier: Standard`",
            warning=True,
        )
    most = sum(most_nodes(pool, draft) or 0 for pool in pools)
    if most > _TIER_NODES[tier]:
        yield Problem(
            "cloud.tier",
            f"is {tier}, for at most {_TIER_NODES[tier]} nodes; the pools may grow to {most}",
            "set `tier: Standard`" if tier == "Free" else "smaller maxNodes",
            warning=True,
        )


def _tags(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/azure-resource-manager/management/tag-resources; one more is the
    # program's own on pools.
    tags = draft.cluster.tags if draft.cluster else {}
    if len(tags) > 49:
        yield Problem(
            "cluster.tags",
            f"has {len(tags)} tags",
            "at most 49; Azure takes 50 and this program adds one",
        )
    seen: set[str] = set()
    for name, value in tags.items():
        path = f"cluster.tags{as_path(name)}"
        if not name or len(name) > 512 or set(name) & set("<>%&\\?/"):
            yield Problem(
                path,
                f"{name!r} is not a valid name for a tag",
                "at most 512 characters, none of < > % & \\ ? /",
            )
        if len(value) > 256:
            yield Problem(path, f"has {len(value)} characters", "at most 256")
        if name.lower() in seen:
            yield Problem(
                path, "is set twice: Azure compares names of tags without case", "keep one of them"
            )
        seen.add(name.lower())


_OFFICIAL, _LONG = "KubernetesOfficial", "AKSLongTermSupport"
"""AKS' names of its support plans."""


def _version(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    own = draft.own_version()
    if not own:
        return
    path, version = own
    official, long = versions()[_OFFICIAL], versions()[_LONG]
    if not azure.long_term_support and minor_number(long.first) <= minor_number(
        version
    ) < minor_number(official.first):
        # AKS makes a cluster of such a version with that plan only.
        yield Problem(
            path,
            f"is {version}, which AKS offers with long-term support only: without it "
            f"{official.first} to {official.last} in {official.read}; {KEPT}",
            f'for a new cluster "{official.first}" or later, or `tier: Premium` and '
            "`longTermSupport: true`",
            warning=True,
        )
    else:
        region = azure.location or "REGION"
        yield from check_offered(
            path, version, long, cloud.title, f"az aks get-versions --location {region}"
        )


def _patch_channel(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/aks/auto-upgrade-cluster; AKS takes no version back.
    path, version = draft.own_version() or ("", "")
    if azure.upgrades.channel == "patch" and version.count(".") == 2:
        minor = version.rpartition(".")[0]
        yield Problem(
            path,
            f"is {version} while upgrades.channel is patch, which will move past it",
            f'write "{minor}", or set `upgrades.channel: none`',
        )


def _cluster_window(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.upgrades.cluster_window and azure.upgrades.channel == "none":
        yield Problem(
            "cloud.upgrades.clusterWindow",
            "is never used: channel is none, so AKS does not upgrade the cluster by itself",
            "set `channel: patch`, or remove the window",
        )


def _node_os_window(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/aks/auto-upgrade-node-os-image: AKS itself does nothing then.
    if not azure.upgrades.node_os_window:
        return
    channel = azure.upgrades.node_os_channel
    if channel in ("None", "Unmanaged"):
        yield Problem(
            "cloud.upgrades.nodeOsWindow",
            f"is never used: nodeOsChannel is {channel}, so AKS does not replace node images",
            "set `nodeOsChannel: NodeImage` or SecurityPatch, or remove the window",
        )


def _node_image(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.upgrades.channel == "node-image":
        yield Problem(
            "cloud.upgrades.channel",
            "is node-image, which AKS plans to retire",
            "set `channel: none` and `nodeOsChannel: NodeImage`, which do the same",
            warning=True,
        )


NEW_CLUSTER_RULES = (
    _nodes_group,
    _location,
    _region,
    _other_cloud,
    _resource_groups,
    _long_term_support,
    _tier,
    _version,
    _patch_channel,
    _cluster_window,
    _node_os_window,
    _node_image,
)
ANY_POOL_RULES = (_zones,)
RULES = (_tags,)
