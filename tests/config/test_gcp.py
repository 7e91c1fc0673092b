"""Errors and warnings of GKE stack files, beside the files of tests/configs."""

from __future__ import annotations

from typing import Any

import pytest
from config.base.problems import Problem
from config.clouds.gcp.gcp_traits import Gke
from config.placement import node_pools
from config.stack_file import loader

from tests.config.stack import good, on_gke, spec

L4 = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 8}
N1 = {"name": "n1", "machine": "n1-highmem-8", "capacity": "spot", "maxNodes": 4}
KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"
NETWORK = {"name": "n", "subnet": "s", "podRange": "p", "serviceRange": "r"}
EXISTING = {"location": "europe-west4", "name": "shared"}
FLEX = {"name": "flex", "machine": "g2-standard-8", "capacity": "flex-start", "maxNodes": 4}
RESERVED = {"name": "kept", "machine": "g2-standard-8", "maxNodes": 2, "zones": ["europe-west4-b"], "reservation": "l4"}
SINCE_IT = {"release": "r2026-11", "cluster": {"name": "ml", "kubernetesVersion": "1.32", "reason": "waits for Istio"}}


def errors(raw: dict[str, Any]) -> list[Problem]:
    return [problem for problem in loader.read(raw)[1] if not problem.warning]


def warnings(raw: dict[str, Any]) -> list[Problem]:
    return [problem for problem in loader.read(raw)[1] if problem.warning]


