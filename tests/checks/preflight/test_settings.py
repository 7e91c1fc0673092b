"""Preflight on stack files that say more than the checked-in ones: zones, features, existing groups, clusters and networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from checks.findings import State
from checks.preflight import clouds
from checks.preflight.azure import azure_rights
from checks.preflight.demand import demand
from checks.preflight.gcp.gcp_rights import permissions
from config.clouds.gcp.gcp_settings import Gcp
from config.stack_file import loader
from tests.checks.preflight.live import LIVE, Settings, nothing, up_on_gke
from tests.checks.preflight.recorded import PROJECT, STACKS, answers
from tests.checks.preflight.reserved import RESERVED, alone, one_of
from tests.checks.preflight.stored import KEPT, OURS, STORED, TAKEN, checkpoints


def _cloud(**settings: Any) -> Callable[[Settings], Any]:
    return lambda file: file["cloud"].update(settings)


def _existing(file: Settings) -> None:
    """Pools alone, in a cluster that is there."""
    for key in ("systemPool", "cluster"):
        file.pop(key)
    file["cloud"] = {"provider": "azure", "existingCluster": {"resourceGroup": "platform", "name": "shared"}}


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
        nothing,
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
    "no-existing-cluster": ("azure", _existing, nothing, "names", "no cluster shared to add pools to"),
    "existing-cluster": (
        "azure",
        _existing,
        lambda p: p.update(cluster={"name": "shared", "location": "westeurope"}),
        "",
        "",
    ),
    "logs": ("azure", _cloud(monitoring={"logs": {}}), nothing, "registered", "Microsoft.OperationalInsights"),
    "account-taken": (
        "azure",
        checkpoints(),
        lambda p: p.update(TAKEN),
        "bucket",
        "name mlkeptcheckpoints is taken, and not in this subscription",
    ),
    "flex-start-needs-preemptible-gpus": (
        "gcp",
        alone(capacity="flex-start"),
        lambda p: one_of(p, "NVIDIA"),
        "quota",
        "PREEMPTIBLE_NVIDIA_L4_GPUS has 0 of 0",
    ),
    "flex-start": ("gcp", alone(capacity="flex-start"), lambda p: one_of(p, "PREEMPTIBLE"), "", ""),
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
        nothing,
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
    "standard-quota-before-a-preemptible-one": (
        "gcp",
        nothing,
        lambda p: [
            q.update(limit=0) for q in p["region"]["quotas"] if q["metric"].startswith(("PREEMPTIBLE_N", "NVIDIA"))
        ],
        "quota",
        "NVIDIA_L4_GPUS has 0 of 0 GPUs left; the first nodes of l4, l4big, l4od need 1 at least",
    ),
}


CASES |= LIVE | STORED | RESERVED


@pytest.mark.parametrize("name", CASES)
def test_settings_change_what_is_asked_and_what_is_wrong(name: str) -> None:
    cloud, change, spoil, check, words = CASES[name]
    given = _answers(cloud, change)
    spoil(given.parts)
    every = clouds.findings(given)
    found = [finding for finding in every if finding.state in (State.WRONG, State.UNSEEN)]
    assert {finding.check for finding in found} == ({check} if check else set()), found
    said = found or [finding for finding in every if finding.state == State.NOTE]
    assert any(words in finding.says for finding in said) or not words, said


def test_the_remedy_for_storage_that_a_destroy_left_names_it() -> None:
    given = _answers("azure", checkpoints())
    given.parts.update(OURS)
    (found,) = (finding for finding in clouds.findings(given) if finding.check == "bucket")
    assert f"`workloads.checkpoints.existing: {KEPT}`" in found.remedy


def _answers(cloud: str, change: Callable[[Settings], Any]) -> Any:
    content = yaml.safe_load((PROJECT / f"Pulumi.{STACKS[cloud]}.yaml").read_text())["config"]
    file = {key.removeprefix("kubeflow-spot:"): value for key, value in content.items()}
    change(file)
    spec, problems = loader.read(file)
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


def _on_the_project(change: Callable[[Settings], Any]) -> set[str]:
    """Return the permissions on the stack's own project."""
    demand = _answers("gcp", change).demand
    assert isinstance(demand.spec.cloud, Gcp)
    return set(permissions(demand)[demand.spec.cloud.project])


