"""Figures of the autoscaler: those that AKS' profile sets, and those that no user can set.

The figures of `Options` are defaults of cluster-autoscaler 1.36.1 (config/flags/flags.go, or the file named beside them). Those of
`Profile` are AKS' (page cluster-autoscaler); GKE publishes none, `gke_figures` has what is known of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h))+")
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

SLACK = 1e-6
"""Seconds by which a time of a virtual clock may miss a bound: sums of floats are not exact."""


@dataclass(frozen=True)
class Options:
    """Figures that no profile sets. All times are seconds."""

    pod_age: float = 2.0
    """No scale-up until the oldest pending pod is so old (core/static_autoscaler.go)."""
    gpu_pod_age: float = 30.0
    """No scale-up, for CPU pods neither, until the oldest pending GPU pod is so old (core/static_autoscaler.go)."""
    again: float = 0.1
    """The time between a scale-up and the loop that follows at once: 0.1 to 0.7 s were recorded."""
    first_back_off: float = 5 * 60.0
    longest_back_off: float = 30 * 60.0
    back_off_forgotten: float = 3 * 3600.0
    """A group whose last failure is so long ago begins with the first back-off."""
    startup_time: float = 15 * 60.0
    """A registered node that is not ready is "not started" for so long, and unready afterwards."""
    stable: float = 60.0
    """A node is the model of its group's new nodes once it has been ready for so long
    (processors/nodeinfosprovider/mixed_nodeinfos_processor.go)."""
    gpu_utilisation: float = 0.5
    """The share of a node's GPUs in use above which it is not removed; AKS' profile has none of its own for GPUs."""
    recheck: float = 5 * 60.0
    """A node that could not be emptied is looked at again after so long."""
    delete_delay: float = 5.0
    """From the taint to the removal of a node."""
    eviction_retry: float = 10.0
    eviction_time: float = 120.0
    """An eviction that a PodDisruptionBudget refuses is tried again for so long."""
    eviction_headroom: float = 30.0
    """An evicted pod may take its grace period and so long (core/scaledown/actuation/drain.go)."""
    drain_poll: float = 5.0
    """The time between two looks at a node that is being drained (core/scaledown/actuation/drain.go)."""
    system_pod_age: float = 3600.0
    """Older pods in kube-system without a PodDisruptionBudget do not keep their node any more."""
    priority_cutoff: int = -10
    """Pods of a lower priority neither trigger a scale-up nor keep a node."""
    most_drains: int = 1
    """The nodes that are drained at the same time."""
    custom_controllers_keep: bool = True
    """Whether pods of controllers other than Job, ReplicaSet, StatefulSet and ReplicationController keep their node."""
    balancing_ignored: frozenset[str] = frozenset()
    """Further labels in which similar groups may differ."""
    factor: float = 1.0
    """The divisor of the profile's times, but for `maxNodeProvisionTime`, and of the back-off."""
    scan_interval: float | None = None
    """The time between two loops in place of the profile's."""

    @classmethod
    def live(cls, factor: float) -> Options:
        """Return the options of a cluster that a person watches: a pending pod gets its node in about a second.

        Ages of pods and the delay of a removal exist to gather more work in one loop and change no decision about a pod that waits;
        a person at `make up` would only wait for them. An emulated machine takes real seconds, so the provision time stays. Nodes
        with pods stay: nobody wants the pods under test to move while the times are shortened.
        """
        return cls(
            pod_age=0,
            gpu_pod_age=0,
            stable=0,
            recheck=cls.recheck / factor,
            delete_delay=0,
            most_drains=0,
            factor=factor,
            scan_interval=1.0,
        )


