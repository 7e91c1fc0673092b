"""Preflight on recorded answers: a good account is ready, and each broken one is named by its defect alone.

Beyond the rows of `accounts.yaml`, what stack files ask for: first nodes, rights, quotas.
"""

from dataclasses import replace
from typing import Any

import pytest

from checks.findings import Exit, Finding, State, exit_status
from checks.preflight import clouds
from checks.preflight.azure import azure_rights
from checks.preflight.gcp.gcp_rights import permissions
from config.clouds.gcp.gcp_settings import Gcp
from tests.checks.preflight.accounts import CASES, KEPT, STACKS, account, answers


def _bad(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.state in (State.WRONG, State.UNSEEN)]


@pytest.mark.parametrize("cloud", STACKS)
def test_a_good_account_is_ready_and_every_check_says_so(cloud: str) -> None:
    found = clouds.findings(answers(cloud))
    assert _bad(found) == []
    assert exit_status(found) == Exit.READY
    assert {finding.check for finding in found if finding.state == State.OK} == {
        *("machines", "reservations", "quota", "spot", "version", "registered", "permissions", "names", "bucket")
    }
    assert all(finding.source for finding in found)


NO_KARPENTER = {"existing cluster", "reserved"}
"""Stack files that node auto-provisioning is refused for."""
KEEP_NODES = {"azure-regional-quota", "own-nodes-are-too-few"}
"""Cases of nodes that pools always have, of which Karpenter has none."""
WITH_KARPENTER = [
    name
    for name, (cloud, file, *_) in CASES.items()
    if cloud == "azure" and name not in KEEP_NODES and not NO_KARPENTER & {*map(str, file)}
]


@pytest.mark.parametrize(
    ("name", "engine"), [*((name, []) for name in CASES), *((name, ["karpenter"]) for name in WITH_KARPENTER)]
)
def test_each_account_is_named_by_its_defect_and_nothing_else(name: str, engine: list[str]) -> None:
    cloud, file, steps, check, *words = CASES[name]
    every = clouds.findings(account(cloud, [*engine, *file], steps))
    found = _bad(every)
    named, _, state = check.partition(": ")
    assert {(finding.check, finding.state) for finding in found} == (
        {(named, state or State.WRONG)} if check else set()
    )
    assert all(finding.remedy for finding in found)
    said = [finding.says for finding in found or every if found or finding.state == State.NOTE]
    for word in words[0] if words and isinstance(words[0], list) else words:
        assert any(word in text for text in said), (word, said)


@pytest.mark.parametrize(
    ("cloud", "part", "check"),
    [
        *(("azure", "skus", "machines"), ("azure", "usages", "quota"), ("azure", "versions", "version")),
        *(("azure", "providers", "registered"), ("azure", "permissions", "permissions"), ("azure", "cluster", "names")),
        *(("gcp", "region", "machines"), ("gcp", "project", "quota"), ("gcp", "serverConfig", "version")),
        *(("gcp", "services", "registered"), ("gcp", "granted", "permissions"), ("gcp", "cluster", "names")),
        ("gcp up", "europe-west4-a/gke-ml-staging-l4-a-grp", "quota"),
    ],
)
def test_a_missing_right_is_reported_and_never_guessed(cloud: str, part: str, check: str) -> None:
    given = account(*cloud.split()[:1], steps=cloud.split()[1:])
    given = replace(given, parts={k: v for k, v in given.parts.items() if k != part}, unseen={part: "403 Forbidden"})
    found = _bad(clouds.findings(given))
    assert {finding.state for finding in found} == {State.UNSEEN}
    assert check in {finding.check for finding in found}
    assert all(f"{part}: 403 Forbidden" in finding.says and finding.remedy for finding in found)
    assert exit_status(clouds.findings(given)) == Exit.UNSEEN


@pytest.mark.parametrize(
    ("cloud", "patch", "says"),
    [
        (
            "azure",
            {"usages": {"lowPriorityCores": {"limit": 16}}},
            "lowPriorityCores has 16 vCPUs left; t4 at maxNodes need 32",
        ),
        (
            "azure",
            {"usages": {"Standard NCASv3_T4 Family": None}},
            "Standard NCASv3_T4 Family is not listed; t4od draw 4 to 40 vCPUs from it",
        ),
        # Pools of a chain are alternatives.
        (
            "gcp",
            {"region": {"quotas": {"PREEMPTIBLE_NVIDIA_L4_GPUS": {"limit": 1}}}},
            "PREEMPTIBLE_NVIDIA_L4_GPUS has 1 GPUs left; one node of each of l4, l4big at the same time needs 2",
        ),
    ],
)
def test_a_quota_for_some_of_the_nodes_is_a_note_and_no_defect(cloud: str, patch: dict[str, Any], says: str) -> None:
    (note,) = (f for f in clouds.findings(account(cloud, steps=[patch])) if f.state == State.NOTE)
    assert note.says == says


