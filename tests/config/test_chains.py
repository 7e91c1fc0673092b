"""Warnings of what a chain can lose at once, of the wait that its timers make, and of a quota that is all on-demand GPUs."""

import copy
from typing import Any

import pytest

from config.base.problems import Problem
from config.model.cluster import Growth, seconds
from config.stack_file import loader
from tests.config.stack import CPU as GENERAL
from tests.config.stack import FLEX, GROUP, good, on_gke, spot

TIMER, CHAIN = "cloud.autoscaler.maxNodeProvisionTime", "pools[1].fallback"
D8, T4, T4_4, A100 = (f"Standard_{size}" for size in ("D8ds_v5", "NC4as_T4_v3", "NC16as_T4_v3", "NC24ads_A100_v4"))


def aks(*pools: dict[str, Any], autoscaler: dict[str, str] | None = None, **growth: str) -> dict[str, Any]:
    cloud = {"provider": "azure", "location": "norwayeast", "autoscaler": autoscaler or {}}
    return good(cloud=cloud, growth=growth, pools=[good()["pools"][0], *copy.deepcopy(pools)])


def gke(*pools: dict[str, Any], **cloud: Any) -> dict[str, Any]:
    return {**on_gke([GENERAL, *pools], **cloud), "growth": {}}


def warnings(raw: dict[str, Any]) -> list[Problem]:
    spec, problems = loader.read_stack(raw)
    assert spec is not None, problems
    return problems


ONE, FEW = spot("t4", chain="8"), spot("t4", chain="1")
TWO = (spot("t4", chain="t4big 8"), spot("t4big", T4_4))
THREE = (spot("t4", chain="t4big a100 8"), TWO[1], spot("a100", A100))
ONE_FAMILY = (spot("t4", chain="t4big"), TWO[1])
FOUR = (spot("t4", chain="t4four 2"), spot("t4four", "Standard_NC64as_T4_v3", 2))
CPU, GKE_L4 = spot("cpu", D8, chain="1"), spot("l4", "g2-standard-8")
SERVING = {"name": "serving", "machine": T4, "maxNodes": 1}
KEPT = {"name": "kept", "machine": T4, "maxNodes": 1, "reservation": GROUP}


@pytest.mark.parametrize(
    ("raw", "said", "remedy"),
    [
        # The release's 10m, and AKS' own 15m that a file may write.
        (aks(*TWO), "is 10m by the release: ", "a shorter chain, or a longer growth.acceptedWait"),
        # t4's back-off is over before t4big is given up: each is asked three times.
        (aks(*TWO), "pods of t4 wait 61 min 30 s for t4od (30 s, then 10m for 6 requests to t4, t4big)", ""),
        (aks(*TWO, autoscaler={"maxNodeProvisionTime": "5m"}), "wait 21 min 10 s for t4od (30 s, then 5m for", "a shorter"),
        (aks(*TWO, autoscaler={"maxNodeProvisionTime": "5m"}), "4 requests to t4, t4big", ""),
        (aks(*THREE, autoscaler={"maxNodeProvisionTime": "15m"}), "pods of t4 never get t4od (30 s, then 15m", "a shorter"),
        (aks(*THREE, acceptedWait="23h", autoscaler={"maxNodeProvisionTime": "15m"}), "for endless requests to t4, t4big, a", ""),
        (aks(ONE, autoscaler={"maxNodeProvisionTime": "15m"}), "wait 15 min 40 s for t4od (30 s, then 15m", "at most 14m"),
        (aks(CPU, autoscaler={"maxNodeProvisionTime": "15m"}), "pods of cpu wait 15 min 12 s for cpuod (2 s,", "at most 14m"),
        (aks(ONE, autoscaler={"newPodScaleUpDelay": "5m"}), "wait 15 min 10 s for t4od (300 s, then 10m", "a shorter"),
        (aks(ONE, autoscaler={"scanInterval": "600s"}), "wait 20 min 30 s for t4od (30 s, then 10m", "a shorter"),
        (aks(ONE, acceptedWait="12m", autoscaler={"maxNodeProvisionTime": "15m"}), "growth.acceptedWait is 12m", "at most 11m"),
        (aks(ONE, acceptedWait="5m"), "growth.acceptedWait is 5m", "a shorter"),
        (aks(ONE, acceptedWait="60s"), "growth.acceptedWait is 60s", "a shorter chain, or a longer growth.acceptedWait"),
    ],
)  # fmt: skip
def test_a_chain_that_waits_longer_than_is_accepted_draws_one_warning_with_its_wait(
    raw: dict[str, Any], said: str, remedy: str
) -> None:
    (warning,) = [problem for problem in warnings(raw) if problem.path == TIMER and "no machine comes" in problem.what]
    assert warning.warning
    assert said in warning.what
    assert warning.remedy.startswith(remedy)


