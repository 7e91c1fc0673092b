"""Every optional key of a stack, taken out again: the preview shows it, or an error says what to do.

A preview alone proves little on AKS: azure-native shows a missing property as removed, and AKS may keep it (the emulated AKS does,
`sandbox.azure.resources.azure_resource_type.merged`). Therefore the cloud's state after the update is compared with that of a stack
that never had the key. pulumi-gcp keeps the old value of a property that a program drops where the provider's schema marks it
Computed (sandbox/gcp/bridge.py).
"""

import copy
from pathlib import Path
from typing import Any

import pytest

from components import running
from components.layer import discovery
from config.clouds import registry
from config.clouds.azure.azure_settings import Azure
from config.clouds.gcp.gcp_settings import Gcp
from config.model.cluster import Cluster, Queueing
from config.model.workloads import Workloads
from config.stack_file import loader
from sandbox.cloud.state import Store
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.upgrade.case import changed, lines
from tests.upgrade.removal import Removal, Standing, Ups, check_removal, optional, rows, without

pytestmark = pytest.mark.program

AKS, GKE = rows("aks"), rows("gke")
SMALL, ZONAL = AKS[1]["small"], GKE[1]["zonal"]

NOT_ON_AKS = {"cloud.encryption.kms.private", "systemPool.upgrade.maxUnavailable", "pools.gcp", "systemPool.gcp"}
"""Keys that no stack on AKS can have, because rules of settings refuse them (tests/configs)."""
NOT_ON_GKE = {
    "pools.spot": {"spot": {"maxPrice": 1}},
    "pools.spot.evictionPolicy": {"spot": {"evictionPolicy": "Delete"}},
    "pools.spot.maxPrice": {"spot": {"maxPrice": 1}},
    "pools.osDisk.type": {"osDisk": {"type": "Managed"}},
    "pools.subnet": {"subnet": "more"},
    "pools.azure": {"azure": {"vtpm": True}},
    "systemPool.azure": {"azure": {"vtpm": True}},
    "systemPool.osDisk.type": {"osDisk": {"type": "Managed"}},
    "systemPool.subnet": {"subnet": "more"},
}
"""Keys that no stack on GKE has, with settings of a pool that use them."""


@pytest.mark.parametrize(
    ("cloud", "cases", "other", "elsewhere"),
    [(Azure, AKS[0], ".gcp.", NOT_ON_AKS), (Gcp, GKE[0], ".azure.", NOT_ON_GKE.keys())],
    ids=["aks", "gke"],
)
def test_every_optional_key_has_a_case(cloud: Any, cases: list[Removal], other: str, elsewhere: set[str]) -> None:
    models = (
        (cloud, "cloud"),
        (registry.pool_model(), "pools"),
        (registry.system_pool_model(), "systemPool"),
        (Cluster, "cluster"),
        (Workloads, "workloads"),
        (Queueing, "queueing"),
    )
    keys = {key for model, path in models for key in optional(model, path) if other not in key}
    assert len(keys) > 80
    assert (keys - elsewhere) ^ {case.field for case in cases} == set()


@pytest.mark.parametrize("key", NOT_ON_GKE)
def test_a_key_of_another_cloud_is_refused_so_that_it_is_never_removed(key: str) -> None:
    settings = copy.deepcopy(ZONAL)
    pool = settings["systemPool"] if key.startswith("systemPool") else settings["pools"][2]
    pool |= NOT_ON_GKE[key]
    spec, problems = loader.read_stack(settings, "test")
    assert spec is None
    assert {problem.path.split(".", 1)[-1] for problem in problems if not problem.warning} <= {
        "spot.maxPrice",
        "spot.evictionPolicy",
        "osDisk.type",
        "subnet",
        "azure",
    }


@pytest.fixture(scope="module")
def aks(tmp_path_factory: pytest.TempPathFactory) -> Ups:
    return Ups(tmp_path_factory.mktemp("aks"), lambda state: EmulatedAzure(state, "westeurope"), AKS[1])


@pytest.fixture(scope="module")
def gke(tmp_path_factory: pytest.TempPathFactory) -> Ups:
    return Ups(tmp_path_factory.mktemp("gke"), EmulatedGoogle, GKE[1])


