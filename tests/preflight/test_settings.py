"""Preflight on stack files that say more than the checked-in ones: zones, features, existing groups, clusters and networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from config import stackfile
from preflight import clouds
from preflight.demand import demand
from preflight.gcp.checks import permissions
from ready.findings import State
from tests.preflight.recorded import PROJECT, STACKS, answers

Settings = dict[str, Any]


def _cloud(**settings: Any) -> Callable[[Settings], Any]:
    return lambda file: file["cloud"].update(settings)


def _existing(file: Settings) -> None:
    """Pools alone, in a cluster that is there."""
    for key in ("systemPool", "cluster"):
        file.pop(key)
    file["cloud"] = {"provider": "azure", "existingCluster": {"resourceGroup": "platform", "name": "shared"}}


def _existing_gke(file: Settings) -> None:
    for key in ("systemPool", "cluster"):
        file.pop(key)
    file["cloud"] = {
        "provider": "gcp",
        "project": "example-ml-staging",
        "existingCluster": {"location": "europe-west4", "name": "shared"},
    }


def _checkpoints(file: Settings) -> None:
    file["workloads"] = {"checkpoints": {"name": "mlkeptcheckpoints"}, "profiles": [{"namespace": "team-a"}]}


FREE = {"accountName": {"nameAvailable": True}, "accounts": []}
TAKEN = {"accountName": {"nameAvailable": False, "reason": "AlreadyExists"}, "accounts": []}


def _service(parts: Settings) -> None:
    parts["services"]["services"].append({"name": "projects/1/services/storage.googleapis.com", "state": "ENABLED"})
    parts["granted"]["permissions"].append("storage.buckets.create")


def _one_of(parts: Settings, way: str) -> None:
    for quota in parts["region"]["quotas"]:
        if quota["metric"].endswith("NVIDIA_L4_GPUS"):
            quota["limit"] = 8 if quota["metric"].startswith(way) else 0


def _alone(**settings: Any) -> Callable[[Settings], Any]:
    """A single pool with GPUs, bought in this way."""

    def change(file: Settings) -> None:
        general = next(pool for pool in file["pools"] if pool["name"] == "general")
        file["pools"] = [general, {"name": "only", "machine": "g2-standard-8", "maxNodes": 2, **settings}]

    return change


def _nothing(parts: Settings) -> None:
    pass


def _zone(parts: Settings) -> None:
    t4 = next(item for item in parts["skus"] if item["name"] == "Standard_NC4as_T4_v3")
    t4["restrictions"] = [
        {"type": "Zone", "restrictionInfo": {"zones": ["2"]}, "reasonCode": "NotAvailableForSubscription"}
    ]


GROUP = {"name": "platform"}
CASES: dict[str, tuple[str, Callable[[Settings], Any], Callable[[Settings], Any], str, str]] = {
    "zone-restricted": (
        "azure",
        lambda f: f["pools"][1].update(zones=["1", "2"]),
        _zone,
        "machines",
        "not offered in zone 2",
    ),
    "other-zone-restricted": ("azure", lambda f: f["pools"][1].update(zones=["1", "3"]), _zone, "", ""),
    "no-feature": (
        "azure",
        _cloud(encryption={"atHost": True}),
        lambda p: p.update(feature=None),
        "registered",
        "EncryptionAtHost is not registered",
    ),
    "feature": (
        "azure",
        _cloud(encryption={"atHost": True}),
        lambda p: p.update(feature={"properties": {"state": "Registered"}}),
        "",
        "",
    ),
    "no-existing-group": (
        "azure",
        _cloud(existingResourceGroup="platform"),
        _nothing,
        "names",
        "no resource group platform",
    ),
    "existing-group": (
        "azure",
        _cloud(existingResourceGroup="platform"),
        lambda p: p.update(resourceGroup=GROUP),
        "",
        "",
    ),
    "region-unknown": (
        "azure",
        _existing,
        lambda p: [p.pop(key) for key in ("skus", "usages", "versions")],
        "names",
        "no cluster shared",
    ),
    "no-existing-cluster": ("azure", _existing, _nothing, "names", "no cluster shared to add pools to"),
    "existing-cluster": (
        "azure",
        _existing,
        lambda p: p.update(cluster={"name": "shared", "location": "westeurope"}),
        "",
        "",
    ),
    "logs": ("azure", _cloud(monitoring={"logs": {}}), _nothing, "registered", "Microsoft.OperationalInsights"),
    "role-definitions": (
        "azure",
        _checkpoints,
        lambda p: p.update(FREE),
        "permissions",
        "whoever deploys may not Microsoft.Authorization/roleDefinitions/write",
    ),
    "checkpoints": (
        "azure",
        _checkpoints,
        lambda p: p.update(FREE, permissions=[{"actions": ["*"]}]),
        "",
        "",
    ),
    "account-taken": (
        "azure",
        _checkpoints,
        lambda p: p.update(TAKEN, permissions=[{"actions": ["*"]}]),
        "bucket",
        "name mlkeptcheckpoints is taken, and not in this subscription",
    ),
    "account-of-this-subscription": (
        "azure",
        _checkpoints,
        lambda p: p.update(TAKEN, accounts=[{"name": "mlkeptcheckpoints"}], permissions=[{"actions": ["*"]}]),
        "",
        "",
    ),
    "no-storage-service": (
        "gcp",
        _checkpoints,
        lambda p: (_service(p), p.update(bucket=None), p["services"]["services"].pop()),
        "registered",
        "storage.googleapis.com is not enabled",
    ),
    "no-right-to-make-a-bucket": (
        "gcp",
        _checkpoints,
        lambda p: (_service(p), p.update(bucket=None), p["granted"]["permissions"].pop()),
        "permissions",
        "lacks storage.buckets.create",
    ),
    "bucket-is-there": ("gcp", _checkpoints, lambda p: (_service(p), p.update(bucket={"name": "x"})), "", ""),
    "flex-start-needs-preemptible-gpus": (
        "gcp",
        _alone(capacity="flex-start"),
        lambda p: _one_of(p, "NVIDIA"),
        "quota",
        "PREEMPTIBLE_NVIDIA_L4_GPUS has 0 of 0",
    ),
    "flex-start": ("gcp", _alone(capacity="flex-start"), lambda p: _one_of(p, "PREEMPTIBLE"), "", ""),
    "reserved": ("gcp", _alone(reservation="l4"), lambda p: _one_of(p, "none"), "", ""),
    "up-already": (
        "azure",
        lambda f: f["cluster"].update(tags={"stack": "dev"}),
        lambda p: p.update(resourceGroup={"name": "ml-dev", "tags": {"stack": "dev", "more": "x"}}),
        "",
        "",
    ),
    "of-another-stack": (
        "azure",
        lambda f: f["cluster"].update(tags={"stack": "dev"}),
        lambda p: p.update(resourceGroup={"name": "ml-dev", "tags": {"stack": "prod"}}),
        "names",
        "resource group ml-dev already",
    ),
    "up-already-on-gke": (
        "gcp",
        lambda f: f["cluster"].update(tags={"stack": "staging"}),
        lambda p: p.update(cluster={"resourceLabels": {"stack": "staging"}}, network={"name": "ml-staging"}),
        "",
        "",
    ),
    "no-long-term-support": (
        "azure",
        _cloud(tier="Premium", longTermSupport=True),
        _nothing,
        "version",
        "has no long-term support",
    ),
    "region-down": (
        "gcp",
        lambda f: None,
        lambda p: p["region"].update(status="DOWN"),
        "machines",
        "europe-west4 is down",
    ),
    "no-existing-gke-cluster": (
        "gcp",
        _existing_gke,
        _nothing,
        "names",
        "europe-west4 has no cluster shared to add pools to",
    ),
    "existing-gke-cluster": ("gcp", _existing_gke, lambda p: p.update(cluster={"name": "shared"}), "", ""),
    "any-zone-will-do": (
        "gcp",
        lambda f: f["cloud"].pop("zones"),
        lambda p: p["machineTypes"].update({"europe-west4-a/g2-standard-8": None}),
        "",
        "",
    ),
    "no-zone-has-it": (
        "gcp",
        lambda f: f["cloud"].pop("zones"),
        lambda p: p["machineTypes"].update(dict.fromkeys(p["machineTypes"])),
        "machines",
        "is not offered in europe-west4-a, europe-west4-b, europe-west4-c",
    ),
    "standard-quota-before-a-preemptible-one": (
        "gcp",
        _nothing,
        lambda p: [
            q.update(limit=0) for q in p["region"]["quotas"] if q["metric"].startswith(("PREEMPTIBLE_N", "NVIDIA"))
        ],
        "quota",
        "NVIDIA_L4_GPUS has 0 of 0 GPUs left; the first nodes of l4, l4big, l4od need 1 at least",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_settings_change_what_is_asked_and_what_is_wrong(name: str) -> None:
    cloud, change, spoil, check, words = CASES[name]
    given = _answers(cloud, change)
    spoil(given.parts)
    found = [finding for finding in clouds.findings(given) if finding.state in (State.WRONG, State.UNSEEN)]
    assert {finding.check for finding in found} == ({check} if check else set()), found
    assert any(words in finding.says for finding in found) or not words, found


def _answers(cloud: str, change: Callable[[Settings], Any]) -> Any:
    content = yaml.safe_load((PROJECT / f"Pulumi.{STACKS[cloud]}.yaml").read_text())["config"]
    file = {key.removeprefix("kubeflow-spot:"): value for key, value in content.items()}
    change(file)
    spec, problems = stackfile.read(file)
    assert spec, problems
    return replace(answers(cloud), demand=demand(spec))


def test_the_first_nodes_are_those_of_each_zone_where_bounds_are_of_a_zone() -> None:
    first = {need.pool: (need.first, need.most) for need in answers("gcp").demand.needs}
    assert first == {"system": (3, 4), "general": (3, 6), "l4": (1, 8), "l4big": (1, 4), "l4od": (1, 2)}
    assert {need.pool: need.first for need in answers("azure").demand.needs} == {
        "system": 2,
        "general": 1,
        "t4": 1,
        "t4od": 1,
    }


def test_a_network_or_account_that_is_there_needs_no_right_to_make_one() -> None:
    existing = {"name": "vpc", "subnet": "nodes", "podRange": "pods", "serviceRange": "services"}
    account = "nodes@example-ml-staging.iam.gserviceaccount.com"
    plain = permissions(_answers("gcp", lambda f: None).demand)
    less = permissions(_answers("gcp", _cloud(network={"existing": existing}, serviceAccount=account)).demand)
    assert {"compute.networks.create", "resourcemanager.projects.setIamPolicy"} <= {*plain} - {*less}
    assert "container.clusters.create" in less
