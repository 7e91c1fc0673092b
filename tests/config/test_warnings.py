"""Settings that a cloud may take, or takes to somebody's harm later, are a warning and no error; what is right has none.

What is refused has a row in tests/config/test_mistakes.py or in tests/configs/errors.
"""

from typing import Any

import pytest

from config.clouds.azure.rules import azure_cluster_rules as azure_versions
from config.clouds.gcp.rules import gcp_cluster_rules as gcp_cluster
from config.clouds.tables import Versions
from config.stack_file import loader
from tests.config.stack import (
    CPU,
    FLEX,
    GOOD,
    GROUP,
    L4,
    N1,
    RESERVED,
    azure,
    errors,
    extra_pool,
    gke_cluster,
    gke_pool,
    gke_system,
    good,
    on_gke,
    system,
    warnings,
    wide,
    with_pool,
)  # fmt: skip
from tests.config.stack_files import edited

ADMINS = "2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"
LOGIN = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck ops@example.com"
KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"
SHARED = {**L4, "name": "shared", "gpuSharing": {"strategy": "time-slicing", "replicas": 4}}
CHAIN = {**L4, "fallback": [{"onDemand": {"maxNodes": 1}}]}
G4 = {**L4, "machine": "g4-standard-48"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "PreferNoSchedule"}
IN_A_CLUSTER = {
    "release": "r2026-11",
    "cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "platform", "name": "shared"}},
}
IN_A_GKE_CLUSTER = {
    "release": "r2026-11",
    "cloud": {
        "provider": "gcp",
        "project": "example-ml",
        "existingCluster": {"location": "europe-west44", "name": "shared"},
    },
    "pools": [CPU],
}


def grace(seconds: int, pool: int, release: str = "r2026-11") -> dict[str, Any]:
    raw = gke_pool(L4, gcp={"shutdownGraceSeconds": pool})
    return {**raw, "release": release, "scheduling": {"gracePeriodSeconds": seconds}}


def quota(namespace: str, **guard: list[str]) -> dict[str, Any]:
    return good(scheduling={"guard": guard, "profiles": [{"namespace": namespace, "gpus": 1}]})


def versioned(raw: dict[str, Any], version: str, **cloud: Any) -> dict[str, Any]:
    """Return the stack file with its cluster's version."""
    raw["cluster"] |= {"kubernetesVersion": version, "reason": "our Istio is tested with it"}
    raw["cloud"] |= cloud
    return raw


ORDERED = {"order": ["l4"], "acceptedWait": "24h"}
LTS: dict[str, Any] = {"tier": "Premium", "longTermSupport": True, "upgrades": {"channel": "patch"}}

