"""A walk over the rules of Google Cloud: each rule refuses its row's request and accepts a similar one.

The rows stand in `walk`. The end of the test is the proof: with the rule taken out the same request is taken, or refused for
another reason. A refusal is marked "(as the sandbox reads it)" exactly where its row says that no source confirms it.

What the provider's own check refuses before is in `test_provider`; quotas are in `test_quotas`. No user sees the refusal of a
busy cluster: the provider tries again for two hours (terraform-provider-google-beta, services/container).
"""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from sandbox.cloud import emulated_cloud, state
from sandbox.tests.rule_walk import marked, take_out, without_rows, without_source

from .conftest import ACCOUNT, NAT, POOL, REGION, REGULAR, ROUTER, Project
from .walk import buckets, clusters, flex_start, gpus, machines, networks, pools
from .walk.row import TABLES, Row, refusal

ROWS = [row for rules in (networks, clusters, pools, machines, gpus, flex_start, buckets) for row in rules.ROWS]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a project with a network and its NAT, an account, and a cluster `gke` with a pool `general`."""
    project = Project(tmp_path_factory.mktemp("world") / "gcp.json")
    project.network()
    project.network(name="other")
    project.subnetwork()
    project.subnetwork(name="elsewhere", region="us-central1", ipCidrRange="10.9.0.0/20", secondaryIpRanges=[])
    project.subnetwork(name="others", network="other", secondaryIpRanges=[])
    project.create(ROUTER, {"name": "router", "region": REGION, "network": "net"})
    nat = {"name": "nat", "router": "router", "region": REGION, "natIpAllocateOption": "AUTO_ONLY"}
    project.create(NAT, {**nat, "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"})
    project.create(ACCOUNT, {"accountId": "ml-nodes"})
    project.cluster()
    project.create(POOL, {**REGULAR, "name": "general"})
    return project.state_file


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walk") / "gcp.json"


@pytest.fixture
def walker(world: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    # No other process works on this state; its locks would take a tenth of the time.
    for module in (state, emulated_cloud):
        monkeypatch.setattr(module, "FileLock", lambda *_, **__: nullcontext())
    shutil.copy(world, place)
    return Project(place)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rule(walker: Project, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in row.given:
        step(walker)
    before = walker.state_file.read_text()
    refused = refusal(walker, row.bad)
    assert refused is not None
    assert row.text in refused
    assert marked(refused) == (not row.confirmed)
    assert walker.state_file.read_text() == before
    assert refusal(walker, row.good) is None
    walker.state_file.write_text(before)
    take_out(row.rule, TABLES, monkeypatch)
    missed = refusal(walker, row.bad)
    assert missed is None or row.text not in missed


def test_every_rule_has_a_row() -> None:
    assert without_rows(TABLES, ROWS) == set()


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_every_confirmed_row_names_its_source() -> None:
    assert without_source(ROWS) == []
