"""Recordings of the real cluster-autoscaler as a script for a replay: settings, groups, pods, faults and steps, out of their JSON.

Faults and steps are sentences. One that is not understood raises: nothing is left out in silence. What the cluster did by itself is
never read: it is what a replay is compared with.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.autoscaler.autoscaler_options import Options, seconds

Object = dict[str, Any]

# Flags with AKS' keys; the values are the flags' defaults in 1.36.1.
_PROFILE = {
    "scan-interval": ("scanInterval", "10s"),
    "scale-down-delay-after-add": ("scaleDownDelayAfterAdd", "10m"),
    "scale-down-delay-after-delete": ("scaleDownDelayAfterDelete", "0s"),
    "scale-down-delay-after-failure": ("scaleDownDelayAfterFailure", "3m"),
    "scale-down-unneeded-time": ("scaleDownUnneededTime", "10m"),
    "scale-down-unready-time": ("scaleDownUnreadyTime", "20m"),
    "ignore-daemonsets-utilization": ("ignoreDaemonsetsUtilization", "false"),
    "daemonset-eviction-for-empty-nodes": ("daemonsetEvictionForEmptyNodes", "false"),
    "daemonset-eviction-for-occupied-nodes": ("daemonsetEvictionForOccupiedNodes", "true"),
    "scale-down-utilization-threshold": ("scaleDownUtilizationThreshold", "0.5"),
    "max-graceful-termination-sec": ("maxGracefulTerminationSec", "600"),
    "balance-similar-node-groups": ("balanceSimilarNodeGroups", "false"),
    "expander": ("expander", "least-waste"),
    "skip-nodes-with-local-storage": ("skipNodesWithLocalStorage", "true"),
    "skip-nodes-with-system-pods": ("skipNodesWithSystemPods", "true"),
    "max-scale-down-parallelism": ("maxEmptyBulkDelete", "10"),
    "new-pod-scale-up-delay": ("newPodScaleUpDelay", "0s"),
    "max-total-unready-percentage": ("maxTotalUnreadyPercentage", "45"),
    "max-node-provision-time": ("maxNodeProvisionTime", "15m"),
    "ok-total-unready-count": ("okTotalUnreadyCount", "3"),
}
_OPTIONS: Mapping[str, tuple[str, Any]] = {
    "initial-node-group-backoff-duration": ("first_back_off", seconds),
    "max-node-group-backoff-duration": ("longest_back_off", seconds),
    "node-group-backoff-reset-timeout": ("back_off_forgotten", seconds),
    "max-node-startup-time": ("startup_time", seconds),
    "scale-down-gpu-utilization-threshold": ("gpu_utilisation", float),
    "unremovable-node-recheck-timeout": ("recheck", seconds),
    "node-delete-delay-after-taint": ("delete_delay", seconds),
    "max-pod-eviction-time": ("eviction_time", seconds),
    "blocking-system-pod-distruption-timeout": ("system_pod_age", seconds),
    "expendable-pods-priority-cutoff": ("priority_cutoff", int),
    "max-drain-parallelism": ("most_drains", int),
    "skip-nodes-with-custom-controller-pods": ("custom_controllers_keep", lambda text: text == "true"),
}
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "the": 1, "a": 1}
_NUMBER = r"\b(?:the )?(\d+|one|two|three|four|five|six|a|the|all|both)"
COLLECTED = 46.0
"""Seconds from the end of a node to that of its pods: the collector waits 40 s, and looks every 20 s (pkg/controller/podgc). A Job
makes another pod ten seconds later: 56 s were recorded."""
PRIORITIES = {
    "prefers on-demand": '50: ["^aks-gpuod-[0-9]+-vmss$"]\n10: ["^aks-gpuspot-[0-9]+-vmss$"]\n1: [".*"]\n',
    "malformed (scalar instead of list)": '50: "^aks-gpuspot-[0-9]+-vmss$"\n',
}
"""ConfigMaps by the words of the step that writes them."""
_COMMENTS = (
    # What the recorded cluster did.
    r".*\bbound\b.*",
    r"both pods run on existing nodes|annotated pod and plain pod are on different node",
    r"2 pods on spot, 2 on on-demand|60 s: nodes 0",
    # What the list of pods has, with its times.
    r"(?:\d+|one)(?: more)? (?:(?:GPU|CPU|cpu) )?pods?(?: and \d+ CPU pods)?"
    r"(?: created| alone| 3 s after the CPU pods)?(?: \(.*\))?",
    r"(?:first|second|third) burst of \d+ pods(?: \(.*\))?|the last of \d+ pods created",
)
"""Sentences that say nothing to be done."""
_TIME = r"(?:about )?(\d+(?:\.\d+)?) ?(s|m|min|seconds|minutes)\b"


@dataclass
class Fault:
    """How the machines of a group behave; times are seconds after the node object is made, None for never."""

    ready: float | None = 0.3
    first: tuple[int, float] | None = None
    """So many machines are ready after so long in spite of `ready`."""
    gpus: float | None = 0.0
    refused_from: float = float("inf")
    refused_until: float = float("inf")
    locked_until: float = 0.0
    """No machine is deleted before."""


@dataclass
class Step:
    """Something done to the cluster. `_step` has the words of `kind`."""

    at: float
    kind: str
    count: int = 1
    who: str = ""
    with_pods: bool = True
    budget: Object = field(default_factory=dict)


@dataclass
class Script:
    """One recording."""

    name: str
    recording: Mapping[str, Any]
    profile: dict[str, str]
    options: Options
    faults: dict[str, Fault] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    daemon_sets: list[Object] = field(default_factory=list)

    @property
    def scan(self) -> float:
        return seconds(self.profile["scanInterval"])


def read(recording: Mapping[str, Any]) -> Script:
    """Return the script of a recording. Raises ValueError for a flag or a sentence that is not understood."""
    profile, options = _flags(recording["flags"])
    script = Script(recording["name"], recording, profile, options)
    for group in recording["nodeGroups"]:
        script.faults[group["name"]] = Fault()
    # Part of every template in the recordings (README), though it runs on no simulated node.
    script.daemon_sets.append(_daemon_set("100m"))
    for step in recording.get("steps") or ():
        _step(script, float(step["t"]), step["what"])
    for fault in recording.get("faults") or ():
        _fault(script, fault.get("group"), fault["fault"])
    return script


def _flags(flags: Sequence[str]) -> tuple[dict[str, str], Options]:
    profile = dict(_PROFILE.values())
    options = Options()
    for flag in flags:
        name, _, value = flag.lstrip("-").partition("=")
        if name in _PROFILE:
            profile[_PROFILE[name][0]] = value or "true"
        elif name == "max-empty-bulk-delete":
            profile["maxEmptyBulkDelete"] = value
        elif name in _OPTIONS:
            field_name, parse = _OPTIONS[name]
            options = replace(options, **{field_name: parse(value)})
        elif name == "balancing-ignore-label":
            options = replace(options, balancing_ignored=options.balancing_ignored | {value})
        else:
            raise ValueError(f"not understood: {flag}")
    return profile, options


def _fault(script: Script, group: str | None, text: str) -> None:
    names = [name for name in script.faults if group in (None, "all", name)]
    understood = False
    for name in names:
        fault = script.faults[name]
        understood = _behaviour(script, name, fault, text) or understood
    if not understood and not re.search(r"killed and started|\bmax \d+, so\b", text):
        raise ValueError(f"not understood: {text}")


def _behaviour(script: Script, name: str, fault: Fault, text: str) -> bool:
    if match := re.search(rf"{_NUMBER} of \S+ nodes becomes? ready after {_TIME}", text, re.I):
        # A step "set Ready" says when, where there is one.
        set_by_hand = any(step.kind == "ready" for step in script.steps)
        fault.first = None if set_by_hand else (_number(match[1]), _seconds(match[2], match[3]))
        fault.ready = None
    elif re.search(r"reports? nvidia.com/gpu: 0|without gpus?|no gpus?\b", text, re.I):
        match = re.search(rf"(?:for|after) {_TIME}", text)
        fault.gpus = _seconds(match[1], match[2]) if match else None
    elif re.search(r"Ready=False|never (?:becomes? )?ready|stays? not ?ready", text, re.I):
        # "Ready=False for ever; ... count as unready after 1 min" names another time.
        match = None if "for ever" in text else re.search(rf"(?:for|after|until) {_TIME}", text)
        fault.ready = _seconds(match[1], match[2]) if match else None
    elif match := re.search(rf"take {_TIME} to become ready|ready (?:after )?{_TIME}", text, re.I):
        fault.ready = _seconds(match[1] or match[3], match[2] or match[4])
    elif re.search(r"deletion.* (?:refused|denied)", text):
        match = re.search(rf"until {_TIME}", text)
        fault.locked_until = _seconds(match[1], match[2]) if match else float("inf")
    elif re.search(r"refused|denied|SkuNotAvailable|quota", text, re.I):
        if not any(step.kind == "refuse" for step in script.steps):
            fault.refused_from = 0.0
    elif match := re.search(r"DaemonSet.* asks (\S+) cpu", text):
        labels = next(group["labels"] for group in script.recording["nodeGroups"] if group["name"] == name)
        script.daemon_sets.append(_daemon_set(match[1], agentpool=labels["agentpool"]))
    else:
        return False
    return True


def _step(script: Script, at: float, text: str) -> None:
    found = []
    if re.search(r"autoscaler (?:process )?(?:is )?killed|autoscaler stopped", text):
        found.append(Step(at, "kill"))
    if re.search(r"autoscaler (?:process )?(?:is )?(?:re)?started", text):
        found.append(Step(at, "start"))
    if match := re.search(
        rf"{_NUMBER}(?: \d+)? (\S+) nodes?( and (?:its|their) pods?)? (?:deleted|evicted|removed|gone)", text
    ):
        found.append(Step(at, "delete nodes", _number(match[1]), match[2], bool(match[3])))
    elif match := re.search(
        rf"{_NUMBER} (?:(\S+) )?pods?(?: on (\S+) nodes?)? (?:finished|deleted|completed|ended|removed)", text
    ):
        found.append(Step(at, "delete pods", _number(match[1]), match[3] or match[2] or ""))
    if match := re.search(r"no (?:new )?(\S+) node can be created|(\S+) (?:is )?refused from now", text):
        found.append(Step(at, "refuse", who=match[1] or match[2]))
    if re.search(r"deletions are allowed again", text):
        found.append(Step(at, "unlock"))
    if match := re.search(r"(\S+) (?:nodes? )?can be created again", text):
        found.append(Step(at, "grant", who=match[1]))
    if match := re.search(rf"{_NUMBER}(?: \d+)? (\S+) nodes? (?:set|made|becomes?) ready", text, re.I):
        found.append(Step(at, "ready", _number(match[1]), match[2]))
    if match := re.search(rf"{_NUMBER}(?: of \d+)? (\S+) nodes? becomes? (?:Ready=False|not ready|unready)", text):
        found.append(Step(at, "unready", _number(match[1]), match[2]))
    if match := re.search(r"PodDisruptionBudget (\{.*\}) over (\S+)", text):
        found.append(Step(at, "budget", who=match[2], budget=json.loads(match[1])))
    if re.search(r"PodDisruptionBudget (?:is )?deleted", text):
        found.append(Step(at, "no budget"))
    if match := re.search(r"ConfigMap now (prefers on-demand|malformed \(scalar instead of list\))", text):
        found.append(Step(at, "priorities", who=match[1]))
    script.steps += found
    if not found and not any(re.fullmatch(comment, text) for comment in _COMMENTS):
        raise ValueError(f"not understood: {text}")


def _daemon_set(cpu: str, **selector: str) -> Object:
    spec: Object = {"containers": [{"resources": {"requests": {"cpu": cpu}}}], "tolerations": [{"operator": "Exists"}]}
    return {"spec": {"template": {"spec": spec | ({"nodeSelector": selector} if selector else {})}}}


def _number(text: str) -> int:
    return 1 << 20 if text in ("all", "both") else int(text) if text.isdigit() else _NUMBERS[text]


def _seconds(number: str, unit: str) -> float:
    return float(number) * (60 if unit.startswith("m") else 1)
