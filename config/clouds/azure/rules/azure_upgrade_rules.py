"""Checks of upgrades: channels, windows, surge."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Pool
from config.rules.draft import Draft


def _patch(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
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


def _pool(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.upgrade:
        return
    if pool.reclaimable:
        # hashicorp/terraform-provider-azurerm pull request 31129
        yield Problem(
            f"{path}.upgrade",
            "is set on a spot pool: AKS refuses maxSurge and maxUnavailable there",
            "remove it",
        )
        return
    # learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling
    surge, unavailable = pool.upgrade.max_surge or "0", pool.upgrade.max_unavailable or "0"
    if surge == unavailable == "0":
        yield Problem(
            f"{path}.upgrade",
            "leaves no way to exchange a node: maxSurge and maxUnavailable are both 0",
            'write `maxSurge: "1"`, or `maxUnavailable: "1"` if quota is short, or leave it out',
        )
    elif "0" not in (surge, unavailable):
        yield Problem(
            f"{path}.upgrade",
            "sets maxSurge and maxUnavailable: AKS has both together in preview only",
            "keep one of them",
            warning=True,
        )


def _more_than_all(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.upgrade:
        return
    for key, text in {
        "maxSurge": pool.upgrade.max_surge,
        "maxUnavailable": pool.upgrade.max_unavailable,
    }.items():
        # Page upgrade-aks-node-pools-rolling: above the pool's nodes AKS takes as many as it has;
        # others read it as refused.
        if text and text.endswith("%") and int(text[:-1]) > 100:
            yield Problem(
                f"{path}.upgrade.{key}",
                f"is {text}, more than all nodes of the pool",
                'at most "100%"',
                warning=True,
            )


NEW_CLUSTER_RULES = (_patch, _cluster_window, _node_os_window, _node_image)
POOL_RULES = (_pool,)
ANY_POOL_RULES = (_more_than_all,)
