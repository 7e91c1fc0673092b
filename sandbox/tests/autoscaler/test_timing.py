"""Timers of requests, back-offs and limits of unready nodes, beyond the recordings."""

from typing import Any

import pytest

from sandbox.autoscaler.autoscaler_options import Options, Profile, seconds
from sandbox.autoscaler.registry import BackOff

from .objects import GPU_TAINT, Steps, group, node, on_demand, pod, sized, spot, training

TIERS = '50: ["gpuspot"]\n10: ["gpuod"]\n'


SETTINGS = {"expander": "priority", "maxNodeProvisionTime": "1m", "scanInterval": "5s"}


class Scans(Steps):
    """Scans of spot and its twin; machines never register unless a scan names its nodes."""

    def __init__(self, *groups: Any, **settings: str) -> None:
        super().__init__(*(groups or [spot(9), on_demand(9)]), **SETTINGS | settings)

    def at(self, now: float, *pods: Any, born: float = 0.0, nodes: Any = (), since: Any = None) -> list[str]:
        times = {("default", each["metadata"]["name"]): born for each in pods} | (since or {})
        return super().at(now, *pods, nodes=nodes, since=times, priorities=TIERS)


@pytest.mark.parametrize(
    ("delay", "own", "at"),
    [
        ("0s", None, 30),
        ("50s", None, 50),
        ("0s", "2m", 120),
        ("50s", "40s", 50),
        # Go's ParseDuration refuses it.
        ("0s", "120", 30),
        ("0s", "soon", 30),
    ],
)
def test_new_pods_wait_as_long_as_the_profile_and_the_pod_say(delay: str, own: str | None, at: float) -> None:
    """core/static_autoscaler.go, filterOutYoungPods."""
    scans, (waiting,) = Scans(newPodScaleUpDelay=delay), training(1)
    if own:
        waiting["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/pod-scale-up-delay": own}
    scans.at(at - 1, waiting)
    assert scans.decided() == []
    assert scans.scaler.wakes() == at
    scans.at(at, waiting)
    assert len(scans.decided()) == 1


def test_a_machine_that_never_registers_makes_room_for_another_in_the_scan_that_removes_it() -> None:
    """As after a restart: the process has no request for it, so no back-off."""
    scans = Scans(sized(spot(1), 1))
    scans.at(0, *training(1))
    scans.at(40, *training(1))
    assert scans.decided() == []
    scans.at(60, *training(1))
    assert [(each.action, each.before, each.after) for each in scans.cloud.decisions] == [
        ("scale-down", 1, 0),
        ("scale-up", 0, 1),
    ]


def unready(of: Any, count: int) -> list[Any]:
    return [node(of, name, ready=number >= count, metadata={"uid": name}) for number, name in enumerate(of.nodes)]


@pytest.mark.parametrize(
    ("machines", "silent", "settings", "stopped"),
    [
        (8, 4, {}, True),
        (8, 3, {}, False),
        (9, 4, {}, False),
        (9, 4, {"maxTotalUnreadyPercentage": "44"}, True),
        (8, 4, {"okTotalUnreadyCount": "4"}, False),
    ],
)
def test_unready_nodes_beyond_both_limits_stop_everything_until_they_are_ready(
    machines: int, silent: int, settings: Any, stopped: bool
) -> None:
    dead, plain = sized(group("dead", machines, [GPU_TAINT]), machines), group("general", 6, gpu="0")
    scans, waiting = Scans(dead, plain, **settings), pod("cpu", {"cpu": "1"})
    born = dict.fromkeys(dead.nodes, 0.0)
    # Within 15 minutes of their registration nodes count as starting.
    scans.at(899, waiting, nodes=unready(dead, silent), born=898, since=born)
    assert scans.decided() == []
    scans.at(905, waiting, nodes=unready(dead, silent), born=898, since=born)
    assert ("scale-up" in [action for _, action, _ in scans.decided()]) is not stopped
    scans.at(910, waiting, nodes=unready(dead, 0), born=898, since=born)
    assert [action for _, action, _ in scans.decided()] == (["failed", "note", "scale-up"] if stopped else ["scale-up"])


def test_back_off_doubles_to_its_longest_and_is_forgotten_after_hours() -> None:
    pauses = BackOff()
    now, lengths = 0.0, []
    for _ in range(5):
        lengths.append(pauses.failed(now, "spot") - now)
        now += lengths[-1] + 1
    assert lengths == [300, 600, 1200, 1800, 1800]
    # A failure during a back-off makes it no longer.
    assert pauses.failed(now, "twin") == now + 300
    assert pauses.failed(now + 10, "twin") == now + 310
    assert pauses.groups(now) == {"twin"}
    assert pauses.failed(now + 4 * 3600, "spot") == now + 4 * 3600 + 300


def test_every_key_of_the_profile_is_read_and_live_times_are_divided() -> None:
    given = {
        "scanInterval": "20s", "scaleDownDelayAfterAdd": "1m", "scaleDownDelayAfterDelete": "2s",
        "scaleDownDelayAfterFailure": "4m", "scaleDownUnneededTime": "5m", "scaleDownUnreadyTime": "6m",
        "ignoreDaemonsetsUtilization": True, "daemonsetEvictionForEmptyNodes": "true",
        "daemonsetEvictionForOccupiedNodes": False, "scaleDownUtilizationThreshold": "0.7", "maxGracefulTerminationSec": "7",
        "balanceSimilarNodeGroups": "true", "expander": "priority", "skipNodesWithLocalStorage": "true",
        "skipNodesWithSystemPods": "false", "maxEmptyBulkDelete": "8", "newPodScaleUpDelay": "9s",
        "maxTotalUnreadyPercentage": "11", "maxNodeProvisionTime": "12m", "okTotalUnreadyCount": "13",
    }  # fmt: skip
    own = {"l4": 120.0}
    profile = Profile.of(given, Options(), own)
    assert profile == Profile(
        20, 60, 2, 240, 300, 360, True, True, False, 0.7, 7, True, "priority", True, False, 8, 9, 11, 720, 13, own
    )
    assert not [name for name in vars(profile) if getattr(profile, name) == getattr(Profile(), name)]
    live = Profile.of(given, Options.live(60), own)
    assert live.unneeded_times == {"l4": 2.0}
    assert (live.scan_interval, live.unneeded_time, live.provision_time) == (1, 5, 720)
    assert Profile.of({"scanInterval": "30s"}, Options()).delay_after_delete == 30


@pytest.mark.parametrize(("text", "number"), [("10m", 600), ("1m30s", 90), ("10", 10), ("500ms", 0.5), ("1h", 3600)])
def test_durations(text: str, number: float) -> None:
    assert seconds(text) == number


@pytest.mark.parametrize("text", ["", "m", "10x", "-5s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        seconds(text)
