"""Pods on the nodes of some pools, read once, before anything is declared.

Deliberately changes nothing in the cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.layer import discovery
from config.placement.node_pools import POOL_LABEL

_RIGHTS = "must be allowed to list nodes, and pods in all namespaces"

_MIRROR = "kubernetes.io/config.mirror"
"""Annotation of a static pod, which a node's kubelet makes for itself
(kubernetes.io/docs/reference/labels-annotations-taints)."""


@dataclass(frozen=True)
class Running:
    """What runs on the nodes of a pool."""

    nodes: tuple[str, ...] = ()
    """Names of the nodes with work."""
    pods: tuple[Mapping[str, Any], ...] = ()
    """The work: pods as the API server holds them."""


def read_running(
    kubeconfig: str, key: str, labels: Collection[str], pool_label: str = POOL_LABEL
) -> dict[str, Running]:
    """Return what runs on the pools with these values of `pool_label`.

    `key`: the key of the stack file by which errors name the cluster. Raise `pulumi.RunError` when
    the cluster does not answer or does not allow it.
    """
    from kubernetes import client

    with discovery.connected(kubeconfig, key) as api:
        core = client.CoreV1Api(api)
        selector = f"{pool_label} in ({','.join(sorted(labels))})"
        nodes = discovery.get(key, "nodes", core.list_node, rights=_RIGHTS, label_selector=selector)
        pods = discovery.get(
            key,
            "pods",
            core.list_pod_for_all_namespaces,
            rights=_RIGHTS,
            field_selector="status.phase!=Succeeded,status.phase!=Failed",
        )
    found = (nodes or {}).get("items", ()), (pods or {}).get("items", ())
    return on_pools(labels, *found, pool_label)


def read_metadata(
    kubeconfig: str, key: str, group: str, version: str, plural: str
) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of the cluster's objects of a kind by name; none where it lacks the kind.

    Raise as `read_running`.
    """
    from kubernetes import client

    rights = f"must be allowed to list {plural} of {group}"
    with discovery.connected(kubeconfig, key) as api:
        read = client.CustomObjectsApi(api).list_cluster_custom_object
        found = discovery.get(key, plural, read, group, version, plural, rights=rights)
    each = (item["metadata"] for item in (found or {}).get("items", ()))
    return {metadata["name"]: metadata for metadata in each}


def on_pools(
    labels: Iterable[str],
    nodes: Iterable[Mapping[str, Any]],
    pods: Iterable[Mapping[str, Any]],
    pool_label: str = POOL_LABEL,
) -> dict[str, Running]:
    """Return the work of each pool by its label, from the cluster's nodes and pods."""
    named = (node["metadata"] for node in nodes)
    pool_of = {node["name"]: (node.get("labels") or {}).get(pool_label) for node in named}
    by_pool: dict[str, list[Mapping[str, Any]]] = {label: [] for label in labels}
    for pod in sorted(pods, key=name_of):
        label = pool_of.get(pod["spec"].get("nodeName"))
        if label in by_pool and _is_work(pod):
            by_pool[label].append(pod)
    return {
        label: Running(tuple(sorted({pod["spec"]["nodeName"] for pod in work})), tuple(work))
        for label, work in by_pool.items()
    }


def name_of(pod: Mapping[str, Any]) -> str:
    """Return namespace and name of a pod as messages show them."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _is_work(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod is lost with its node: not a node's own pod, and not at its end."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return (
        not any(owner.get("controller") and owner["kind"] == "DaemonSet" for owner in owners)
        and _MIRROR not in (pod["metadata"].get("annotations") or {})
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
    )
