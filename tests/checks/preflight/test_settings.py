"""What stack files ask for beyond the rows of `accounts.yaml`: first nodes, rights, quotas."""

from __future__ import annotations

from typing import Any

from checks.findings import State
from checks.preflight import clouds
from checks.preflight.azure import azure_rights
from checks.preflight.gcp.gcp_rights import permissions
from config.clouds.gcp.gcp_settings import Gcp
from tests.checks.preflight.accounts import KEPT, account
from tests.checks.preflight.recorded import answers


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
