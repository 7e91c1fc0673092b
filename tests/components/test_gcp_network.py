"""The network of a GKE cluster, new or shared."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.components.google import L4, SHARED_VPC, SUBNET, stack
from tests.components.pools import GKE_POOL
from tests.components.program import Answering, declare
from tests.components.test_gcp_cluster import inputs, waits_for
from tests.components.test_gcp_immutable import live

pytestmark = pytest.mark.program

NAT = "gcp:compute/routerNat:RouterNat"


def test_pools_wait_for_the_way_out_of_a_network_made_here() -> None:
    declared = declare(stack(L4))
    (nat,) = declared.of(NAT)
    for pool in declared.of(GKE_POOL):
        assert f"{NAT}::{nat}" in waits_for(declared, GKE_POOL, pool)


@pytest.mark.parametrize(
    ("network", "logged"),
    [({}, None), ({"flowLogSampling": 0.1}, {"flowSampling": 0.1}), ({"flowLogSampling": None}, None)],
)
def test_flows_are_logged_where_the_stack_file_says_which_share(
    network: dict[str, Any], logged: dict[str, float] | None
) -> None:
    declared = declare(stack(L4, cloud={"network": network}))
    (subnet,) = declared.of("gcp:compute/subnetwork:Subnetwork").values()
    assert subnet.inputs.get("logConfig") == logged


@pytest.mark.parametrize("network", [{"outboundType": "none"}, {"privateNodes": False}])
def test_without_a_way_out_there_is_no_router(network: dict[str, Any]) -> None:
    declared = declare(stack(L4, cloud={"network": network}))
    assert [r.type for r in declared.resources if "router" in r.type] == []


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
    assert [len(declare(settings, live=now).of(NAT)) for now in (pools, pools + theirs)] == [0, 1]


def test_of_a_shared_vpc_nothing_is_declared_and_its_ids_name_its_project() -> None:
    declared = declare(SHARED_VPC)
    assert [r.type for r in declared.resources if r.type.startswith("gcp:compute/") and "Member" not in r.type] == []
    values = inputs(declared)
    assert values["network"] == "projects/example-net/global/networks/corp"
    # The region of a zonal cluster.
    assert values["subnetwork"] == "projects/example-net/regions/europe-west4/subnetworks/nodes"
    assert values["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "gke-pods",
        "servicesSecondaryRangeName": "gke-services",
    }


@pytest.mark.parametrize(
    ("answer", "messages"),
    [
        (
            "projects/example-net/regions/europe-west4/subnetworks/nodes not found",
            [r"existing\.subnet: there is no subnet"],
        ),
        (
            {**SUBNET, "network": "https://www.googleapis.com/x/global/networks/other"},
            [r"existing\.name: .* of network 'other'"],
        ),
        (
            {**SUBNET, "secondaryIpRanges": [{"rangeName": "b", "ipCidrRange": "10.0.0.0/14"}]},
            [
                r"existing\.podRange: .* no secondary range 'gke-pods'\n +write one of those it has: b",
                r"existing\.serviceRange: ",
            ],
        ),
        ({**SUBNET, "secondaryIpRanges": []}, ["2 problems", "it has none"]),
    ],
)
def test_an_incomplete_network_is_reported_before_anything_is_declared(
    answer: dict[str, Any] | str, messages: list[str]
) -> None:
    request = {"project": "example-net", "region": "europe-west4", "name": "nodes"}
    for text in messages:
        cloud = Answering(getSubnetwork=answer)
        with pytest.raises(pulumi.RunError, match=text):
            declare(SHARED_VPC, cloud=cloud)
        assert ("getSubnetwork", request) in [asked[:2] for asked in cloud.asked]


def test_a_network_that_may_not_be_read_is_not_taken_for_a_missing_one() -> None:
    with pytest.raises(pulumi.RunError, match=r"(?s)existing: .* cannot be read.*Required .* permission"):
        declare(SHARED_VPC, cloud=Answering(getSubnetwork="Required 'compute.subnetworks.get' permission"))