def test_the_time_that_the_warning_names_is_enough() -> None:
    for time, paths in (("11m", []), ("12m", [TIMER])):
        raw = aks(ONE, acceptedWait="12m", autoscaler={"maxNodeProvisionTime": time})
        assert [p.path for p in warnings(raw)] == paths


def test_a_time_in_which_a_machine_with_gpus_may_not_boot_is_warned_of() -> None:
    (warning,) = warnings(aks(ONE, autoscaler={"maxNodeProvisionTime": "9m"}))
    assert (warning.path, warning.warning) == (TIMER, True)
    assert warning.what.startswith("is 9m: AKS takes 4 to 11 minutes for a machine with GPUs")
    assert warning.remedy.startswith("at least 10m")
    for time in ({"maxNodeProvisionTime": "10m"}, {}):
        assert warnings(aks(ONE, autoscaler=time)) == []
    # Machines without GPUs come sooner.
    assert warnings(aks(CPU, autoscaler={"maxNodeProvisionTime": "5m"})) == []


@pytest.mark.parametrize(
    "raw",
    [
        aks(ONE),
        aks(*TWO, acceptedWait="62m"),
        aks(*THREE, acceptedWait="24h", autoscaler={"maxNodeProvisionTime": "15m"}),
        aks(spot("t4"), autoscaler={"maxNodeProvisionTime": "60m"}),
        # GKE documents no such timer.
        gke(spot("l4", "g2-standard-8", chain="8")),
    ],
)
def test_no_warning_of_a_wait_that_is_accepted_or_unknown(raw: dict[str, Any]) -> None:
    assert TIMER not in [problem.path for problem in warnings(raw)]


def test_accepted_wait_is_set_changed_and_removed() -> None:
    chain = {"maxNodeProvisionTime": "12m"}
    seen = [
        warnings(aks(*TWO, autoscaler=chain, **wait)) for wait in ({"acceptedWait": "60m"}, {"acceptedWait": "80m"}, {})
    ]
    assert [[p.path for p in problems] for problems in seen] == [[TIMER], [], [TIMER]]
    assert seen[0][0].what.endswith("growth.acceptedWait is 60m")
    assert seen[2][0].what.endswith(f"growth.acceptedWait is {Growth().accepted_wait}")
    spec, problems = loader.read_stack(aks(ONE, acceptedWait="1 hour"))
    assert (spec, [problem.path for problem in problems]) == (None, ["growth.acceptedWait"])
    assert [seconds(text) for text in ("0s", "90s", "15m", "24h")] == [0, 90, 900, 86400]


@pytest.mark.parametrize(
    ("raw", "what", "remedy"),
    [
        (aks(*ONE_FAMILY), "ends on spot of one family (t4, t4big), whose machines are lost together", ""),
        (aks(*({**pool, "zones": ["1", "2"]} for pool in ONE_FAMILY)), "of one family (t4, t4big in 1, 2)", ""),
        # GPUs count, not nodes.
        (aks(FEW), "1 of 8 on spot: without spot, pods for the other 7 wait", "write `onDemand: {maxNodes: 2}` or more"),
        (aks(*FOUR, acceptedWait="23h"), "has on-demand GPUs for 2 of 16 on spot", "write `onDemand: {maxNodes: 4}` or more"),
    ],
)  # fmt: skip
def test_a_chain_that_goes_at_once_or_has_a_small_twin_is_warned_of(
    raw: dict[str, Any], what: str, remedy: str
) -> None:
    (warning,) = warnings(raw)
    assert (warning.path, warning.warning) == (CHAIN, True)
    assert what in warning.what
    assert warning.remedy.startswith(remedy)


def test_no_such_warning_stands_beside_a_fault_that_may_be_its_cause() -> None:
    def paths(raw: dict[str, Any]) -> list[str]:
        return [problem.path for problem in loader.read_stack(raw)[1]]

    raw = aks(*FOUR, acceptedWait="23h")
    assert paths(raw) == [CHAIN]
    assert paths({**raw, "expander": {"install": True}}) == ["expander.install", CHAIN]
    twin = raw["pools"][1]["fallback"][1]
    twin["maxNodes"] = twin["onDemand"].pop("maxNodes")
    assert paths(raw) == [f"{CHAIN}[1].maxNodes"]