@dataclass(frozen=True)
class Profile:
    """AKS' autoscaler profile as numbers; times are seconds."""

    scan_interval: float = 10.0
    delay_after_add: float = 600.0
    delay_after_delete: float = 10.0
    delay_after_failure: float = 180.0
    unneeded_time: float = 600.0
    unready_time: float = 1200.0
    ignore_daemon_sets: bool = False
    evict_daemon_sets_of_empty: bool = False
    evict_daemon_sets_of_occupied: bool = True
    utilisation: float = 0.5
    most_grace: float = 600.0
    balanced: bool = False
    expander: str = "random"
    local_storage_keeps: bool = False
    system_pods_keep: bool = True
    most_deletions: int = 10
    new_pod_delay: float = 0.0
    unready_percentage: float = 45.0
    provision_time: float = 900.0
    unready_count: int = 3
    unneeded_times: Mapping[str, float] = field(default_factory=dict)
    """The unneeded time by the names of groups that have their own."""

    @classmethod
    def of(cls, settings: Mapping[str, Any], options: Options, own: Mapping[str, float] | None = None) -> Profile:
        """Read a profile of AKS' keys; missing ones have AKS' defaults. `own`: `unneeded_times`. Raises ValueError."""
        values: dict[str, Any] = {}
        for key, (name, read) in _KEYS.items():
            if settings.get(key) is not None:
                values[name] = read(settings[key])
        profile = cls(**values)
        if "delay_after_delete" not in values:
            profile = replace(profile, delay_after_delete=profile.scan_interval)
        times = {name: getattr(profile, name) / options.factor for name in _SHORTENED}
        interval = profile.scan_interval if options.scan_interval is None else options.scan_interval
        unneeded = {name: time / options.factor for name, time in (own or {}).items()}
        return replace(profile, **times, scan_interval=interval, unneeded_times=unneeded)


def seconds(text: object) -> float:
    """Return the seconds of a duration such as `10m`, `1m30s` or `10`. Raises ValueError."""
    written = str(text).strip()
    if re.fullmatch(r"\d+", written):
        return float(written)
    if not _DURATION.fullmatch(written):
        raise ValueError(f"{text!r} is not a time such as 10m")
    return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(written))


def due(time: float, now: float) -> bool:
    """Return whether a time has come."""
    return now >= time - SLACK


def _truth(value: object) -> bool:
    return str(value).lower() == "true"


def _whole(value: object) -> int:
    return int(str(value))


def _number(value: object) -> float:
    return float(str(value))


_KEYS: Mapping[str, tuple[str, Any]] = {
    "scanInterval": ("scan_interval", seconds),
    "scaleDownDelayAfterAdd": ("delay_after_add", seconds),
    "scaleDownDelayAfterDelete": ("delay_after_delete", seconds),
    "scaleDownDelayAfterFailure": ("delay_after_failure", seconds),
    "scaleDownUnneededTime": ("unneeded_time", seconds),
    "scaleDownUnreadyTime": ("unready_time", seconds),
    "ignoreDaemonsetsUtilization": ("ignore_daemon_sets", _truth),
    "daemonsetEvictionForEmptyNodes": ("evict_daemon_sets_of_empty", _truth),
    "daemonsetEvictionForOccupiedNodes": ("evict_daemon_sets_of_occupied", _truth),
    "scaleDownUtilizationThreshold": ("utilisation", _number),
    "maxGracefulTerminationSec": ("most_grace", seconds),
    "balanceSimilarNodeGroups": ("balanced", _truth),
    "expander": ("expander", str),
    "skipNodesWithLocalStorage": ("local_storage_keeps", _truth),
    "skipNodesWithSystemPods": ("system_pods_keep", _truth),
    "maxEmptyBulkDelete": ("most_deletions", _whole),
    "newPodScaleUpDelay": ("new_pod_delay", seconds),
    "maxTotalUnreadyPercentage": ("unready_percentage", _number),
    "maxNodeProvisionTime": ("provision_time", seconds),
    "okTotalUnreadyCount": ("unready_count", _whole),
}
_SHORTENED = (
    "delay_after_add",
    "delay_after_delete",
    "delay_after_failure",
    "unneeded_time",
    "unready_time",
    "new_pod_delay",
)