def test_the_remedy_for_storage_that_a_destroy_left_names_it() -> None:
    given = account("azure", ["checkpoints"], ["ours"])
    (found,) = (finding for finding in clouds.findings(given) if finding.check == "bucket")
    assert f"`workloads.checkpoints.existing: {KEPT}`" in found.remedy


def test_the_first_nodes_are_those_of_each_zone_where_bounds_are_of_a_zone() -> None:
    first = {need.pool: (need.first, need.most) for need in answers("gcp").demand.needs}
    assert first == {"system": (3, 4), "general": (3, 6), "l4": (1, 8), "l4big": (1, 4), "l4od": (1, 2)}
    assert {need.pool: need.first for need in answers("azure").demand.needs} == {
        "system": 2,
        "general": 1,
        "t4": 1,
        "t4od": 1,
    }


def _on_the_project(**patch: Any) -> set[str]:
    """Return the permissions on the stack's own project."""
    demand = account("gcp", [patch]).demand
    assert isinstance(demand.spec.cloud, Gcp)
    return set(permissions(demand)[demand.spec.cloud.project])


def test_rights_at_resources_of_others_are_asked_where_they_are() -> None:
    key = "projects/corp-keys/locations/europe-west4/keyRings/ml/cryptoKeys/disks"
    registry = {"project": "corp-images", "location": "europe", "repository": "base"}
    cloud: dict[str, Any] = {"encryption": {"bootDiskKey": key}, "registries": [registry]}
    asked = permissions(account("gcp", [{"cloud": cloud}]).demand)
    assert "cloudkms.cryptoKeys.setIamPolicy" in asked["corp-keys"]
    assert "artifactregistry.repositories.setIamPolicy" in asked["corp-images"]
    group = "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/corp"
    vault = f"{group}/providers/Microsoft.ContainerRegistry/registries/images"
    network = {"existing": {"resourceGroup": "corp", "name": "hub", "subnet": "nodes"}, "outboundType": None}
    places = azure_rights.places(account("azure", [{"cloud": {"registry": {"id": vault}, "network": network}}]).demand)
    actions = {place.where: place.actions for place in places}
    assert actions[vault] == ("Microsoft.Authorization/roleAssignments/write",)
    (hub,) = (wanted for where, wanted in actions.items() if where.endswith("/virtualNetworks/hub"))
    assert "Microsoft.Network/virtualNetworks/subnets/join/action" in hub


def test_h100s_are_counted_by_a_quota_that_compute_does_not_list() -> None:
    pool = {"name": "h100", "machine": "a3-highgpu-8g", "capacity": "on-demand", "maxNodes": 1}
    found = clouds.findings(account("gcp", [{"pools": [pool]}]))
    notes = [finding.says for finding in found if finding.check == "quota" and finding.state == State.NOTE]
    assert any(note.startswith("GPUS_PER_GPU_FAMILY (NVIDIA_H100) is not listed; h100 draw 8") for note in notes), notes


def test_a_network_or_account_that_is_there_needs_no_right_to_make_one() -> None:
    existing = {"name": "vpc", "subnet": "nodes", "podRange": "pods", "serviceRange": "services"}
    own = "nodes@example-ml-staging.iam.gserviceaccount.com"
    less = _on_the_project(cloud={"network": {"existing": existing}, "serviceAccount": own})
    assert {"compute.networks.create", "resourcemanager.projects.setIamPolicy"} <= _on_the_project() - less
    assert "container.clusters.create" in less


def test_rights_inside_the_cluster_are_asked_for_what_is_put_into_it() -> None:
    roles, cluster_roles = (
        {"container.roles.create", "container.roleBindings.create"},
        {"container.clusterRoles.create"},
    )
    plain, none = _on_the_project(), _on_the_project(scheduling={"enabled": False})
    back = _on_the_project(scheduling={"backToSpot": {"image": f"r.example.com/d:v1@sha256:{'0' * 64}"}})
    assert (roles <= plain, roles & none, cluster_roles & plain, cluster_roles <= back) == (True, set(), set(), True)
