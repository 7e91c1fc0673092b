"""A walk over the rules of AKS: each rule refuses its row's request and accepts a similar one.

The rows stand in `walk`. The end of the test is the proof: with the rule taken out the same request is taken, or refused for
another reason. A refusal is marked "(as the sandbox reads it)" exactly where its row says that no source confirms it.

No rule covers eTags (azure-native sends none), machines that a region runs out of (an event, not a refusal of a request), and
what the provider's own check refuses before (`test_provider`, `test_clusters`).
"""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from sandbox.azure.azure_quotas import Quotas
from sandbox.cloud import emulated_cloud, state
from sandbox.tests.rule_walk import take_out, without_rows, without_source

from .conftest import IDENTITY, Account
from .walk import access, clusters, keys, machines, networks, pools, reservations, running, spot, storage
from .walk.row import TABLES, Put, Row, refusal

MODULES = (pools, spot, reservations, machines, clusters, access, keys, networks, running, storage)
ROWS = [row for rules in MODULES for row in rules.ROWS]
QUOTAS = Quotas.read({"northeurope": {"Cores": 20, "lowPriorityCores": 12, "standardNCASv3_T4Family": 8}})

NETWORK = {"resourceGroupName": "ml", "virtualNetworkName": "net"}
ROUTES: dict[str, list[dict[str, str]]] = {
    "routed": [{"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.100.255.4"}],
    "leaking": [{"addressPrefix": "0.0.0.0/0", "nextHopType": "Internet"}],
    "lost": [{"addressPrefix": "10.0.0.0/8", "nextHopType": "VnetLocal"}],
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a subscription with a cluster `aks`, an identity, and a network with subnets of several kinds."""
    account = Account(tmp_path_factory.mktemp("world") / "azure.json")
    account.group()
    account.cluster()
    Put(IDENTITY, {"resourceGroupName": "ml", "resourceName": "control"})(account)
    account.network()
    account.subnet()
    account.subnet(subnetName="small", addressPrefix="10.100.16.0/28")
    account.subnet(subnetName="GatewaySubnet", addressPrefix="10.100.34.0/24")
    account.subnet(subnetName="pods", addressPrefix="10.100.32.0/24")
    sku = {"sku": {"name": "Standard"}, "resourceGroupName": "ml", "natGatewayName": "out"}
    gateway = account.create("azure-native:network:NatGateway", sku)
    account.subnet(subnetName="nat", addressPrefix="10.100.33.0/24", natGateway={"id": gateway.id})
    for index, (name, routes) in enumerate(ROUTES.items()):
        inputs = {"resourceGroupName": "ml", "routeTableName": name, "routes": [{"name": "out", **r} for r in routes]}
        table = account.create("azure-native:network:RouteTable", inputs)
        account.subnet(subnetName=name, addressPrefix=f"10.100.{40 + index}.0/24", routeTable={"id": table.id})
    return account.state_file


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walk") / "azure.json"


@pytest.fixture
def walker(world: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Account:
    # No other process works on this state; its locks would take a tenth of the time.
    for module in (state, emulated_cloud):
        monkeypatch.setattr(module, "FileLock", lambda *_, **__: nullcontext())
    account = Account(place)
    shutil.copy(world, place)
    account.limit(QUOTAS)
    return account


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rule(walker: Account, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in row.given:
        step(walker)
    before = walker.state_file.read_text()
    refused = refusal(walker, row.bad)
    assert refused is not None
    assert refused.code == row.code
    assert row.text in refused.message
    assert refused.marked == (not row.confirmed)
    # A request that is accepted first and refused later leaves a pool.
    assert walker.state_file.read_text() == before or row.source.startswith("2.2")
    walker.state_file.write_text(before)
    assert refusal(walker, row.good) is None
    walker.state_file.write_text(before)
    take_out(row.rule, TABLES, monkeypatch)
    missed = refusal(walker, row.bad)
    assert missed is None or missed.code != row.code or row.text not in missed.message


def test_every_rule_has_a_row() -> None:
    assert without_rows(TABLES, ROWS) == set()


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_every_confirmed_row_names_its_source() -> None:
    assert without_source(ROWS) == []
