"""The provider's reads, previews, imports, errors and functions."""

import dataclasses
import re
from typing import Any

import pytest

from sandbox.cloud.provider import UNKNOWN, InitFailed, Refused, Resource
from sandbox.gcp.gcp_provider import GcpProvider
from sandbox.tests.engine_side import Props

from .conftest import (
    CLUSTER,
    CLUSTER_ID,
    CLUSTER_INPUTS,
    MEMBER,
    NAT,
    NAT_INPUTS,
    NETWORK,
    NETWORK_INPUTS,
    POOL,
    PROJECT,
    REGION,
    REGULAR,
    ROUTER,
    ROUTER_INPUTS,
    SPOT,
    SUBNETWORK,
    Project,
    with_config,
)


def test_refresh_follows_the_cloud_and_makes_no_difference(ready: Project) -> None:
    pool = ready.create(POOL, SPOT)
    ready.cloud.scale("gke", "l4", 6)
    refreshed = ready.refresh(pool)
    assert refreshed.old_outputs["nodeCount"] == 2
    assert "nodeCount" not in refreshed.old_inputs
    assert refreshed.old_inputs["initialNodeCount"] == 0
    assert refreshed.old_inputs["nodeConfig"]["labels"] == {"gpu": "true"}
    assert refreshed.old_inputs["nodeConfig"]["taints"] == SPOT["nodeConfig"]["taints"]
    assert ready.diff(refreshed, SPOT).changes == {}
    ready.cloud.delete(pool.id)
    assert ready.provider.read(pool) is None


def test_what_is_in_no_program_is_imported_without_what_the_service_chose(ready: Project) -> None:
    pool = ready.create(POOL, SPOT)
    imported = ready.provider.read(Resource(POOL, "it", "urn:it", pool.id))
    assert imported is not None
    inputs, outputs = imported
    assert (inputs["cluster"], inputs["name"], inputs["location"]) == ("gke", "l4", REGION)
    assert "instanceGroupUrls" not in inputs
    assert "preemptible" not in inputs["nodeConfig"]
    again = Resource(POOL, "it", "urn:it", pool.id, old_inputs=inputs, old_outputs=outputs)
    assert ready.diff(again, inputs).changes == {}
    cluster = ready.provider.read(Resource(CLUSTER, "it", "urn:it", CLUSTER_ID))
    assert cluster is not None
    assert cluster[0]["deletionProtection"] is True
    with pytest.raises(Refused, match="is not the id of a gcp:container/nodePool:NodePool"):
        ready.provider.read(Resource(POOL, "it", "urn:it", CLUSTER_ID))


def test_preview_knows_the_inputs_and_an_update_the_existing_values(ready: Project) -> None:
    inputs = ready.check(CLUSTER, {**CLUSTER_INPUTS, "name": "two"})
    id, outputs = ready.provider.create(Resource(CLUSTER, "two", "urn", inputs=inputs, preview=True))
    assert id == ""
    assert outputs["name"] == "two"
    assert outputs["endpoint"] == outputs["masterAuth"] == UNKNOWN
    pool = ready.create(POOL, SPOT)
    wanted = ready.check(POOL, with_config(SPOT, machineType="g2-standard-12"), pool.old_inputs)
    after = ready.provider.update(dataclasses.replace(pool, inputs=wanted, preview=True))
    assert after["nodeConfig"]["machineType"] == "g2-standard-12"
    assert after["instanceGroupUrls"] == pool.old_outputs["instanceGroupUrls"]
    assert ready.cloud.get(pool.id) == ready.cloud.get(pool.id) | {"nodeCount": 0}  # type: ignore[operator]


