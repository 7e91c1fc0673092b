"""Out-of-band requests without a cluster: the merge patches of `edit`, and what `capacity` and `evict` refuse and say."""

import copy
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.cli.commands import main
from sandbox.engine import clouds, reclaim
from sandbox.engine.clouds import Clouds
from sandbox.engine.out_of_band import patched
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.tests.azure import conftest as azure
from sandbox.tests.engine_side import RecordingRuntime

T4 = str(azure.SPOT["vmSize"])


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> azure.Account:
    """Return a cluster with two spot pools and one on demand, in which no time passes."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    monkeypatch.setenv("SANDBOX_CLOCK_FACTOR", "1e6")
    account = azure.Account(tmp_path / "azure.json")
    account.group()
    account.cluster()
    zonal = {**azure.SPOT, "agentPoolName": "zonal", "availabilityZones": ["1", "2"]}
    for inputs in (azure.SPOT, zonal, {**azure.REGULAR, "vmSize": T4}):
        account.create(azure.POOL, inputs)
    both = Clouds({"azure-native": account.cloud, "gcp": GcpCloud(tmp_path / "gcp.json", RecordingRuntime())})
    monkeypatch.setattr(clouds, "opened", lambda *_: both)
    return account


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path / "home"))
    return Home.of("dev", tmp_path)


@pytest.mark.parametrize(
    ("pool", "nodes", "message"),
    [
        ("cpu", None, "pool cpu is no spot pool: no cloud takes its machines back; spot pools: t4spot, zonal"),
        ("no", None, "there is no pool 'no'; pools: ml/aks/cpu, ml/aks/system, ml/aks/t4spot, ml/aks/zonal"),
        ("zonal", None, "pool zonal has no nodes to evict"),
        ("t4spot", 3, "pool t4spot has 2 nodes, not 3"),
    ],
)
def test_an_eviction_that_cannot_be_is_refused(
    account: azure.Account, home: Home, pool: str, nodes: int | None, message: str
) -> None:
    account.cloud.scale("aks", "t4spot", 2)
    before = account.runtime.names()
    with pytest.raises(SandboxError) as refused:
        reclaim.evict(home, pool, nodes, print)
    assert str(refused.value) == message
    assert account.runtime.names() == before


def test_some_nodes_or_all_are_evicted_after_a_notice(account: azure.Account, home: Home) -> None:
    account.cloud.scale("aks", "t4spot", 3)
    names = [name for name in account.runtime.names() if "-t4spot-" in name]
    said: list[str] = []
    first = reclaim.evict(home, "t4spot", 1, said.append)
    assert first.sentence() == f"pool t4spot: 1 node evicted and deleted: {names[0]}"
    assert said == [f"pool t4spot: notice to {names[0]}, gone in 3e-05 s"]
    assert reclaim.evict(home, "t4spot", None, said.append).nodes == names[1:]
    assert not [name for name in account.runtime.names() if "-t4spot-" in name]


def test_what_becomes_of_each_machine_is_said() -> None:
    evicted = reclaim.Evicted("l4", ["a", "b", "c"], replaced=["b", "c"])
    assert evicted.sentence() == (
        "pool l4: 1 node evicted and deleted: a; 2 nodes evicted and made anew under their names: b, c"
    )
    stopped = reclaim.Evicted("t4", ["a"], stopped=["a"]).sentence()
    assert stopped == "pool t4: 1 node evicted and stopped, which still count against the quota: a"


def test_capacity_below_what_runs_evicts_the_rest_of_all_pools(account: azure.Account, home: Home) -> None:
    account.cloud.scale("aks", "t4spot", 2)
    account.cloud.scale("aks", "zonal", 2)
    evicted = reclaim.capacity(home, T4, 1, lambda text: None)
    assert [(pool.pool, len(pool.nodes)) for pool in evicted] == [("t4spot", 1), ("zonal", 2)]
    assert reclaim.capacity(home, T4, None, lambda text: None) == []


@pytest.mark.parametrize(
    ("machine", "zone", "message"),
    [
        ("Standard_D4s_v5", "", f"no spot pool has the machine 'Standard_D4s_v5'; machines of spot pools: {T4}"),
        (T4, "3", f"no spot pool of {T4} is in zone '3'; zones: 1, 2"),
    ],
)
def test_capacity_of_another_machine_or_zone_is_refused(
    account: azure.Account, home: Home, machine: str, zone: str, message: str
) -> None:
    with pytest.raises(SandboxError) as refused:
        reclaim.capacity(home, machine, 0, print, zone=zone)
    assert str(refused.value) == message
    assert account.cloud.capacities() == []


@pytest.mark.parametrize("amount", ["-1", "1.5", "many", "9" * 30, "\u0663"])
def test_an_amount_is_none_any_or_a_number(amount: str) -> None:
    done = CliRunner().invoke(main, ["capacity", T4, "--", amount])
    assert done.exit_code == 2
    assert "is neither none, any nor a number of nodes" in done.output


@pytest.mark.parametrize(
    ("value", "patch", "result"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": {"b": 1}, "d": 4}, {"a": None}, {"d": 4}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "text"}, {"a": {"b": {"c": None, "d": 1}}}, {"a": {"b": {"d": 1}}}),
        ({"a": 1}, {"a": False}, {"a": False}),
        ({"a": 1}, {}, {"a": 1}),
    ],
)
def test_a_patch_changes_the_properties_it_names_in_a_copy(value: object, patch: object, result: object) -> None:
    before = copy.deepcopy(value)
    assert patched(value, patch) == result
    assert value == before
