"""Every optional key of a stack on GKE, taken out again: the preview shows it, or an error says what to do.

pulumi-gcp keeps the old value of a property that a
program drops where the provider's schema marks it Computed (sandbox/gcp/bridge.py).
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from components.layer import discovery, running
from config.clouds import registry
from config.clouds.gcp.gcp_settings import Gcp
from config.model.cluster import Cluster, Queueing
from config.model.workloads import Workloads
from config.stack_file import loader
from tests.components.emulated_google import EmulatedGoogle
from tests.upgrade.case import changed, lines
from tests.upgrade.removal import Removal, Ups, check_removal, optional, rows, uncounted

pytestmark = pytest.mark.program

CASES, STACKS = rows("gke")
ZONAL = STACKS["zonal"]

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


def test_every_optional_key_has_a_case() -> None:
    models = (
        (Gcp, "cloud"),
        (registry.pool_model(), "pools"),
        (registry.system_pool_model(), "systemPool"),
        (Cluster, "cluster"),
        (Workloads, "workloads"),
        (Queueing, "queueing"),
    )
    keys = {key for model, path in models for key in optional(model, path) if ".azure." not in key}
    assert len(keys) > 80
    assert uncounted(keys - NOT_ON_GKE.keys(), CASES) == set()


@pytest.mark.parametrize("key", NOT_ON_GKE)
def test_a_key_of_another_cloud_is_refused_so_that_it_is_never_removed(key: str) -> None:
    settings = copy.deepcopy(ZONAL)
    if key.startswith("systemPool"):
        settings["systemPool"] |= NOT_ON_GKE[key]
    else:
        settings["pools"][2] |= NOT_ON_GKE[key]
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
def ups(tmp_path_factory: pytest.TempPathFactory) -> Ups:
    return Ups(tmp_path_factory.mktemp("ups"), EmulatedGoogle, STACKS)


KEPT = (
    *("cloud.zones", "cloud.network.controlPlaneCidr", "cloud.access.ipEndpoint", "cloud.access.authorizedRanges"),
    *(
        "cloud.access.rolesForEverybody",
        "cloud.access.securityGroup",
        "pools.zones",
        "pools.maxPods",
        "pools.osDisk.sizeGb",
        "pools.gcp.diskType",
    ),
    *(
        "pools.upgrade",
        "pools.gcp.locationPolicy",
        "pools.gcp.shutdownGraceSeconds",
        "pools.gpus",
        "systemPool.maxPods",
        "workloads.checkpoints.softDeleteDays",
    ),
)
"""Keys whose value the provider keeps when they are missing: `make test` runs one case of each."""


def _marked(removal: Removal) -> Any:
    quick = removal.field in KEPT and removal is next(case for case in CASES if case.field == removal.field)
    return pytest.param(removal, id=f"{removal.key}-{removal.stack}", marks=[] if quick else pytest.mark.slow)


@pytest.mark.parametrize("removal", [*map(_marked, CASES)])
def test_a_removed_key_is_shown_or_refused(
    removal: Removal, ups: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )
    monkeypatch.setattr(running, "read_running", lambda *_: {})
    standing = ups.at(removal.stack, tmp_path / "cloud.json", monkeypatch)
    check_removal(removal, standing, STACKS[removal.stack], monkeypatch)


def test_a_changed_key_of_access_or_logs_is_an_update_in_place(
    ups: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )
    standing = ups.at("full", tmp_path / "cloud.json", monkeypatch)
    cloud = {"network": {"flowLogSampling": 0.5}, "access": {"rolesForEverybody": "refused"}}
    config = changed(STACKS["full"], {"cloud": cloud})
    shown = [
        "update Cluster lab [rbacBindingConfig.enableInsecureBindingSystemAuthenticated]",
        "update Subnetwork lab [logConfig.flowSampling]",
    ]
    assert lines(standing.steps(config, monkeypatch, apply=True), shown) == shown
    assert standing.steps(config, monkeypatch) == []