# ruff: noqa: E501  (one setting a line)
DOUBTFUL = [
    (system(machine="Standard_D2ds_v5"), "systemPool.machine", ""),
    (extra_pool(machine="Standard_Unheard_v9", gpus=0), "pools[3].machine", ""),
    (extra_pool(minNodes=9, maxNodes=9), "cloud.tier", ""),
    ({**extra_pool(maxNodes=990), "cloud": azure(network={"podCidr": "100.64.0.0/10"})["cloud"]}, "cloud.tier", ""),
    (extra_pool(maxNodes=90, upgrade={"maxSurge": "160"}), "cloud.network.podCidr", ""),
    (extra_pool(upgrade={"maxSurge": "1", "maxUnavailable": "1"}), "pools[3].upgrade", ""),
    (azure(tier="Premium", longTermSupport=True), "cloud.longTermSupport", ""),
    (azure(autoscaler={"expander": "least-waste"}), "cloud.autoscaler.expander", ""),
    (azure(autoscaler={"maxNodeProvisionTime": "10m", "scanInterval": "600s"}), "cloud.autoscaler.scanInterval", ""),
    (azure(autoscaler={"maxTotalUnreadyPercentage": 45}), "cloud.autoscaler.maxTotalUnreadyPercentage", "is 45: 12 unready nodes (t4, t4big) can be 80 % of all -> "),
    (azure(network={"policy": "azure"}), "cloud.network.policy", ""),
    (azure(network={"outboundType": "userAssignedNATGateway"}, access={"authorizedRanges": ["20.61.10.0/28"]}), "cloud.access.authorizedRanges", ""),
    (good(cluster={"name": "ml-test", "kubernetesVersion": "1.36", "reason": "our Istio"}), "cluster.kubernetesVersion", ""),
    (azure(access={"authorizedRanges": ["203.0.113.0/24"]}), "cloud.access.authorizedRanges[0]", ""),
    (azure(upgrades={"channel": "node-image"}), "cloud.upgrades.channel", ""),
    (azure(encryption={"kms": {"keyId": "https://v.vault.azure.net/keys/etcd/1"}}), "cloud.encryption.kms.vaultId", ""),
    (azure(monitoring={"logs": {"controlPlane": ["cluster-autoscaler", "kube-audit", "kube-audit-admin"]}}), "cloud.monitoring.logs.controlPlane[2]", ""),
    (extra_pool(machine="Standard_NC40ads_H100_v5", reservation=GROUP), "pools[3].reservation", ""),
    (extra_pool(machine="Standard_ND96isr_H100_v5", reservation=GROUP), "pools[3].reservation", ""),
    ({**IN_A_CLUSTER, "pools": [{**GOOD["pools"][0], "reservation": GROUP}]}, "pools[0].reservation", ""),
    (azure(autoscaler={"expander": "random"}) | {"growth": {**ORDERED, "order": ["t4"]}}, "cloud.autoscaler.expander growth.order", "is never read: cloud.autoscaler.expander is random -> "),
    # On GKE.
    (gke_system(minNodes=1), "systemPool.minNodes", ""),
    (on_gke(releaseChannel="STABLE"), "cloud.releaseChannel", "is STABLE, which in October 2026 had Kubernetes 1.34 to 1.35, not 1.36 -> one of: RAPID, REGULAR, EXTENDED"),
    (gke_cluster(kubernetesVersion="1.36.2", reason="a bug in 1.36.3"), "cluster.kubernetesVersion", ""),
    (on_gke(network={"nodeSubnet": "10.8.0.0/28", "podCidr": "10.16.0.0/20"}) | {"systemPool": {"machine": "e2-standard-4", "maxNodes": 6}}, "cloud.network.nodeSubnet", ""),
    (good(growth={"acceptedWait": "30s"}), "cloud.autoscaler.maxNodeProvisionTime growth.acceptedWait pools[1].fallback", "is 30s, and no GPU node starts so fast -> write 10m or more"),
    (on_gke(encryption={"secretsKey": KEY.format("europe")}), "cloud.encryption.secretsKey", ""),
    (on_gke(encryption={"bootDiskKey": KEY.format("europe-west1")}), "cloud.encryption.bootDiskKey", ""),
    (gke_pool(N1, gpus=1, gpuModel="nvidia-p4", zones=["europe-west4-b"]), "pools[0].gpuModel", ""),
    (gke_pool(L4, machine="a2-highgpu-1g"), "pools[0].zones", ""),
    (gke_pool(L4, machine="a2-highgpu-1g", zones=["europe-west4-a", "europe-west4-c"]), "pools[0].zones", ""),
    (on_gke([L4], location="us-central1"), "pools[0].zones", "is unset: GKE chooses zones of us-central1, and nvidia-l4 is in us-central1-a, us-central1-b, us-central1-c only -> write `zones: [us-central1-a, us-central1-b, us-central1-c]`"),
    (on_gke([L4], location="africa-south1"), "pools[0].zones", "none of them -> move the stack: asia-east1, "),
    (on_gke([L4], location="us-central1-f"), "pools[0].machine", "has nvidia-l4, and us-central1-f none: GKE refuses -> write `zones: [us-central1-a"),
    (gke_pool(L4, gcp={"shutdownGraceSeconds": 60}), "pools[0].gcp.shutdownGraceSeconds", ""),
    (gke_pool(L4, gcp={"locationPolicy": "balanced"}), "pools[0].gcp.locationPolicy", ""),
    (gke_pool(L4, zones=["europe-west4-a"], gcp={"locationPolicy": "any"}), "pools[0].gcp.locationPolicy", ""),
    (on_gke() | {"scheduling": {"gracePeriodSeconds": 20}}, "scheduling.gracePeriodSeconds", ""),
    (grace(106, 120), "scheduling.gracePeriodSeconds", ""),
    (on_gke([CHAIN]) | {"release": "r2026-09"}, "release", "write `kubeflow-spot:release: r2026-11`, or leave `fallback` out"),
    (on_gke([CHAIN]) | {"scheduling": {"enabled": False}}, "cloud.fallback.mode", ""),
    (on_gke([CHAIN], fallback={"mode": "compute-class"}) | {"scheduling": {"enabled": False}}, "cloud.fallback.mode", ""),
    (on_gke(fallback={"mode": "compute-class"}), "cloud.fallback.mode", ""),
    (gke_pool(L4, gcp={"computeClass": False}) | {"cloud": on_gke(fallback={"mode": "compute-class"})["cloud"]}, "cloud.fallback.mode", ""),
    (gke_pool(CHAIN, gcp={"computeClass": False}), "pools[0].gcp.computeClass", ""),
    (gke_pool(L4, installDriver=False, gcp={"secureBoot": True}), "pools[0].gcp.secureBoot", "is true, but installDriver is false -> remove one of them"),
    (gke_system(gcp={"diskType": "hyperdisk-balanced"}), "systemPool.gcp.diskType", ""),
    (gke_system(maxNodes=2), "systemPool.maxNodes", ""),
    (gke_pool(N1, capacity="on-demand", minNodes=1, maxNodes=2), "pools[0].maxNodes", ""),
    *((on_gke([L4], fallback={key: value}), f"cloud.fallback.{key}", "") for key, value in (("whenUnsatisfiable", "ScaleUpAnyway"), ("consolidationDelayMinutes", 5))),
    (gke_pool(FLEX, machine="n2-standard-8"), "pools[0].capacity", ""),
    (gke_pool(FLEX, minNodes=1), "pools[0].minNodes", "write an on-demand pool with `minNodes: 1`"),
    (gke_pool(FLEX, gcp={"locationPolicy": "balanced"}), "pools[0].gcp.locationPolicy", ""),
    (gke_pool(RESERVED, zones=["europe-west4-b", "europe-west4-c"]), "pools[0].reservation", ""),
    (gke_pool(RESERVED, upgrade={"maxSurge": "1"}), "pools[0].upgrade", ""),
    ({**on_gke([{**L4, "fallback": [{"pool": "flex"}, {"onDemand": {"maxNodes": 2}}]}, FLEX]), "growth": {"acceptedWait": "10m"}}, "pools[0].fallback", ""),
    (on_gke([FLEX]) | {"scheduling": {"defaults": {"job": {"gpu": "prefer-spot"}}}}, "scheduling.defaults.job.gpu", ""),
    (on_gke([CHAIN], fallback={"mode": "affinity"}) | {"growth": ORDERED}, "cloud.fallback.mode growth.order", "is never read: this stack has no ComputeClass -> "),
    # Regions and zones that a list of some month does not have.
    (azure(location="westeuropa"), "cloud.location", "did you mean westeurope? "),
    (on_gke(location="europe-west44"), "cloud.location", "did you mean europe-west4"),
    (IN_A_GKE_CLUSTER, "cloud.existingCluster.location", "did you mean europe-west4"),
    (azure(location="chinanorth3"), "cloud.location", "azure-native:environment"),
    (azure(location="atlantis"), "cloud.location", "that was read in November 2026 -> `az account list-locations`"),
    (on_gke(location="europe-west4-z"), "cloud.location", "one of: europe-west4-a, europe-west4-b, europe-west4-c"),
    (on_gke(zones=["europe-west4-a", "europe-west4-z"]), "cloud.zones[1]", "one of: europe-west4-a"),
    (gke_pool(CPU, zones=["europe-west4-d"]), "pools[0].zones[0]", "one of: europe-west4-a"),
    (on_gke([{**CPU, "zones": ["us-central1-ai1a"]}], location="us-central1"), "pools[0].zones[0]", "it is passed on as written"),
    # The names and the zones are of two copies of the page (config/clouds/azure/README.md).
    (edited(with_pool(zones=["1"]), {"cloud.location": "westus"}), "pools[1].zones", "had no availability zones in March 2025 -> remove it"),
    (on_gke(registries=[{"location": "europe-west44", "repository": "images"}]), "cloud.registries[0].location", "did you mean europe-west4"),
    # Machines that no catalogue has.
    (with_pool(machine="Standard_NC4as_T4_v2", gpus=1), "pools[1].machine", "did you mean Standard_NC4as_T4_v3"),
    (gke_pool(CPU, machine="n2-standart-8", gpus=0), "pools[0].machine", "did you mean n2-standard-8"),
    # What stands twice, and what is too much.
    (azure(access={"authorizedRanges": ["20.61.10.0/28", "20.82.3.7/32", "20.61.10.0/28"]}), "cloud.access.authorizedRanges[2]", "remove one of them"),
    (azure(access={"adminGroups": [ADMINS, ADMINS.upper()]}), "cloud.access.adminGroups[1]", "remove one of them"),
    (good(scheduling={"contract": {"readers": ["ml", "ops", "ml"]}}), "scheduling.contract.readers[2]", "remove one of them"),
    (gke_pool(SHARED, gpuSharing={"strategy": "time-slicing", "replicas": 40}, maxPods=32), "pools[0].gpuSharing.replicas", "32 or fewer"),
    (azure(ssh={"username": "root", "publicKey": LOGIN}), "cloud.ssh.username", "azureuser"),
    (system(minNodes=2, upgrade={"maxSurge": "150%"}), "systemPool.upgrade.maxSurge", 'at most "100%"'),
    (with_pool(machine="Standard_NC64as_T4_v3"), "growth.order pools[1].fallback[0].pool", "name a pool whose machines have 4 GPUs"),
    (with_pool(maxPods=10), "pools[1].maxPods", ""),
    # Labels, tags and taints in the domain of others, quotas of the platform, secrets in clear text.
    (gke_pool(CHAIN, labels={"karpenter.sh/capacity-type": "spot"}), 'pools[0].labels["karpenter.sh/capacity-type"]', "select by kubeflow-spot.dev/capacity"),
    (gke_pool(CPU, labels={"goog-gke-node": "true"}), 'pools[0].labels["goog-gke-node"]', "another name"),
    (gke_cluster(tags={"goog-k8s": "yes"}), 'cluster.tags["goog-k8s"]', "another name"),
    (with_pool(taints=[{"key": "node-role.kubernetes.io/vision", "value": "yes"}]), "pools[1].taints[0].key", "a domain of your own"),
    (with_pool(taints=[{"key": "a.k8s.io/vision", "value": "yes"}]), "pools[1].taints[0].key", "a domain of your own"),
    (quota("kubeflow"), "scheduling.profiles[0].namespace", "guard.pipelineNamespaces"),
    (quota("monitoring", additionalPlatformNamespaces=["monitoring"]), "scheduling.profiles[0].namespace", "guard.pipelineNamespaces"),
    (good(cluster={"name": "ml-test", "tags": {"registry-password": "hunter2"}}), 'cluster.tags["registry-password"]', "remove it"),
    # Databases and notebooks have no disk on a machine that takes Hyperdisks alone; they do not run on spot.
    (gke_pool(G4, capacity="on-demand"), "pools[0].machine", "which takes only Hyperdisks -> keep another on-demand pool for databases and notebooks"),
    (gke_pool(G4, fallback=[{"onDemand": {"maxNodes": 2}}]), "pools[0].machine", "keep another on-demand pool for databases and notebooks"),
    (gke_system(machine="n4-standard-8"), "systemPool.machine systemPool.machine", "keep another on-demand pool for databases and notebooks"),
    (gke_system(machine="c4-standard-8"), "systemPool.machine systemPool.machine", "keep another on-demand pool for databases and notebooks"),
    (good(queueing={"enabled": False, "namespaces": ["team-a"]}), "queueing.namespaces", "is never read: queueing is not enabled -> add `enabled: true`"),
    (good(scheduling={"gracePeriodSeconds": 28}), "scheduling.gracePeriodSeconds", "is 28, but noticing and draining take some of AKS's 30 s of notice -> 25 or less"),
    (good(scheduling={"defaults": {"job": {"cpu": "prefer-spot"}}}), "scheduling.defaults.job.cpu", "is prefer-spot, but no spot pool without GPUs is in the stack file: such pods stay on demand -> "),
    (good(scheduling={"profiles": [{"namespace": "ml", "gpus": 2}]}), "scheduling.profiles[0].gpus", "is 2, and the on-demand pools have at most 2: without spot this profile alone could hold -> fewer than 2"),
    # Versions of Kubernetes that a cloud's list does not have yet.
    (versioned(good(), "1.38"), "cluster.kubernetesVersion", "az aks get-versions --location westeurope"),
    (versioned(on_gke(), "1.38"), "cluster.kubernetesVersion", "gcloud container get-server-config"),
    (versioned(on_gke(), "1.36", releaseChannel="STABLE"), "cloud.releaseChannel cluster.kubernetesVersion", "one of: RAPID, REGULAR, EXTENDED"),
]  # fmt: skip
"""A stack file, the paths of its warnings, and words of the remedy of one of them, perhaps after words of the message and `->`."""

