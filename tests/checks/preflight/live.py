"""Stacks whose cluster is there already, and pools without zones: the same rows as in `test_settings`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import yaml

from tests.checks.preflight.recorded import PROJECT, answers

Settings = dict[str, Any]


def nothing(parts: Settings) -> None:
    pass


def existing_gke(file: Settings) -> None:
    for key in ("systemPool", "cluster"):
        file.pop(key)
    file["cloud"] = {
        "provider": "gcp",
        "project": "example-ml-staging",
        "existingCluster": {"location": "europe-west4", "name": "shared"},
    }


def without_zones(file: Settings) -> None:
    del file["cloud"]["zones"]


AKS_NODES = {"system": ("Standard_D4ds_v5", 2), "general": ("Standard_D8ds_v5", 1), "t4": ("Standard_NC4as_T4_v3", 8)}


def up_on_aks(parts: Settings, version: str = "1.36.2") -> None:
    """The stack's own cluster, with nodes in each pool but the twin."""
    tags = yaml.safe_load((PROJECT / "Pulumi.dev.yaml").read_text())["config"]["kubeflow-spot:cluster"]["tags"]
    pools = [{"name": name, "vmSize": size, "count": count} for name, (size, count) in AKS_NODES.items()]
    pools.append({"name": "t4od", "vmSize": "Standard_NC4as_T4_v3", "count": 1})
    properties = {"currentKubernetesVersion": version, "agentPoolProfiles": pools}
    parts.update(resourceGroup={"tags": tags}, cluster={"tags": tags, "properties": properties})


def _used_up(parts: Settings) -> None:
    for usage in parts["usages"]:
        usage["currentValue"] = usage["limit"]


def up_on_gke(parts: Settings, zones: Iterable[str]) -> None:
    """The stack's own cluster, with a node in each zone of each pool."""
    pools, sizes = [], {}
    for need in answers("gcp").demand.needs:
        groups = {f"europe-west4-{zone}": f"gke-ml-staging-{need.pool}-{zone}-grp" for zone in zones}
        sizes |= {f"{zone}/{group}": {"size": 1} for zone, group in groups.items()}
        urls = [
            f"https://x/compute/v1/projects/p/zones/{z}/instanceGroupManagers/{group}" for z, group in groups.items()
        ]
        pools.append({"name": need.pool, "config": {"machineType": need.machine}, "instanceGroupUrls": urls})
    parts["groups"] = sizes
    parts["cluster"] = {
        "resourceLabels": {"environment": "staging", "owner": "ml-platform"},
        "currentMasterVersion": "1.36.4-gke.1000000",
        "locations": [f"europe-west4-{zone}" for zone in zones],
        "nodePools": pools,
    }


def _usedup_on_gke(parts: Settings) -> None:
    for part in ("region", "project"):
        for quota in parts[part]["quotas"]:
            quota["usage"] = quota["limit"]


def _fourth_zone(parts: Settings) -> None:
    parts["region"]["zones"].append("https://x/zones/europe-west4-d")
    for kind in ("machineTypes", "acceleratorTypes"):
        names = {key.partition("/")[2] for key in parts[kind]}
        parts[kind].update({f"europe-west4-d/{name}": {} for name in names})
    parts["acceleratorTypes"]["europe-west4-d/nvidia-l4"] = None


