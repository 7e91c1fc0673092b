"""Accounts and stack files that differ from the recorded ones in one thing, and the finding that names it.

Rows of `accounts.yaml`: NAME: [CLOUD, FILE, ANSWERS, CHECK, WORDS]. FILE and ANSWERS are steps from the checked-in stack file
and the recorded answers: merge patches, or the names of some; 404 is the answer that there is none. CHECK is the one check
that finds a defect, or `CHECK: not seen`; empty where nothing is wrong, and WORDS are then of a note.

Recorded answers have the form of the REST pages of learn.microsoft.com and docs.cloud.google.com. Each names its page; none came
from an account: the figures are made up (`about`).
"""

import copy
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from checks import stack
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand, demand
from config.stack_file import loader
from tests.merge_patch import patched

PROJECT = Path(__file__).resolve().parents[3]
STACKS = {"azure": "dev", "gcp": "staging"}

_LISTS = {"azure": {"skus", "usages", "providers", "permissions"}}
"""Answers of which the clients return the items."""


@cache
def file(cloud: str) -> dict[str, Any]:
    """Return the recorded file of a cloud."""
    content: dict[str, Any] = json.loads((Path(__file__).parent / "recorded" / f"{cloud}.json").read_text())
    return content


@cache
def wanted(cloud: str) -> Demand:
    """Return the demand of the checked-in stack of a cloud."""
    return demand(stack.read_spec(PROJECT, STACKS[cloud]))


def answers(cloud: str) -> Answers:
    """Return a copy of the good answers, to be broken by a test."""
    recorded = copy.deepcopy(file(cloud))
    parts: dict[str, Any] = {}
    for name, entry in recorded["answers"].items():
        parts[name] = entry["answer"]["value"] if name in _LISTS.get(cloud, ()) else entry["answer"]
    for kind in ("machineTypes", "acceleratorTypes"):
        if kind in recorded:
            parts[kind] = {name: entry["answer"] for name, entry in recorded[kind].items()}
    return Answers(wanted(cloud), parts)


def documents(cloud: str) -> dict[str, Any]:
    """Return the recorded answers by the path of their request; None where the cloud says 404."""
    recorded = file(cloud)
    tables = [recorded[kind] for kind in ("answers", "machineTypes", "acceleratorTypes") if kind in recorded]
    return {entry["path"].lower(): entry["answer"] for table in tables for entry in table.values()}


_TABLE = yaml.safe_load(Path(__file__).with_name("accounts.yaml").read_text())

CASES: dict[str, list[Any]] = _TABLE["cases"]
ACCOUNT = _TABLE["steps"]["azure file"]["existing account"]["workloads"]["checkpoints"]["existing"]
(GROUP,) = _TABLE["steps"]["azure answers"]["reservation"]["reservations"]
KEPT = _TABLE["steps"]["azure answers"]["ours"]["accounts"][0]["id"]

Parts = dict[str, Any]
Step = str | dict[str, Any]

_AKS_NODES = {"system": ("Standard_D4ds_v5", 2), "general": ("Standard_D8ds_v5", 1), "t4": ("Standard_NC4as_T4_v3", 8)}


def stack_file(cloud: str, *steps: Step) -> Parts:
    """Return the checked-in stack file of a cloud after these steps."""
    content = yaml.safe_load((PROJECT / f"Pulumi.{STACKS[cloud]}.yaml").read_text())["config"]
    file: Parts = {key.removeprefix("kubeflow-spot:"): value for key, value in content.items()}
    for step in steps:
        file = patched(file, _TABLE["steps"][f"{cloud} file"][step] if isinstance(step, str) else step)
    return file


def account(cloud: str, file: Iterable[Step] = (), steps: Iterable[Step] = ()) -> Answers:
    """Return the recorded answers after these steps, to the questions of a stack file."""
    spec, problems = loader.read_stack(stack_file(cloud, *file))
    assert spec, problems
    parts: Parts = dict(answers(cloud).parts)
    for step in steps:
        if isinstance(step, str) and step.partition(" ")[0] in ("up", "used", "storage", "fourth", "l4"):
            _happened(parts, cloud, step)
        else:
            patch = _TABLE["steps"][f"{cloud} answers"][step] if isinstance(step, str) else step
            parts = _without_404(patched(parts, patch))
    return replace(answers(cloud), demand=demand(spec), parts=parts)


def _without_404(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_404(inner) for key, inner in value.items()}
    return None if value == 404 else value


def _happened(parts: Parts, cloud: str, step: str) -> None:
    word, _, rest = step.partition(" ")
    if word == "up" and cloud == "azure":
        up_on_aks(parts, rest or "1.36.2")
    elif word == "up":
        up_on_gke(parts, rest or "abc")
    elif word == "used":  # up
        for usage in parts.get("usages", ()):
            usage["currentValue"] = usage["limit"]
        for quota in (quota for part in ("region", "project") for quota in (parts.get(part) or {}).get("quotas", ())):
            quota["usage"] = quota["limit"]
    elif word == "l4":  # the quota of this beginning alone has room
        for quota in parts["region"]["quotas"]:
            if quota["metric"].endswith("NVIDIA_L4_GPUS"):
                quota["limit"] = 8 if quota["metric"].startswith(rest) else 0
    elif word == "fourth":  # zone, without the GPU
        parts["region"]["zones"].append("https://x/zones/europe-west4-d")
        for kind in ("machineTypes", "acceleratorTypes"):
            parts[kind].update({f"europe-west4-d/{key.partition('/')[2]}": {} for key in [*parts[kind]]})
        parts["acceleratorTypes"]["europe-west4-d/nvidia-l4"] = None
    else:  # storage: the service and the rights to make a bucket, which does not exist
        parts["services"]["services"].append({"name": "projects/1/services/storage.googleapis.com", "state": "ENABLED"})
        parts["granted"]["permissions"] += ["resourcemanager.projects.get", "storage.buckets.create"]
        parts.update(bucket=None, bucketGranted=None)


def up_on_aks(parts: Parts, version: str) -> None:
    """Add the stack's own cluster, with nodes in each pool but the twin."""
    tags = stack_file("azure")["cluster"]["tags"]
    pools = [{"name": name, "vmSize": size, "count": count} for name, (size, count) in _AKS_NODES.items()]
    pools.append({"name": "t4od", "vmSize": "Standard_NC4as_T4_v3", "count": 1})
    properties = {"currentKubernetesVersion": version, "agentPoolProfiles": pools}
    parts.update(resourceGroup={"tags": tags}, cluster={"tags": tags, "properties": properties})


def up_on_gke(parts: Parts, zones: str) -> None:
    """Add the stack's own cluster, with a node in each of these zones of each pool."""
    pools, sizes = [], {}
    for need in answers("gcp").demand.needs:
        groups = {f"europe-west4-{zone}": f"gke-ml-staging-{need.pool}-{zone}-grp" for zone in zones}
        sizes |= {f"{zone}/{group}": {"size": 1} for zone, group in groups.items()}
        urls = [f"https://x/compute/v1/projects/p/zones/{z}/instanceGroupManagers/{g}" for z, g in groups.items()]
        pools.append({"name": need.pool, "config": {"machineType": need.machine}, "instanceGroupUrls": urls})
    parts["groups"] = sizes
    parts["cluster"] = {
        "resourceLabels": stack_file("gcp")["cluster"]["tags"],
        "currentMasterVersion": "1.36.4-gke.1000000",
        "locations": [f"europe-west4-{zone}" for zone in zones],
        "nodePools": pools,
    }
