"""GKE: pools are node pools of their own, entries of the cluster, or the initial pool of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from policy.cloud import Cloud
from policy.declared import UNKNOWN, Declared, Unknown, at
from policy.pool import Bounds, Pool, Spot, Taint, Taints
from policy.ranges import hold_everybody
from policy.rule import Finding

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
_MEMBER = "gcp:projects/iAMMember:IAMMember"
_BINDING = "gcp:projects/iAMBinding:IAMBinding"

_NVIDIA = re.compile(r"(a[2-9]x?|g[2-9])-.+")
"""Machines that come with GPUs (https://docs.cloud.google.com/compute/docs/accelerator-optimized-machines)."""

_KEPT_OFF_BY = (
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible",
    "cloud.google.com/gke-provisioning",
    # Pods that ask for the class tolerate this and no other taint (page about-custom-compute-classes).
    "cloud.google.com/compute-class",
)

_WAYS = {
    "spot": ("cloud.google.com/gke-spot", "true"),
    "preemptible": ("cloud.google.com/gke-preemptible", "true"),
}
"""https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms and .../preemptible-vms"""

_SYSTEM = ("CriticalAddonsOnly", "components.gke.io/gke-managed-components")
"""GKE has no kind of pool for its own pods; they go by these taints, of upstream and of
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/isolate-workloads-dedicated-nodes"""

_WITHOUT_FIRST = ("removeDefaultNodePool", "enableAutopilot")
"""With these the initial pool of a cluster is removed at once, or the cluster has no node pools."""

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

_ZONES_OF_A_REGION = 3
"""Zones of a regional pool, unless it or its cluster, which is not seen here, names zones
(https://docs.cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters)."""

_RANGES = "masterAuthorizedNetworksConfig"

_ACCOUNTS = {
    "masterAuth.clientCertificateConfig.issueClientCertificate": "a client certificate that never asks who uses it",
    "enableLegacyAbac": "every service account may do everything",
}

_BASIC = ("roles/owner", "roles/editor")
"""https://docs.cloud.google.com/iam/docs/roles-overview#basic"""
_PEOPLE = ("user:", "group:", "domain:", "principal:", "principalSet:")

_DEFAULT = re.compile(r"(default|\d+-compute@developer\.gserviceaccount\.com)?")
_EVERYTHING = ("cloud-platform", "https://www.googleapis.com/auth/cloud-platform")


def pools(declared: Declared) -> Iterator[Pool]:
    """The pools in one resource."""
    for at_path, inputs in written(declared):
        pool = _pool(at_path, inputs)
        first = inputs is declared.inputs and declared.type == CLUSTER
        yield replace(pool, system_at="nodeConfig", bounds=None) if first else pool


def written(declared: Declared) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Path and inputs of each pool in one resource; those of a cluster's initial pool are the cluster's."""
    if declared.type == POOL:
        yield "", declared.inputs
    if declared.type == CLUSTER:
        listed = declared.get("nodePools")
        for index, pool in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(pool, Mapping):
                yield f"nodePools[{index}].", pool
        if not any(declared.get(name) in (True, UNKNOWN) for name in _WITHOUT_FIRST):
            yield "", declared.inputs


def api_server(declared: Declared) -> Iterator[Finding]:
    """A public address whose authorized networks are missing or hold everybody."""
    # The DNS endpoint does not count: it admits nobody without a role in the project (page network-isolation).
    if declared.type != CLUSTER or declared.get("privateClusterConfig.enablePrivateEndpoint") in (True, UNKNOWN):
        return
    if declared.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") in (False, UNKNOWN):
        return
    networks = declared.get(_RANGES)
    blocks = at(networks, "cidrBlocks")
    if networks is None:
        yield Finding(
            _RANGES,
            "a public address without authorized networks",
            "list who may reach it, or set controlPlaneEndpointsConfig.ipEndpointsConfig.enabled: false and use the DNS name",
        )
    elif isinstance(blocks, list) and hold_everybody([at(block, "cidrBlock") for block in blocks]):
        yield Finding(f"{_RANGES}.cidrBlocks", "a network that holds every address", "list who may reach it")
    if at(networks, "gcpPublicCidrsAccessEnabled") is True:
        path = f"{_RANGES}.gcpPublicCidrsAccessEnabled"
        yield Finding(path, "open to every machine in Google Cloud", "set it to false")


def accounts(declared: Declared) -> Iterator[Finding]:
    """Client certificates and legacy authorization."""
    for path, problem in _ACCOUNTS.items() if declared.type == CLUSTER else ():
        if declared.get(path) is True:
            yield Finding(path, problem, "set it to false")


def roles(declared: Declared) -> Iterator[Finding]:
    """Basic roles for others than people, and nodes with the default account and every scope."""
    if declared.type in (_MEMBER, _BINDING):
        yield from _basic_roles(declared)
    if declared.type in (POOL, CLUSTER):
        yield from _default_accounts(declared)


def _basic_roles(declared: Declared) -> Iterator[Finding]:
    if declared.get("role") not in _BASIC:
        return
    listed = declared.get("members") if declared.type == _BINDING else [declared.get("member")]
    members = listed if isinstance(listed, list) else []
    if any(isinstance(member, str) and not member.startswith(_PEOPLE) for member in members):
        yield Finding(
            "role",
            "nearly every right in the project",
            "give nodes roles/container.defaultNodeServiceAccount, and no more",
        )


def _default_accounts(declared: Declared) -> Iterator[Finding]:
    for at_path, pool in written(declared):
        account, scopes = at(pool, "nodeConfig.serviceAccount"), at(pool, "nodeConfig.oauthScopes")
        if account is UNKNOWN or not _DEFAULT.fullmatch(account or "") or not isinstance(scopes, list):
            continue
        if any(scope in _EVERYTHING for scope in scopes):
            yield Finding(
                f"{at_path}nodeConfig.serviceAccount",
                "the project's default account, with every scope",
                "make an account with roles/container.defaultNodeServiceAccount, and name it here",
            )


def has_nvidia(config: Any) -> str | None:
    """The setting of the nodes that means NVIDIA GPUs; None without such a setting."""
    accelerators = at(config, "guestAccelerators")
    for accelerator in accelerators if isinstance(accelerators, list) else ():
        if str(at(accelerator, "type")).startswith("nvidia-") and at(accelerator, "count") != 0:
            return "guestAccelerators"
    machine = at(config, "machineType")
    return "machineType" if isinstance(machine, str) and _NVIDIA.fullmatch(machine) else None


def _pool(at_path: str, inputs: Mapping[str, Any]) -> Pool:
    config = inputs.get("nodeConfig")
    nodes = f"{at_path}nodeConfig."
    nvidia = has_nvidia(config)
    way = next((way for way in _WAYS if at(config, way) is True), None)
    taints = _taints(at(config, "taints"))
    return Pool(
        nvidia_at=nodes + nvidia if nvidia else None,
        spot=Spot(nodes + way, _WAYS[way], _KEPT_OFF_BY) if way else None,
        system_at=_system(at_path, inputs, taints),
        taints=Taints(f"{nodes}taints", taints, "{key: {key}, value: {value}, effect: NO_SCHEDULE}"),
        bounds=_bounds(at_path, inputs),
    )


def _system(at_path: str, inputs: Mapping[str, Any], taints: tuple[Taint, ...] | Unknown) -> str | None:
    if inputs.get("name") == "system":
        return f"{at_path}name"
    if isinstance(taints, tuple) and any(taint.key in _SYSTEM for taint in taints):
        return f"{at_path}nodeConfig.taints"
    return None


def _bounds(at_path: str, inputs: Mapping[str, Any]) -> Bounds | None:
    scaled = inputs.get("autoscaling")
    if scaled is UNKNOWN:
        return None
    if scaled is None:
        fixed = "nodeCount" if "nodeCount" in inputs else "initialNodeCount"
        return Bounds(f"{at_path}{fixed}", _whole(inputs.get(fixed, 0), inputs))
    total = at(scaled, "totalMaxNodeCount")
    # GKE writes 0 for none.
    if total not in (None, 0):
        return Bounds(f"{at_path}autoscaling.totalMaxNodeCount", total)
    return Bounds(f"{at_path}autoscaling.maxNodeCount", _whole(at(scaled, "maxNodeCount"), inputs))


def _whole(each: Any, inputs: Mapping[str, Any]) -> Any:
    """Nodes of the whole pool, from the number in each zone."""
    return each * _zones(inputs) if isinstance(each, int | float) else each


def _zones(inputs: Mapping[str, Any]) -> int:
    """In how many zones a pool has nodes."""
    named = inputs.get("nodeLocations")
    if isinstance(named, list) and named:
        return len(named)
    location = inputs.get("location")
    return _ZONES_OF_A_REGION if isinstance(location, str) and location.count("-") == 1 else 1


def _taints(declared: Any) -> tuple[Taint, ...] | Unknown:
    if declared is UNKNOWN or (isinstance(declared, list) and UNKNOWN in declared):
        return UNKNOWN
    listed = [taint for taint in (declared or ()) if isinstance(taint, Mapping)]
    return tuple(Taint(taint.get("key", ""), _effect(taint.get("effect"))) for taint in listed)


def _effect(word: Any) -> str | Unknown:
    return UNKNOWN if word is UNKNOWN else _EFFECTS.get(str(word), str(word))


CLOUD = Cloud(
    cluster=CLUSTER,
    # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/creating-managing-labels
    tags={CLUSTER: "resourceLabels", POOL: "nodeConfig.resourceLabels"},
    pools=pools,
    api_server=api_server,
    accounts=accounts,
    roles=roles,
)