def a(pool: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return on_gke([{**pool, **keys}])


def wide(**keys: Any) -> dict[str, Any]:
    """A pool where any number of nodes has room."""
    pool = {key: value for key, value in {**L4, **keys}.items() if value is not None}
    return on_gke([pool], network={"nodeSubnet": "10.0.0.0/16", "podCidr": "100.64.0.0/10"})


def system(**keys: Any) -> dict[str, Any]:
    raw = on_gke()
    raw["systemPool"].update(keys)
    return raw


def cluster(**keys: Any) -> dict[str, Any]:
    return on_gke() | {"cluster": {"name": "ml-test", **keys}}


# ruff: noqa: E501  (one mistake a line)
MISTAKES = [
    (cluster(name="a" * 41), "cluster.name", "at most 40"),
    (cluster(name="1ml"), "cluster.name", "a letter first"),
    (cluster(name="ml-"), "cluster.name", "no - at the end"),
    (cluster(tags={f"t{n}": "" for n in range(65)}), "cluster.tags", "at most 64"),
    (cluster(tags={"a" * 64: ""}), f"cluster.tags.{'a' * 64}", "at most 63"),
    (cluster(tags={"a.b": ""}), 'cluster.tags["a.b"]', "_ and -"),
    (cluster(tags={"a": "b" * 64}), "cluster.tags.a", "at most 63"),
    ({**on_gke(), "systemPool": None}, "systemPool", "write keys"),
    ({key: value for key, value in on_gke().items() if key != "systemPool"}, "systemPool", "e2-standard-4"),
    (on_gke() | {"pools": "l4"}, "pools", "g2-standard-8"),
    (on_gke(project="My Project"), "cloud.project", "not its number"),
    (on_gke(zones=["europe-west4"]), "cloud.zones[0]", "europe-west4-a"),
    (on_gke(network={"podCidr": "10.16.0.0/33"}), "cloud.network.podCidr", "10.8.0.0/20"),
    (on_gke(network={"nodeSubnet": "10.8.0.0/30"}), "cloud.network.nodeSubnet", "a larger range"),
    (on_gke(network={"privateNodes": False, "controlPlaneCidr": "172.16.0.0/28"}), "cloud.network.controlPlaneCidr", "remove one"),
    (on_gke(network={"existing": NETWORK, "outboundType": "cloudNat"}), "cloud.network.outboundType", "decides this"),
    (on_gke(network={"existing": {**NETWORK, "serviceRange": "p"}}), "cloud.network.existing.serviceRange", "another range"),
    (on_gke(network={"existing": NETWORK, "controlPlaneCidr": "172.16.0.0/27"}), "cloud.network.controlPlaneCidr", "a /28"),
    (on_gke(access={"authorizedRanges": [f"10.0.{n}.0/24" for n in range(101)]}), "cloud.access.authorizedRanges", "at most 100"),
    (on_gke(access={"authorizedRanges": ["10.0.0.0/24", "10.0.0.0/24"]}), "cloud.access.authorizedRanges[1]", "remove one"),
    (on_gke(access={"ipEndpoint": "private", "authorizedRanges": ["0.0.0.0/0"]}), "cloud.access.authorizedRanges[0]", "ipEndpoint: public"),
    (on_gke(access={"securityGroup": "ml@example.com"}), "cloud.access.securityGroup", "gke-security-groups"),
    (on_gke(encryption={"secretsKey": "k"}), "cloud.encryption.secretsKey", "keyRings"),
    (on_gke(maintenance={"startTime": "2:00"}), "cloud.maintenance.startTime", "02:00"),
    (system(machine="g2-standard-8"), "systemPool.machine", "without GPUs"),
    (system(subnet="x"), "systemPool.subnet", "nodeSubnet"),
    (system(upgrade={"maxUnavailable": "10%"}), "systemPool.upgrade.maxUnavailable", '"1"'),
    (system(upgrade={}), "systemPool.upgrade", "leave it out"),
    (a(L4, name="L4"), "pools[0].name", "lower-case"),
    (a(L4, machine="Standard_D8ds_v5"), "pools[0].machine", "e2-standard-4, or g2-standard-8 with a GPU"),
    (a(L4, machine="Standard_D8ds_v5", gpus=0, mig="1g", gpuSharing={"strategy": "mps", "replicas": 2}), "pools[0].machine", "of GKE"),
    (a(L4, machine="x9-unheard-8"), "pools[0].gpus", "0 for none"),
    (a(L4, machine="x9-unheard-8", gpus=1), "pools[0].gpuModel", "add `gpuModel`"),
    (a(L4, machine="a4x-highgpu-4g"), "pools[0].capacity", "use another size"),
    (a(L4, machine="a4x-highgpu-4g", capacity="on-demand"), "pools[0].capacity", "use another size"),
    (a(L4, machine="a4-highgpu-8g", capacity="on-demand"), "pools[0].capacity", "capacity: spot"),
    (wide(maxNodes=3001), "pools[0].maxNodes", "1000 nodes a zone, and the pool has 3"),
    (wide(maxNodes=1001, zones=["europe-west4-a"]), "pools[0].maxNodes", "1000 nodes a zone, and the pool has 1"),
    (wide(fallback=[{"onDemand": {"maxNodes": 3001}}]), "pools[0].fallback[0].onDemand.maxNodes", "at most 1000"),
    (a(N1, gpuModel="nvidia-t4"), "pools[0].gpus", "1, 2 or 4"),
    (a(N1, gpus=0, gpuModel="nvidia-t4"), "pools[0].gpus", "1, 2 or 4"),
    (a(N1, gpus=2, gpuModel="nvidia-a100"), "pools[0].gpuModel", "nvidia-t4 (1, 2 or 4)"),
    (a(N1, machine="n1-standard-64", gpus=2, gpuModel="nvidia-v100"), "pools[0].gpus", "write 8"),
    (a(N1, gpus=4, gpuModel="nvidia-tesla-k80"), "pools[0].gpuModel", "use g2-standard-8 (nvidia-l4)"),
    (a(N1, gpus=1, gpuModel="nvidia-p100"), "pools[0].gpuModel", "use g2-standard-8 (nvidia-l4), or a2-highgpu-1g (nvidia-a100)"),
    (a(N1, gpuModel="nvidia-k80"), "pools[0].gpuModel", "g2-standard-8"),
    (a(L4, gpuModel="nvidia-k80"), "pools[0].gpuModel", "g2-standard-8"),
    (a(L4, gpus=4), "pools[0].gpus", "write 1"),
    (a(L4, machine="e2-standard-4", gpus=1), "pools[0].gpus", "such as g2-standard-8"),
    (a(L4, machine="e2-standard-4", gpuModel="nvidia-t4"), "pools[0].gpuModel", "leave it out"),
    (a(L4, machine="a3-highgpu-8g", mig="4g"), "pools[0].mig", "1g, 2g, 3g, 7g"),
    (a(N1, gpus=1, gpuModel="nvidia-v100", mig="1g"), "pools[0].mig", "A100"),
    (a(L4, gcp={"devicePlugin": "nvidia"}), "pools[0].gcp.devicePlugin", "install the GPU Operator"),
    (a(L4, gpuSharing={"strategy": "mps", "replicas": 49}), "pools[0].gpuSharing.replicas", "48 or fewer"),
    (a(L4, machine="e2-standard-4", gcp={"driverVersion": "default"}), "pools[0].gcp.driverVersion", "remove it"),
    (a(L4, gcp={"minNodesPerZone": 1}), "pools[0].gcp.minNodesPerZone", "keep minNodes"),
    (wide(maxNodes=None, gcp={"maxNodesPerZone": 1001}), "pools[0].gcp.maxNodesPerZone", "at most 1000"),
    (wide(maxNodes=None, gcp={"maxNodesPerZone": None}), "pools[0].maxNodes", "add `maxNodes`"),
    (wide(maxNodes=None, gcp={"minNodesPerZone": 1, "maxNodesPerZone": None}), "pools[0].gcp.maxNodesPerZone", "add `maxNodesPerZone`"),
    (wide(maxNodes="many", gcp={"maxNodesPerZone": None}), "pools[0].maxNodes", "whole number"),
    (a(L4, zones=["us-central1-f"]), "pools[0].zones", "such as europe-west4-b"),
    (a(L4, gcp={"shutdownGraceSeconds": 20}), "pools[0].gcp.shutdownGraceSeconds", "30 or more"),
    (a(L4, labels={"cloud.google.com/gke-spot": "false"}), 'pools[0].labels["cloud.google.com/gke-spot"]', "your own"),
    (a(L4, labels={"gke-no-default-nvidia-gpu-device-plugin": "true"}), 'pools[0].labels["gke-no-default-nvidia-gpu-device-plugin"]', "your own"),
    (a(L4, taints=[{"key": "cloud.google.com/gke-preemptible", "value": "true"}]), "pools[0].taints[0]", "remove it"),
    (a(FLEX, taints=[{"key": "cloud.google.com/gke-spot", "value": "true"}]), "pools[0].taints[0]", "remove it"),
    (a(FLEX, machine="a3-edgegpu-8g"), "pools[0].capacity", "another size"),
    (a(FLEX, gcp={"maxRunDuration": "9m"}), "pools[0].gcp.maxRunDuration", "10m to 168h"),
    (a(FLEX, gcp={"maxRunDuration": "7d"}), "pools[0].gcp.maxRunDuration", "such as 30s, 5m or 1h"),
    (a(FLEX, gcp={"shutdownGraceSeconds": 120}), "pools[0].gcp.shutdownGraceSeconds", "capacity: spot"),
    (a(FLEX, generation="b"), "pools[0].generation", "remove it"),
    (on_gke([FLEX], releaseChannel="EXTENDED") | SINCE_IT | {"cluster": {**SINCE_IT["cluster"], "kubernetesVersion": "1.31"}}, "pools[0].capacity", "another release"),
    (a(RESERVED, reservation="L4"), "pools[0].reservation", "projects/PROJECT/reservations/NAME"),
    (a(RESERVED, fallback=[{"onDemand": {"maxNodes": 1}}]), "pools[0].fallback", "remove it"),
    (system(reservation="l4"), "systemPool.reservation", "always bought on demand"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path", "remedy"), MISTAKES, ids=[f"{m[1]}-{i}" for i, m in enumerate(MISTAKES)])
def test_one_mistake_gives_one_problem_with_its_path_and_remedy(raw: dict[str, Any], path: str, remedy: str) -> None:
    assert [problem.path for problem in errors(raw)] == [path]
    assert remedy in errors(raw)[0].remedy


def grace(seconds: int, pool: int, release: str = "r2026-11") -> dict[str, Any]:
    raw = a(L4, gcp={"shutdownGraceSeconds": pool})
    return {**raw, "release": release, "scheduling": {"gracePeriodSeconds": seconds}}


SHARED = {**L4, "name": "shared", "gpuSharing": {"strategy": "time-slicing", "replicas": 4}}
CHAIN = {**L4, "fallback": [{"onDemand": {"maxNodes": 1}}]}
MAY_WORK = [
    (system(minNodes=1), "systemPool.minNodes"),
    (on_gke(releaseChannel="STABLE"), "cloud.releaseChannel"),
    (cluster(kubernetesVersion="1.36.2", reason="a bug in 1.36.3"), "cluster.kubernetesVersion"),
    (on_gke(network={"nodeSubnet": "10.8.0.0/28", "podCidr": "10.16.0.0/20"}) | {"systemPool": {"machine": "e2-standard-4", "maxNodes": 6}}, "cloud.network.nodeSubnet"),
    (on_gke(network={"outboundType": "none"}), "cloud.network.outboundType"),
    (on_gke(encryption={"secretsKey": KEY.format("europe")}), "cloud.encryption.secretsKey"),
    (on_gke(encryption={"bootDiskKey": KEY.format("europe-west1")}), "cloud.encryption.bootDiskKey"),
    (a(L4, machine="x9-unheard-8", gpus=1, gpuModel="nvidia-x9"), "pools[0].machine"),
    (a(N1, gpus=1, gpuModel="nvidia-p4", zones=["europe-west4-b"]), "pools[0].gpuModel"),
    (a(L4, machine="a2-highgpu-1g"), "pools[0].zones"),
    (a(L4, machine="a2-highgpu-1g", zones=["europe-west4-a", "europe-west4-c"]), "pools[0].zones"),
    (on_gke([L4], location="us-central1"), "pools[0].zones"),
    (on_gke([L4], location="africa-south1"), "pools[0].zones"),
    (on_gke([L4], location="us-central1-f"), "pools[0].zones"),
    (a(L4, capacity="preemptible"), "pools[0].capacity"),
    (a(L4, gcp={"shutdownGraceSeconds": 60}), "pools[0].gcp.shutdownGraceSeconds"),
    (a(L4, gcp={"locationPolicy": "balanced"}), "pools[0].gcp.locationPolicy"),
    (a(L4, zones=["europe-west4-a"], gcp={"locationPolicy": "any"}), "pools[0].gcp.locationPolicy"),
    (on_gke([L4, SHARED]), "pools[1].gpuSharing"),
    (on_gke() | {"scheduling": {"gracePeriodSeconds": 20}}, "scheduling.gracePeriodSeconds"),
    (grace(106, 120), "scheduling.gracePeriodSeconds"),
    (on_gke([CHAIN], fallback={"mode": "affinity"}), "cloud.fallback.mode"),
    (on_gke([CHAIN]) | {"release": "r2026-09"}, "cloud.fallback.mode"),
    (on_gke([CHAIN]) | {"scheduling": {"enabled": False}}, "cloud.fallback.mode"),
    (on_gke([CHAIN], fallback={"mode": "compute-class"}) | {"scheduling": {"enabled": False}}, "cloud.fallback.mode"),
    (on_gke([CHAIN], fallback={"activeMigration": True}), "cloud.fallback.activeMigration"),
    (on_gke(fallback={"mode": "compute-class"}), "cloud.fallback.mode"),
    (a(L4, gcp={"computeClass": False}) | {"cloud": on_gke(fallback={"mode": "compute-class"})["cloud"]}, "cloud.fallback.mode"),
    (a(CHAIN, gcp={"computeClass": False}), "pools[0].gcp.computeClass"),
    (system(gcp={"diskType": "hyperdisk-balanced"}), "systemPool.gcp.diskType"),
    (system(maxNodes=2), "systemPool.maxNodes"),
    (a(N1, minNodes=1, maxNodes=2), "pools[0].maxNodes"),
    *((on_gke([L4], fallback={key: value}), f"cloud.fallback.{key}") for key, value in (("whenUnsatisfiable", "ScaleUpAnyway"), ("consolidationDelayMinutes", 5))),
    (a(FLEX, machine="n2-standard-8"), "pools[0].capacity"),
    (a(FLEX, minNodes=1), "pools[0].minNodes"),
    (a(FLEX, gcp={"locationPolicy": "balanced"}), "pools[0].gcp.locationPolicy"),
    (a(RESERVED, zones=["europe-west4-b", "europe-west4-c"]), "pools[0].reservation"),
    (a(RESERVED, upgrade={"maxSurge": "1"}), "pools[0].upgrade"),
    ({**on_gke([{**L4, "fallback": [{"pool": "flex"}, {"onDemand": {"maxNodes": 2}}]}, FLEX]), "growth": {"acceptedWait": "10m"}}, "pools[0].fallback"),
    (on_gke([FLEX]) | {"scheduling": {"defaults": {"job": {"gpu": "prefer-spot"}}}}, "scheduling.defaults.job.gpu"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path"), MAY_WORK, ids=[f"{case[1]}-{i}" for i, case in enumerate(MAY_WORK)])
def test_a_doubtful_setting_is_a_warning_and_no_error(raw: dict[str, Any], path: str) -> None:
    assert errors(raw) == []
    assert [warning.path for warning in warnings(raw)] == [path]
    assert warnings(raw)[0].remedy


WORKS = [
    on_gke(),
    on_gke([CHAIN]),
    cluster(name="a" * 40, tags={"team": "vision", "kosten-stelle_1": "", "größe": "l"}),
    system(upgrade={"maxSurge": "1", "maxUnavailable": "1"}),
    wide(maxNodes=1000, zones=["europe-west4-a"]),
    wide(maxNodes=3000),
    a(L4, gpus=1, gpuModel="nvidia-l4", spot={}),
    a(N1, gpus=0),
    a(N1, maxNodes=2),
    a(N1, minNodes=1, maxNodes=2, zones=["europe-west4-a", "europe-west4-b"]),
    on_gke(project="example.co.uk:lab-1234"),
    a(L4, maxNodes=None, gcp={"maxNodesPerZone": 2}),
    a(N1, gpus=8, gpuModel="nvidia-tesla-v100"),
    a(L4, taints=[{"key": "cloud.google.com/gke-spot", "value": "true"}], labels={"cloud.google.com/gke-spot": "true"}),
    a(L4, installDriver=False, gpuSharing={"strategy": "time-slicing", "replicas": 2}),
    a(L4, machine="a2-ultragpu-1g", zones=["europe-west4-a"], mig="7g", gpuSharing={"strategy": "mps", "replicas": 20}),
    on_gke([SHARED, {**SHARED, "name": "other", "labels": {"nvidia.com/device-plugin.config": "mine"}}]),
    on_gke([SHARED]) | {"devicePlugin": {"install": "never"}},
    on_gke(encryption={"bootDiskKey": KEY.format("global")}),
    on_gke(network={"privateNodes": False}),
    grace(105, 120),
    on_gke([FLEX], releaseChannel="EXTENDED") | SINCE_IT,
    a(FLEX, gcp={"maxRunDuration": "10m"}, fallback=[{"onDemand": {"maxNodes": 1}}]),
    a(RESERVED, reservation="l4/reservationBlocks/b1/reservationSubBlocks/s-2", upgrade={"maxUnavailable": "1"}),
    # It comes from a reservation only.
    a(RESERVED, machine="a4x-highgpu-4g", zones=["us-central1-a"]) | {"cloud": on_gke(location="us-central1")["cloud"]},
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
]


@pytest.mark.parametrize("raw", WORKS, ids=range(len(WORKS)))
def test_a_right_setting_has_no_problem(raw: dict[str, Any]) -> None:
    assert loader.read(raw)[1] == []


def test_a_retiring_gpu_is_not_reported_where_the_machine_cannot_have_it() -> None:
    assert [problem.what for problem in loader.read(a(L4, gpuModel="nvidia-tesla-t4"))[1]] == [
        "is 'nvidia-tesla-t4', but g2-standard-8 has nvidia-l4"
    ]


@pytest.mark.parametrize(
    ("machine", "gcp", "least"),
    [
        ("n2-standard-8", {"maxNodesPerZone": 2}, 3),
        ("n2-standard-8", {"minNodesPerZone": 2, "maxNodesPerZone": 2}, 6),
        ("g2-standard-8", {"maxNodesPerZone": 2}, 0),
    ],
)
def test_the_least_nodes_of_a_pool_are_those_of_all_its_zones(machine: str, gcp: dict[str, int], least: int) -> None:
    (pool,) = node_pools.node_pools(spec(on_gke([{"name": "p", "machine": machine, "gcp": gcp}])), Gke())
    assert pool.min_nodes == least


@pytest.mark.parametrize("raw", [on_gke([L4, N1]), good()], ids=["gke", "aks"])
def test_a_file_without_a_cloud_is_checked_by_the_rules_of_its_machines_cloud(raw: dict[str, Any]) -> None:
    del raw["cloud"]
    assert [problem.path for problem in errors(raw)] == ["cloud"]


@pytest.mark.parametrize("provider", ["azure", "gcp"])
def test_a_file_with_the_wrong_provider_has_one_problem_for_each_setting_of_the_other_cloud(provider: str) -> None:
    settings, cloud = (good(), on_gke()["cloud"]) if provider == "gcp" else (on_gke([L4]), good()["cloud"])
    machines = ["systemPool.machine", *(f"pools[{n}].machine" for n in range(len(settings["pools"])))]
    assert [problem.path for problem in errors({**settings, "cloud": cloud})] == sorted(machines)


@pytest.mark.parametrize("key", ["zones", "location", "releaseChannel", "network", "access", "logging", "monitoring",
                                 "maintenance", "autoscaler"])  # fmt: skip
def test_a_decision_of_an_existing_clusters_owner_is_no_setting(key: str) -> None:
    values = {"zones": ["europe-west4-a"], "location": "europe-west4", "releaseChannel": "RAPID",
              "maintenance": {"startTime": "02:00"}}  # fmt: skip
    cloud = {"provider": "gcp", "project": "example-ml", "existingCluster": EXISTING, key: values.get(key, {})}
    raw = {"release": "r2026-11", "cloud": cloud, "pools": [L4]}
    assert [(problem.path, problem.what[:6]) for problem in errors(raw)] == [(f"cloud.{key}", "is set")]


def test_zones_are_asked_for_where_a_gpu_is_not_in_all_of_a_region() -> None:
    (warning,) = warnings(on_gke([L4], location="us-central1"))
    assert warning.what == (
        "is unset: GKE chooses zones of us-central1, and nvidia-l4 is in us-central1-a, us-central1-b, us-central1-c only"
    )
    assert warning.remedy == "write `zones: [us-central1-a, us-central1-b, us-central1-c]`"
    (nowhere,) = warnings(on_gke([L4], location="africa-south1"))
    assert "none of them" in nowhere.what
    assert "a region that has it: asia-east1, " in nowhere.remedy


def test_a_channel_without_the_releases_version_is_reported_with_its_versions() -> None:
    (warning,) = warnings(on_gke(releaseChannel="STABLE"))
    assert warning.path == "cloud.releaseChannel"
    assert warning.what == "is STABLE, which in October 2026 had Kubernetes 1.34 to 1.35, not 1.36"
    assert warning.remedy == "one of: RAPID, REGULAR, EXTENDED"
