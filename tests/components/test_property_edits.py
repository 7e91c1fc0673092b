"""Edits of a cloud's own properties: what a pool or cluster cannot take is refused, what the cloud keeps is warned of."""

from typing import Any

import pytest

from components import property_edits
from components.azure import azure_immutable_pools
from components.last_update import LastUpdate
from config.clouds.provider_properties import Properties

Said = tuple[list[str], list[str]]


def said(
    provider: str,
    before: Properties,
    now: Properties,
    warnings: list[str],
    live: dict[str, Any] | None = None,
    remedy: str | None = "R",
    declared: Properties | None = None,
) -> Said:
    """Return the paths of refused and of kept properties of a pool called general."""
    last_update = LastUpdate({"properties": {"pools": {"general": before}}})
    problems = property_edits.of_pool(
        provider, "P", "general", now, declared or now, last_update, (live or {}).get, remedy
    )
    refused = [problem.path for problem in problems]
    return refused, [warning.partition(":")[0] for warning in warnings]


DRAIN = {"upgradeSettings": {"drainTimeoutInMinutes": 60}}
KUBELET = {"kubeletConfig": {"cpuManagerPolicy": "static"}}
FAST = {"nodeConfig": {"loggingVariant": "MAX_THROUGHPUT", "tags": ["ssh"]}}
NEAR = {"placementPolicy": {"type": "COMPACT"}}
CASES: dict[str, tuple[str, Properties, Properties, Said]] = {
    "AKS changes it": ("azure", DRAIN, {"upgradeSettings": {"drainTimeoutInMinutes": 30}}, ([], [])),
    "AKS keeps it": ("azure", DRAIN, {}, ([], ["P.upgradeSettings.drainTimeoutInMinutes"])),
    "AKS never changes it": (
        "azure",
        KUBELET,
        {"kubeletConfig": {"cpuManagerPolicy": "none"}},
        (["P.kubeletConfig.cpuManagerPolicy"], []),
    ),
    "AKS adds it to no pool": ("azure", {}, KUBELET, (["P.kubeletConfig.cpuManagerPolicy"], [])),
    "AKS takes it from no pool": ("azure", KUBELET, {}, (["P.kubeletConfig.cpuManagerPolicy"], [])),
    "GKE keeps one and drops one": ("gcp", FAST, {}, ([], ["P.nodeConfig.loggingVariant"])),
    "GKE never changes it": (
        "gcp",
        NEAR,
        {"placementPolicy": {"type": "COMPACT", "policyName": "a"}},
        (["P.placementPolicy.policyName"], []),
    ),
    "GKE takes it from no pool": ("gcp", NEAR, {}, (["P.placementPolicy.type"], [])),
    "GKE keeps what is never changed": (
        "gcp",
        {"nodeConfig": {"minCpuPlatform": "a"}},
        {},
        ([], ["P.nodeConfig.minCpuPlatform"]),
    ),
    "nothing": ("gcp", FAST | NEAR, FAST | NEAR, ([], [])),
}


@pytest.mark.parametrize("case", CASES)
def test_an_edit_of_a_live_on_demand_pool(case: str, warnings: list[str]) -> None:
    provider, before, now, wanted = CASES[case]
    assert said(provider, before, now, warnings) == wanted


@pytest.mark.parametrize("case", CASES)
def test_a_spot_pool_takes_every_edit(case: str, warnings: list[str]) -> None:
    provider, before, now, (_, kept) = CASES[case]
    assert said(provider, before, now, warnings, remedy=None) == ([], kept)


def test_a_pool_that_has_the_value_already_takes_it(warnings: list[str]) -> None:
    live = {"kubeletConfig.cpuManagerPolicy": "Static"}
    assert said("azure", {}, KUBELET, warnings, live=live) == ([], [])


def test_a_value_that_the_program_sets_in_its_place_is_an_edit_and_is_not_kept(warnings: list[str]) -> None:
    scopes = {"nodeConfig": {"oauthScopes": ["a"]}}
    declared = {"nodeConfig": {"oauthScopes": ["b"]}}
    assert said("gcp", scopes, {}, warnings, declared=declared) == (["P.nodeConfig.oauthScopes"], [])


def test_tags_are_kept_by_a_pool_whose_request_has_none(warnings: list[str]) -> None:
    tags = {"tags": {"cost": "batch"}}
    assert said("azure", tags, {}, warnings, declared={"tags": {}}) == ([], [])
    assert said("azure", tags, {}, warnings) == ([], ["P.tags.cost"])


@pytest.mark.parametrize(
    ("declared", "live", "replaced"),
    [
        (KUBELET, KUBELET, False),
        (KUBELET, {"kubeletConfig": {"cpuManagerPolicy": "static", "failSwapOn": True}}, False),
        (KUBELET, {}, True),
        ({}, KUBELET, True),
        ({"enableUltraSSD": False}, {}, False),
        ({"enableUltraSSD": False}, {"enableUltraSSD": True}, True),
        ({}, {"enableUltraSSD": False, "kubeletDiskType": "OS"}, False),
    ],
)
def test_a_spot_pool_is_known_to_be_replaced_so_that_the_next_one_waits(
    declared: dict[str, Any], live: dict[str, Any], replaced: bool
) -> None:
    """AKS makes one pool of a network at a time (components.azure.azure_pools.Turns)."""
    assert azure_immutable_pools.differs({"name": "t4", **declared}, live) == replaced
