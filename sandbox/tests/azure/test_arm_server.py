"""What Karpenter's provider reads of the emulated Azure Resource Manager, and how it reaches it."""

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from sandbox.azure import arm_server
from sandbox.azure.arm_server import Manager
from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.azure_quotas import Quotas

from .conftest import CLUSTER_ID, Account
from .machines import T4, provisioned, put, wanted

__all__ = ["provisioned"]


def answer(account: Account, method: str, url: str, body: Any = None) -> Any:
    status, answered = Manager(lambda: account.cloud).answer(method, url, body)
    assert status < 300
    return answered


SUBSCRIPTION = CLUSTER_ID.split("/resourcegroups/")[0]


def test_sizes_have_what_the_provider_reads_of_them(provisioned: Account) -> None:
    url = f"{SUBSCRIPTION}/providers/Microsoft.Compute/skus?api-version=2021-07-01&$filter=location eq 'westeurope'"
    (size,) = [size for size in answer(provisioned, "GET", url)["value"] if size["name"] == T4]
    capabilities = {capability["name"]: capability["value"] for capability in size["capabilities"]}
    assert capabilities | {"vCPUs": "4", "MemoryGB": "28", "GPUs": "1", "LowPriorityCapable": "True"} == capabilities
    assert size["locationInfo"][0]["zones"] == ["1", "2", "3"]


def test_spot_is_cheaper_where_both_prices_are_known(provisioned: Account) -> None:
    url = "/api/retail/prices?$filter=priceType eq 'Consumption' and armRegionName eq 'westeurope'"
    items = answer(provisioned, "GET", url)["Items"]
    by_name = {item["skuName"]: item["retailPrice"] for item in items if item["armSkuName"] == T4}
    assert 0 < by_name["NC4as T4 v3 Spot"] < by_name["NC4as T4 v3"]


def test_the_use_of_a_quota_includes_machines(provisioned: Account) -> None:
    provisioned.limit(Quotas.parse_quotas({"westeurope": {"cores": 20}}))
    put(provisioned, priority="Regular", pool="t4")
    url = f"{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westeurope/usages"
    (usage,) = answer(provisioned, "GET", url)["value"]
    assert (usage["name"]["value"], usage["currentValue"], usage["limit"]) == ("cores", 8, 20)


def test_an_unknown_path_is_refused(provisioned: Account) -> None:
    with pytest.raises(AzureRefused) as refused:
        answer(provisioned, "GET", f"{SUBSCRIPTION}/providers/Microsoft.Storage/storageAccounts")
    assert refused.value.status == 404


class _OnSocket(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=5)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


@pytest.fixture
def connection(provisioned: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HTTPConnection]:
    # As a control plane's processes do: a whole path may be too long.
    monkeypatch.chdir(tmp_path)
    arm_server.serve(lambda: provisioned.cloud, Path("azure.sock"))
    opened = _OnSocket(Path("azure.sock"))
    yield opened
    opened.close()


def test_the_socket_serves_machines_from_creation_to_deletion(connection: HTTPConnection) -> None:
    def ask(method: str, path: str, body: Any = None) -> tuple[int, Any, str]:
        connection.request(method, path, None if body is None else json.dumps(body))
        got = connection.getresponse()
        text = got.read()
        return got.status, json.loads(text) if text else None, got.headers.get("Location", "")

    pool = f"{CLUSTER_ID}/agentPools/aksmanagedap"
    assert ask("PUT", f"{pool}/machines/t4spot-1?api-version=2026-04-02-preview", wanted())[0] == 201
    status, machine, _ = ask("GET", f"{pool}/machines/t4spot-1")
    assert (status, machine["properties"]["priority"]) == (200, "Spot")
    assert len(ask("GET", f"{pool}/machines")[1]["value"]) == 1
    status, _, location = ask("POST", f"{pool}/deleteMachines", {"machineNames": ["t4spot-1"]})
    assert status == 202
    assert ask("GET", location.removeprefix("https://management.azure.com"))[1] == {"status": "Succeeded"}
    status, refused, _ = ask("GET", f"{pool}/machines/t4spot-1")
    assert (status, refused["error"]["code"]) == (404, "NotFound")