LIVE: dict[str, tuple[str, Callable[[Settings], Any], Callable[[Settings], Any], str, str]] = {
    "a-zone-of-three-lacks-the-machine": (
        "gcp",
        without_zones,
        lambda p: p["machineTypes"].update({"europe-west4-a/g2-standard-8": None}),
        "machines",
        "is not offered in europe-west4-a, and GKE gives a pool without `zones` every zone of europe-west4",
    ),
    "a-zone-of-three-lacks-the-gpu": (
        "gcp",
        without_zones,
        lambda p: p["acceleratorTypes"].update({"europe-west4-c/nvidia-l4": None}),
        "machines",
        "nvidia-l4 of pool l4 is not offered in europe-west4-c, and GKE gives",
    ),
    "a-zone-that-the-cluster-has-no-nodes-in": (
        "gcp",
        without_zones,
        lambda p: (up_on_gke(p, ("a", "b")), p["acceleratorTypes"].update({"europe-west4-c/nvidia-l4": None})),
        "",
        "a first `up` was made already",
    ),
    "a-zone-that-the-cluster-has-nodes-in": (
        "gcp",
        without_zones,
        lambda p: (up_on_gke(p, ("a", "b")), p["acceleratorTypes"].update({"europe-west4-b/nvidia-l4": None})),
        "machines",
        "and europe-west4-b is a zone of the cluster's nodes",
    ),
    "a-zone-of-four": ("gcp", without_zones, _fourth_zone, "", "of the 4 zones of the region GKE takes 3"),
    "the-machine-here-and-the-gpu-there": (
        "gcp",
        without_zones,
        lambda p: (
            p["machineTypes"].update({f"europe-west4-{zone}/g2-standard-8": None for zone in "ab"}),
            p["acceleratorTypes"].update({"europe-west4-c/nvidia-l4": None}),
        ),
        "machines",
        "g2-standard-8 and nvidia-l4 of pool l4 is not offered in europe-west4-a, europe-west4-b, europe-west4-c",
    ),
    "own-nodes-use-the-quota": ("azure", nothing, lambda p: (up_on_aks(p), _used_up(p)), "", "made already"),
    "own-nodes-are-too-few": (
        "azure",
        lambda f: f["pools"][0].update(minNodes=3),
        lambda p: (up_on_aks(p), _used_up(p)),
        "quota",
        "cores has 0 of 200 vCPUs left; the first nodes of general, system, t4od need 16 at least",
    ),
    "own-nodes-use-the-quota-of-gke": (
        "gcp",
        nothing,
        lambda p: (up_on_gke(p, "abc"), _usedup_on_gke(p)),
        "",
        "made already",
    ),
    "the-version-is-no-longer-offered": (
        "azure",
        nothing,
        lambda p: (up_on_aks(p), p["versions"]["values"].pop(0)),
        "",
        "",
    ),
    "an-upgrade-to-a-version-that-is-not-offered": (
        "azure",
        nothing,
        lambda p: (up_on_aks(p, "1.35.4"), p["versions"]["values"].pop(0)),
        "version",
        "AKS has no Kubernetes 1.36",
    ),
    "the-channel-no-longer-has-the-version": (
        "gcp",
        nothing,
        lambda p: (up_on_gke(p, "abc"), [c["validVersions"].clear() for c in p["serverConfig"]["channels"]]),
        "",
        "",
    ),
    "quotas-that-could-not-be-fetched": (
        "gcp",
        nothing,
        lambda p: (
            p["region"].pop("quotas"),
            p["region"].update(quotaStatusWarning={"code": "QUOTA_INFO_UNAVAILABLE", "message": "x"}),
        ),
        "quota",
        "region: Google Cloud answers without its quotas (QUOTA_INFO_UNAVAILABLE x)",
    ),
    "rbac-may-give-the-rights-in-a-cluster-that-is-there": (
        "gcp",
        existing_gke,
        lambda p: (
            p.update(cluster={"name": "shared", "locations": ["europe-west4-a"]}),
            p["granted"]["permissions"].remove("container.roles.create"),
        ),
        "",
        "lacks container.roles.create on the project; RBAC in the existing cluster may give it",
    ),
    "no-existing-gke-cluster": (
        "gcp",
        existing_gke,
        nothing,
        "names",
        "europe-west4 has no cluster shared to add pools to",
    ),
    "existing-gke-cluster": ("gcp", existing_gke, lambda p: p.update(cluster={"name": "shared"}), "", ""),
    "no-zone-has-it": (
        "gcp",
        without_zones,
        lambda p: p["machineTypes"].update(dict.fromkeys(p["machineTypes"])),
        "machines",
        "is not offered in europe-west4-a, europe-west4-b, europe-west4-c",
    ),
}
