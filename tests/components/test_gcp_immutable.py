"""Differences of a live GKE pool that are refused, and pools whose differences are not."""

import copy
from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.components.emulated_google import EmulatedGoogle
from tests.components.google import FULL, GENERAL, KEY, L4, WITH_TWIN, rows, stack
from tests.components.pools import GKE_POOL
from tests.components.program import Cloud, Declared, declare

pytestmark = pytest.mark.program

ACCOUNT = "lab-3f4f11-nodes@example-lab.iam.gserviceaccount.com"
SYSTEM = {"name": "system"}
GPUS: dict[str, Any] = {
    "name": "own",
    "machine": "a2-highgpu-1g",
    "maxNodes": 2,
    "gcp": {"driverVersion": "latest"},
    "maxPods": 64,
}


def plural(value: Any) -> Any:
    """Return the value as an invoke returns it: nested blocks are lists with plural names."""
    if not isinstance(value, dict):
        return value
    maps = ("labels", "resourceLabels")
    return {
        key if key in maps or not isinstance(item, dict) else f"{key}s": item
        if key in maps
        else [plural(item)]
        if isinstance(item, dict)
        else [plural(element) for element in item]
        if isinstance(item, list)
        else item
        for key, item in value.items()
    }


def running(declared: Declared) -> list[dict[str, Any]]:
    """Return the pools in `getCluster` once everything declared exists; GKE has chosen the settings that were not sent."""
    chosen = {"maxPodsPerNode": 110, "nodeCount": 1}
    live_pools = []
    for pool in declared.of(GKE_POOL).values():
        sent = dict(pool.inputs)
        sent["nodeConfig"] = {"diskType": "pd-balanced", "spot": False, "preemptible": False, **sent["nodeConfig"]}
        live_pools.append({**chosen, **plural(sent)})
    return live_pools


def live(settings: dict[str, Any]) -> list[dict[str, Any]]:
    return running(declare(settings))


class AfterUp(EmulatedGoogle):
    """An emulated cloud that accepts every later declaration unchanged once the stack is up."""

    up = False

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if self.up:
            return Cloud(None).new_resource(args)
        return super().new_resource(args)


def test_an_unchanged_emulated_cluster_has_no_differences(tmp_path: Path) -> None:
    google = AfterUp(tmp_path / "google.json")
    declare(FULL, cloud=google)
    google.up = True
    changed = copy.deepcopy(FULL)
    changed["kubeflow-spot:pools"][3]["machine"] = "g2-standard-24"
    with pytest.raises(pulumi.RunError, match=r"pools\[3\]\.gpus: own: is 1 nvidia-l4 "):
        declare(changed, cloud=google)
    assert declare(FULL, cloud=google).of(GKE_POOL)


@pytest.mark.parametrize(("range", "fine"), [("10.40.0.0/19", True), ("10.40.0.0/21", False), ("10.44.0.0/20", False)])
def test_a_wider_subnet_is_no_other_cluster(range: str, fine: bool, tmp_path: Path) -> None:
    google = AfterUp(tmp_path / "google.json")
    settings = stack(L4, cloud={"network": {"nodeSubnet": "10.40.0.0/20"}})
    declare(settings, cloud=google)
    google.up = True
    changed = stack(L4, cloud={"network": {"nodeSubnet": range}})
    if fine:
        (subnet,) = declare(changed, cloud=google).of("gcp:compute/subnetwork:Subnetwork").values()
        assert subnet.inputs["ipCidrRange"] == range
    else:
        with pytest.raises(pulumi.RunError, match=r"cloud\.network\.nodeSubnet: is 10\.40\.0\.0/20 in the cluster"):
            declare(changed, cloud=google)


@pytest.mark.parametrize(("change", "message"), rows("fixed"))
def test_every_immutable_property_of_an_on_demand_pool_is_refused_with_a_remedy(
    change: dict[str, Any], message: str
) -> None:
    live_pools = live(stack(GPUS))
    changed = {key: value for key, value in {**GPUS, **change}.items() if value is not None}
    with pytest.raises(pulumi.RunError, match=message) as refused:
        declare(stack(changed), live=live_pools)
    assert "add `generation: b`: a new pool is made before the old one goes" in str(refused.value)
    other = declare(stack({**changed, "generation": "b"}), live=live_pools)
    assert "ownb" in {pool.inputs["name"] for pool in other.of(GKE_POOL).values()}


@pytest.mark.parametrize(
    ("cloud", "path"),
    [
        ({"encryption": {"bootDiskKey": KEY}}, "cloud.encryption.bootDiskKey"),
        ({"serviceAccount": "lab-nodes@example-lab.iam.gserviceaccount.com"}, "cloud.serviceAccount"),
    ],
)
def test_immutable_properties_of_the_system_pool_are_refused_as_well(cloud: dict[str, Any], path: str) -> None:
    live_pools = live(stack(GENERAL))
    with pytest.raises(pulumi.RunError) as refused:
        declare(stack(GENERAL, cloud=cloud), live=live_pools)
    text = str(refused.value)
    assert text.startswith("2 changes refused; nothing was declared.")
    assert f"{path}: system: is " in text
    assert f"{path}: general: is " in text
    assert "give it another name as well" in text