@pytest.fixture(autouse=True)
def quiet_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every cluster have an API server without objects that matter."""
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )


KEPT_BY_AKS = {
    *("cloud.autoscaler.scanInterval", "cloud.access.tenantId", "cloud.access.adminGroups", "systemPool.upgrade"),
    *("pools.upgrade", "pools.osDisk.sizeGb", "pools.maxPods", "systemPool.maxPods", "cloud.network.nodeSubnet"),
    "workloads.checkpoints.softDeleteDays",
}
"""Keys whose value AKS keeps when they are missing: `make test` runs their cases, `make test-slow` the others."""
KEPT_BY_GKE = {
    *("cloud.zones", "cloud.network.controlPlaneCidr", "cloud.access.ipEndpoint", "cloud.access.authorizedRanges"),
    *("cloud.access.rolesForEverybody", "cloud.access.securityGroup", "pools.zones", "pools.maxPods"),
    *("pools.osDisk.sizeGb", "pools.gcp.diskType", "pools.upgrade", "pools.gcp.locationPolicy", "pools.gpus"),
    *("pools.gcp.shutdownGraceSeconds", "systemPool.maxPods", "workloads.checkpoints.softDeleteDays"),
}
"""Keys whose value the provider keeps when they are missing: `make test` runs one case of each."""


def marked(removal: Removal, quick: bool) -> Any:
    return pytest.param(removal, id=f"{removal.key}-{removal.stack}", marks=[] if quick else pytest.mark.slow)


def first_of_its_key(removal: Removal) -> bool:
    return removal is next(case for case in GKE[0] if case.field == removal.field)


@pytest.mark.parametrize("removal", [marked(case, case.field in KEPT_BY_AKS) for case in AKS[0]])
def test_a_key_removed_on_aks_is_shown_and_applied_or_refused(
    removal: Removal, aks: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = AKS[1][removal.stack]
    check_removal(removal, aks.at(removal.stack, tmp_path / "cloud.json", monkeypatch), config, monkeypatch)
    if removal.shows and all(step.startswith("update") for step in removal.shows):
        removed = without(config, removal)
        fresh = EmulatedAzure(tmp_path / "fresh.json", "westeurope")
        fresh.seed({f"kubeflow-spot:{key}": value for key, value in removed.items()})
        Standing(fresh).up(removed, monkeypatch)
        assert in_force(tmp_path / "cloud.json") == in_force(tmp_path / "fresh.json")


def in_force(state: Path) -> dict[str, Any]:
    """Return the resources of an emulated Azure by id, without deployments, records of requests and node counts.

    A pool keeps the image of Trusted Launch when both parts of it are off.
    """
    bodies = {}
    for record in Store(state).read().records.values():
        if "/deployments/" not in record.id and not record.token.startswith("sandbox:"):
            bodies[record.id] = {
                name: value for name, value in record.body.items() if name not in ("count", "nodeImageVersion")
            }
    return bodies


@pytest.mark.parametrize(
    "removal", [marked(case, case.field in KEPT_BY_GKE and first_of_its_key(case)) for case in GKE[0]]
)
def test_a_key_removed_on_gke_is_shown_or_refused(
    removal: Removal, gke: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "read_running", lambda *_: {})
    standing = gke.at(removal.stack, tmp_path / "cloud.json", monkeypatch)
    check_removal(removal, standing, GKE[1][removal.stack], monkeypatch)


def test_a_changed_key_of_access_or_logs_is_an_update_in_place(
    gke: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = gke.at("full", tmp_path / "cloud.json", monkeypatch)
    cloud = {"network": {"flowLogSampling": 0.5}, "access": {"rolesForEverybody": "refused"}}
    config = changed(GKE[1]["full"], {"cloud": cloud})
    shown = [
        "update Cluster lab [rbacBindingConfig.enableInsecureBindingSystemAuthenticated]",
        "update Subnetwork lab [logConfig.flowSampling]",
    ]
    assert lines(standing.steps(config, monkeypatch, apply=True), shown) == shown
    assert standing.steps(config, monkeypatch) == []


@pytest.mark.parametrize("listed", [True, False], ids=["this program's", "an earlier program's"])
def test_a_state_with_only_the_system_pool_listed_is_upgraded_and_repaired(
    listed: bool, aks: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state as after an `up` without a refresh: the request has the pools of the state, and a refresh adds none."""
    standing = aks.at("small", tmp_path / "cloud.json", monkeypatch)
    standing.refresh()
    (at,) = (at for at in standing.state if at[0].endswith(":ManagedCluster"))
    stuck = copy.deepcopy(standing.state[at])
    stuck.old_inputs["agentPoolProfiles"] = stuck.old_inputs["agentPoolProfiles"][:1]
    standing.state[at] = stuck
    if not listed:
        standing.outputs = {}
        # Every update lists all existing pools.
        (update,) = (s for s in standing.steps(SMALL, monkeypatch, apply=True) if s["type"].endswith(":ManagedCluster"))
        assert update["op"] == "update"
        assert [name for name in update["diff"] if not name.startswith("agentPoolProfiles")] == []
        standing.outputs = {"remembered": {"poolsListed": True}}
        assert standing.steps(SMALL, monkeypatch) == []
    upgraded = changed(SMALL, {"cluster": {"kubernetesVersion": None, "reason": None}})
    standing.steps(upgraded, monkeypatch, apply=True)
    profiles = standing.state[at].old_outputs["agentPoolProfiles"]
    assert (standing.state[at].old_outputs["kubernetesVersion"], len(profiles)) == ("1.36", 2)
