"""What makes another cluster of a GKE cluster: it is never replaced by an edit (docs/adr/0031).

Project, location and name are in `components.last_update`. The rest forces a new resource in terraform-provider-google
(resource_container_cluster.go, resource_compute_subnetwork.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pulumi

from components.gcp import profiles
from components.gcp.live import LiveCluster, block
from components.gcp.types import GET_SUBNETWORK
from components.last_update import LOSE_IT
from components.resources import call
from config.clouds.gcp.settings import Gcp
from config.problems import Problem


def problems(cloud: Gcp, name: str, live: LiveCluster, reading: pulumi.InvokeOptions) -> Iterator[Problem]:
    """What the stack file wants of a live cluster that only another one can have. `name` is the cluster's."""
    # Every cluster has a dataplane.
    if "datapathProvider" not in live.answer:
        return
    for path, (now, wanted) in _pairs(cloud, name, live.answer, reading).items():
        # What a GET leaves out is not known.
        if now and now != wanted:
            what = f"is {now} in the cluster and cannot become {wanted}: a new cluster would replace it"
            yield Problem(path, what, LOSE_IT)


def _pairs(
    cloud: Gcp, name: str, found: Mapping[str, Any], reading: pulumi.InvokeOptions
) -> dict[str, tuple[Any, Any]]:
    """By key of the stack file, what is and what is wanted."""
    network = cloud.network
    v2 = found["datapathProvider"] == profiles.dataplane(network.model_copy(update={"dataplane": "v2"}))
    pairs: dict[str, tuple[Any, Any]] = {"cloud.network.dataplane": ("v2" if v2 else "legacy", network.dataplane)}
    there = network.existing
    # The network that is made here has the cluster's name.
    pairs["cloud.network.existing.name"] = (_last(found.get("network")), there.name if there else name)
    pairs["cloud.network.existing.subnet"] = (_last(found.get("subnetwork")), there.subnet if there else name)
    if there:
        host = re.search(r"projects/([^/]+)/", str(found.get("network") or ""))
        pairs["cloud.network.existing.project"] = (host and host[1], there.project or cloud.project)
    if network.control_plane_cidr:
        own = block(found, "privateClusterConfigs").get("masterIpv4CidrBlock") or "unset"
        pairs["cloud.network.controlPlaneCidr"] = (own, network.control_plane_cidr)
    ranges = block(found, "ipAllocationPolicies")
    if there:
        pairs["cloud.network.existing.podRange"] = (ranges.get("clusterSecondaryRangeName"), there.pod_range)
        pairs["cloud.network.existing.serviceRange"] = (ranges.get("servicesSecondaryRangeName"), there.service_range)
        return pairs
    pairs["cloud.network.podCidr"] = (ranges.get("clusterIpv4CidrBlock"), network.pod_cidr)
    pairs["cloud.network.serviceCidr"] = (ranges.get("servicesIpv4CidrBlock"), network.service_cidr)
    if _last(found.get("subnetwork")) != name:
        return pairs
    subnet = call(GET_SUBNETWORK, {"project": cloud.project, "region": cloud.region, "name": name}, reading)
    pairs["cloud.network.nodeSubnet"] = (subnet["ipCidrRange"], network.node_subnet)
    return pairs


def _last(link: Any) -> str:
    return str(link or "").rpartition("/")[2]