def test_a_system_pool_under_another_name_is_another_pool() -> None:
    live_pools = live(stack(GENERAL))
    system = {"name": "base", "machine": "e2-standard-4", "maxNodes": 4, "gcp": {"secureBoot": True}}
    with pytest.raises(pulumi.RunError, match="systemPool.gcp.secureBoot: system: "):  # noqa: RUF043
        declare(stack(GENERAL, systemPool={**system, "name": "system"}), live=live_pools)
    names = {
        p.inputs["name"] for p in declare(stack(GENERAL, systemPool=system), live=live_pools).of(GKE_POOL).values()
    }
    assert names == {"base", "general"}


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {"a": "b"}},
        {"taints": [{"key": "a", "value": "b"}]},
        {"zones": ["europe-west4-a"]},
        {"minNodes": 3, "maxNodes": 9},
    ],
)
def test_what_changes_in_place_is_not_refused(change: dict[str, Any]) -> None:
    pool = {**GENERAL, "maxPods": 64}
    live_pools = live(stack(pool))
    changed = {key: value for key, value in {**pool, **change}.items() if value is not None}
    assert declare(stack(changed), live=live_pools).of(GKE_POOL)


def test_the_disk_of_an_unknown_machine_is_named_as_long_as_it_is_no_default() -> None:
    pool = {"name": "odd", "machine": "n2-custom-4-8192", "gpus": 0, "maxNodes": 2}
    for kind, default in (
        ("pd-ssd", False),
        ("pd-standard", False),
        ("pd-balanced", True),
        ("hyperdisk-balanced", True),
    ):
        for capacity in ("spot", "on-demand"):
            live_pools = live(stack({**pool, "capacity": capacity, "gcp": {"diskType": kind}}))
            removed = stack({**pool, "capacity": capacity})
            if default:
                assert declare(removed, live=live_pools).of(GKE_POOL)
                continue
            with pytest.raises(
                pulumi.RunError, match=rf"pools\[0\]\.gcp\.diskType: odd: is {kind} (.|\n)*`diskType: {kind}`"
            ):
                declare(removed, live=live_pools)


def test_spot_pools_give_way_and_twins_change_by_generation() -> None:
    live_pools = live(stack(WITH_TWIN))
    changed = {**WITH_TWIN, "gcp": {"secureBoot": True}}
    with pytest.raises(pulumi.RunError, match=r"gcp\.secureBoot: l4od: is false (.|\n)*add `generation: b`"):
        declare(stack(changed), live=live_pools)
    declared = declare(stack({**changed, "generation": "b"}), live=live_pools)
    assert any(name.endswith("-l4odb") for name in declared.of(GKE_POOL))
    for pool in declared.of(GKE_POOL).values():
        # A pool's name is its identity, so two cannot exist at once.
        assert pool.options["deleteBeforeReplace"] is True
        # A new minimum must not replace the pool through its initial node count.
        assert pool.options["ignoreChanges"] == ["initialNodeCount"]
    assert declare(stack({**L4, "capacity": "preemptible"}), live=live_pools).of(GKE_POOL)
    # A flex-start pool is replaced as well: its nodes end by themselves.
    later = {**L4, "capacity": "flex-start"}
    live_flex = live(stack(later))
    assert declare(stack({**later, "gcp": {"secureBoot": True}}), live=live_flex).of(GKE_POOL)
    # A spot pool that becomes on-demand is replaced: its nodes may be evicted at any time.
    assert declare(stack({**L4, "capacity": "on-demand"}), live=live_pools).of(GKE_POOL)


@pytest.mark.parametrize("capacity", ["spot", "preemptible", "flex-start"])
def test_an_on_demand_pool_does_not_become_spot_under_its_name(capacity: str) -> None:
    live_pools = live(stack(GENERAL))
    changed = {**GENERAL, "capacity": capacity, "minNodes": 0}
    with pytest.raises(
        pulumi.RunError, match=rf"pools\[0\]\.capacity: general: .*cannot become {capacity}\n.*another name"
    ):
        declare(stack(changed), live=live_pools)


def addresses(pools: list[dict[str, Any]], private: bool) -> list[dict[str, Any]]:
    return [{**pool, "networkConfigs": [{"enablePrivateNodes": private}]} for pool in pools]


@pytest.mark.parametrize("wanted", [True, False])
def test_addresses_of_live_pools_are_the_stack_files_or_refused(wanted: bool) -> None:
    settings = stack(L4, cloud={"network": {"privateNodes": wanted}})
    pools = live(settings)
    same = declare(settings, live=addresses(pools, wanted))
    assert {pool.inputs["networkConfig"]["enablePrivateNodes"] for pool in same.of(GKE_POOL).values()} == {wanted}
    with pytest.raises(
        pulumi.RunError, match=r"cloud\.network\.privateNodes: .*system, l4\n.*node-pools update"
    ) as error:
        declare(settings, live=addresses(pools, not wanted))
    assert ("--no-enable-private-nodes" in str(error.value)) is not wanted


def test_the_way_out_stays_until_the_last_private_pool_is_gone() -> None:
    settings = stack(L4, cloud={"network": {"privateNodes": False}})
    pools = addresses(live(settings), False)
    theirs = addresses([{"name": "theirs"}], True)
    assert [
        len(declare(settings, live=now).of("gcp:compute/routerNat:RouterNat")) for now in (pools, pools + theirs)
    ] == [0, 1]