def test_errors_have_the_layout_of_the_bridge(ready: Project) -> None:
    """4.5"""
    with pytest.raises(Refused) as created:
        ready.create(POOL, {**REGULAR, "cluster": "no"})
    assert str(created.value) == (
        "1 error occurred:\n\t* error creating NodePool: googleapi: Error 404: Not found: "
        f"projects/{PROJECT}/locations/{REGION}/clusters/no., notFound\n\n"
    )
    pool = ready.create(POOL, REGULAR)
    with pytest.raises(InitFailed) as updated:
        ready.update(pool, with_config(REGULAR, machineType="x"))
    assert updated.value.reasons == [
        'updating urn:it: 1 error occurred:\n\t* googleapi: Error 400: Invalid machine type "x" in zone '
        '"europe-west4-a": GCE_NOT_FOUND, badRequest\n\n'
    ]
    assert updated.value.outputs == pool.old_outputs
    subnet = Resource(SUBNETWORK, "it", "urn:it", f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes")
    with pytest.raises(Refused) as deleted:
        ready.provider.delete(subnet)
    assert str(deleted.value).startswith(
        "deleting urn:it: 1 error occurred:\n\t* Error when reading or editing Subnetwork: googleapi: Error 400: The "
        "subnetwork resource"
    )


def test_a_protected_cluster_is_not_deleted(ready: Project) -> None:
    """7.20"""
    cluster = ready.recorded_cluster()
    with pytest.raises(Refused) as refused:
        ready.provider.delete(cluster)
    assert str(refused.value) == (
        "deleting urn:it: 1 error occurred:\n\t* Cannot destroy cluster because deletion_protection is set to true. Set it "
        "to false to proceed with cluster deletion.\n\n"
    )
    ready.provider.delete(ready.update(cluster, {**CLUSTER_INPUTS, "deletionProtection": False}))
    assert ready.cloud.get(CLUSTER_ID) is None
    assert ready.runtime.calls[-1] == ("stop", CLUSTER_ID)


def test_both_counts_are_refused(ready: Project) -> None:
    """4.1; UNCONFIRMED whether with zeros too"""
    with pytest.raises(Refused, match="Cannot set both initial_node_count and node_count on node pool cpu"):
        ready.create(POOL, {**REGULAR, "nodeCount": 2})


def test_project_and_place_come_from_the_resource_then_the_provider(project: Project) -> None:
    project.provider.configure({})
    with pytest.raises(Refused, match="project: required field is not set"):
        project.create(NETWORK, NETWORK_INPUTS)
    assert project.create(NETWORK, {**NETWORK_INPUTS, "project": "other"}).id == "projects/other/global/networks/net"
    project.provider.configure({"project": PROJECT})
    project.network()
    with pytest.raises(Refused, match="Cannot determine region"):
        project.create(ROUTER, {"name": "r", "network": "net"})
    project.provider.configure({"project": PROJECT, "zone": f"{REGION}-a"})
    assert (
        project.create(ROUTER, {"name": "r", "network": "net"}).id == f"projects/{PROJECT}/regions/{REGION}/routers/r"
    )


def invoked(provider: GcpProvider, function: str, **args: Any) -> Props:
    return provider.invoke(f"gcp:{function}", args)


def test_get_cluster_shows_blocks_as_lists(ready: Project) -> None:
    ready.create(POOL, SPOT)
    cluster = invoked(ready.provider, "container/getCluster:getCluster", name="gke", location=REGION)
    assert cluster["id"] == CLUSTER_ID
    assert cluster["endpoint"] == "127.0.0.1:6443"
    assert cluster["masterAuths"][0]["clusterCaCertificate"] == "Y2VydGlmaWNhdGU="
    assert cluster["masterVersion"].startswith("1.36.")
    assert cluster["controlPlaneEndpointsConfigs"][0]["dnsEndpointConfigs"][0]["endpoint"] == "127.0.0.1:6443"
    assert cluster["workloadIdentityConfigs"] == [{"workloadPool": f"{PROJECT}.svc.id.goog"}]
    assert cluster["ipAllocationPolicies"][0]["clusterSecondaryRangeName"] == "pods"
    (pool,) = cluster["nodePools"]
    assert (pool["name"], pool["autoscalings"][0]["totalMaxNodeCount"]) == ("l4", 8)
    assert pool["nodeConfigs"][0]["guestAccelerators"][0]["type"] == "nvidia-l4"


def test_functions_say_in_their_own_words_that_there_is_nothing(ready: Project) -> None:
    for function, args, text in (
        ("container/getCluster:getCluster", {"name": "no", "location": REGION}, f"locations/{REGION}/clusters/no"),
        ("compute/getNetwork:getNetwork", {"name": "no"}, "global/networks/no"),
        ("compute/getSubnetwork:getSubnetwork", {"name": "no", "region": REGION}, f"regions/{REGION}/subnetworks/no"),
    ):
        with pytest.raises(Refused) as refused:
            invoked(ready.provider, function, **args)
        assert str(refused.value) == (
            f"invoking gcp:{function}: 1 error occurred:\n\t* projects/{PROJECT}/{text} not found\n\n"
        )
    with pytest.raises(Refused, match="Invalid or unknown key: nam"):
        invoked(ready.provider, "compute/getNetwork:getNetwork", nam="net")
    with pytest.raises(Refused, match="unknown function gcp:compute/getZones:getZones"):
        invoked(ready.provider, "compute/getZones:getZones")


def test_networks_and_projects_can_be_read(ready: Project) -> None:
    network = invoked(ready.provider, "compute/getNetwork:getNetwork", name="net")
    (link,) = network["subnetworksSelfLinks"]
    subnet = invoked(ready.provider, "compute/getSubnetwork:getSubnetwork", selfLink=link)
    assert subnet["network"] == network["selfLink"]
    assert subnet["secondaryIpRanges"][0] == {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"}
    project = invoked(ready.provider, "organizations/getProject:getProject")
    assert project["projectId"] == PROJECT
    assert re.fullmatch(r"\d{12}", project["number"])


def test_an_existing_grant_is_no_error(project: Project) -> None:
    grant = {"project": PROJECT, "role": "roles/viewer", "member": "user:a@example.com"}
    member = project.create(MEMBER, grant)
    assert member.id == f"{PROJECT}/roles/viewer/user:a@example.com"
    assert project.create(MEMBER, grant).id == member.id
    assert project.refresh(member).old_outputs == member.old_outputs


def test_a_nat_goes_with_its_router(project: Project) -> None:
    project.network()
    router = project.create(ROUTER, ROUTER_INPUTS)
    gateway = project.create(NAT, NAT_INPUTS)
    assert gateway.id == f"{PROJECT}/{REGION}/r/nat"
    assert project.refresh(gateway).old_outputs["type"] == "PUBLIC"
    project.provider.delete(router)
    assert project.provider.read(gateway) is None