@pytest.mark.parametrize(
    "pools",
    [
        (ONE_FAMILY[0], {**ONE_FAMILY[1], "machine": A100}),
        ({**ONE_FAMILY[0], "zones": ["1"]}, {**ONE_FAMILY[1], "zones": ["2"]}),
        # Its pods may run on the GPU pools outside of the chain.
        (*ONE_FAMILY, spot("a100", A100)),
        (*ONE_FAMILY, {**SERVING, "maxNodes": 4}),
        (*ONE_FAMILY, spot("late", chain="4")),
        # CPU pods have the on-demand pools.
        (spot("cpu", D8, chain="cpubig"), spot("cpubig", "Standard_D16ds_v5")),
        (spot("t4"),),
        # Reserved machines do not go with spot.
        (spot("t4", chain="kept"), KEPT),
        (spot("t4", "Standard_Unheard_v9", gpus=1, chain="t5"), spot("t5", "Standard_Unheard_v9", gpus=1)),
    ],
)
def test_a_chain_that_does_not_go_at_once_is_not(pools: tuple[dict[str, Any], ...]) -> None:
    assert CHAIN not in [problem.path for problem in warnings(aks(*pools, acceptedWait="23h"))]


@pytest.mark.parametrize(
    "raw",
    [
        aks(spot("t4", chain="2")),
        # On-demand pools of the same stack serve as well, and those of the chain that do not go with spot.
        aks(FEW, SERVING),
        aks(spot("t4", chain="kept 1"), KEPT, acceptedWait="23h"),
        gke(spot("l4", "g2-standard-8", chain="flex 1"), {**FLEX, "maxNodes": 1}),
        aks(CPU),
    ],
)
def test_a_chain_with_enough_on_demand_is_not_either(raw: dict[str, Any]) -> None:
    assert warnings(raw) == []


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (aks(spot("t4", zones=["2"])), "pools[1].zones"),
        (aks(spot("t4", zones=["2"]), spot("a100", A100, zones=["2"])), "pools[1].zones"),
        (gke(GKE_L4, zones=["europe-west4-b"]), "pools[1].zones"),
        (gke(GKE_L4, location="europe-west4-b"), "pools[1].zones"),
        # No zone, another zone, a region without zones, CPU pools, and what the cloud chooses.
        (aks(spot("t4")), None),
        (aks(spot("t4", zones=["1", "2"])), None),
        (aks(spot("t4", zones=["2"]), spot("a100", A100, zones=["3"])), None),
        (aks(spot("cpu", D8, zones=["2"])), None),
        (gke(GKE_L4), None),
        # A region whose only zone with the GPU it is.
        (gke({**GKE_L4, "machine": "a2-highgpu-1g"}, location="us-east1", zones=["us-east1-b"]), None),
        (gke(GKE_L4, zones=["europe-west4-b", "europe-west4-c"]), None),
    ],
)
def test_spot_gpus_of_one_zone_are_warned_of_where_the_region_has_more(raw: dict[str, Any], path: str | None) -> None:
    assert [problem.path for problem in warnings(raw) if "leaves all spot GPUs to zone" in problem.what] == (
        [path] if path else []
    )


@pytest.mark.parametrize("raw", [aks(*ONE_FAMILY), aks(FEW), aks(spot("t4", zones=["2"]))])
def test_who_accepts_a_day_waits_for_spot_and_gets_no_such_warning(raw: dict[str, Any]) -> None:
    assert len(warnings(raw)) == 1
    assert warnings({**raw, "growth": {"acceptedWait": "24h"}}) == []
    assert len(warnings({**raw, "growth": {"acceptedWait": "23h"}})) == 1


OWN = {"name": "own", "machine": T4, "maxNodes": 3}


def warned(gpus: int, *pools: dict[str, Any]) -> bool:
    raw = good(pools=[*pools], scheduling={"profiles": [{"namespace": "team-a", "gpus": gpus}]})
    return "scheduling.profiles[0].gpus" in [problem.path for problem in warnings(raw)]


@pytest.mark.parametrize(
    ("pools", "most"),
    [
        ([OWN], 3),
        ([spot("t4"), OWN], 3),
        ([spot("t4", chain="2"), OWN], 5),
        ([{**OWN, "machine": "Standard_NC64as_T4_v3"}], 12),
        # A quota counts shares, as pods ask for them.
        ([{**OWN, "gpuSharing": {"strategy": "time-slicing", "replicas": 4}}], 12),
    ],
)
def test_a_quota_as_large_as_all_on_demand_pools_is_a_warning(pools: list[dict[str, Any]], most: int) -> None:
    assert [warned(gpus, *pools) for gpus in (0, most - 1, most, most + 1)] == [False, False, True, True]


@pytest.mark.parametrize("pools", [[spot("t4")], [OWN, {"name": "cut", "machine": A100, "maxNodes": 1, "mig": "1g"}]])
def test_no_warning_without_on_demand_gpus_or_with_an_unknown_number(pools: list[dict[str, Any]]) -> None:
    assert not warned(50, *pools)
