"""Properties that only another GKE cluster can have: an edit never replaces a cluster
(docs/adr/0018).

`components.last_update` guards project, location and name. The others force a new resource in
terraform-provider-google (resource_container_cluster.go, resource_compute_subnetwork.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

import pulumi
from pulumi_gcp import compute

from components import property_edits
from components.gcp import gcp_profiles
from components.gcp.gcp_live import LiveCluster, at, block
from components.last_update import LOSE_IT, LastUpdate
from components.resources import explain_refusal
from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.model.spec import ClusterSpec


def problems(
    cloud: Gcp, name: str, live: LiveCluster, reading: pulumi.InvokeOptions
) -> Iterator[Problem]:
    """Yield a problem for each change that needs another cluster. `name`: the cluster's."""
    # Every cluster has a dataplane.
    if "datapathProvider" not in live.answer:
        return
    for path, (now, declared) in _pairs(cloud, name, live.answer, reading).items():
        # A GET omits some values, and names that another resource makes may be unknown.
        if now and declared and now != declared:
            what = (
                f"is {now} in the cluster and cannot become {declared}: a new cluster would "
                "replace it"
            )
            yield Problem(path, what, LOSE_IT)


def property_problems(cloud: Gcp, live: LiveCluster, last_update: LastUpdate) -> Iterator[Problem]:
    """Yield a problem for each edit of `cloud.properties` that needs another cluster."""
    if live.answer:
        yield from property_edits.of_cluster(
            "gcp", cloud.properties, last_update, lambda place: at(live.answer, place)
        )


def address_problems(
    spec: ClusterSpec, cloud: Gcp, pools: Iterable[str], live: LiveCluster
) -> Iterator[Problem]:
    """Yield a problem if live pools of these names contradict `privateNodes`.

    The provider would update such a pool in place; no source says what GKE then does with its
    nodes.
    """
    wanted = cloud.network.private_nodes
    others = [pool for pool in pools if live.private(pool) is (not wanted)]
    if not others:
        return
    addresses = {True: "private addresses only", False: "public addresses"}
    options = f"--cluster {spec.name} --location {cloud.location} --project {cloud.project}"
    yield Problem(
        "cloud.network.privateNodes",
        f"is {str(wanted).lower()}, but nodes have {addresses[not wanted]}: {', '.join(others)}",
        "put it back; or change each pool by hand first, which makes its nodes again: `gcloud "
        "container node-pools update POOL "
        f"{options} --{'' if wanted else 'no-'}enable-private-nodes`",
    )


def _pairs(
    cloud: Gcp, name: str, answer: Mapping[str, Any], reading: pulumi.InvokeOptions
) -> dict[str, tuple[Any, Any]]:
    """Return the live and the wanted value of each key of the stack file."""
    network = cloud.network
    v2 = answer["datapathProvider"] == gcp_profiles.dataplane(
        network.model_copy(update={"dataplane": "v2"})
    )
    pairs: dict[str, tuple[Any, Any]] = {
        "cloud.network.dataplane": ("v2" if v2 else "legacy", network.dataplane)
    }
    existing = network.existing
    # A new network has the cluster's name.
    pairs["cloud.network.existing.name"] = (
        _last(answer.get("network")),
        existing.name.known if existing else name,
    )
    subnet = existing.subnet.known if existing else name
    pairs["cloud.network.existing.subnet"] = (_last(answer.get("subnetwork")), subnet)
    if existing:
        host = re.search(r"projects/([^/]+)/", str(answer.get("network") or ""))
        pairs["cloud.network.existing.project"] = (
            host and host[1],
            existing.project or cloud.project,
        )
    if network.control_plane_cidr:
        range = block(answer, "privateClusterConfigs").get("masterIpv4CidrBlock") or "unset"
        pairs["cloud.network.controlPlaneCidr"] = (range, network.control_plane_cidr)
    ranges = block(answer, "ipAllocationPolicies")
    if existing:
        pairs["cloud.network.existing.podRange"] = (
            ranges.get("clusterSecondaryRangeName"),
            existing.pod_range.known,
        )
        pairs["cloud.network.existing.serviceRange"] = (
            ranges.get("servicesSecondaryRangeName"),
            existing.service_range.known,
        )
        return pairs
    pairs["cloud.network.podCidr"] = (ranges.get("clusterIpv4CidrBlock"), network.pod_cidr)
    pairs["cloud.network.serviceCidr"] = (ranges.get("servicesIpv4CidrBlock"), network.service_cidr)
    if _last(answer.get("subnetwork")) != name:
        return pairs
    with explain_refusal(
        f"cloud.network: subnet {name!r} in {cloud.region}", "compute.subnetworks.get"
    ):
        own = compute.get_subnetwork(
            project=cloud.project, region=cloud.region, name=name, opts=reading
        )
    # A wider range is set in place (resource_compute_subnetwork.go, isShrinkageIpCidr).
    if not ip_network(own.ip_cidr_range).subnet_of(ip_network(network.node_subnet)):  # type: ignore[arg-type]
        pairs["cloud.network.nodeSubnet"] = (own.ip_cidr_range, network.node_subnet)
    return pairs


def _last(link: Any) -> str:
    return str(link or "").rpartition("/")[2]