KEPT = [
    (versioned(good(), "1.30"), "cluster.kubernetesVersion", "a new cluster needs a later"),
    (versioned(good(), "1.22", **LTS), "cluster.kubernetesVersion", "a new cluster needs a later version"),
    (versioned(good(), "1.33"), "cluster.kubernetesVersion", 'for a new cluster "1.34" or later'),
    (good(overrides=[{"pin": "kubernetesVersion", "value": "1.33", "reason": "our Istio is tested with it"}]), "overrides[0].value", "`tier: Premium` and `longTermSupport: true`"),
    (versioned(on_gke(), "1.30"), "cluster.kubernetesVersion", "a new cluster needs a later version"),
    (versioned(on_gke(), "1.33"), "cloud.releaseChannel", "one of: EXTENDED"),
]  # fmt: skip
"""Versions that a running cluster may have, and no new one."""

WORKS = [
    on_gke(),
    on_gke([CHAIN]),
    gke_cluster(name="a" * 40, tags={"team": "vision", "kosten-stelle_1": "", "größe": "l"}),
    gke_system(upgrade={"maxSurge": "1", "maxUnavailable": "1"}),
    wide(maxNodes=1000, zones=["europe-west4-a"]),
    wide(maxNodes=3000),
    gke_pool(L4, gpus=1, gpuModel="nvidia-l4", spot={}),
    gke_pool(N1, gpus=0),
    gke_pool(N1, maxNodes=2),
    gke_pool(N1, capacity="on-demand", minNodes=1, maxNodes=2, zones=["europe-west4-a", "europe-west4-b"]),
    on_gke(project="example.co.uk:lab-1234"),
    gke_pool(L4, maxNodes=None, gcp={"maxNodesPerZone": 2}),
    gke_pool(N1, gpus=8, gpuModel="nvidia-tesla-v100"),
    gke_pool(L4, labels={"example.com/price": "spot"}),  # without a twin
    gke_pool(L4, taints=[{"key": "cloud.google.com/gke-spot", "value": "true"}], labels={"cloud.google.com/gke-spot": "true"}),
    gke_pool(L4, installDriver=False, gpuSharing={"strategy": "time-slicing", "replicas": 2}),
    gke_pool(L4, machine="a2-ultragpu-1g", zones=["europe-west4-a"], mig="7g", gpuSharing={"strategy": "mps", "replicas": 20}),
    on_gke([SHARED, {**SHARED, "name": "other", "labels": {"nvidia.com/device-plugin.config": "mine"}}]),
    on_gke([SHARED]) | {"devicePlugin": {"install": "never"}},
    on_gke(encryption={"bootDiskKey": KEY.format("global")}),
    on_gke(network={"privateNodes": False}),
    grace(105, 120),
    on_gke([FLEX], releaseChannel="EXTENDED") | {"cluster": {"name": "ml", "kubernetesVersion": "1.32", "reason": "waits for Istio"}},
    gke_pool(FLEX, gcp={"maxRunDuration": "10m"}, fallback=[{"onDemand": {"maxNodes": 1}}]),
    gke_pool(RESERVED, reservation="l4/reservationBlocks/b1/reservationSubBlocks/s-2", upgrade={"maxUnavailable": "1"}),
    # It comes from a reservation only.
    gke_pool(RESERVED, machine="a4x-highgpu-4g", zones=["us-central1-a"]) | {"cloud": on_gke(location="us-central1")["cloud"]},
    on_gke([CHAIN]) | {"growth": ORDERED},
    # In either order, and before the twin.
    on_gke([{**L4, "fallback": [{"pool": "kept"}, {"pool": "flex"}, {"onDemand": {"maxNodes": 2}}]}, FLEX, RESERVED]),
    on_gke([{**L4, "fallback": [{"pool": "flex"}, {"pool": "kept"}]}, FLEX, RESERVED]),
    # They serve Container Registry's hosts.
    on_gke(registries=[{"location": "us", "repository": f"{host}gcr.io"} for host in ("", "us.")]),
    on_gke(
        registries=[
            {"location": "europe", "repository": "eu.gcr.io"},
            {"location": "asia", "repository": "asia.gcr.io"},
        ]
    ),
    gke_pool(G4),
    gke_pool(L4, capacity="on-demand"),
    gke_system(machine="n2-standard-8"),
    # On AKS.
    azure(autoscaler={"maxTotalUnreadyPercentage": 45, "okTotalUnreadyCount": 12}),
    azure(autoscaler={"maxTotalUnreadyPercentage": 80}),
    # Missing values follow from the bounds.
    azure(autoscaler={"okTotalUnreadyCount": 0}),
    good(growth={**ORDERED, "order": ["t4"]}),
    extra_pool(maxPods=10, minNodes=3),
    good(alerts={"hourlyBudget": 2.5}),
    # The twin has the same settings, and is upgraded by them.
    gke_pool(CHAIN, upgrade={"maxSurge": "1"}),
    on_gke(access={"ipEndpoint": "private", "authorizedRanges": ["10.0.0.0/8"]}),
    with_pool(osDisk={"type": "Ephemeral", "sizeGb": 176}),
    good(pools=[GOOD["pools"][0], {**GOOD["pools"][1]}, {**GOOD["pools"][2], "machine": "Standard_NC64as_T4_v3"}]),
    good(pools=[{**GOOD["pools"][0], "taints": [TAINT]}]),
    quota("ml", additionalPlatformNamespaces=["ml"], pipelineNamespaces=["ml"]),
    {**IN_A_CLUSTER, "pools": GOOD["pools"][1:], "growth": GOOD["growth"]},
    with_pool(labels={"token-free": "yes", "example.com/goog-images": "a"}) | {"cluster": {"name": "ml-test", "tags": {"password": "", "goog-like": "on AKS"}}},
    azure(network={"policy": "calico", "subnets": {"GatewaySubnet": "10.8.16.0/24"}}),
    with_pool(taints=[{"key": "node.cilium.io/agent-not-ready", "value": "true"}]),
    versioned(good(), "1.34"),
    versioned(good(), "1.31", **LTS),
    versioned(on_gke(), "1.31", releaseChannel="EXTENDED"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "paths", "words"), [*DOUBTFUL, *KEPT], ids=[f"{row[1]}-{i}" for i, row in enumerate([*DOUBTFUL, *KEPT])]
)
def test_a_doubtful_setting_is_a_warning_and_no_error(raw: dict[str, Any], paths: str, words: str) -> None:
    what, _, remedy = words.rpartition(" -> ")
    assert errors(raw) == []
    reported = warnings(raw)
    assert [warning.path for warning in reported] == paths.split(" ")
    assert all(warning.remedy for warning in reported)
    assert any(what in warning.what and remedy in warning.remedy for warning in reported)
    kept = any("an existing cluster may keep it" in warning.what for warning in reported)
    assert kept == any(raw is row[0] for row in KEPT)


@pytest.mark.parametrize("raw", WORKS, ids=range(len(WORKS)))
def test_a_right_setting_has_no_problem(raw: dict[str, Any]) -> None:
    assert loader.read_stack(raw)[1] == []


@pytest.mark.parametrize("first", ["1.36", "1.40"])
def test_no_list_of_a_later_year_refuses_a_release(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack stays on a released pin for as long as its owners like."""
    later = Versions(first, "1.44", "May 2029")
    channels = dict.fromkeys(("RAPID", "REGULAR", "STABLE", "EXTENDED"), later)
    supports = dict.fromkeys(("KubernetesOfficial", "AKSLongTermSupport"), later)
    monkeypatch.setattr(gcp_cluster, "channels", lambda: channels)
    monkeypatch.setattr(gcp_cluster, "all_channels", lambda: later)
    monkeypatch.setattr(azure_versions, "versions", lambda: supports)
    for raw, paths in ((good(release="r2026-09"), []), (on_gke() | {"release": "r2026-09"}, ["cloud.releaseChannel"])):
        assert errors(raw) == []
        assert [w.path for w in warnings(raw) if w.path in ("cloud.releaseChannel", "release")] == paths