def test_rights_at_resources_of_others_are_asked_where_they_are() -> None:
    key = "projects/corp-keys/locations/europe-west4/keyRings/ml/cryptoKeys/disks"
    registry = {"project": "corp-images", "location": "europe", "repository": "base"}
    asked = permissions(_answers("gcp", _cloud(encryption={"bootDiskKey": key}, registries=[registry])).demand)
    assert "cloudkms.cryptoKeys.setIamPolicy" in asked["corp-keys"]
    assert "artifactregistry.repositories.setIamPolicy" in asked["corp-images"]
    group = "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/corp"
    vault = f"{group}/providers/Microsoft.ContainerRegistry/registries/images"
    network = {"existing": {"resourceGroup": "corp", "name": "hub", "subnet": "nodes"}}
    places = azure_rights.places(_answers("azure", _cloud(registry={"id": vault}, network=network)).demand)
    actions = {place.where: place.actions for place in places}
    assert actions[vault] == ("Microsoft.Authorization/roleAssignments/write",)
    (hub,) = (wanted for where, wanted in actions.items() if where.endswith("/virtualNetworks/hub"))
    assert "Microsoft.Network/virtualNetworks/subnets/join/action" in hub


def test_h100s_are_counted_by_a_quota_that_compute_does_not_list() -> None:
    pool = {"name": "h100", "machine": "a3-highgpu-8g", "capacity": "on-demand", "maxNodes": 1, "reservation": None}
    given = _answers("gcp", lambda f: f.update(pools=[{k: v for k, v in pool.items() if v}]))
    notes = [
        finding.says for finding in clouds.findings(given) if finding.check == "quota" and finding.state == State.NOTE
    ]
    assert any(note.startswith("GPUS_PER_GPU_FAMILY (NVIDIA_H100) is not listed; h100 draw 8") for note in notes), notes


def test_a_network_or_account_that_is_there_needs_no_right_to_make_one() -> None:
    existing = {"name": "vpc", "subnet": "nodes", "podRange": "pods", "serviceRange": "services"}
    account = "nodes@example-ml-staging.iam.gserviceaccount.com"
    plain = _on_the_project(lambda f: None)
    less = _on_the_project(_cloud(network={"existing": existing}, serviceAccount=account))
    assert {"compute.networks.create", "resourcemanager.projects.setIamPolicy"} <= plain - less
    assert "container.clusters.create" in less


def test_rights_inside_the_cluster_are_asked_for_what_is_put_into_it() -> None:
    roles, cluster_roles = (
        {"container.roles.create", "container.roleBindings.create"},
        {"container.clusterRoles.create"},
    )
    plain = _on_the_project(lambda f: None)
    none = _on_the_project(lambda f: f.update(scheduling={"enabled": False}))
    image = f"r.example.com/d:v1@sha256:{'0' * 64}"
    back = _on_the_project(lambda f: f.update(scheduling={"backToSpot": {"image": image}}))
    assert (roles <= plain, roles & none, cluster_roles & plain, cluster_roles <= back) == (True, set(), set(), True)


def test_instance_groups_that_may_not_be_read_leave_the_quota_unseen() -> None:
    given = answers("gcp")
    up_on_gke(given.parts, "abc")  # type: ignore[arg-type]
    group = "europe-west4-a/gke-ml-staging-l4-a-grp"
    (found,) = (f for f in clouds.findings(replace(given, unseen={group: "403 Forbidden"})) if f.state == State.UNSEEN)
    assert (found.check, found.says) == ("quota", f"{group}: 403 Forbidden")
